"""Builds the sample once and checks it; gives speech to spoil, and a bench that runs one check on made-up rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import soundfile

from builders.build import build
from builders.sources import Sources
from builders.vaani import settings
from builders.vaani.builder import BUILDER
from builders.vaani.checks_whole import WHOLE_VIEWS
from builders.vaani.collection import Collection
from builders.vaani.schema import CLAIMS, IMAGES, UTTERANCES
from quality import run
from schemas import Check, DatasetFolder, Table

SAMPLE = BUILDER.folder / "sample"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> DatasetFolder:
    """The bundled sample, built and checked."""
    out = tmp_path_factory.mktemp("vaani") / "sample"
    build(BUILDER, Sources.load(BUILDER.folder, sample=True), out, progress=False)
    folder = DatasetFolder(out)
    run.check(folder, BUILDER.checks)
    return folder


@pytest.fixture(scope="session")
def keys(sample: DatasetFolder) -> dict[str, str]:
    """Row id -> the clip's or image's key in the sample's plan, by the line of the table that it came from."""
    lines = (SAMPLE / "recordings" / "clips.tsv").read_text(encoding="utf-8").splitlines()
    found = {}
    for row in pq.read_table(sample.lineage("utterances")).to_pylist():
        name = lines[int(row["place"].rpartition(" ")[2]) - 1].split("\t")[0]
        found[row["id"]] = name.split("_")[-3]
    lines = (SAMPLE / "recordings" / "images.tsv").read_text(encoding="utf-8").splitlines()
    for row in pq.read_table(sample.lineage("images")).to_pylist():
        found[row["id"]] = lines[int(row["place"].rpartition(" ")[2]) - 1].split("\t")[0]
    return found


@pytest.fixture(scope="session")
def findings(sample: DatasetFolder, keys: dict[str, str]) -> dict[str, set[str]]:
    """check -> the keys of the clips (or the ids of other rows) that fail it."""
    found: dict[str, set[str]] = {}
    for row in pq.read_table(sample.findings).to_pylist():
        found.setdefault(row["check"], set()).add(keys.get(row["id"], row["id"]))
    return found


@pytest.fixture(scope="session")
def figures(sample: DatasetFolder) -> dict[str, dict[str, float]]:
    """figure -> subject -> value, of the sample."""
    report = json.loads(sample.report_json.read_text(encoding="utf-8"))
    return {
        check["name"]: {figure["subject"]: figure["value"] for figure in check["figures"]} for check in report["checks"]
    }


@pytest.fixture(scope="session")
def speech() -> np.ndarray:
    """A clean clip, float32 at 16 kHz."""
    path = next((SAMPLE / "recordings" / "audio").glob("*_1001_*.flac"))
    return soundfile.read(path, dtype="float32")[0]


@pytest.fixture
def collection_folder(tmp_path: Path) -> Callable[..., Path]:
    """Lays a collection of the sample's clips: `make(rows, **sections)` with rows of column -> value."""

    def make(rows: list[dict[str, str]], name: str = "clips.tsv", toml: str = "") -> Path:
        folder = tmp_path / "collection"
        shutil.copytree(SAMPLE / "recordings" / "audio", folder / "audio", dirs_exist_ok=True)
        columns = list(rows[0])
        lines = ["\t".join(columns), *("\t".join(row[column] for column in columns) for row in rows)]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        about = '[collection]\nname = "x"\nlicence = "CC0-1.0"\npersonal_names = false\ntables = ["clips.tsv"]\n'
        mapped = "[columns]\n" + "".join(f'{column} = "{column}"\n' for column in columns)
        (folder / "collection.toml").write_text(about + (toml or mapped), encoding="utf-8")
        return folder

    return make


