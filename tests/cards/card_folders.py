"""Small dataset folders: every column type, hostile texts, a report. Written with the project's own Parquet writer."""

from __future__ import annotations

import datetime
import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from schemas import (
    Audio,
    Bool,
    Column,
    Dataset,
    DatasetFolder,
    Date,
    Float,
    Image,
    Int,
    Json,
    Label,
    List,
    Struct,
    Table,
    Text,
    Timestamp,
)
from schemas.folder import LINEAGE_SCHEMA, REJECT_SCHEMA, shard_name
from schemas.parquet import write_parquet

SPEAKERS = Table(
    "speakers",
    "A person who was recorded.",
    (
        Column("speaker_id", Text(), "Stable name of the speaker.", pattern="S[0-9]+"),
        Column("age", Int(32), "Age | in full years.", unit="year", nullable=True, minimum=18, maximum=99),
    ),
    key=("speaker_id",),
)
UTTERANCES = Table(
    "utterances",
    "One recorded sentence.",
    (
        Column("utterance_id", Text(), "Stable name of the utterance."),
        Column("speaker_id", Text(), "Who speaks.", references="speakers.speaker_id"),
        Column("text", Text(), "What is said.", nullable=True, minimum=1),
        Column("seconds", Float(), "Duration.", unit="s", minimum=0),
        Column("clean", Label(("no", "yes")), "Whether there is no noise."),
        Column("kind", Text(), "How it was prompted.", allowed=("image", "text")),
    ),
    key=("utterance_id",),
    splits=("train", "test"),
)
SPOKEN = Dataset(
    "spoken",
    "Spoken sentences",
    "Sentences, and who spoke them. Made for tests.",
    (UTTERANCES, SPEAKERS),
    language=("as-IN", "no"),
    tasks=("automatic-speech-recognition",),
    tags=("speech", "yes"),
)
SPOKEN_ROWS: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("utterances", "train"): [
        {"utterance_id": f"U{i}", "speaker_id": f"S{i % 2}", "text": None if i == 3 else f"sentence {i}",
         "seconds": 1.5 + i, "clean": i % 2, "kind": "text"}
        for i in range(5)
    ],
    ("utterances", "test"): [
        {"utterance_id": f"U{i}", "speaker_id": "S2", "text": "the same", "seconds": 2.0, "clean": 1, "kind": "image"}
        for i in (7, 8)
    ],
    ("speakers", "train"): [{"speaker_id": f"S{i}", "age": None if i == 2 else 30 + i} for i in range(3)],
}  # fmt: skip

SOURCES = [
    {"name": "corpus", "url": "https://example.org/corpus.zip", "licence": "CC-BY-4.0", "redistribute": True,
     "accessed": "2026-05-01", "sha256": "0" * 64, "size": 10, "citation": "Somebody 2020", "facts": {}},
    {"name": "extra_words", "path": "sample/extra.csv", "licence": "MIT", "redistribute": True,
     "accessed": "2026-06-02", "sha256": "1" * 64, "size": 20, "citation": "", "facts": {}},
]  # fmt: skip

DATASHEET = """
required = ["purpose", "count"]

[card]
repository = "acme/spoken"
date = "2026-11-30"
annotations_creators = ["expert-generated"]
limitations = ["Only {{ figures.voices }} voices.", "Read speech | no conversation."]

[citation]
doi = "10.5281/zenodo.1003150"
[[citation.authors]]
given_names = "Ada"
family_names = "Writer"
orcid = "https://orcid.org/0000-0002-1825-0097"
[[citation.references]]
title = "A *corpus* of sentences"
year = 2020
doi = "10.1000/182"
authors = [{ family_names = "Body", given_names = "Some" }]

[figures]
voices = "SELECT count(DISTINCT speaker_id) FROM utterances"
durations = "SELECT kind, sum(seconds) AS seconds FROM utterances GROUP BY kind ORDER BY kind"

[rai]
data_biases = ["{{ figures.voices }} voices are no population."]
personal_sensitive_information = ["Voices."]

[answers]
purpose = "To test cards. By kind:\\n\\n{{ figures.durations }}"
funding = { not_applicable = "Nobody paid." }
"""


