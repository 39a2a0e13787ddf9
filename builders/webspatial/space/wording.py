"""What a language model may add, recorded: other words for a question, and programs it planned.

It never sees or gives an answer. Words are kept only if they read back to the same program (`kinds.parse`), plans
only if
they are programs (`program.check`) that a tool can answer. The record is a pinned source, so a build asks no model.

A record is JSON lines: {"type": "paraphrase", "question_id", "text"} or {"type": "plan", "scene", "program", "marks"}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from builders.webspatial.space.kinds import KINDS, parse
from builders.webspatial.space.planner import Candidate
from builders.webspatial.space.planner import planned as _planned
from builders.webspatial.space.program import check
from builders.webspatial.space.scene import Scene
from schemas import GoldsmithError
from schemas.address import open_within_origin

Ask = Callable[[str], str]
"""Sends a prompt to a model and gives its text; raises OSError or ValueError where there is none."""


@dataclass(frozen=True)
class Recorded:
    """Paraphrases by question id, and plans."""

    paraphrases: dict[str, str]
    plans: Sequence[dict[str, Any]]


def read(text: str) -> Recorded:
    """Read a record; lines that are no JSON objects are an error.

    Raises:
        GoldsmithError: a line is broken.
    """
    paraphrases, plans = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            record = json.loads(line) if line.strip() else {"type": ""}
        except ValueError as error:
            raise GoldsmithError(f"[words > line {number}] is no JSON ({error}): record it again") from None
        if record.get("type") == "paraphrase":
            paraphrases[record["question_id"]] = record["text"]
        elif record.get("type") == "plan":
            plans.append(record)
    return Recorded(paraphrases, plans)


def same(text: str, c: Candidate) -> bool:
    """Whether other words ask the same: same kind, same marks or descriptions in the same order, same turn."""
    if not 8 <= len(text) <= 300 or "\n" in text:
        return False
    read_back = parse(text)
    if read_back is None or read_back[0] != c.kind or read_back[2] != (parse(c.text) or ("", [], {}))[2]:
        return False
    if _directions(text) != _directions(c.text):
        return False
    return _references(text) == _references(c.text) and read_back[1] == (parse(c.text) or ("", [], {}))[1]


_SAME = {"closer": "nearer", "closest": "nearest", "furthest": "farthest", "bigger": "larger", "within": "inside"}
_DIRECTIONS = {
    "left",
    "right",
    "front",
    "behind",
    "above",
    "below",
    "nearer",
    "nearest",
    "farthest",
    "larger",
    "smaller",
    "inside",
    "outside",
    "on",
    "under",
    "over",
    "between",
    "towards",
    "away",
    "mirror",
    "mirrored",
    "half",
    "double",
    "same",
    "first",
    "last",
    "around",
    "hidden",
    "yes",
    "no",
}


def _directions(text: str) -> set[str]:
    """The words of place, order and size in a text, synonyms as one; none may be added or lost."""
    words = {_SAME.get(str(w), str(w)) for w in re.findall(r"[a-z]+", text.lower())}
    return words & _DIRECTIONS


def _references(text: str) -> list[str]:
    """Marks, descriptions and numbers in their order; a mark that is named twice counts once."""
    shapes = "cubes?|spheres?|cylinders?|cones?|box(?:es)?|torus|tori|objects"
    colours = "red|green|blue|yellow|orange|purple|cyan|pink|white|grey|black|brown"
    found = re.findall(rf"\bobject [A-F]\b|\b(?:{colours})\b|\b(?:{shapes})\b", text)
    return list(dict.fromkeys(found)) if any(f.startswith("object ") for f in found) else found


def planned(s: Scene, plans: Sequence[dict[str, Any]]) -> Iterator[Candidate]:
    """Candidates from the recorded plans of a scene; what is no program or is ambiguous gives none."""
    for plan in plans:
        if plan.get("scene") != s.id:
            continue
        try:
            check(plan.get("program"))
        except GoldsmithError:
            continue
        made = _planned(s, plan["program"], plan.get("marks") or {})
        if made:
            yield made


def paraphrase(c: Candidate, ask: Ask) -> dict[str, str] | None:
    """Ask a model for other words, and keep them only if they read back; None otherwise, whatever the model does."""
    prompt = (
        "Say this question in other words. Keep every name like 'object A' and every colour and shape exactly, in the "
        f"same order, and keep its meaning. Answer with the question alone.\n\n{c.text}"
    )
    try:
        text = ask(prompt).strip().strip('"')
    except (OSError, ValueError):
        return None
    if not same(text, c):
        return None
    return {"type": "paraphrase", "question_id": c.id, "text": text}


def plan(s: Scene, ask: Ask) -> list[dict[str, Any]]:
    """Ask a model for programs over the objects of a scene; those that are none are left out."""
    from builders.webspatial.space.tools import TOOLS

    tools = [TOOLS[k.tool].signature for k in KINDS.values() if k.roles and k.group != "time"]
    things = [f"{o.id}: {o.colour or ''} {o.shape or o.name or 'object'}".strip() for o in s.objects]
    prompt = (
        'Plan spatial questions as a JSON list of {"program": {"tool", "args"}, "marks": {letter: number}}. '
        'An object argument is {"mark": letter}. Tools: ' + "; ".join(tools) + ". Objects: " + "; ".join(things)
    )
    try:
        found = json.loads(ask(prompt))
    except (OSError, ValueError):
        return []
    kept = []
    for each in found if isinstance(found, list) else []:
        try:
            check(each.get("program") if isinstance(each, dict) else None)
        except GoldsmithError:
            continue
        kept.append({"type": "plan", "scene": s.id, "program": each["program"], "marks": each.get("marks") or {}})
    return kept


def patient(ask: Ask, most: int = 3) -> Ask:
    """The same model, given up when it fails that often before it ever answered.

    Raises (when asked):
        GoldsmithError: so many calls failed, and none did not.
    """
    answered, failed = [0], [0]

    def asked(prompt: str) -> str:
        try:
            text = ask(prompt)
        except (OSError, ValueError) as error:
            failed[0] += 1
            if failed[0] >= most and not answered[0]:
                raise GoldsmithError(
                    f"[webspatial > model] gives no answer ({error}): see its address and key"
                ) from None
            raise
        answered[0] += 1
        return text

    return asked


def endpoint(url: str, model: str, key: str = "", seconds: float = 30) -> Ask:
    """A model behind an OpenAI-compatible chat endpoint (`url` ends before `/chat/completions`)."""
    import urllib.request

    if not url.startswith(("http://", "https://")):
        raise GoldsmithError(f"[webspatial > model] {url} is no http address: give one")

    def ask(prompt: str) -> str:
        body = {"model": model, "temperature": 0, "messages": [{"role": "user", "content": prompt}]}
        headers = {"content-type": "application/json", **({"authorization": f"Bearer {key}"} if key else {})}
        request = urllib.request.Request(  # noqa: S310  (its scheme is checked above)
            url.rstrip("/") + "/chat/completions", json.dumps(body).encode(), headers
        )
        with open_within_origin(request, seconds) as answer:
            content = json.loads(answer.read(1 << 20))
        try:
            return str(content["choices"][0]["message"]["content"])
        except (KeyError, IndexError, TypeError):
            raise ValueError("the endpoint's answer has no message") from None

    return ask
