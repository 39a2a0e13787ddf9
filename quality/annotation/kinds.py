"""What an answer is, for each kind of audit, and how alike two answers are.

An answer is a plain dict, so that it can be kept as JSON:

* choice, pair: {label}
* transcription: {text, unusable}
* spans: {spans: [[start, end, label], ...]}
* mask: {height, width, masks: {label: [length, length, ...]}}, run lengths in row order that begin with zeros; given as
  text, COCO's compressed run lengths
* parts: {boxes: [[x, y, width, height, label], ...]} in percent
* rubric: {scores: {attribute: value}, evidence: [[start, end, attribute], ...]}
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from quality.annotation import shapes, spans, text
from schemas import Audit, GoldsmithError

Answer = dict[str, Any]


class BadAnswerError(ValueError):
    """An answer that cannot be counted; `code` says why in one word for tables."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def checked(audit: Audit, answer: Mapping[str, Any], shown: str | None = None, *, partly: bool = False) -> Answer:
    """An answer in its exact form.

    Args:
        shown: the text that spans are in.
        partly: whether a rubric's answer may leave out attributes.

    Raises:
        BadAnswerError: it is no answer to this audit.
    """
    try:
        made = _CHECKS[audit.kind](audit, answer, shown)
    except BadAnswerError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise BadAnswerError("malformed", f"not an answer of kind {audit.kind}: {error!r}") from None
    if lacking := [one.name for one in audit.rubric if one.name not in made["scores"] and not partly]:
        raise BadAnswerError("no_score", f"no score for {', '.join(lacking)}")
    return made


def _one_of(value: Any, known: Sequence[str]) -> str:
    if value not in known:
        raise BadAnswerError("unknown_label", f"{value!r} is none of {', '.join(known)}")
    return str(value)


def _label(audit: Audit, answer: Mapping[str, Any], shown: str | None) -> Answer:
    return {"label": _one_of(answer["label"], audit.votes)}


def _text(audit: Audit, answer: Mapping[str, Any], shown: str | None) -> Answer:
    text, unusable = answer["text"], answer.get("unusable", False)
    if not isinstance(text, str) or not isinstance(unusable, bool):
        raise BadAnswerError("malformed", "the text is no text, or `unusable` neither true nor false")
    text.encode()  # half of a character cannot be kept
    return {"text": text, "unusable": unusable}


def _span_list(found: Any, known: Sequence[str], shown: str | None) -> list[list[Any]]:
    kept = set()
    for start, end, label in found:
        try:
            start, end, _ = (
                spans.placed(shown, start, end, None) if shown is not None else (int(start), int(end), False)
            )
        except spans.BadSpanError as error:
            raise BadAnswerError("bad_span", str(error)) from None
        kept.add((start, end, _one_of(label, known)))
    return [list(span) for span in sorted(kept)]


def _spans(audit: Audit, answer: Mapping[str, Any], shown: str | None) -> Answer:
    return {"spans": _span_list(answer["spans"], audit.labels, shown)}


def _mask(audit: Audit, answer: Mapping[str, Any], shown: str | None) -> Answer:
    height, width = int(answer["height"]), int(answer["width"])
    masks = {}
    for label in audit.labels:
        given = answer["masks"].get(label, [])
        coded = isinstance(given, str)
        lengths = shapes.coco_lengths(given) if coded else [int(run) for run in given]
        if lengths and (sum(lengths) != height * width or min(lengths) < 0):
            raise BadAnswerError("wrong_size", f"the mask of {label} is not of {width} x {height} pixels")
        if coded:  # down the columns
            lengths = runs(_of_runs(lengths, (width, height)).T)
        if len(lengths) > 1:
            masks[label] = lengths
    if unknown := sorted(set(answer["masks"]) - set(audit.labels)):
        _one_of(unknown[0], audit.labels)
    return {"height": height, "width": width, "masks": masks}


def _parts(audit: Audit, answer: Mapping[str, Any], shown: str | None) -> Answer:
    boxes = []
    for x, y, width, height, label in answer["boxes"]:
        box = [float(x), float(y), float(width), float(height)]
        inside = box[0] >= -0.5 and box[1] >= -0.5 and box[0] + box[2] <= 100.5 and box[1] + box[3] <= 100.5
        if not (inside and box[2] > 0 and box[3] > 0):
            raise BadAnswerError("outside", f"the box {box} is not within the picture")
        boxes.append([*box, _one_of(label, audit.labels)])
    return {"boxes": sorted(boxes, key=lambda box: (box[4], *box[:4]))}


def _rubric(audit: Audit, answer: Mapping[str, Any], shown: str | None) -> Answer:
    attributes = {attribute.name: attribute for attribute in audit.rubric}
    scores = {
        name: _one_of(value, attributes[_one_of(name, list(attributes))].values)
        for name, value in answer["scores"].items()
    }
    wanting = [name for name, attribute in attributes.items() if attribute.evidence]
    return {"scores": scores, "evidence": _span_list(answer.get("evidence", []), wanting, shown)}


_CHECKS = {
    "choice": _label,
    "pair": _label,
    "transcription": _text,
    "spans": _spans,
    "mask": _mask,
    "parts": _parts,
    "rubric": _rubric,
}