def arrow_rows(table: Table, rows: list[dict[str, Any]]) -> pa.RecordBatch:
    """Rows of Python values as a batch with the table's schema (pyarrow makes no JSON arrays from Python values)."""

    def stored(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_list(kind):
            return pa.list_(stored(kind.value_type))
        return pa.string() if kind == pa.json_() else kind

    kinds = [(column.name, column.type.arrow) for column in table.columns]
    arrays = [pa.array([row[name] for row in rows], stored(kind)) for name, kind in kinds]
    cast = [a if a.type == kind else a.cast(kind) for a, (_, kind) in zip(arrays, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(cast, schema=table.arrow)


def write_shard(
    folder: Path, table: Table, split: str, rows: list[dict[str, Any]], index: int = 0, of: int = 1
) -> Path:
    """One data file."""
    path = folder / "data" / table.name / shard_name(split, index, of)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_parquet(path, table.arrow, [arrow_rows(table, rows)])
    return path


def write_folder(
    path: Path,
    dataset: Dataset,
    rows: Mapping[tuple[str, str], list[dict[str, Any]]],
    sources: list[dict[str, Any]],
    rejects: Mapping[str, list[str]] | None = None,
    **build: Any,
) -> DatasetFolder:
    """A finished dataset folder. `rejects` holds the reasons of the rejected records of a table."""
    (path / "lineage").mkdir(parents=True)
    (path / "rejects").mkdir()
    for (name, split), content in rows.items():
        write_shard(path, dataset.table(name), split, content)
    for table in dataset.tables:
        ids = [i for (name, _), content in rows.items() if name == table.name for i in _ids(table, content)]
        source = sources[dataset.tables.index(table) % len(sources)] if sources else {"name": "", "licence": ""}
        line = {"source": source["name"], "sha256": "0" * 64, "licence": source["licence"]}
        lineage = [{"id": row, "place": f"line {i}", **line} for i, row in enumerate(ids)]
        write_parquet(path / "lineage" / f"{table.name}.parquet", LINEAGE_SCHEMA, _batches(lineage, LINEAGE_SCHEMA))
        reasons = (rejects or {}).get(table.name, [])
        lost = [{"reason": r, "message": "m", "source": "s", "place": "line 1", "record": "x"} for r in reasons]
        write_parquet(path / "rejects" / f"{table.name}.parquet", REJECT_SCHEMA, _batches(lost, REJECT_SCHEMA))
    record = {"format": 1, "dataset": dataset.name, "version": "1", "sample": False, "redistributable_only": False,
              "schema": dataset.to_json(), "tools": {"pyarrow": "26.0.1", "goldsmith": "0.1.0"}, "sources": sources,
              "left_out": [], "shards": [], "files": [], "accounting": [], **build}  # fmt: skip
    (path / "build.json").write_text(json.dumps(record, indent=1, sort_keys=True), encoding="utf-8")
    return DatasetFolder(path)


def _ids(table: Table, rows: list[dict[str, Any]]) -> list[str]:
    return table.row_ids(arrow_rows(table, rows)).to_pylist()


def _batches(rows: list[dict[str, Any]], schema: pa.Schema) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist(rows, schema)] if rows else []


def write_report(folder: DatasetFolder, checks: list[dict[str, Any]]) -> None:
    """quality/report.json about the bytes that are there."""
    folder.report_json.parent.mkdir(exist_ok=True)
    data = sorted(folder.path.glob("data/*/*.parquet"))
    files = [
        {"path": p.relative_to(folder.path).as_posix(), "sha256": hashlib.sha256(p.read_bytes()).hexdigest()}
        for p in data
    ]
    report = {"format": 1, "files": files, "passed": True, "checks": checks}
    folder.report_json.write_text(json.dumps(report), encoding="utf-8")


def check(name: str, severity: str, status: str, failures: int = 0) -> dict[str, Any]:
    """A check's entry in the report."""
    return {"name": name, "meaning": f"What {name} means.", "severity": severity, "table": "utterances",
            "kind": "check", "status": status, "failures": failures}  # fmt: skip


ACCOUNTING = [
    {"source": "corpus", "table": "utterances", "records": 10, "rows": 7, "merged": 1, "rejects": {"no_text": 2}},
    {"source": "extra_words", "table": "speakers", "records": 3, "rows": 3, "merged": 0, "rejects": {}},
]


MEDIA = {"bytes": b"RIFF", "path": "a.wav"}


def png(level: int) -> bytes:
    """A small picture."""
    images = pytest.importorskip("PIL.Image")
    content = io.BytesIO()
    images.new("RGB", (4, 3), (level, 0, 0)).save(content, "PNG")
    return content.getvalue()


KINDS = {
    "id": Text(),
    "int8": Int(8),
    "int64": Int(),
    "float32": Float(32),
    "bool": Bool(),
    "date": Date(),
    "time": Timestamp(),
    "label": Label(("no", "yes")),
    "json": Json(),
    "image": Image(),
    "audio": Audio(16000),
    "split": Text(),
    "texts": List(Text()),
    "matrix": List(List(Float(32))),
    "struct": Struct({"x": Int(), "inner": Struct({"name": Text(), "values": List(Int())}), "picture": Image()}),
    "spans": List(Struct({"start": Int(32), "scores": List(Float()), "text": Text(), "picture": Image()})),
    "pictures": List(Image()),
    "labels": List(Label(("p", "q"))),
    "groups": Struct({"items": List(Struct({"name": Text(), "value": Float()}))}),
    "deep": List(Struct({"items": List(Struct({"value": Int()})), "name": Text()})),
}
EVERYTHING = Dataset(
    "everything",
    "Every type",
    "A table with every type.",
    (
        Table(
            "things",
            "A thing.",
            tuple(Column(name, kind, f"The {name}.", nullable=name != "id") for name, kind in KINDS.items()),
            ("id",),
            ("train", "test"),
        ),
    ),
)


def thing(i: int) -> dict[str, Any]:
    """A row with every type."""
    picture = {"bytes": png(i), "path": f"{i}.png"}
    return {
        "id": f"r{i}",
        "int8": i,
        "int64": 2**40 + i,
        "float32": i / 2,
        "bool": bool(i % 2),
        "date": datetime.date(2020, 1, 1 + i),
        "time": datetime.datetime(2020, 1, 1, i),
        "label": i % 2,
        "json": json.dumps({"i": i}),
        "image": picture,
        "audio": MEDIA,
        "split": "a column of this name",
        "texts": ["অসমীয়া"] * (i % 3),
        "matrix": [[1.0, 2.0], [3.0]],
        "struct": {"x": i, "inner": {"name": "n", "values": [1, 2]}, "picture": picture},
        "spans": [{"start": k, "scores": [0.5] * k, "text": "t", "picture": picture} for k in range(i % 3)],
        "pictures": [picture] * (i % 3),
        "labels": [0, 1],
        "groups": {"items": [{"name": "a", "value": 1.5}]},
        "deep": [{"items": [{"value": i}], "name": "d"}],
    }
