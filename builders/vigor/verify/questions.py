"""Paired yes/no questions to a vision model behind an OpenAI-compatible endpoint, with every answer on record.

A model that says yes to everything must not pass: yes counts only when the concept is confirmed in the region in both
orders of the options, two sibling concepts are denied there, and the concept is denied in a region where it is not.
A build reads recorded answers alone; `record` asks the endpoint and writes them, once.
"""

from __future__ import annotations

import base64
import hashlib
import json
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from builders.vigor.pixels import jpeg
from builders.vigor.proposals import Proposal, Scene
from builders.vigor.verify import Vote
from schemas import GoldsmithError
from schemas.address import open_within_origin, shown

PROMPT = "prompt/1"
_TEXT = "Look only at the region inside the red outline. Does it show {what}? Answer with one word: {one} or {other}."


@dataclass(frozen=True)
class Question:
    """One question about one picture.

    Attributes:
        id: of the picture shown and the words: the key of the recorded answer.
        wanted: the answer that supports the proposal.
    """

    id: str
    text: str
    picture: bytes
    wanted: bool


def questions(scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> list[Question]:
    """The five questions of a proposal: two orders for the concept, two siblings, one region elsewhere."""
    inside = proposal.mask.decode() > 0
    here = jpeg(outlined(scene.pixels, inside))
    there = jpeg(outlined(scene.pixels, distractor(inside)))
    others = sorted(lemma for lemma in siblings if lemma != proposal.concept.lemma)
    start = int(hashlib.sha256(proposal.mask.counts.encode()).hexdigest(), 16) % max(1, len(others))
    chosen = [others[(start + step) % len(others)] for step in range(min(2, len(others)))]
    lemma = proposal.concept.lemma
    asked = [(here, lemma, ("yes", "no"), True), (here, lemma, ("no", "yes"), True)]
    asked += [(here, other, ("yes", "no"), False) for other in chosen]
    asked.append((there, lemma, ("yes", "no"), False))
    found = []
    for picture, what, (one, other), wanted in asked:
        text = _TEXT.format(what=what, one=one, other=other)
        key = hashlib.sha256(PROMPT.encode() + text.encode() + picture).hexdigest()[:24]
        found.append(Question(key, text, picture, wanted))
    return found


class Questions:
    """Votes by recorded answers; silent where one is missing."""

    source = "questions"

    def __init__(self, answers: Mapping[str, bool | None]) -> None:
        """`answers`: by question id: yes, no, or None where the model said neither."""
        self._answers = answers

    def vote(self, scene: Scene, proposal: Proposal, siblings: Sequence[str]) -> Vote | None:
        if not self._answers:
            return None
        asked = questions(scene, proposal, siblings)
        if any(question.id not in self._answers for question in asked):
            return None
        given = [self._answers[question.id] for question in asked]
        said = ", ".join({True: "yes", False: "no", None: "neither"}[answer] for answer in given)
        if len(asked) == 5 and all(answer == question.wanted for answer, question in zip(given, asked, strict=True)):
            return Vote(self.source, "yes", 1.0, f"answers {said}")
        if given[0] is False and given[1] is False:
            return Vote(self.source, "no", 1.0, f"answers {said}")
        return Vote(self.source, "unsure", 0.0, f"answers {said}")


def read_answers(path: Path) -> dict[str, bool | None]:
    """Recorded answers, JSON lines of {id, answer, model, text}; the last one of an id counts."""
    found: dict[str, bool | None] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            try:
                record = json.loads(line)
                found[record["id"]] = as_answer(record["answer"])
            except (ValueError, KeyError, TypeError):
                message = f"[{path.name} > line {number}] is no recorded answer: write id and answer"
                raise GoldsmithError(message) from None
    return found


def as_answer(text: str) -> bool | None:
    """Yes or no of a model's words; None for anything else, both words included."""
    words = {word.strip(".,!'\"*").lower() for word in text.split()}
    return None if ("yes" in words) == ("no" in words) else "yes" in words


def record(asked: Sequence[Question], ask: Callable[[Question], str], model: str, path: Path) -> int:
    """Ask what is not on record yet and append the answers; the number of new ones."""
    known = read_answers(path) if path.is_file() else {}
    new = {question.id: question for question in asked if question.id not in known}
    with open(path, "a", encoding="utf-8") as file:
        for question in new.values():
            line = {"id": question.id, "model": model, "prompt": PROMPT, "text": question.text, "answer": ask(question)}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            file.flush()
    return len(new)


def endpoint(url: str, model: str, key: str = "", timeout_s: float = 120) -> Callable[[Question], str]:
    """A function that asks an OpenAI-compatible `url` (such as .../v1/chat/completions)."""
    if not url.startswith(("http://", "https://")):
        raise GoldsmithError(f"[{shown(url)}] is no endpoint: give an http or https address")

    def ask(question: Question) -> str:
        image = "data:image/jpeg;base64," + base64.b64encode(question.picture).decode()
        content = [{"type": "text", "text": question.text}, {"type": "image_url", "image_url": {"url": image}}]
        body = {"model": model, "temperature": 0, "max_tokens": 8, "messages": [{"role": "user", "content": content}]}
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - checked above
        try:
            with open_within_origin(request, timeout_s) as reply:
                return str(json.loads(reply.read())["choices"][0]["message"]["content"])
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise GoldsmithError(f"[{shown(url)}] gave no answer ({error}): nothing is recorded, ask again") from None

    return ask


def outlined(pixels: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The picture with the region's outline in red."""
    import cv2

    shown = pixels.copy()
    contours, _ = cv2.findContours(inside.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return cv2.drawContours(shown, contours, -1, (255, 0, 0), 2)


def distractor(inside: np.ndarray) -> np.ndarray:
    """A region of the same shape elsewhere: shifted by half the picture, without what overlaps."""
    height, width = inside.shape
    moved = np.roll(inside, (height // 2, width // 2), (0, 1)) & ~inside
    return moved if moved.any() else ~inside