def good_row(**different: Any) -> dict[str, Any]:
    """A row of `utterances` that no check has anything against, with what is different."""
    row = {column.name: None if column.nullable else _empty(column.type.arrow) for column in UTTERANCES.columns}
    row |= {
        "utterance_id": "u1", "audio": {"bytes": b"x", "path": "u1.flac"}, "container": "flac", "codec": "pcm_16",
        "extension_given": "flac", "extension_fits": True, "sampling_rate": 16000, "channels": 1, "bytes": 1,
        "duration_s": 3.0, "level_dbfs": -20.0, "peak_dbfs": -6.0, "active_s": 2.4, "silence_share": 0.2,
        "snr_percentile_db": 40.0, "bandwidth_hz": 7900.0, "pcm_digest": "p1",
        "transcript": "words", "text_clean": "words", "letters": 30, "text_key": "t1", "script": "Devanagari",
        "script_share": 1.0, "language": "Hindi", "language_given": "Hindi", "bcp47": "hi",
        "language_family": "Indo-Aryan", "speaker_id": "s1", "recording_id": "r1", "split": "train",
        "licence": "CC0-1.0", "gender": "female",
    }  # fmt: skip
    return row | different


def _empty(kind: pa.DataType) -> Any:
    if pa.types.is_list(kind):
        return []
    if pa.types.is_boolean(kind):
        return False
    return 0 if pa.types.is_integer(kind) or pa.types.is_floating(kind) else ""


class Bench:
    """Runs one of VAANI's checks on rows; `row(**different)` makes a good one.

    `failing(name, *rows, images=, claims=, thresholds=, speech=, personal_names=)` gives the ids (or subjects) that
    fail, `values` a figure's values by subject."""

    def __init__(self) -> None:
        self.checks = {check.name: check for check in BUILDER.checks.checks}

    row = staticmethod(good_row)

    def failing(self, name: str, *rows: dict[str, Any], **more: Any) -> set[str]:
        check = self.checks[name]
        with self._tables(rows, **more) as con:
            found = con.sql(check.sql).to_arrow_table().to_pylist()
        if "subject" not in (found[0] if found else {}):
            return {row["id"] for row in found}
        low, high = getattr(check, "low", None), getattr(check, "high", None)
        return {
            row["subject"]
            for row in found
            if row["value"] is not None
            and (
                ((bound := row.get("low", low)) is not None and row["value"] < bound)
                or ((bound := row.get("high", high)) is not None and row["value"] > bound)
            )
        }

    def everything(self, *rows: dict[str, Any]) -> set[str]:
        """The checks that any of the rows fails (figures left out)."""
        with self._tables(rows) as con:
            single = [check for check in self.checks.values() if isinstance(check, Check)]
            return {check.name for check in single if con.sql(check.sql).fetchall()}

    def values(self, name: str, *rows: dict[str, Any], **more: Any) -> dict[str, float]:
        with self._tables(rows, **more) as con:
            return {
                row["subject"]: row["value"]
                for row in con.sql(self.checks[name].sql).to_arrow_table().to_pylist()
                if row["value"] is not None
            }

    def _tables(
        self,
        rows: tuple[dict[str, Any], ...],
        images: list[dict[str, Any]] | None = None,
        claims: list[dict[str, Any]] | None = None,
        thresholds: dict[str, float] | None = None,
        speech: str = "spontaneous",
        rejects: list[dict[str, str]] | None = None,
        personal_names: bool = True,
    ) -> duckdb.DuckDBPyConnection:
        con = duckdb.connect()
        described = Collection(
            "x", "CC0-1.0", thresholds=thresholds or {}, speech=speech, personal_names=personal_names
        )
        about = settings.rows(described)
        splits = pa.array([row["split"] for row in rows], pa.string())
        tables = {
            "utterances": _table(UTTERANCES, list(rows)).append_column("_split", splits),
            "images": _table(IMAGES, images or []),
            "claims": _table(CLAIMS, claims or []),
            "settings": pa.Table.from_pylist(about),
            "rejects": pa.Table.from_pylist(
                rejects or [], pa.schema([("reason", pa.string()), ("table_name", pa.string())])
            ),
        }
        for name, table in tables.items():
            con.register(name, table)
        for view in WHOLE_VIEWS:
            con.execute(f"CREATE VIEW {view.name} AS {view.sql}")
        return con


def _table(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    arrays = []
    for column in table.columns:
        kind = column.type.arrow
        plain = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        arrays.append(pa.array([row[column.name] for row in rows], plain))
    return pa.Table.from_arrays(arrays, names=table.names)


@pytest.fixture(scope="session")
def bench() -> Bench:
    """See `Bench`."""
    return Bench()
