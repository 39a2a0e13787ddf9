"""What a probe leaves in its folder, and how it is read again. PROBE.md says the layout for other tools.

`probe.json` is written first and last (`finished`); shards of prompts are whole under their names or not there, so a
run that was stopped goes on. Maps are half floats relative to each map's highest value, which is kept beside them:
every value is right to one in a thousand, or to 6e-8 of the highest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from schemas import DatasetFolder, GoldsmithError
from schemas.files import replace_json, replace_text, replacing

FORMAT = 1
ROWS = 8
"""Prompts in a row group: what a reader holds at a time (10 MB for 1,024 heads of 576 cells)."""


@dataclass(frozen=True)
class Maps:
    """Attention of the last prompt token over the picture, of a few prompts.

    Attributes:
        prompts: their ids, n of them.
        maps: [n, layers, heads, rows, columns], float32; the picture stretched over the grid, row 0 on top.
        sums: [n, layers, heads]: attention over all picture tokens of a grid (S_img); the rest went to other tokens.
    """

    prompts: tuple[str, ...]
    maps: np.ndarray
    sums: np.ndarray


class Outputs:
    """The folder of a probe's outputs."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def summary_json(self) -> Path:
        """What was run: see `run.probe`."""
        return self.path / "probe.json"

    def shard(self, kind: str, number: int) -> Path:
        """The file of a shard of `spatial` or `temporal` prompts."""
        folder, suffix = ("maps", "parquet") if kind == "spatial" else ("orders", "jsonl")
        return self.path / folder / f"{number:05d}.{suffix}"

    def summary(self) -> dict[str, Any] | None:
        """The content of probe.json; None where there is none.

        Raises:
            GoldsmithError: it cannot be read, or is of another format.
        """
        if not self.summary_json.is_file():
            return None
        try:
            record = json.loads(self.summary_json.read_text(encoding="utf-8"))
        except ValueError as error:
            raise GoldsmithError(f"[{self.summary_json}] is no JSON ({error}): run the probe again") from None
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise GoldsmithError(f"[{self.summary_json}] is of another format: run the probe again in another folder")
        return record

    def write_summary(self, record: Mapping[str, Any]) -> None:
        """Write probe.json whole."""
        self.path.mkdir(parents=True, exist_ok=True)
        replace_json(self.summary_json, {"format": FORMAT, **record})

    def write_maps(self, number: int, parts: Sequence[Maps]) -> None:
        """Write a shard of maps; one shard has one grid."""
        layers, heads, rows, columns = parts[0].maps.shape[1:]
        maps = np.concatenate([part.maps for part in parts]).reshape(-1, layers * heads, rows * columns)
        sums = np.concatenate([part.sums for part in parts]).reshape(len(maps), -1).astype(np.float32)
        peaks = maps.max(2)
        share = np.divide(maps, peaks[..., None], out=np.zeros_like(maps), where=peaks[..., None] > 0)
        size = {"layers": layers, "heads": heads, "rows": rows, "columns": columns}
        table = pa.table(
            {
                "prompt_id": pa.array([name for part in parts for name in part.prompts], pa.string()),
                **{name: pa.array([value] * len(maps), pa.int16()) for name, value in size.items()},
                "sums": _lists(sums),
                "peaks": _lists(peaks.astype(np.float32)),
                "maps": _lists(share.reshape(len(maps), -1).astype(np.float16)),
            }
        )
        # Half floats of one byte plane each: high bytes are alike and pack well.
        planes = {
            "use_dictionary": False,
            "use_byte_stream_split": [f"{n}.list.element" for n in table.column_names[5:]],
        }
        with replacing(self._place("spatial", number)) as path:
            pq.write_table(table, path, compression="zstd", row_group_size=ROWS, **planes)

    def write_orders(self, number: int, answers: Sequence[Mapping[str, Any]]) -> None:
        """Write a shard of answers, JSON lines."""
        lines = [json.dumps(answer, ensure_ascii=False, sort_keys=True) + "\n" for answer in answers]
        replace_text(self._place("temporal", number), "".join(lines))

    def _place(self, kind: str, number: int) -> Path:
        path = self.shard(kind, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def drawings_key(folder: DatasetFolder) -> str:
    """The sha256 over the checksums of the drawings: outputs are scored against the drawings that were probed."""
    sums = sorted(file["sha256"] for file in folder.build["files"] if file["table"] == "sketches")
    return hashlib.sha256(json.dumps(sums).encode()).hexdigest()


def map_files(path: Path) -> list[Path]:
    """The shards of maps of a probe's folder, in their order."""
    return sorted((path / "maps").glob("*.parquet"))


def read_maps(file: Path) -> Iterator[Maps]:
    """The maps of a shard, a few prompts at a time.

    Raises:
        GoldsmithError: it is no shard of maps.
    """
    try:
        shard = pq.ParquetFile(file)
        for batch in shard.iter_batches(ROWS):
            yield _maps(batch)
    except (pa.ArrowException, KeyError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise GoldsmithError(f"[{file}] is no shard of maps ({reason}): run the probe again, or see PROBE.md") from None


def map_prompts(file: Path) -> list[tuple[str, tuple[int, int, int, int]]]:
    """Each prompt of a shard with its layers, heads, rows and columns, without the maps."""
    try:
        table = pq.read_table(file, columns=["prompt_id", "layers", "heads", "rows", "columns"])
    except (pa.ArrowException, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise GoldsmithError(f"[{file}] is no shard of maps ({reason}): run the probe again, or see PROBE.md") from None
    names, *sizes = (column.to_pylist() for column in table.columns)
    return list(zip(names, zip(*sizes, strict=True), strict=True))


def _maps(batch: pa.RecordBatch) -> Maps:
    sizes = {
        tuple(batch[name][row].as_py() for name in ("layers", "heads", "rows", "columns")) for row in range(len(batch))
    }
    if len(sizes) != 1:
        raise ValueError("its rows have different grids")
    size = sizes.pop()
    cells = size[2] * size[3]
    count = len(batch)
    peaks = _array(batch["peaks"]).reshape(count, -1, 1)
    maps = _array(batch["maps"]).reshape(count, -1, cells).astype(np.float32) * peaks
    sums = _array(batch["sums"]).reshape(count, size[0], size[1])
    return Maps(tuple(batch["prompt_id"].to_pylist()), maps.reshape(count, *size), sums)


def _array(column: pa.Array) -> np.ndarray:
    return column.flatten().to_numpy(zero_copy_only=False)


def _lists(values: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
