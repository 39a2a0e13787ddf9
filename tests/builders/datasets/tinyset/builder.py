"""Readings of stations: one shard a source, a plain CSV reader, and handles by which tests make it fail or wait.

`TINY_FAULT` names a shard and what befalls it, once the first half of its rows has been yielded.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pyarrow as pa

from builders import Batch, Read, Reject, Shard, Sources
from schemas import CheckSet, Column, Dataset, Date, Float, GoldsmithError, Json, List, Table, Text
from tinyset.helper import FACTOR

READINGS = Table(
    "readings",
    "Readings.",
    (
        Column("station", Text(), "Where."),
        Column("day", Date(), "When."),
        Column("value", Float(), "What.", nullable=True),
        Column("words", List(Text()), "Words of the source."),
        Column("extra", Json(), "More.", nullable=True),
    ),
    key=("station", "day"),
    splits=("train", "test"),
)
NOTES = Table("notes", "None so far.", (Column("note", Text(), "Text."),), key=("note",))


class TinySet:
    schema = Dataset("tinyset", "Tiny set", "Readings of stations.", (READINGS, NOTES))
    version = "1.0"
    folder = Path(__file__).parent
    checks = CheckSet()
    expected_rejects = frozenset({"no_value"})
    reject_budget = 0.1

    def plan(self, sources: Sources) -> Iterator[Shard]:
        for name in sources.names:
            if sources.allows(name):
                yield Shard(name, (name,), {"size": int(os.environ.get("TINY_BATCH", "2"))})

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        (name,) = shard.inputs
        lines = sources.text(name).splitlines()[1:]
        good: dict[str, tuple[str, str]] = {}
        merged: dict[str, list[str]] = {}
        for number, line in enumerate(lines, start=2):
            place = f"line {number}"
            station, day, value = line.split(",")
            key = f"{station} {day}"
            if not value:
                yield Reject("readings", "no_value", "nothing was measured", name, place, line)
            elif len(day) != 10:
                yield Reject("readings", "bad_day", f"{day!r} is no day", name, place, line)
            elif key in good:
                merged.setdefault(key, []).append(place)
            else:
                good[key] = (place, line)
        size = int(str(shard.parameters["size"]))
        for start in range(0, len(good), size):
            keys = list(good)[start : start + size]
            yield _batch(name, keys, good, merged)
            if start >= len(good) // 2:
                _fault(name)
        yield Read(name, "readings", len(lines))


def _batch(source: str, keys: list[str], good: dict[str, tuple[str, str]], merged: dict[str, list[str]]) -> Batch:
    cells = [good[key][1].split(",") for key in keys]
    columns = [
        pa.array([station for station, _, _ in cells]),
        pa.array([date.fromisoformat(day) for _, day, _ in cells]),
        pa.array([float(value) * FACTOR for _, _, value in cells]),
        pa.array([line.split() for line in (good[key][1] for key in keys)], pa.list_(pa.string())),
        pa.array([None if value == "0" else f'{{"raw": "{value}"}}' for _, _, value in cells], pa.json_()),
    ]
    rows = pa.RecordBatch.from_arrays(columns, schema=READINGS.arrow)
    more = [(index, place) for index, key in enumerate(keys) for place in merged.get(key, ())]
    split = "test" if source.endswith("test") else "train"
    return Batch("readings", split, rows, source, [good[key][0] for key in keys], more)


def _fault(shard: str) -> None:
    wanted, _, fault = os.environ.get("TINY_FAULT", "").partition("=")
    if wanted != shard:
        return
    if fault.startswith("wait:"):
        Path(fault[5:]).touch()
        time.sleep(600)
    if fault == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault.startswith("die-once:"):
        mark = Path(fault[9:])
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    if fault.startswith("lose:"):
        _, number, mark = fault.split(":", 2)
        if not Path(mark).exists():
            Path(mark).touch()
            _lose(int(number))
    if fault == "mistake":
        raise GoldsmithError(f"[{shard}] is made to fail: do not ask for it")
    if fault == "exception":
        raise ZeroDivisionError("made to fail")


def _lose(number: int) -> None:
    """Send oneself a signal while C code calls back into Python, which loses the exception that answers it."""

    def callback() -> int:
        os.kill(os.getpid(), number)
        return sum(range(100_000))

    ctypes.CFUNCTYPE(ctypes.c_int)(callback)()


BUILDER = TinySet()
