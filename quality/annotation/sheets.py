"""Label Studio's side of a question: the labelling page, answers written as its results, and its results read back.

The server checks nothing (any label, any control, any shape is accepted), so everything is checked here, on the way out
and on the way in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from quality.annotation import kinds, shapes, spans
from quality.annotation.kinds import Answer, BadAnswerError
from schemas import Audit

OBJECT, ANSWER, POLYGON, VERDICT, EVIDENCE = "object", "answer", "polygon", "verdict", "evidence"
UNUSABLE = "unusable"
_SIDES = {"A": "first", "B": "second", "tie": "tie"}
_TAG = {"text": "Text", "image": "Image", "audio": "Audio"}


def variable(number: int) -> str:
    """The name under which a task holds the column of the `number`-th `Show`."""
    return f"s{number}"


def score_name(number: int) -> str:
    """The control of the `number`-th attribute of a rubric."""
    return f"score{number}"


def config(audit: Audit) -> str:
    """The labelling page (XML) of an audit."""
    objects = []
    for number, show in enumerate(audit.shows):
        name = OBJECT if number == 0 else f"{OBJECT}{number}"
        symbols = ' granularity="symbol"' if show.medium == "text" else ""
        title = f"<Header value={quoteattr(show.title)}/>" if show.title else ""
        objects.append(f'{title}<{_TAG[show.medium]} name="{name}" value="${variable(number)}"{symbols}/>')
    return f"<View><Header value={quoteattr(audit.question)}/>{''.join(objects)}{_controls(audit)}</View>"


def _controls(audit: Audit) -> str:
    match audit.kind:
        case "choice":
            return _choices(ANSWER, audit.labels)
        case "pair":
            return _choices(ANSWER, tuple(_SIDES))
        case "transcription":
            area = f'<TextArea name="{ANSWER}" toName="{OBJECT}" rows="3" editable="true" maxSubmissions="1"/>'
            return area + _choices(VERDICT, ("usable", UNUSABLE), required=False)
        case "spans":
            return _labels("Labels", ANSWER, audit.labels)
        case "mask":
            return _labels("BrushLabels", ANSWER, audit.labels) + _labels("PolygonLabels", POLYGON, audit.labels)
        case "parts":
            return _labels("RectangleLabels", ANSWER, audit.labels)
        case _:
            scores = "".join(
                f"<Header value={quoteattr(f'{attribute.name}: {attribute.meaning}')}/>"
                + _choices(score_name(number), attribute.values)
                for number, attribute in enumerate(audit.rubric)
            )
            wanting = tuple(attribute.name for attribute in audit.rubric if attribute.evidence)
            return scores + (_labels("Labels", EVIDENCE, wanting) if wanting else "")


def _choices(name: str, values: Sequence[str], *, required: bool = True) -> str:
    inner = "".join(f"<Choice value={quoteattr(value)}/>" for value in values)
    needed = ' required="true"' if required else ""
    return f'<Choices name="{name}" toName="{OBJECT}" choice="single"{needed}>{inner}</Choices>'


def _labels(tag: str, name: str, values: Sequence[str]) -> str:
    inner = "".join(f"<Label value={quoteattr(value)}/>" for value in values)
    return f'<{tag} name="{name}" toName="{OBJECT}">{inner}</{tag}>'


def to_results(
    audit: Audit,
    answer: Answer,
    *,
    shown: str | None = None,
    size: tuple[int, int] | None = None,
    swapped: bool = False,
) -> list[dict[str, Any]]:
    """An answer as results of the page.

    Args:
        shown: the text that spans are in.
        size: width and height of the picture.
        swapped: the second of a pair is shown as A.
    """
    match audit.kind:
        case "choice":
            return [_result(ANSWER, "choices", {"choices": [answer["label"]]})]
        case "pair":
            side = next(side for side, label in _SIDES.items() if label == _turned(answer["label"], swapped))
            return [_result(ANSWER, "choices", {"choices": [side]})]
        case "transcription":
            verdict = UNUSABLE if answer["unusable"] else "usable"
            written = [_result(ANSWER, "textarea", {"text": [answer["text"]]})]
            return [*written, _result(VERDICT, "choices", {"choices": [verdict]})]
        case "spans":
            return [_span(ANSWER, span, shown or "", number) for number, span in enumerate(answer["spans"])]
        case "mask":
            return _brushes(answer)
        case "parts":
            return [_rectangle(box, size or (100, 100), number) for number, box in enumerate(answer["boxes"])]
        case _:
            scores = [
                _result(score_name(number), "choices", {"choices": [answer["scores"][attribute.name]]})
                for number, attribute in enumerate(audit.rubric)
            ]
            return scores + [_span(EVIDENCE, span, shown or "", i) for i, span in enumerate(answer["evidence"])]


def _result(name: str, kind: str, value: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": OBJECT, "type": kind, "value": dict(value), **more}


def _span(name: str, span: Sequence[Any], shown: str, number: int) -> dict[str, Any]:
    start, end, label = span
    value = {"start": start, "end": end, "text": shown[start:end], "labels": [label]}
    return _result(name, "labels", value, id=f"{name}{number}")


def _brushes(answer: Answer) -> list[dict[str, Any]]:
    picture = {"original_width": answer["width"], "original_height": answer["height"], "image_rotation": 0}
    return [
        _result(
            ANSWER,
            "brushlabels",
            {"format": "rle", "rle": shapes.encode_rle(mask), "brushlabels": [label]},
            id=f"brush{number}",
            **picture,
        )
        for number, (label, mask) in enumerate(kinds.masks_of(answer).items())
    ]


def _rectangle(box: Sequence[Any], size: tuple[int, int], number: int) -> dict[str, Any]:
    x, y, width, height, label = box
    value = {"x": x, "y": y, "width": width, "height": height, "rotation": 0, "rectanglelabels": [label]}
    more = {"original_width": size[0], "original_height": size[1], "image_rotation": 0}
    return _result(ANSWER, "rectanglelabels", value, id=f"box{number}", **more)


def _turned(label: str, swapped: bool) -> str:
    return {"first": "second", "second": "first"}.get(label, label) if swapped else label


def from_results(
    audit: Audit,
    results: Sequence[Any],
    *,
    shown: str | None = None,
    size: tuple[int, int] | None = None,
    swapped: bool = False,
) -> tuple[Answer, list[str]]:
    """The answer that results give, and what had to be put right in them (codes; `utf16_offsets`).

    Raises:
        BadAnswerError: they are no answer of this page.
    """
    try:
        by_name = _sorted_out(audit, results)
        return _read(audit, by_name, shown, size, swapped)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise BadAnswerError("malformed", f"not a result of this page: {error!r}") from None


def _sorted_out(audit: Audit, results: Sequence[Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The results by control. Each must belong to a control of the page and be of its type."""
    types = {ANSWER: _ANSWER_TYPE.get(audit.kind, ""), VERDICT: "choices", POLYGON: "polygonlabels", EVIDENCE: "labels"}
    controls = {
        "transcription": [ANSWER, VERDICT],
        "mask": [ANSWER, POLYGON],
        "rubric": [EVIDENCE, *(score_name(number) for number in range(len(audit.rubric)))],
    }.get(audit.kind, [ANSWER])
    by_name: dict[str, list[Mapping[str, Any]]] = {name: [] for name in controls}
    for result in results:
        if not isinstance(result, Mapping) or result.get("from_name") not in by_name:
            name = result.get("from_name") if isinstance(result, Mapping) else result
            raise BadAnswerError("unknown_control", f"a result of {name!r}, which the page has not")
        wanted = types.get(result["from_name"], "choices")
        if result.get("type") != wanted or result.get("to_name") != OBJECT:
            raise BadAnswerError("wrong_type", f"{result['from_name']} gave {result.get('type')!r}, not {wanted}")
        by_name[result["from_name"]].append(result["value"])
    return by_name


