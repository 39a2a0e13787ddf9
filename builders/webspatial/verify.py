"""Every answer of a dataset folder again, from the stored captures: no browser, and not the code path that chose them.

A question that hangs on the camera is also asked from cameras turned at random within its stated margin.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.webspatial.capture import store
from builders.webspatial.space.kinds import KINDS
from builders.webspatial.space.planner import called_answer
from builders.webspatial.space.program import check, find, run
from builders.webspatial.space.scene import Scene, load
from builders.webspatial.space.tools import TOOLS
from schemas import DatasetFolder, GoldsmithError

TURNS = 5
"""Random camera turns a question."""


@dataclass(frozen=True)
class Verified:
    """How many questions were answered again; whose answers differ, or change with the camera, in `lines`."""

    questions: int
    differ: int
    unstable: int
    lines: tuple[str, ...]


def verify(folder: Path, captures: Path) -> Verified:
    """Answer every question of `folder` again from `captures`.

    Raises:
        GoldsmithError: the folder holds no questions, or a capture of theirs is absent.
    """
    columns = ["question_id", "scene_id", "type", "options", "answer", "program", "marks", "margin"]
    scenes: dict[str, Scene] = {}
    total, differ, unstable, lines = 0, 0, 0, []
    for path in sorted((DatasetFolder(folder).path / "data" / "questions").glob("*.parquet")):
        for row in pq.read_table(path, columns=columns).to_pylist():
            name = row["scene_id"]
            if name not in scenes:
                scenes[name] = load(name, store.read(captures / name).data)
            program, marks = _json(row["program"]), _json(row["marks"])
            total += 1
            again = answer(scenes[name], row["type"], program, marks, row["options"])
            if again != row["answer"]:
                differ += 1
                lines.append(f"{row['question_id']}: {again}, the table says {row['answer']}")
            elif row["margin"] and not _holds(scenes[name], program, marks, row["margin"], row["question_id"]):
                unstable += 1
                lines.append(f"{row['question_id']}: another answer within {row['margin']:g} degrees")
    if not total:
        raise GoldsmithError(f"[{folder}] holds no questions: build webspatial first")
    return Verified(total, differ, unstable, tuple(lines))


def _json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def answer(s: Scene, kind: str, program: dict[str, Any], marks: dict[str, int], options: list[str]) -> str:
    """The option that a question's program leads to."""
    check(program)
    found = run(s, program, marks).answer
    if not KINDS[kind].picks:
        return found
    roles = KINDS[kind].roles[-len(options) :]
    return called_answer(KINDS[kind], found, dict(zip(roles, options, strict=True))) if len(found) == 1 else found


def _holds(s: Scene, program: dict[str, Any], marks: dict[str, int], margin: float, seed: str) -> bool:
    if program["tool"] == "hidden_by":
        return True  # It was asked of the renderer itself, from turned cameras, when the page was captured.
    rng = random.Random(seed)  # noqa: S311
    args = {k: find(s, v, marks) if isinstance(v, dict) else v for k, v in program["args"].items()}
    run_tool = TOOLS[program["tool"]].run
    here = run_tool(s, **args)
    for _ in range(TURNS):
        angle, far = rng.uniform(0, 2 * math.pi), margin * math.sqrt(rng.random())
        if run_tool(s.turn(far * math.cos(angle), far * math.sin(angle)), **args) != here:
            return False
    return True
