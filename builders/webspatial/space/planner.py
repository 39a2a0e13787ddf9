"""Candidate questions of a scene: every kind, over tuples of its objects, each answered by running its program.

Deterministic: the order of tuples hangs on the scene's id alone. What a tool calls ambiguous is counted, not asked.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from builders.webspatial.space.kinds import KINDS, TURNS, Kind, options
from builders.webspatial.space.names import COLOURS, SHAPES
from builders.webspatial.space.program import run
from builders.webspatial.space.scene import Obj, Scene
from builders.webspatial.space.tools import AMBIGUOUS

LETTERS = "ABCDEF"
MOST_OBJECTS = 10
TRIES = {1: 10, 2: 40, 3: 60, 4: 40}
"""Tuples that are tried a scene and kind, by their length."""
RARE = {"inside", "on", "occlusion", "above_below", "between"}
"""Kinds of which one answer is rare: more tuples are tried, so that it is found."""
MARK_GAP = 22
"""Pixels (of 800 x 600) that two marks are apart at least."""


@dataclass(frozen=True)
class Candidate:
    """A question that could be asked. `cell` is all that its text tells; `key` is the tool's own answer."""

    scene: str
    kind: str
    style: str
    text: str
    options: tuple[str, ...]
    answer: str
    program: dict[str, Any]
    marks: dict[str, int]
    trace: tuple[dict[str, Any], ...]
    margin: float | None
    difficulty: int
    images: tuple[str, ...] = ()

    @property
    def cell(self) -> tuple[str, str, tuple[str, ...]]:
        """Kind, text and options."""
        return self.kind, self.text, self.options

    @property
    def id(self) -> str:
        """Stable: scene, kind and a hash of what is asked."""
        content = json.dumps([self.scene, self.text, self.program, self.marks, self.images], sort_keys=True)
        return f"{self.scene}.{self.kind}.{hashlib.sha256(content.encode()).hexdigest()[:10]}"


@dataclass
class Tally:
    """How many tuples were tried, and how many were too close to call, by kind."""

    tried: Counter[str] = field(default_factory=Counter)
    ambiguous: Counter[str] = field(default_factory=Counter)


def candidates(s: Scene, tally: Tally | None = None) -> Iterator[Candidate]:
    """All that can be asked about a scene, marks first, then descriptions."""
    counts = tally or Tally()
    for kind in KINDS.values():
        rng = random.Random(f"{s.id}/{kind.name}")  # noqa: S311  (not for secrets)
        makers = {"mental_rotation": _mental, "mental_choice": _choices, "count": _counts}
        if kind.group == "time" and not _pictured(s):
            continue
        if kind.name in makers:
            yield from makers[kind.name](s, kind, rng, counts)
            continue
        yield from _marked(s, kind, rng, counts)
        if kind.named:
            yield from _named(s, kind, rng, counts)


def _pictured(s: Scene) -> bool:
    """Whether a time line was captured, with pictures of its first frame and its last."""
    frames = s.events.get("frames")
    return bool(frames) and {0, frames} <= set(s.events.get("pictures") or ())


def _made(
    s: Scene, kind: Kind, style: str, program: dict[str, Any], marks: dict[str, int], called: dict[str, str],
    slots: dict[str, str], counts: Tally, images: tuple[str, ...] = (),
) -> Candidate | None:  # fmt: skip
    counts.tried[kind.name] += 1
    result = run(s, program, marks)
    if result.answer == AMBIGUOUS:
        counts.ambiguous[kind.name] += 1
        return None
    choice = options(kind, result.answer, called)
    answer = called_answer(kind, result.answer, called)
    if choice is None or answer not in choice:
        return None
    difficulty = 1 + (len(kind.roles) > 2) + (len(s.objects) > 6)
    text = kind.text.format(**called, **slots)
    return Candidate(
        s.id, kind.name, style, text, tuple(choice), answer, program, marks, result.trace, result.margin, difficulty,
        images,
    )  # fmt: skip


def planned(s: Scene, program: dict[str, Any], marks: dict[str, int]) -> Candidate | None:
    """A checked program that somebody else planned (a model), as a candidate; None if it is ambiguous.

    Its references are marks, given letters in the order of the tool's arguments.
    """
    kind = next((k for k in KINDS.values() if k.tool == program["tool"] and k.roles), None)
    if kind is None or any("mark" not in program["args"].get(role, {}) for role in kind.roles):
        return None
    numbers = [marks.get(program["args"][role]["mark"]) for role in kind.roles]
    if any(n not in {o.id for o in s.objects} for n in numbers):
        return None
    chosen = [s.object(n) for n in numbers if n is not None]
    if not _apart(s, chosen):
        return None
    turn = program["args"].get("turn")
    return _with_marks(s, kind, chosen, Tally(), turn)


def called_answer(kind: Kind, answer: str, called: dict[str, str]) -> str:
    """The option that a tool's answer stands for."""
    if not kind.picks:
        return answer
    roles = kind.roles[-2:] if answer in "AB" and len(kind.roles) == 2 else kind.roles[1:]
    letters = "AB" if len(kind.roles) == 2 else "BCD"
    return called[roles[letters.index(answer)]]


