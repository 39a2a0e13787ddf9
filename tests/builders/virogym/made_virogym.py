"""A small made ViroGym: valid tables, to plant defects in, and the folder that `quality` checks.

Three assays on two made proteins: cell entry with stops, deletions and wild-type rows; sera escape of what entered; and
growth with multi-mutants, insertions and deletions. Scores follow BLOSUM62 with noise, so that the rules of real assays
hold.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.virogym import edits
from builders.virogym.checks import CHECKS
from builders.virogym.schema import AMINO_ACIDS, SCHEMA
from builders.virogym.substitution import BLOSUM62
from quality.results import Result
from quality.run import check
from schemas import CheckSet, Dataset, DatasetFolder, Table
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA, shard_name
from schemas.parquet import write_parquet

Row = dict[str, Any]
Tables = dict[str, list[Row]]

LENGTH = 60
ENTRY, SERA, GROWTH = "MADE_cell_entry_A", "MADE_sera_escape_A", "MADE_viral_growth_B"


def tables() -> Tables:
    """Valid rows of all tables, with `sources`, `accounting` and `rejects` beside them."""
    chance = random.Random(1)
    made: Tables = {name: [] for name in (*(table.name for table in SCHEMA.tables), "sources", "accounting", "rejects")}
    proteins = {name: "".join(chance.choices(AMINO_ACIDS, k=LENGTH)) for name in ("made_a", "made_b")}
    for name, sequence in proteins.items():
        made["references"].append(_reference(name, sequence))
        made["numbering"] += _numbering(name, sequence)
    entry = _singles(ENTRY, "made_a", proteins["made_a"], chance)
    sera = [
        {**row, "assay_id": SERA, "score": -row["score"] / 4 + chance.gauss(0, 0.5)}
        for row in entry
        if row["kind"] == "sub" and (row["score"] > -1.5 or chance.random() < 0.2)
    ]
    for row in sera:
        row["score_raw"] = row["score"]
    growth = _singles(GROWTH, "made_b", proteins["made_b"], chance) + _several("made_b", proteins["made_b"], chance)
    sites = {(row["reference_id"], row["sequential_site"]): row["reference_site"] for row in made["numbering"]}
    for assay_id, reference, phenotype, direction, rows in (
        (ENTRY, "made_a", "cell_entry", 1, entry),
        (SERA, "made_a", "sera_escape", 0, sera),
        (GROWTH, "made_b", "viral_growth", 1, growth),
    ):
        made["assays"].append(_assay(assay_id, reference, phenotype, direction, len(rows)))
        made["sources"].append(source(assay_id))
        entries = {"source": f"{assay_id}.csv", "table": "variants", "records": len(rows) + 4, "rows": len(rows)}
        made["accounting"].append({**entries, "merged": 1, "rejects": {"no_score": 3}})
        for row in rows:
            places = row.pop("_places")
            row["ref_site"] = [sites[reference, place] for place in places]
            made["variants"].append(row)
            if row["kind"] in ("sub", "multi", "del", "ins"):
                made["proteingym"].append(_copy(row, proteins[reference]))
    return made


def _reference(name: str, sequence: str) -> Row:
    sha256 = hashlib.sha256(sequence.encode()).hexdigest()
    places = {"molecule": "made", "start_offset": 0, "cluster_30": name, "cluster_90": name, "source": "made"}
    return {"reference_id": name, "sequence": sequence, "length": len(sequence), "sha256": sha256, **places}


def _numbering(name: str, sequence: str) -> list[Row]:
    """Two sites before the first, and an inserted one: -2, -1, 1 ... 9, 9a, 10 ..."""
    rows = []
    for position, residue in enumerate(sequence, 1):
        number = position - 3 if position < 3 else position - 2 if position < 12 else position - 3
        site = "9a" if position == 12 else str(number)
        aligned = None if position < 3 or position == 12 else number
        row = {"reference_id": name, "sequential_site": position, "reference_site": site, "reference_wt": residue}
        rows.append({**row, "region": None, "aligned_site": aligned})
    for row in rows[:2]:
        row["aligned_site"] = None
    return (
        rows
        if name == "made_a"
        else [{**row, "reference_site": str(i), "aligned_site": i} for i, row in enumerate(rows, 1)]
    )


def _singles(assay_id: str, reference: str, sequence: str, chance: random.Random) -> list[Row]:
    rows = []
    for position, wt in enumerate(sequence, 1):
        weight = chance.random()
        rows.append(_variant(assay_id, reference, [(position, position, "sub", wt)], sequence, "wt", 0.0))
        for mt in AMINO_ACIDS.replace(wt, ""):
            score = weight * (BLOSUM62[wt, mt] - 2) - 2 * (mt == "P") + chance.gauss(0, 0.3)
            rows.append(_variant(assay_id, reference, [(position, position, "sub", mt)], sequence, "sub", score))
        stop = [(position, position, "sub", "*")]
        rows.append(_variant(assay_id, reference, stop, sequence, "stop", chance.gauss(-7, 0.5)))
        if sequence[position : position + 1] != wt:
            gone = [(position, position, "del", "")]
            rows.append(_variant(assay_id, reference, gone, sequence, "del", chance.gauss(-3, 1)))
    return rows


def _several(reference: str, sequence: str, chance: random.Random) -> list[Row]:
    rows = []
    for i in range(3, 40):
        change = {place: chance.choice(AMINO_ACIDS.replace(sequence[place - 1], "")) for place in (i, i + 5, i + 9)}
        subs = [(place, place, "sub", new) for place, new in change.items()]
        rows.append(_variant(GROWTH, reference, subs, sequence, "multi", chance.gauss(-2, 1)))
    for kind, change in (
        ("ins", [(10, 11, "ins", "WW")]),
        ("del", [(20, 23, "del", "")]),
        ("ins", [(30, 31, "delins", "GGGG")]),
        ("del", [(5, 5, "sub", "W" if sequence[4] != "W" else "Y"), (40, 42, "del", "")]),
        ("ins", [(12, 12, "sub", "W" if sequence[11] != "W" else "Y"), (12, 13, "ins", "PP")]),
    ):
        rows.append(_variant(GROWTH, reference, change, sequence, kind, chance.gauss(-3, 1)))
    return rows


def _variant(
    assay_id: str, reference: str, change: Sequence[tuple[int, int, str, str]], sequence: str, kind: str, score: float
) -> Row:
    made = [edits.Edit(start, end, op, new) for start, end, op, new in change]  # type: ignore[arg-type]
    mutant = edits.text(made, sequence)
    variant_id = edits.variant_id(reference, mutant)
    changed, single = kind != "wt", kind != "wt" and len(made) == 1
    return {
        "assay_id": assay_id, "variant_id": variant_id, "mutant": mutant, "n_mut": len(made) if changed else 0,
        "kind": kind, "hgvs_pro": "p.?", "score": score, "score_raw": score, "score_sd": None,
        "n_obs": 5.0 if changed else None, "n_rep": 2, "replicates": None, "bin": None,
        "split_random": int(variant_id[:8], 16) % 5 if changed else None,
        "split_modulo": made[0].start % 5 if single else None,
        "split_contiguous": (made[0].start - 1) * 5 // LENGTH if single else None,
        "split_cluster": reference, "raw_row": 2,
        "_places": [place for edit in made for place in dict.fromkeys((edit.start, edit.end))],
    }  # fmt: skip


def _copy(row: Row, sequence: str) -> Row:
    """A `proteingym` row; the sequence is made here by hand, from the right end, so that positions stay true."""
    changed = sequence
    for part in reversed(row["mutant"].split(":")):
        first, _, last = part.partition("_")
        start = int("".join(filter(str.isdigit, first)))
        if part[-1] in AMINO_ACIDS and "ins" not in part:
            changed = changed[: start - 1] + part[-1] + changed[start:]
            continue
        end = int("".join(filter(str.isdigit, last))) if last else start
        new = part.partition("ins")[2]
        inserted = "ins" in part and "delins" not in part
        changed = changed[:start] + new + changed[start:] if inserted else changed[: start - 1] + new + changed[end:]
    mutant = row["mutant"] if row["kind"] in ("sub", "multi") else None
    keys = {"DMS_id": row["assay_id"], "variant_id": row["variant_id"], "mutant": mutant}
    return {**keys, "mutated_sequence": changed, "DMS_score": row["score"], "DMS_score_bin": row["bin"]}


def _assay(assay_id: str, reference: str, phenotype: str, direction: int, rows: int) -> Row:
    words = (
        "virus_species virus_family strain protein readout_detail score_name_raw numbering_scheme source_repo "
        "source_commit source_path citation"
    )
    return {
        **dict.fromkeys(words.split(), "made"), "protein": "NA", "assay_id": assay_id, "ncbi_taxid": 1, "uniprot": None,
        "phenotype": phenotype, "score_unit": "log2", "log_base": 2.0, "direction": direction, "wt_value": 0.0,
        "null_value": None, "reference_id": reference, "library_design": "saturation", "aggregation": "none",
        "n_components": None, "filters": "{}", "source_sha256": sha256_of(assay_id), "licence_spdx": "MIT",
        "redistributable": True, "doi": None, "n_rows_in": rows + 4, "n_rows_out": rows,
        "n_dropped_by_reason": json.dumps({"merged": 1, "no_score": 3}), "bin_cutoff": None, "bin_method": "none",
        "n_published": None,
    }  # fmt: skip


def source(assay_id: str) -> Row:
    """The entry of `assay_id`.csv in `sources`."""
    facts = {"bom": False, "encoding": "utf-8", "gzip": False}
    words = {"url": None, "path": f"{assay_id}.csv", "licence": "MIT", "accessed": "2026-11-30", "citation": "made"}
    pin = {"sha256": sha256_of(assay_id), "size": 10_000, "redistribute": True}
    return {"name": f"{assay_id}.csv", **words, **pin, "facts": facts}


def sha256_of(text: str) -> str:
    """The checksum that `source` gives."""
    return hashlib.sha256(text.encode()).hexdigest()


def arrow(table: Table, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows in the table's Arrow schema."""
    rows, columns = list(rows), []
    for field in table.arrow:
        storage = field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
        values = pa.array([row.get(field.name) for row in rows], storage)
        columns.append(pa.ExtensionArray.from_storage(field.type, values) if storage != field.type else values)
    return pa.Table.from_arrays(columns, schema=table.arrow)


