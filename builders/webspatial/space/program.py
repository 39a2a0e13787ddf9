"""Programs: a typed call of a tool on references to objects, as JSON; and their execution, with a trace.

    {"tool": "side", "args": {"a": {"mark": "A"}, "b": {"unique": {"colour": "red", "shape": "cube"}}}}

A mark is a letter drawn on the picture; `marks` says which object it stands for. A `unique` reference must fit one
object and nothing doubtful. Answers come from here and from nowhere else.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from builders.webspatial.space import motion  # noqa: F401  (registers its tools)
from builders.webspatial.space.names import COLOURS, SHAPES
from builders.webspatial.space.scene import Obj, Scene
from builders.webspatial.space.tools import AMBIGUOUS, TOOLS
from schemas import GoldsmithError

LADDER = (2.0, 4.0, 6.0, 8.0)
"""Degrees by which the camera is turned to re-check an answer; the margin is the last one that changes nothing."""
LEAST_MARGIN = 2.0


@dataclass(frozen=True)
class Result:
    """An answer, the calls that led to it, and for how many degrees of camera turn it holds (None: for all)."""

    answer: str
    trace: tuple[dict[str, Any], ...]
    margin: float | None


@lru_cache
def _parameters(name: str) -> dict[str, inspect.Parameter]:
    return dict(list(inspect.signature(TOOLS[name].run).parameters.items())[1:])


def check(program: Any) -> None:
    """See that a program is one: a known tool with its arguments, each of its type.

    Raises:
        GoldsmithError: it is none; the first fault is named.
    """
    if not isinstance(program, Mapping) or set(program) != {"tool", "args"} or program["tool"] not in TOOLS:
        raise GoldsmithError(f"[program] {program!r} calls no known tool: the tools are {', '.join(sorted(TOOLS))}")
    name, args = program["tool"], program["args"]
    wants = _parameters(name)
    needed = {k for k, p in wants.items() if p.default is p.empty}
    if not isinstance(args, Mapping) or not needed <= set(args) <= set(wants):
        raise GoldsmithError(f"[program > {name}] its arguments are {TOOLS[name].signature}: give these")
    for key, value in args.items():
        if str(wants[key].annotation).endswith("Obj"):
            _check_reference(name, value)
        elif (key == "colour" and value not in (*COLOURS, "any")) or (key == "shape" and value not in (*SHAPES, "any")):
            raise GoldsmithError(f"[program > {name} > {key}] {value!r} is no such name: see space/names.py")
        elif key == "turn" and value not in (90, 180, 270):
            raise GoldsmithError(f"[program > {name} > turn] {value!r} is none of 90, 180 and 270")


def _check_reference(name: str, value: Any) -> None:
    good = isinstance(value, Mapping) and (
        (set(value) == {"mark"} and value["mark"] in tuple("ABCDEF"))
        or (set(value) == {"unique"} and set(value["unique"]) <= {"colour", "shape"})
    )
    if not good:
        raise GoldsmithError(f"[program > {name}] {value!r} refers to nothing: use a mark or a unique description")


def find(s: Scene, reference: Mapping[str, Any], marks: Mapping[str, int]) -> Obj | None:
    """The object a reference means; None where it fits none, or more than one, or something doubtful fits it, too."""
    if "mark" in reference:
        try:
            return s.object(marks[reference["mark"]])
        except KeyError:
            return None
    wanted = reference["unique"]
    colour, shape = wanted.get("colour"), wanted.get("shape")
    may = [
        o
        for o in (*s.objects, *s.doubtful)
        if (colour is None or o.paint in (None, colour)) and (shape is None or o.shape in (None, shape))
    ]
    sure = [o for o in s.objects if (not colour or o.colour == colour) and (not shape or o.shape == shape)]
    ground = [o for o in may if o in s.doubtful and o.shape is None and o.pixels > 0.08 * s.width * s.height]
    return sure[0] if len(sure) == 1 and len(may) - len(ground) == 1 else None


def run(s: Scene, program: Mapping[str, Any], marks: Mapping[str, int], *, margin: bool = True) -> Result:
    """Execute a checked program on a scene.

    With `margin`, an answer that hangs on the camera is asked again from cameras turned by the steps of `LADDER` in
    eight directions; one that does not survive the first step is ambiguous.
    """
    found = TOOLS[program["tool"]]
    trace: list[dict[str, Any]] = []
    args: dict[str, Any] = {}
    for key, value in program["args"].items():
        if isinstance(value, Mapping):
            o = find(s, value, marks)
            trace.append({"tool": "find", "args": {"reference": dict(value)}, "result": o.path if o else AMBIGUOUS})
            if o is None:
                return Result(AMBIGUOUS, tuple(trace), None)
            args[key] = o
        else:
            args[key] = value
    objects = [o.id for o in args.values() if isinstance(o, Obj)]
    if len(set(objects)) < len(objects):
        return Result(AMBIGUOUS, tuple(trace), None)
    answer = found.run(s, **args)
    plain = {k: v.path if isinstance(v, Obj) else v for k, v in args.items()}
    trace.append({"tool": found.name, "args": plain, "result": answer})
    if answer == AMBIGUOUS or not found.camera:
        return Result(answer, tuple(trace), None)
    if found.name == "hidden_by":
        return Result(answer, tuple(trace), s.nearby_degrees)
    if not margin:
        return Result(answer, tuple(trace), None)
    holds = stable(s, found.name, args, answer)
    if holds < LEAST_MARGIN:
        trace.append({"tool": "turn_camera", "args": {"degrees": LEAST_MARGIN}, "result": AMBIGUOUS})
        return Result(AMBIGUOUS, tuple(trace), None)
    return Result(answer, tuple(trace), holds)


def stable(s: Scene, name: str, args: Mapping[str, Any], answer: str) -> float:
    """The last step of `LADDER` up to which no turned camera gives another answer; 0 if the first one does."""
    holds = 0.0
    for degrees in LADDER:
        for az, el in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            if TOOLS[name].run(s.turn(az * degrees, el * degrees), **args) != answer:
                return holds
        holds = degrees
    return holds
