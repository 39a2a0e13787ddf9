"""Which candidates are asked: so many of each answer that the words of a question tell nothing about it.

Within a cell (half of the scenes, kind, text, options) every possible answer is asked equally often. Whatever is
learned
from the texts of one half is then at chance on the other: any rule that sees the text alone gives one answer a cell.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

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


class Balance:
    """Takes the candidates scene by scene and keeps what can still be asked.

    Of a cell's answer the first `MOST` are kept: scenes in turn, so that none gives most of the questions, within a
    scene in the order of a hash. The candidates themselves wait in a temporary file; here is only where they stand.
    """

    def __init__(self, fold: Mapping[str, str]) -> None:
        self._fold = fold
        self._cells: dict[tuple[str, ...], dict[str, list[tuple[int, int, str, str, int]]]] = {}
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed with this object)

    def add(self, candidates: Iterable[Candidate]) -> None:
        """All candidates of a scene."""
        rounds: Counter[tuple[str, ...]] = Counter()
        for c in sorted({c.id: c for c in candidates}.values(), key=lambda c: (_number(c.id), c.id)):
            cell = (self._fold[c.scene], c.kind, c.text, *c.options)
            answers = self._cells.setdefault(cell, {answer: [] for answer in c.options})
            turn = rounds[(*cell, c.answer)]
            rounds[(*cell, c.answer)] += 1
            if c.answer in answers and turn < PER_SCENE:
                self._keep(answers[c.answer], (turn, _number(c.scene), c.scene, c.id), c)

    def _keep(self, kept: list[tuple[int, int, str, str, int]], place: tuple[int, int, str, str], c: Candidate) -> None:
        if len(kept) == MOST and place > kept[-1][:4]:
            return
        insort(kept, (*place, self._file.tell()))
        del kept[MOST:]
        pickle.dump(c, self._file)

    def chosen(self) -> Iterator[list[Candidate]]:
        """The questions that are asked: a list a scene that has some, both sorted by id."""
        by_scene: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for answers in self._cells.values():
            n = min(len(kept) for kept in answers.values())
            for _, _, scene, name, at in (place for kept in answers.values() for place in kept[:n]):
                by_scene[scene].append((name, at))
        for scene in sorted(by_scene):
            yield [self._read(at) for _, at in sorted(by_scene[scene])]

    def _read(self, at: int) -> Candidate:
        self._file.seek(at)
        return pickle.load(self._file)  # noqa: S301 (written above)
