"""`goldsmith score vigor PREDICTIONS`: read what a model said and where it looked, and say how far they agree."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from builders.vigor.scoring import metrics
from builders.vigor.scoring.evidence import BadEvidenceError, Evidence, centre, heat, read
from builders.vigor.scoring.report import ScoreReport
from builders.vigor.scoring.truth import Truth
from schemas import DatasetFolder, GoldsmithError


@dataclass(frozen=True)
class Scored:
    """One concept of one answer.

    Attributes:
        outcome: `scored`; `absent` (said although a source says it is not there), `no_truth` (nothing known, left out)
            or `no_evidence` (said without any).
        got, chance, centre, ceiling: the metrics, of what was scored.
    """

    image: str
    concept: str
    level: str
    said: bool
    outcome: str
    kind: str = ""
    grounded: bool = False
    got: Mapping[str, float] | None = None
    chance: Mapping[str, float] | None = None
    centre: Mapping[str, float] | None = None
    ceiling: Mapping[str, float] | None = None


def score(folder: DatasetFolder, predictions: Path) -> ScoreReport:
    """Score predictions, JSON lines (the README says their form), against a dataset folder.

    Raises:
        GoldsmithError: a line cannot be read; it is named.
    """
    truth = Truth(folder)
    scored: list[Scored] = []
    count = 0
    for number, answer in _lines(predictions):
        count += 1
        where = f"{predictions.name} > line {number}"
        image = str(answer.get("image_id"))
        if image not in truth.sizes:
            raise GoldsmithError(
                f"[{where} > image_id] {image} is no picture of this dataset: give an id of the table images"
            )
        try:
            scored += score_answer(truth, image, answer)
        except BadEvidenceError as error:
            raise GoldsmithError(f"[{where}] {error}") from None
    if not count:
        raise GoldsmithError(f"[{predictions.name}] has no answer: write one JSON object a line")
    return ScoreReport.of(folder.build["dataset"], count, scored)


def score_answer(truth: Truth, image: str, answer: Mapping[str, Any]) -> list[Scored]:
    """The concepts of one answer: those its text asserts, and those it gives evidence for without saying them."""
    height, width = truth.sizes[image]
    given: dict[str, dict[str, Any]] = {}
    for each in answer.get("evidence", ()):
        if not isinstance(each, Mapping):
            raise BadEvidenceError("evidence is a list of objects, each with a concept_id or a text")
        given[_concept(truth, image, each)] = dict(each)
    said: dict[str, list[tuple[int, int]]] = {}
    text = answer.get("rationale")
    if text is None:
        said = {concept: [] for concept, each in given.items() if each.get("said", True)}
    else:
        for mention in truth.lexicon.match(str(text), truth.concepts(image)):
            if mention.scope == "asserted":
                said.setdefault(mention.concept_id, []).append((mention.start, mention.end))
    attention = _Attention(answer["tokens"], height, width) if "tokens" in answer else None
    found = []
    for concept in dict.fromkeys([*said, *given]):
        evidence = _evidence(given.get(concept), attention, said.get(concept, []), height, width)
        found.append(_one(truth, image, concept, concept in said, evidence))
    return found


def _one(truth: Truth, image: str, concept: str, said: bool, evidence: list[Evidence]) -> Scored:
    known = truth.known(image, concept)
    level = truth.levels.get(concept, concept.partition("/")[0])
    if known is None or not known.present:
        return Scored(image, concept, level, said, "absent" if known is not None and known.absent else "no_truth")
    regions = truth.regions(image, known)
    if not regions:
        return Scored(image, concept, level, said, "no_truth")
    if not evidence:
        return Scored(image, concept, level, said, "no_evidence")
    ends = []
    for (region, counted), shown in zip(regions, evidence * (len(regions) if len(evidence) == 1 else 1), strict=False):
        pixels = region.size if counted is None else float(counted.sum())
        groups = shown.groups(region, counted)
        ends.append(
            (
                metrics.measure(groups),
                metrics.chance(float(region.sum()) / pixels),
                metrics.measure(centre(*region.shape).groups(region, counted)),
                metrics.ceiling(shown.ceiling(region, counted)),
            )
        )
    grounded = all(end[0]["pointing"] >= metrics.GROUNDED for end in ends)
    joined = ends[0] if len(ends) == 1 else tuple(metrics.both_ends(*pair) for pair in zip(*ends, strict=True))
    return Scored(image, concept, level, said, "scored", evidence[0].kind, grounded, *joined)


def _concept(truth: Truth, image: str, each: Mapping[str, Any]) -> str:
    """The concept of a piece of evidence: by its id, or by a text that names it."""
    if "concept_id" in each:
        if each["concept_id"] not in truth.levels:
            raise BadEvidenceError(f"{each['concept_id']} is no concept of this dataset")
        return str(each["concept_id"])
    found = truth.lexicon.match(str(each.get("text", "")), truth.concepts(image))
    if len(found) != 1:
        raise BadEvidenceError(f"the text {each.get('text')!r} names {len(found)} concepts: give concept_id")
    return found[0].concept_id


def _evidence(
    each: Mapping[str, Any] | None, attention: _Attention | None, spans: list[tuple[int, int]], height: int, width: int
) -> list[Evidence]:
    """One piece of evidence, two for a relation with its ends told apart, none where there is none."""
    if each is not None:
        if "subject" in each or "object" in each:
            missing = [end for end in ("subject", "object") if end not in each]
            if missing:
                raise BadEvidenceError(f"a relation needs evidence for both ends, there is none for its {missing[0]}")
            return [read(each[end], height, width) for end in ("subject", "object")]
        return [read(each, height, width)]
    if attention is not None and spans:
        found = attention.of(spans)
        return [found] if found is not None else []
    return []


class _Attention:
    """Attention over the picture's cells for each token of an answer.

    A concept's evidence is the mean over its tokens. `row` says which row of the attention speaks for a token: its own
    (`t`) or that of the token before it, which predicted it (`t-1`).
    """

    def __init__(self, form: Mapping[str, Any], height: int, width: int) -> None:
        try:
            self._spans = [(int(first), int(last)) for first, last in form["spans"]]
            rows, columns = (int(value) for value in form["grid"])
            self._maps = np.asarray(form["attention"], float).reshape(len(self._spans), rows, columns)
            self._shift = {"t": 0, "t-1": 1}[form["row"]]
        except (KeyError, TypeError, ValueError) as error:
            raise BadEvidenceError(f"tokens need spans, grid, attention and row (t or t-1): {error}") from None
        self._geometry = str(form.get("geometry", "stretch"))
        self._size = height, width

    def of(self, spans: list[tuple[int, int]]) -> Evidence | None:
        """The mean over all tokens that touch the spans; None where none does."""
        rows = [
            index - self._shift
            for index, (first, last) in enumerate(self._spans)
            if index >= self._shift and any(first < end and start < last for start, end in spans)
        ]
        return heat(self._maps[rows].mean(0), self._geometry, *self._size) if rows else None


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if not path.is_file():
        raise GoldsmithError(f"[{path}] is no file: give predictions as JSON lines")
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    answer = json.loads(line)
                except ValueError as error:
                    raise GoldsmithError(f"[{path.name} > line {number}] is no JSON ({error})") from None
                if not isinstance(answer, dict):
                    raise GoldsmithError(f"[{path.name} > line {number}] is no JSON object")
                yield number, answer
