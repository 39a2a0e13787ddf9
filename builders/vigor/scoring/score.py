"""`goldsmith score vigor PREDICTIONS`: read what a model said and where it looked, and say how far they agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.vigor.scoring import metrics
from builders.vigor.scoring.evidence import BadEvidenceError, Evidence, centre, heat, numbers, read
from builders.vigor.scoring.report import ScoreReport
from builders.vigor.scoring.truth import Truth
from schemas import DatasetFolder, GoldsmithError
from schemas.json_lines import json_lines


@dataclass(frozen=True)
class Scored:
    """One concept of one answer.

    Attributes:
        outcome: `scored`; `no_evidence` (said without any) and `empty_evidence` (it points at nothing in the picture),
            which get 0 in every metric; `absent` (said although a source says it is not there) and `no_truth` (nothing
            known), which are left out.
        got, chance, centre, ceiling: the metrics, of what was not left out.
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
    met: dict[tuple[str, Any], int] = {}
    for number, answer in json_lines(predictions):
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
        first = met.setdefault((image, answer.get("rationale")), number)
        if first != number:
            raise GoldsmithError(
                f"[{where}] is the answer of line {first} again: give each rationale of a picture once"
            )
    if not met:
        raise GoldsmithError(f"[{predictions.name}] has no answer: write one JSON object a line")
    pictures = len({image for image, _ in met}), len(truth.sizes)
    return ScoreReport.of(folder.build["dataset"], len(met), pictures, scored)


def score_answer(truth: Truth, image: str, answer: Mapping[str, Any]) -> list[Scored]:
    """The concepts of one answer: those its text asserts, and those it gives evidence for without saying them."""
    height, width = truth.sizes[image]
    given = _given(truth, image, answer.get("evidence", []))
    said: dict[str, list[tuple[int, int]]] = {}
    text = answer.get("rationale")
    if text is None:
        said = {concept: [] for concept, each in given.items() if each.get("said", True)}
    elif isinstance(text, str):
        for mention in truth.lexicon.match(text, truth.concepts(image)):
            if mention.scope == "asserted":
                said.setdefault(mention.concept_id, []).append((mention.start, mention.end))
    else:
        raise BadEvidenceError(f"the rationale is {text!r}, must be a text")
    if "tokens" in answer and text is None:
        raise BadEvidenceError("there are tokens but no rationale: give its text")
    attention = _Attention(answer["tokens"], height, width) if "tokens" in answer else None
    found = []
    for concept in dict.fromkeys([*said, *given]):
        evidence = _evidence(given.get(concept), attention, said.get(concept, []), height, width)
        found.append(_one(truth, image, concept, concept in said, evidence))
    return found


def _given(truth: Truth, image: str, evidence: Any) -> dict[str, Mapping[str, Any]]:
    """The evidence of an answer by concept."""
    if not isinstance(evidence, list) or not all(isinstance(each, dict) for each in evidence):
        raise BadEvidenceError("evidence is a list of objects, each with a concept_id or a text")
    given: dict[str, Mapping[str, Any]] = {}
    for each in evidence:
        concept = _concept(truth, image, each)
        if concept in given:
            raise BadEvidenceError(
                f"there are two pieces of evidence for {concept}: give one, with all boxes or points"
            )
        if not isinstance(each.get("said", True), bool):
            raise BadEvidenceError(f"`said` of {concept} is {each['said']!r}, must be true or false")
        given[concept] = each
    return given


def _one(truth: Truth, image: str, concept: str, said: bool, evidence: list[Evidence]) -> Scored:
    known = truth.known(image, concept)
    level = truth.levels.get(concept, concept.partition("/")[0])
    if known is None or not known.present:
        return Scored(image, concept, level, said, "absent" if known is not None and known.absent else "no_truth")
    regions = truth.regions(image, known)
    if not regions:
        return Scored(image, concept, level, said, "no_truth")
    if len(evidence) > len(regions):
        raise BadEvidenceError(f"{concept} is no relation: it has no subject and object")
    ends = []
    for index, (region, counted) in enumerate(regions):
        shown = evidence[min(index, len(evidence) - 1)] if evidence else None
        groups = None if shown is None else shown.groups(region, counted)
        pixels = region.size if counted is None else float(counted.sum())
        ends.append(
            (
                metrics.nothing() if groups is None or groups.empty else metrics.measure(groups),
                metrics.chance(float(region.sum()) / pixels),
                metrics.measure(centre(*region.shape).groups(region, counted)),
                metrics.ceiling(None if shown is None else shown.ceiling(region, counted)),
                groups is None or groups.empty,
            )
        )
    outcome = "no_evidence" if not evidence else "empty_evidence" if any(end[-1] for end in ends) else "scored"
    grounded = outcome == "scored" and all(end[0]["pointing"] >= metrics.GROUNDED for end in ends)
    pairs = zip(*(end[:-1] for end in ends), strict=True)
    joined = (pair[0] if len(pair) == 1 else metrics.both_ends(*pair) for pair in pairs)
    return Scored(image, concept, level, said, outcome, evidence[0].kind if evidence else "none", grounded, *joined)


def _concept(truth: Truth, image: str, each: Mapping[str, Any]) -> str:
    """The concept of a piece of evidence: by its id, or by a text that names it."""
    if "concept_id" in each:
        if not isinstance(each["concept_id"], str) or each["concept_id"] not in truth.levels:
            raise BadEvidenceError(f"{each['concept_id']!r} is no concept of this dataset")
        return each["concept_id"]
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
            if not all(isinstance(each[end], dict) for end in ("subject", "object")):
                raise BadEvidenceError("subject and object are objects, each with evidence of its own")
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
        missing = {"spans", "grid", "attention", "row"} - set(form if isinstance(form, dict) else ())
        if missing or form["row"] not in ("t", "t-1"):
            raise BadEvidenceError("tokens need spans, grid, attention and row (t or t-1)")
        spans, grid = numbers(form["spans"], "spans"), numbers(form["grid"], "grid")
        if spans.ndim != 2 or spans.shape[1] != 2 or grid.shape != (2,) or (grid < 1).any():
            raise BadEvidenceError("spans are [first, last] of each token, the grid is [rows, columns]")
        self._spans = [(int(first), int(last)) for first, last in spans]
        shape = (len(spans), int(grid[0]), int(grid[1]))
        maps = numbers(form["attention"], "attention")
        if maps.size != shape[0] * shape[1] * shape[2] or maps.min() < 0:
            raise BadEvidenceError(
                f"attention has {maps.size} numbers, must have {shape[1]} x {shape[2]} of 0 or more for each of "
                f"{shape[0]} tokens"
            )
        self._maps = maps.reshape(shape) / (maps.max() or 1.0)
        self._shift = 1 if form["row"] == "t-1" else 0
        self._geometry = form.get("geometry", "stretch")
        self._size = height, width

    def of(self, spans: list[tuple[int, int]]) -> Evidence | None:
        """The mean over all tokens that touch the spans; None where none does."""
        rows = [
            index - self._shift
            for index, (first, last) in enumerate(self._spans)
            if index >= self._shift and any(first < end and start < last for start, end in spans)
        ]
        return heat(self._maps[rows].mean(0), self._geometry, *self._size) if rows else None
