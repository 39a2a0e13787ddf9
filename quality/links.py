"""Whether what must be there is: rows at all, what tables refer to, lineage, and the row accounting."""

from __future__ import annotations

import numpy as np

from quality import duck
from quality.connect import Session
from quality.digest import Digest
from quality.ledger import Ledger
from quality.repeats import collected, id_hash, is_number
from schemas import Check, Column, Int, List, Table, sql

BALANCE = Check(
    "accounting.balance",
    "Every record read became a row, was merged into one, or was rejected",
    "block",
    "accounting",
    """SELECT source || ' > ' || table_name AS id,
    format('{} records, but {} rows + {} merged + {} rejected', records, rows, merged, rejected) AS message
FROM accounting WHERE records <> rows + merged + rejected""",
    advice="A record was lost or counted twice: mend the builder's reader.",
)
REJECTS = Check(
    "accounting.rejects",
    "The rejects kept are those that were counted, for each source, table and reason",
    "block",
    "accounting",
    """WITH counted AS (
    SELECT source, table_name, entry.key AS reason, entry.value AS n
    FROM (SELECT source, table_name, unnest(map_entries(reasons)) AS entry FROM accounting)
), kept AS (
    SELECT source, table_name, reason, count(*) AS n FROM rejects
    WHERE (source, table_name) IN (SELECT (source, table_name) FROM accounting) GROUP BY ALL
)
SELECT concat_ws(' > ', source, table_name, reason) AS id,
    format('{} counted, {} kept in rejects/', coalesce(counted.n, 0), coalesce(kept.n, 0)) AS message
FROM counted FULL JOIN kept USING (source, table_name, reason) WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)""",
    advice="Build again: rejects/ and build.json are not of one build.",
)
ROWS = Check(
    "accounting.rows",
    "The rows and merged records counted are the lines of the lineage, for each source and table",
    "block",
    "accounting",
    """WITH traced AS (SELECT source, table_name, count(*) AS n FROM lineage GROUP BY ALL)
SELECT source || ' > ' || table_name AS id,
    format('{} rows + {} merged counted, {} lines in lineage/', rows, merged, coalesce(n, 0)) AS message
FROM accounting LEFT JOIN traced USING (source, table_name) WHERE rows + merged <> coalesce(n, 0)""",
    advice="Build again: lineage/ and build.json are not of one build.",
)


def check_rows(ledger: Ledger, table: Table) -> None:
    """`<table>.rows`: the table, the dataset's main one, is not empty. Others may be: their sources are optional."""
    check = Check(
        f"{table.name}.rows",
        "The main table has rows",
        "block",
        table.name,
        f"SELECT {sql.literal(table.name)} AS id, 'the table is empty' AS message "
        f"WHERE NOT EXISTS (FROM {sql.name(table.name)})",
        advice="The source held no record that could be used: see the rejects, and whether the right one was given.",
    )
    ledger.check(check)


def check_accounting(ledger: Ledger) -> None:
    """Records in = rows + merged + rejects, and the files agree with it."""
    for check in (BALANCE, REJECTS, ROWS):
        ledger.check(check)


def check_lineage(ledger: Ledger, table: Table) -> None:
    """`<table>.lineage`: every row has a line in the lineage; `<table>.lineage_rows`: every line has a row."""
    session = ledger.session
    rows = f"SELECT {duck.row_id(table)} AS id FROM {sql.name(table.name)}"
    lines = f"SELECT id FROM lineage WHERE table_name = {sql.literal(table.name)}"
    untraced = Check(
        f"{table.name}.lineage",
        "Every row says which source record it came from",
        "block",
        table.name,
        f"SELECT id, 'has no lineage' AS message FROM ({rows}) WHERE id NOT IN ({lines})",
        advice="Build again; if it stays, the builder yields rows without a place.",
    )
    stray = Check(
        f"{table.name}.lineage_rows",
        "Every line of the lineage belongs to a row",
        "block",
        table.name,
        f"SELECT id, 'has lineage, but is no row' AS message FROM ({lines}) WHERE id NOT IN ({rows})",
        advice="Build again: lineage/ and data/ are not of one build.",
    )
    files = session.lineage.get(table.name, [])
    same = _ids(session, table) == _lines(session, f"SELECT id FROM {sql.scan(files)}" if files else lines)
    for check in (untraced, stray):
        if same:
            ledger.listed(check, ())
        else:
            ledger.check(check)