_ANSWER_TYPE = {
    "choice": "choices",
    "pair": "choices",
    "transcription": "textarea",
    "spans": "labels",
    "mask": "brushlabels",
    "parts": "rectanglelabels",
}


def _read(
    audit: Audit,
    by_name: Mapping[str, list[Mapping[str, Any]]],
    shown: str | None,
    size: tuple[int, int] | None,
    swapped: bool,
) -> tuple[Answer, list[str]]:
    notes: list[str] = []
    match audit.kind:
        case "choice":
            answer = {"label": _single(by_name[ANSWER], "choices")}
        case "pair":
            side = _single(by_name[ANSWER], "choices")
            answer = {"label": _turned(_SIDES.get(side, side), swapped)}
        case "transcription":
            unusable = bool(by_name[VERDICT]) and _single(by_name[VERDICT], "choices") == UNUSABLE
            text = "" if unusable and not by_name[ANSWER] else _single(by_name[ANSWER], "text")
            answer = {"text": text, "unusable": unusable}
        case "spans":
            answer = {"spans": _placed(by_name[ANSWER], shown or "", notes)}
        case "mask":
            answer = _masks(audit, by_name, size)
        case "parts":
            answer = {"boxes": [_box(value) for value in by_name[ANSWER]]}
        case _:
            scores = {
                attribute.name: _single(by_name[score_name(number)], "choices")
                for number, attribute in enumerate(audit.rubric)
            }
            answer = {"scores": scores, "evidence": _placed(by_name[EVIDENCE], shown or "", notes)}
    return kinds.checked(audit, answer, shown), sorted(Counter(notes))