def folder(path: Path, content: Mapping[str, Any], dataset: Dataset = SCHEMA) -> DatasetFolder:
    """Write a dataset folder. `content` is table -> rows (or an Arrow table); absent tables are empty."""
    files: list[Row] = []

    def add(relative: str, rows: pa.Table, table: str, split: str | None = None) -> None:
        target = path / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        written = write_parquet(target, rows.schema, rows.combine_chunks().to_batches())
        entry = {"path": relative, "table": table, "rows": written.rows, "bytes": written.bytes}
        files.append({**entry, "sha256": written.sha256, **({"split": split} if split else {})})

    for table in dataset.tables:
        rows = content.get(table.name, [])
        rows = rows if isinstance(rows, pa.Table) else arrow(table, rows)
        add(f"data/{table.name}/{shard_name('test', 0, 1)}", rows, table.name, "test")
        refused = content.get("rejects", []) if table.name == "variants" else []
        add(f"rejects/{table.name}.parquet", pa.Table.from_pylist(refused, REJECT_SCHEMA), table.name)
        add(f"lineage/{table.name}.parquet", LINEAGE_SCHEMA.empty_table(), table.name)
    build = {"format": 1, "dataset": dataset.name, "version": "1", "schema": dataset.to_json(), "files": files}
    build |= {"sources": content.get("sources", []), "accounting": content.get("accounting", []), "tools": {}}
    (path / "build.json").write_text(json.dumps(build), encoding="utf-8")
    return DatasetFolder(path)


def run(made: DatasetFolder, *names: str) -> dict[str, Result]:
    """The results of the named checks (all if none is named), by the engine that users run."""
    chosen = tuple(each for each in CHECKS.checks if not names or each.name in names)
    assert len(chosen) == len(names) or not names, f"no check is called one of {names}"
    report = check(made, CheckSet(chosen, CHECKS.views, CHECKS.plots), groups=("own",), threads=1)
    return {result.name: result for result in report.results}


def failed(results: Mapping[str, Result]) -> dict[str, int]:
    """Name -> failures of the blocking and warning checks that failed."""
    return dict(
        Counter(
            {
                name: result.failures
                for name, result in results.items()
                if result.status == "failed" and result.severity in ("block", "warn")
            }
        )
    )