def of_dataset(audit: Audit, value: Any, shown: str | None = None, *, partly: bool = False) -> Answer | None:
    """The dataset's own answer from the column `answer`, of a gold item perhaps `partly`; None where it has none.

    Raises:
        GoldsmithError: the value is no answer of this kind.
    """
    if value is None:
        return None
    try:
        if audit.kind in ("choice", "pair"):
            return checked(audit, {"label": value}, shown)
        if audit.kind == "transcription":
            return checked(audit, {"text": value}, shown)
        if audit.kind == "mask" and isinstance(value, Mapping):
            return _picture(audit, value["bytes"])
        form = json.loads(value) if isinstance(value, str) else value
        match audit.kind:
            case "spans":
                form = {"spans": [(span["start"], span["end"], span["label"]) for span in form]}
            case "parts":
                form = {"boxes": [[box[name] for name in ("x", "y", "width", "height", "label")] for box in form]}
            case "rubric":
                form = {"scores": form}
        return checked(audit, form, shown, partly=partly)
    except (BadAnswerError, ValueError, KeyError, TypeError) as error:
        raise GoldsmithError(f"[audit {audit.name} > answer] {error}: mend its SQL") from None


def _picture(audit: Audit, data: bytes) -> Answer:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        pixels = np.asarray(picture.convert("L") if picture.mode not in ("L", "P", "I", "1") else picture)
    if pixels.max(initial=0) > len(audit.labels):
        raise BadAnswerError("unknown_label", f"pixel value {pixels.max()}, and {len(audit.labels)} labels")
    return mask_answer({label: pixels == number for number, label in enumerate(audit.labels, 1)})


def mask_answer(masks: Mapping[str, shapes.Mask]) -> Answer:
    """The answer of masks of one size."""
    height, width = next(iter(masks.values())).shape
    return {"height": height, "width": width, "masks": {name: runs(m) for name, m in masks.items() if m.any()}}


def runs(mask: shapes.Mask) -> list[int]:
    """Run lengths in row order, zeros first."""
    flat = mask.reshape(-1)
    edges = np.flatnonzero(np.diff(flat)) + 1
    lengths = np.diff(np.concatenate([[0], edges, [len(flat)]])).tolist()
    return [0, *lengths] if flat[0] else lengths


def masks_of(answer: Mapping[str, Any]) -> dict[str, shapes.Mask]:
    """The masks of an answer by label; labels without a pixel are left out."""
    shape = answer["height"], answer["width"]
    return {label: _of_runs(lengths, shape) for label, lengths in answer["masks"].items()}


def _of_runs(lengths: Sequence[int], shape: tuple[int, int]) -> shapes.Mask:
    return np.repeat(np.arange(len(lengths)) % 2 == 1, lengths).reshape(shape)


def similarity(audit: Audit, a: Answer, b: Answer) -> float:
    """How alike two answers are, 0 to 1, symmetric; see `schemas.Audit.tolerance`."""
    match audit.kind:
        case "choice" | "pair":
            return float(a["label"] == b["label"])
        case "transcription":
            if a["unusable"] or b["unusable"]:
                return float(a["unusable"] and b["unusable"])
            return max(0.0, 1 - text.error_rate(a["text"], b["text"], audit.unit))
        case "spans":
            alike = spans.token_f1 if audit.unit == "character" else spans.f1
            return alike(*([spans.Span(*span) for span in one["spans"]] for one in (a, b)))
        case "parts":
            return shapes.box_f1(*([tuple(box) for box in one["boxes"]] for one in (a, b)))  # pyright: ignore
        case "rubric":
            scored = a["scores"].keys() & b["scores"].keys()
            return sum(a["scores"][name] == b["scores"][name] for name in scored) / len(scored) if scored else 1.0
        case _:
            return _mask_similarity(a, b)


def _mask_similarity(a: Answer, b: Answer) -> float:
    if (a["height"], a["width"]) != (b["height"], b["width"]):
        return 0.0
    left, right = masks_of(a), masks_of(b)
    empty = np.zeros((a["height"], a["width"]), bool)
    labels = sorted({*left, *right})
    scores = [shapes.iou(left.get(label, empty), right.get(label, empty)) for label in labels]
    return sum(scores) / len(scores) if scores else 1.0


def similarities(audit: Audit, answers: Sequence[Answer]) -> list[list[float]]:
    """All pairs."""
    table = [[1.0] * len(answers) for _ in answers]
    for i, j in itertools.combinations(range(len(answers)), 2):
        table[i][j] = table[j][i] = similarity(audit, answers[i], answers[j])
    return table


def shown_briefly(audit: Audit, answer: Answer | None, source: str | None = None) -> str:
    """An answer in a few words, for people."""
    if answer is None:
        return "-"
    match audit.kind:
        case "choice" | "pair":
            return answer["label"]
        case "transcription":
            return "unusable" if answer["unusable"] else answer["text"]
        case "spans":
            return "; ".join(
                f"{label} {start}:{end}" + (f" {source[start:end][:40]!r}" if source else "")
                for start, end, label in answer["spans"]
            ) or "no span"  # fmt: skip
        case "mask":
            parts = (f"{label} {sum(lengths[1::2]):,} px" for label, lengths in answer["masks"].items())
            return "; ".join(parts) or "empty"
        case "parts":
            return "; ".join(f"{box[4]} at {box[0]:.0f},{box[1]:.0f}" for box in answer["boxes"]) or "no part"
        case _:
            return "; ".join(f"{name}: {value}" for name, value in answer["scores"].items())