def _single(values: Sequence[Mapping[str, Any]], key: str) -> str:
    given = [text for value in values for text in value[key]]
    if not given:
        raise BadAnswerError("no_answer", "there is no answer")
    if len(given) > 1:
        raise BadAnswerError("several_answers", f"{len(given)} answers where there can be one")
    return given[0]


def _label_of(value: Mapping[str, Any], key: str) -> str:
    if len(value[key]) != 1:
        raise BadAnswerError("several_answers", f"a region with {len(value[key])} labels")
    return value[key][0]


def _placed(values: Sequence[Mapping[str, Any]], shown: str, notes: list[str]) -> list[tuple[int, int, str]]:
    found = []
    for value in values:
        try:
            start, end, units = spans.placed(shown, value["start"], value["end"], value.get("text"))
        except spans.BadSpanError as error:
            raise BadAnswerError("bad_span", str(error)) from None
        if units:
            notes.append("utf16_offsets")
        found.append((start, end, _label_of(value, "labels")))
    return found


def _box(value: Mapping[str, Any]) -> list[Any]:
    if value.get("rotation"):
        raise BadAnswerError("rotated", "a rotated box cannot be compared: draw it upright")
    return [value["x"], value["y"], value["width"], value["height"], _label_of(value, "rectanglelabels")]


def _masks(audit: Audit, by_name: Mapping[str, list[Mapping[str, Any]]], size: tuple[int, int] | None) -> Answer:
    if size is None:
        raise BadAnswerError("wrong_size", "the size of the picture is not known")
    width, height = size
    masks = {label: np.zeros((height, width), bool) for label in audit.labels}
    for name, key in ((ANSWER, "brushlabels"), (POLYGON, "polygonlabels")):
        for value in by_name[name]:
            label = _label_of(value, key)
            if label not in masks:
                raise BadAnswerError("unknown_label", f"{label!r} is none of {', '.join(audit.labels)}")
            try:
                drawn = (
                    shapes.decode_rle(value["rle"], height, width)
                    if name == ANSWER
                    else shapes.polygon(value["points"], height, width)
                )
            except shapes.BadMaskError as error:
                raise BadAnswerError("bad_mask", str(error)) from None
            masks[label] |= drawn
    return kinds.mask_answer(masks)
