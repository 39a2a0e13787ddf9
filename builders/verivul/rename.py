"""Renaming and reordering: the same program under other names and in another order, against recall of the original.

A renamed pair is a new pair: it has to be certified again (`again`).
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

from builders.verivul import esbmc, libc, trace
from builders.verivul.certify import SECONDS
from builders.verivul.outcome import Pair
from builders.verivul.program import Program, Writer
from builders.verivul.replay import compiles

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^[ \t]*#[ \t]*include[^\n]*|#[ \t]*[a-z]+|[A-Za-z_]\w*', re.M
)
_KEPT = re.compile(
    r"^(__\w+|input_\w+|input|main|keep\w*|make_\d+|made|callback_\d+|[A-Z][A-Z0-9]*_MAX|SEEK_\w+|assert)$"
)
_MOVABLE = ("callee", "stub")


def renamed(before: Program, after: Program, seed: int) -> tuple[Program, Program] | None:
    """Both programs under new names, the same in both; None where a macro pastes names together."""
    if "##" in before.text or "##" in after.text:
        return None
    names = sorted({match[0] for side in (before, after) for match in _TOKEN.finditer(side.text) if _ours(match[0])})
    numbers = list(range(len(names)))
    random.Random(seed).shuffle(numbers)  # noqa: S311 (no secret)
    new = {name: f"v{number}" for name, number in zip(names, numbers, strict=True)}

    def rewrite(program: Program) -> Program:
        text = _TOKEN.sub(lambda match: new.get(match[0], match[0]), program.text)
        parts = tuple((line, replace(owner, name=new.get(owner.name, owner.name))) for line, owner in program.parts)
        return replace(program, text=text, parts=parts)

    return rewrite(before), rewrite(after)


def _ours(token: str) -> bool:
    return token[0] not in "\"' \t#" and token not in libc.KEYWORDS | libc.NAMES and not _KEPT.match(token)


def reordered(program: Program, seed: int) -> Program:
    """The program with the definitions of callees and stubs in another order; their prototypes stay in front."""
    lines = program.text.split("\n")
    ends = [start for start, _ in program.parts[1:]] + [len(program.lines) + 1]
    pieces = [(owner, "\n".join(lines[start - 1 : end - 1]), program.lines[start - 1 : end - 1])
              for (start, owner), end in zip(program.parts, ends, strict=True)]  # fmt: skip
    movable = [at for at, (owner, text, _) in enumerate(pieces) if owner.kind in _MOVABLE and "{" in text]
    order = sorted(movable, key=lambda at: pieces[at][0].name)
    random.Random(seed).shuffle(order)  # noqa: S311 (no secret)
    moved = list(pieces)
    for at, other in zip(movable, order, strict=True):
        moved[at] = pieces[other]
    out, origins = Writer(), []
    for owner, text, numbers in moved:
        out.add(owner, text)
        origins += numbers
    return replace(out.program(), lines=tuple(origins))


def _nameless(comment: str) -> str:
    """What is violated, without the name of the array that ESBMC gives."""
    return re.sub(r"`[^']*'", "", comment)


def again(pair: Pair, seed: int, *, cache: Path | None = None) -> Pair | None:
    """The pair renamed and reordered, if it still certifies with the same property at the same statement."""
    sides = renamed(reordered(pair.before, seed), reordered(pair.after, seed), seed)
    if sides is None or any(map(compiles, sides)):
        return None
    runs = zip(sides, (pair.found_by, pair.arguments), strict=True)
    before, after = (esbmc.run(side.text, given, seconds=SECONDS, cache=cache) for side, given in runs)
    if before.verdict != "violated" or after.verdict != "safe":
        return None
    origin = pair.before.origin(pair.line)
    for example in trace.read(before.output):
        line = example.call_line if example.violation.library else example.violation.line
        if (
            _nameless(example.violation.comment) == _nameless(pair.violation.comment)
            and sides[0].origin(line) == origin
        ):
            return replace(
                pair, before=sides[0], after=sides[1], trace=example, line=line, statement=sides[0].line(line)
            )
    return None
