"""Which candidates are asked: so many of each answer that the words of a question tell nothing about it.

Within a cell (half of the scenes, kind, text, options) every possible answer is asked equally often. Whatever is
learned
from the texts of one half is then at chance on the other: any rule that sees the text alone gives one answer a cell.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

from builders.webspatial.space.planner import Candidate

MOST = 10
"""Questions of an answer in a cell."""
PER_SCENE = 6
"""Questions of a kind from one scene."""
FOLDS = ("a", "b")


def _number(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def folds(scenes: Iterable[str]) -> dict[str, str]:
    """Each scene's half. Scenes in the order of a hash go to the halves in turn, so that both are of one size."""
    ordered = sorted(set(scenes), key=lambda scene: (_number(scene), scene))
    return {scene: FOLDS[k % 2] for k, scene in enumerate(ordered)}


def balanced(candidates: Sequence[Candidate], fold: dict[str, str]) -> list[Candidate]:
    """The questions that are asked, sorted by id; see the module."""
    cells: dict[tuple, dict[str, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for c in candidates:
        cells[(fold[c.scene], *c.cell)][c.answer].append(c)
    chosen: list[Candidate] = []
    for (_, kind, _, options), by_answer in cells.items():
        lists = [_spread(by_answer.get(answer, []), kind) for answer in options]
        n = min(MOST, *(len(each) for each in lists))
        chosen += [c for each in lists for c in each[:n]]
    return sorted(chosen, key=lambda c: c.id)


def _spread(candidates: Sequence[Candidate], kind: str) -> list[Candidate]:
    """Scenes in turn, so that none gives most of the questions; within a scene in the order of a hash."""
    by_scene: dict[str, list[Candidate]] = defaultdict(list)
    for c in sorted({c.id: c for c in candidates}.values(), key=lambda c: (_number(c.id), c.id)):
        if len(by_scene[c.scene]) < PER_SCENE:
            by_scene[c.scene].append(c)
    rounds = [(k, _number(scene), c) for scene, each in by_scene.items() for k, c in enumerate(each)]
    return [c for _, _, c in sorted(rounds, key=lambda item: item[:2])]