def _marked(s: Scene, kind: Kind, rng: random.Random, counts: Tally) -> Iterator[Candidate]:
    pool = sorted(s.objects, key=lambda o: (-o.pixels, o.id))[:MOST_OBJECTS]
    if kind.group == "time":
        pool = [o for o in pool if o.whole]
    for chosen in _tuples(pool, kind, rng):
        if not _apart(s, chosen):
            continue
        turn = rng.choice(sorted(TURNS)) if kind.name == "direction_turn" else None
        made = _with_marks(s, kind, chosen, counts, turn)
        if made:
            yield made


def _with_marks(s: Scene, kind: Kind, chosen: Sequence[Obj], counts: Tally, turn: int | None) -> Candidate | None:
    """A question about objects in the order of the kind's roles, called object A, object B and so on."""
    letters = LETTERS[: len(kind.roles)]
    marks = {letter: o.id for letter, o in zip(letters, chosen, strict=True)}
    called = {role: f"object {letter}" for role, letter in zip(kind.roles, letters, strict=True)}
    args: dict[str, Any] = {role: {"mark": letter} for role, letter in zip(kind.roles, letters, strict=True)}
    slots: dict[str, str] = {}
    if kind.name == "direction_turn":
        if turn not in TURNS:
            return None
        args["turn"], slots["turn"] = turn, TURNS[turn]
    if kind.name == "cause":
        args["input"] = slots["input"] = "click"
    return _made(s, kind, "marks", {"tool": kind.tool, "args": args}, marks, called, slots, counts)


def _tuples(pool: Sequence[Obj], kind: Kind, rng: random.Random) -> list[tuple[Obj, ...]]:
    every = list(itertools.permutations(pool, len(kind.roles)))
    tries = TRIES[len(kind.roles)] * (3 if kind.name in RARE else 1)
    return rng.sample(every, min(len(every), tries))


def _apart(s: Scene, chosen: Sequence[Obj]) -> bool:
    least = MARK_GAP * math.sqrt(s.width * s.height / 480000)
    pairs = itertools.combinations(chosen, 2)
    return all(math.dist(a.anchor, b.anchor) >= least for a, b in pairs)


def _named(s: Scene, kind: Kind, rng: random.Random, counts: Tally) -> Iterator[Candidate]:
    """The same with descriptions; `find` refuses those that do not fit exactly one object."""
    pool = [o for o in s.objects if o.colour and o.shape]
    for chosen in _tuples(pool, kind, rng):
        called = {role: f"the {o.colour} {o.shape}" for role, o in zip(kind.roles, chosen, strict=True)}
        args = {
            role: {"unique": {"colour": o.colour, "shape": o.shape}} for role, o in zip(kind.roles, chosen, strict=True)
        }
        made = _made(s, kind, "names", {"tool": kind.tool, "args": args}, {}, called, {}, counts)
        if made:
            yield made


def _counts(s: Scene, kind: Kind, rng: random.Random, counts: Tally) -> Iterator[Candidate]:
    colours = [c for c in COLOURS if any(o.colour == c for o in s.objects)]
    shapes = [k for k in SHAPES if any(o.shape == k for o in s.objects)]
    plural = {"box": "boxes", "torus": "rings (tori)"}
    asked = [("any", k, plural.get(k, f"{k}s")) for k in shapes] + [(c, "any", f"{c} objects") for c in colours]
    for colour, shape, what in asked:
        program = {"tool": kind.tool, "args": {"colour": colour, "shape": shape}}
        made = _made(s, kind, "plain", program, {}, {}, {"what": what}, counts)
        if made:
            yield made


def _mental(s: Scene, kind: Kind, rng: random.Random, counts: Tally) -> Iterator[Candidate]:
    for thing, turned in enumerate(s.turns):
        views = turned["views"]
        pairs = [p for p in itertools.permutations(range(len(views)), 2) if _turned_apart(views, *p)]
        for left, right in rng.sample(pairs, min(len(pairs), 24)):
            program = {"tool": kind.tool, "args": {"thing": thing, "left": left, "right": right}}
            images = (views[left]["picture"], views[right]["picture"])
            made = _made(s, kind, "views", program, {}, {}, {}, counts, images)
            if made:
                yield made


def _choices(s: Scene, kind: Kind, rng: random.Random, counts: Tally) -> Iterator[Candidate]:
    for thing, turned in enumerate(s.turns):
        views = turned["views"]
        for _ in range(18):
            reference = rng.randrange(len(views))
            good = [k for k in range(len(views)) if _turned_apart(views, reference, k)]
            same = [k for k in good if views[k]["mirrored"] == views[reference]["mirrored"]]
            other = [k for k in good if views[k]["mirrored"] != views[reference]["mirrored"]]
            if not same or len(other) < 2:
                continue
            three = [rng.choice(same), *rng.sample(other, 2)]
            rng.shuffle(three)
            program = {"tool": kind.tool, "args": {"thing": thing, "reference": reference, "candidates": three}}
            images = tuple(views[k]["picture"] for k in (reference, *three))
            made = _made(s, kind, "views", program, {}, {}, {}, counts, images)
            if made:
                yield made


def _turned_apart(views: Sequence[dict[str, Any]], a: int, b: int) -> bool:
    """Whether the directions of two views are 25 to 155 degrees apart: neither the same picture nor its back."""
    dot = sum(x * y for x, y in zip(views[a]["direction"], views[b]["direction"], strict=True))
    return a != b and 25 <= math.degrees(math.acos(max(-1, min(1, dot)))) <= 155