def _ids(session: Session, table: Table) -> Digest:
    """The digest of a table's row ids; it differs from every set's where an id repeats."""
    if table.name not in session.ids:
        found = f"SELECT count(*), sum(h) % {2**64}, bit_xor(h) FROM (SELECT {id_hash(table)} AS h FROM {{}})"
        session.ids[table.name] = Digest(*(int(part or 0) for part in session.one(found.format(sql.name(table.name)))))
    return session.ids[table.name]


def _lines(session: Session, lines: str) -> Digest | None:
    """The digest of the set of ids that a query returns, by their sorted hashes; None where those do not fit."""
    (count,) = session.one(f"SELECT count(*) FROM ({lines})")
    if count * 8 > session.sort_bytes:
        return None
    hashes = collected(session, f"SELECT hash(id) FROM ({lines})", count).sorted()
    found = Digest()
    found.add(hashes[np.concatenate([[True], hashes[1:] != hashes[:-1]])] if len(hashes) else hashes)
    return found


def check_references(ledger: Ledger, table: Table) -> None:
    """`<table>.<column>.reference` for each column that references another table."""
    for column in table.columns:
        if column.references is not None:
            _check_reference(ledger, table, column, column.references)


def _check_reference(ledger: Ledger, table: Table, column: Column, target: str) -> None:
    """Where bounds do not tell, look for values without a target first, for rows after: there are few such values, and
    mostly none."""
    other, _, key = target.rpartition(".")
    kind = column.type.of if isinstance(column.type, List) else column.type
    own, ours, theirs = sql.name(column.name), sql.name(table.name), sql.name(other)
    value = f"unnest({own})" if isinstance(column.type, List) else own
    values = f"SELECT DISTINCT {value} AS value FROM {ours}"
    missing = (
        f"SELECT value FROM ({values}) "
        f"ANTI JOIN (SELECT {sql.name(key)} AS value FROM {theirs}) USING (value) WHERE value IS NOT NULL"
    )
    run = _unbroken(ledger.session, other, key) if isinstance(kind, Int) else None
    check = Check(
        f"{table.name}.{column.name}.reference",
        f"Every {column.name} is in {target}",
        "block",
        table.name,
        missing,
        advice=f"Add the missing row to {other}, or reject the record in the builder.",
    )
    if run is None:
        (some,) = ledger.session.one(f"CREATE OR REPLACE TEMP TABLE _missing AS {missing}")
        if not some:
            ledger.listed(check, ())
            return
    strange = "{} IN (FROM _missing)" if run is None else f"{{}} NOT BETWEEN {run[0]} AND {run[1]}"
    message = f"{sql.literal(f'{column.name} ')} || {{}}::VARCHAR || {sql.literal(f' is not in {target}')}"
    if isinstance(column.type, List):
        rows = (
            f"SELECT _id AS id, {message.format('_value')} AS message FROM "
            f"(SELECT {duck.row_id(table)} AS _id, {value} AS _value FROM {ours}) WHERE {strange.format('_value')}"
        )
    else:
        rows = (
            f"SELECT {duck.row_id(table)} AS id, {message.format(own)} AS message FROM {ours} "
            f"WHERE {strange.format(own)}"
        )
    ledger.check(check, rows)


def _unbroken(session: Session, table: str, key: str) -> tuple[int, int] | None:
    """The first and the last of keys of which no integer between them is missing: a bound is looked at faster than a
    join. A scan must have found them to differ; the rest is in the files' footers."""
    found = session.suspects.get((table, (key,)))
    if found is None or len(found.values) or not is_number(session.dataset.table(table), (key,)):
        return None
    value = sql.name(key)
    count, low, high = session.one(f"SELECT count({value}), min({value}), max({value}) FROM {sql.name(table)}")
    return (low, high) if count and high - low + 1 == count else None
