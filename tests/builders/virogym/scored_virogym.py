"""A small dataset folder to score against: three assays of two proteins, two cohorts of sera, two windows."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from builders.virogym.schema import AMINO_ACIDS, SCHEMA
from builders.virogym.substitution import BLOSUM62
from schemas import DatasetFolder

PROTEINS = {"made_a": "MKTAYIAKQRQISFVKSHFS", "made_b": "GDSLAWTPEVKHNMCQRFYI"}
ASSAYS = {"A_cell_entry": ("made_a", "cell_entry"), "A_sera_escape": ("made_a", "sera_escape"),
          "B_viral_growth": ("made_b", "viral_growth")}  # fmt: skip
PARTLY = "B_viral_growth"
"""The assay with multi-mutants."""


def write(path: Path) -> DatasetFolder:
    """Write the tables that the scorer reads, and `build.json`."""
    chance = random.Random(7)
    variants = [row for assay, (reference, _) in ASSAYS.items() for row in _variants(assay, reference, chance)]
    frame = pl.DataFrame(variants, schema_overrides={"bin": pl.Int8})
    median = pl.col("score").filter(pl.col("kind").is_in(["sub", "multi"])).median().over("assay_id")
    reached = pl.when(pl.col("kind").is_in(["sub", "multi"])).then((pl.col("score") >= median).cast(pl.Int8))
    _table(path, "variants", frame.with_columns(bin=reached))
    assays = [
        {"assay_id": name, "reference_id": reference, "phenotype": phenotype, "direction": int("escape" not in name)}
        for name, (reference, phenotype) in ASSAYS.items()
    ]
    _table(path, "assays", pl.DataFrame(assays))
    references = [{"reference_id": name, "sequence": seq, "cluster_90": name} for name, seq in PROTEINS.items()]
    _table(path, "references", pl.DataFrame(references))
    _titres(path, chance)
    _windows(path, chance)
    build = {
        "format": 1,
        "dataset": "virogym",
        "version": "0",
        "schema": SCHEMA.to_json(),
        "files": [],
        "sources": [],
        "accounting": [],
    }
    path.joinpath("build.json").write_text(json.dumps(build))
    return DatasetFolder(path)


def _variants(assay: str, reference: str, chance: random.Random) -> list[dict]:
    sequence = PROTEINS[reference]
    rows = []
    for position, wt in enumerate(sequence, 1):
        for mt in AMINO_ACIDS.replace(wt, ""):
            score = BLOSUM62[wt, mt] + chance.gauss(0, 2)
            rows.append(_variant(assay, reference, f"{wt}{position}{mt}", "sub", position, score))
        rows.append(_variant(assay, reference, f"{wt}{position}*", "stop", position, -9.0))
    if assay == PARTLY:
        for position in range(1, 15):
            pair = ":".join(
                f"{sequence[i - 1]}{i}{'W' if sequence[i - 1] != 'W' else 'Y'}" for i in (position, position + 4)
            )
            rows.append(_variant(assay, reference, pair, "multi", None, chance.gauss(-3, 1)))
    return rows


def _variant(assay: str, reference: str, mutant: str, kind: str, position: int | None, score: float) -> dict:
    return {
        "assay_id": assay, "variant_id": f"{reference} {mutant}", "mutant": mutant, "kind": kind, "score": score,
        "bin": None, "split_random": len(mutant) * 7 % 5 if position is None else position * 7 % 5,
        "split_modulo": None if position is None else position % 5,
        "split_contiguous": None if position is None else (position - 1) // 4, "split_cluster": reference,
    }  # fmt: skip


def _titres(path: Path, chance: random.Random) -> None:
    """Ferret sera see their own strain best; human sera the oldest. One strain has no sequence."""
    strains = {f"s{i}": "A" * (12 - i) + "C" * i for i in range(10)}
    viruses = [{"strain_id": name, "sequence": seq} for name, seq in strains.items()] + [
        {"strain_id": "secret", "sequence": None}
    ]
    _table(path, "viruses", pl.DataFrame(viruses))
    sera, rows = [], []
    for species, cohort, count in (("ferret", "FCI", 3), ("human", "Penn", 4), ("human", "SCH", 2)):
        for i in range(count):
            serum = f"{cohort}_{i}"
            home = f"s{2 * i}" if species == "ferret" else "s9"
            sera.append({"serum_id": serum, "species": species, "cohort": cohort, "immunogen_strain_id": home})
            for j, strain in enumerate(strains):
                far = abs(j - 2 * i) if species == "ferret" else j
                titre = max(9 - far + chance.gauss(0, 0.2), 4.0)
                rows.append(
                    {"task_id": f"T_{species}", "serum_id": serum, "strain_id": strain, "log2_titre": titre,
                     "censor": "left" if titre == 4.0 else "none", "homologous_strain_id": home}
                )  # fmt: skip
    _table(path, "sera", pl.DataFrame(sera))
    _table(path, "neutralisation", pl.DataFrame(rows))


def _windows(path: Path, chance: random.Random) -> None:
    windows = [
        {"window_id": "later", "start_T": "2021-01", "start_T1": "2022-01", "label_rule": "virogym"},
        {"window_id": "earlier", "start_T": "2020-01", "start_T1": "2021-01", "label_rule": "virogym"},
    ]
    _table(path, "windows", pl.DataFrame(windows))
    definitions = pa.array(['{"absent": "unknown"}', '{"absent": "zero"}'])
    rules = pa.table(
        {
            "label_rule": ["other", "virogym"],
            "definition": pa.ExtensionArray.from_storage(pa.json_(pa.string()), definitions),
        }
    )
    (path / "data" / "label_rules").mkdir()
    pq.write_table(rules, path / "data" / "label_rules" / "test-00000-of-00001.parquet")
    rows = []
    for window in windows:
        for position, wt in enumerate(PROTEINS["made_a"], 1):
            for mt in [*AMINO_ACIDS.replace(wt, ""), "-"]:
                gone = mt == "-"
                seen = not gone and chance.random() < 0.2
                count = chance.randint(0, 500) if seen else None
                status = "not_counted" if gone else "counted" if seen else "absent"
                emergent = None if gone else seen and chance.random() < 0.3
                rows.append(
                    {
                        "window_id": window["window_id"], "reference_id": "made_a",
                        "mutation": f"{wt}{position}{'del' if gone else mt}", "wt": wt, "mut": mt, "status": status,
                        "count_T": count,
                        "min_nt_dist": None if gone else 1 + (ord(mt) + position) % 3, "is_emergent": emergent,
                        "is_novel": None if gone else bool(seen and count == 0),
                        "emergent_by": None if gone else ["virogym"] if emergent else [],
                    }
                )  # fmt: skip
    _table(path, "emergence", pl.DataFrame(rows, schema_overrides={"emergent_by": pl.List(pl.String)}))


def _table(path: Path, name: str, rows: pl.DataFrame) -> None:
    folder = path / "data" / name
    folder.mkdir(parents=True, exist_ok=True)
    rows.write_parquet(folder / "test-00000-of-00001.parquet")
