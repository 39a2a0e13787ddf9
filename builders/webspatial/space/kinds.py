"""The kinds of questions: the tool of each, how it is worded, its options, and the words that tell it from the
others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builders.webspatial.space.tools import TOOLS

COLOUR_OPTIONS = (
    ("red", "green", "blue", "yellow"),
    ("orange", "purple", "cyan", "pink"),
    ("white", "grey", "black", "brown"),
)
SHAPE_OPTIONS = (("cube", "sphere", "cylinder", "cone"), ("box", "torus"))
COUNT_OPTIONS = ("1", "2", "3")
TURNS = {
    90: "turn right by 90 degrees",
    180: "turn around",
    270: "turn left by 90 degrees",
}


@dataclass(frozen=True)
class Kind:
    """A kind of question.

    Attributes:
        group: attribute, relation, direction, rotation or time.
        roles: the tool's arguments that are objects, in the order their marks get letters.
        text: with a place for each role and slot.
        named: whether it is also asked with descriptions ("the red cube") in place of marks.
        needs: patterns that its wording, and no other kind's, matches all of; a paraphrase must keep them.
        picks: its answers are objects; the options are what the question calls them.
    """

    name: str
    group: str
    tool: str
    roles: tuple[str, ...]
    text: str
    needs: tuple[str, ...]
    named: bool = False
    picks: bool = False


_ALL = (
    Kind("colour", "attribute", "colour", ("a",), "What colour is {a}?", (r"\bcolou?r\b",)),
    Kind("shape", "attribute", "shape", ("a",), "What shape is {a}?", (r"\bshape\b",)),
    Kind("count", "attribute", "count", (), "How many {what} can be seen?", (r"\bhow many\b",)),
    Kind("size", "relation", "larger", ("a", "b"), "Which is really larger, not just in the picture: {a} or {b}?",
         (r"\b(really|actually|truly)\b", r"\b(larger|bigger)\b"), named=True, picks=True),
    Kind("left_right", "relation", "side", ("a", "b"),
         "From the viewer's side, is {a} to the left or to the right of {b}?",
         (r"\bviewer\b", r"\bleft\b", r"\bright\b"), named=True),
    Kind("front_behind", "relation", "depth_order", ("a", "b"),
         "Seen from the camera, is {a} in front of or behind {b}?", (r"\bcamera\b", r"\bfront\b", r"\bbehind\b"),
         named=True),
    Kind("above_below", "relation", "height", ("a", "b"), "Is {a} above or below {b}?", (r"\babove\b", r"\bbelow\b"),
         named=True),
    Kind("nearer_camera", "relation", "nearer_camera", ("a", "b"), "Which is nearer to the camera: {a} or {b}?",
         (r"\bcamera\b", r"\b(nearer|closer)\b"), named=True, picks=True),
    Kind("nearest", "relation", "nearest", ("to", "b", "c", "d"), "Which is nearest to {to}: {b}, {c} or {d}?",
         (r"\b(nearest|closest)\b",), picks=True),
    Kind("farthest", "relation", "farthest", ("to", "b", "c", "d"), "Which is farthest from {to}: {b}, {c} or {d}?",
         (r"\b(farthest|furthest)\b",), picks=True),
    Kind("distance", "relation", "distance_ratio", ("a", "b", "c"),
         "Is the distance from {a} to {b} about half, the same as, or double the distance from {a} to {c}?",
         (r"\bdistance\b", r"\bhalf\b", r"\bdouble\b")),
    Kind("between", "relation", "between", ("a", "b", "c"), "Is {a} between {b} and {c}?", (r"\bbetween\b",)),
    Kind("inside", "relation", "inside", ("a", "b"), "Is {a} inside {b}?", (r"\b(inside|within)\b",)),
    Kind("on", "relation", "on", ("a", "b"), "Does {a} stand on {b}?", (r"\b(stands?|standing|rests?|resting) on\b",)),
    Kind("occlusion", "relation", "hidden_by", ("a", "b"), "Is a part of {a} hidden by {b}?",
         (r"\b(hidden|covered|occluded)\b",)),
    Kind("object_direction", "direction", "object_side", ("a", "b"),
         "From the point of view of {a}, by its own front: where is {b}?", (r"\bown front\b",)),
    Kind("perspective", "direction", "perspective", ("at", "face", "target"),
         "You stand at {at} and face {face}. Where is {target}?", (r"\bstand", r"\bfac(e|ing)\b")),
    Kind("direction_turn", "direction", "after_turn", ("at", "face", "target"),
         "You stand at {at} and face {face}, then you {turn}. Where is {target} now?",
         (r"\bstand", r"\bfac(e|ing)\b", r"\bthen you turn\b")),
    Kind("route", "direction", "route", ("start", "via", "end"),
         "You walk from {start} straight to {via} and then on to {end}. Which way do you turn at {via}?",
         (r"\bwalk", r"\bturn\b")),
    Kind("mental_rotation", "rotation", "mental_rotation", (),
         "Is the right object the left one turned, or its mirror image?", (r"\bmirror", r"\bturned\b")),
    Kind("mental_choice", "rotation", "same_object", (),
         "Which of the objects 1, 2 and 3 is the object on the left, turned? The others are mirror images.",
         (r"\bmirror", r"\bwhich of\b", r"\bturned\b")),
    Kind("trajectory", "time", "trajectory", ("a",),
         "Seen from the camera, where does {a} move: left, right, towards the camera or away from it?",
         (r"\bmoves?\b", r"\btowards\b", r"\baway\b")),
    Kind("event_order", "time", "first", ("a", "b"), "Which begins to change first: {a} or {b}?",
         (r"\bfirst\b", r"\bchang"), picks=True),
    Kind("change", "time", "change", ("a",), "What happens to {a} from the first picture to the last?",
         (r"\bhappens\b",)),
    Kind("still", "time", "changed", ("a",), "Does {a} change from the first picture to the last?",
         (r"\bdoes\b", r"\bchange\b", r"\bfirst picture\b")),
    Kind("cause", "time", "because", ("a",), "Does {a} change because of the {input}?", (r"\bbecause\b",)),
)  # fmt: skip
KINDS = {kind.name: kind for kind in _ALL}


def options(kind: Kind, answer: str, marks: Mapping[str, str]) -> list[str] | None:
    """What a reader chooses from; the same for all questions of a cell, whatever the answer. None: do not ask.

    Args:
        marks: role to what the question calls the object.
    """
    groups = {"colour": COLOUR_OPTIONS, "shape": SHAPE_OPTIONS, "count": (COUNT_OPTIONS,)}.get(kind.name)
    if groups is not None:
        return next((list(group) for group in groups if answer in group), None)
    if kind.picks:
        return [marks[role] for role in kind.roles[-len(TOOLS[kind.tool].answers) :]]
    return list(TOOLS[kind.tool].answers)


def parse(text: str) -> tuple[str, list[str], dict[str, Any]] | None:
    """Kind, marks in the order they are named first, and slots of a question's wording; None if it is not one kind's.

    Of kinds that match, the one that needs most wins; a tie is no reading.
    """
    low = text.lower()
    fits = [kind for kind in _ALL if all(re.search(p, low) for p in kind.needs)]
    most = max((len(kind.needs) for kind in fits), default=0)
    best = [kind for kind in fits if len(kind.needs) == most]
    if len(best) != 1:
        return None
    marks = list(dict.fromkeys(re.findall(r"\bobject ([A-F])\b", text)))
    slots: dict[str, Any] = {k: degrees for degrees, words in TURNS.items() for k in ("turn",) if words in low}
    return best[0].name, marks, slots
