"""What titre tasks and windows are asked alike: C22 and C23, about the file that they were made from."""

from schemas import Check, Table


def origin_checks(word: str, table: Table) -> tuple[Check, ...]:
    """The checks of a table whose rows name their `source` with checksum and licence.

    Args:
        word: for the names of the checks.
        table: has one key column, and `source_sha256`, `licence_spdx` and `redistributable`.
    """
    (key,) = table.key
    return (
        Check(
            f"C22_{word}_text",
            "The source is UTF-8, and no Git LFS pointer in place of its file.",
            "block",
            table.name,
            f"""SELECT {key} AS id, s.name || ' is ' || encoding || ' of ' || size || ' bytes' AS message
                FROM {table.name} JOIN sources AS s ON source_sha256 = s.sha256
                WHERE encoding <> 'utf-8' OR (size < 200 AND n_rows_in = 0)""",
            needs=("sources",),
            advice="Fetch the file itself (`git lfs pull`), and pin its checksum.",
        ),
        Check(
            f"C23_{word}_licence",
            "The source has a licence that allows passing it on.",
            "warn",
            table.name,
            f"""SELECT {key} AS id, CASE WHEN licence_spdx IN ('', 'NONE') THEN 'the publisher of ' || source
                    || ' gives no licence' ELSE licence_spdx || ' does not allow passing it on' END AS message
                FROM {table.name} WHERE NOT redistributable OR licence_spdx IN ('', 'NONE')""",
            advice="Build with --redistributable for a release, or ask the publisher for a licence.",
        ),
        Check(
            f"C23_{word}_licence_agrees",
            "The licence is that of the source, and no licence means that it may not be passed on.",
            "block",
            table.name,
            f"""SELECT {key} AS id, format('{{}} and {{}}, its source {{}} has {{}} and {{}}', licence_spdx,
                    redistributable, s.name, licence, redistribute) AS message
                FROM {table.name} JOIN sources AS s ON source_sha256 = s.sha256
                WHERE redistributable <> redistribute OR licence_spdx <> licence
                    OR (redistributable AND licence_spdx IN ('', 'NONE'))""",
            needs=("sources",),
            advice="Licences are declared once, in sources.toml: build again.",
        ),
    )
