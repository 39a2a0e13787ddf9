"""From a rationale to the concepts it names.

The longest name wins, on lemmas; a name in the scope of a negation, a hypothesis or a question is found but not
asserted; a property is bound to the noun behind it (or before "is"), a relation to the nouns on both sides. Rules and
no parser: what they cannot know is listed in the README.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from builders.vigor.words import lemma

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
_NEGATIONS = frozenset(
    (
        "no",
        "not",
        "without",
        "never",
        "neither",
        "nor",
        "cannot",
        "isn't",
        "aren't",
        "doesn't",
        "don't",
        "wasn't",
        "weren't",
        "lacks",
        "lack",
        "lacking",
        "absent",
        "nobody",
        "nothing",
    )
)
_HYPOTHESES = frozenset(
    (
        "if",
        "would",
        "could",
        "might",
        "may",
        "perhaps",
        "maybe",
        "possibly",
        "suppose",
        "imagine",
        "unless",
        "whether",
        "were",
    )
)
_MODALS = frozenset(("would", "could", "might", "may"))
_STOPS = frozenset(("but", "however", "although", "though", "because", "so", "then", "yet", "instead", "while"))
_LINKS = frozenset(("be", "look", "appear", "seem"))
_NOUNS = ("object", "part")
_REACH = 6
"""How many words a property may be from its bearer, a relation from its ends."""


@dataclass(frozen=True)
class Mention:
    """A concept that a text names.

    Attributes:
        start, end: characters, end outside.
        scope: asserted, negated, hypothetical or question.
        bearer: place, in the list of mentions, of the noun that a property belongs to.
        subject, object: places of a relation's two ends.
    """

    concept_id: str
    start: int
    end: int
    scope: str
    bearer: int | None = None
    subject: int | None = None
    object: int | None = None


@dataclass(frozen=True)
class _Word:
    text: str
    lemma: str
    start: int
    end: int


class Lexicon:
    """Names of concepts, by their lemmas."""

    def __init__(self, names: Iterable[tuple[str, Sequence[str]]]) -> None:
        """`names`: (concept id, its names). Of concepts with one name, the first counts unless another is preferred."""
        self._names: dict[tuple[str, ...], list[str]] = {}
        for concept_id, known in names:
            for name in known:
                key = tuple(word.lemma for word in _words(name))
                if key and concept_id not in self._names.setdefault(key, []):
                    self._names[key].append(concept_id)
        self._longest = max((len(key) for key in self._names), default=0)

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Lexicon:
        """From rows of `concepts`; objects come before others of the same name."""
        ordered = sorted(rows, key=lambda row: (row["level"] != "object", row["concept_id"]))
        return cls((row["concept_id"], [row["lemma"], *row["synonyms"]]) for row in ordered)

    def match(self, text: str, preferred: Collection[str] = ()) -> list[Mention]:
        """All mentions of a text, in order; of concepts with one name, a `preferred` one (of the picture at hand)."""
        found: list[Mention] = []
        for sentence in _SENTENCE.finditer(text):
            words = [
                replace(word, start=word.start + sentence.start(), end=word.end + sentence.start())
                for word in _words(sentence.group())
            ]
            found += self._sentence(words, sentence.group().rstrip().endswith("?"), len(found), text, preferred)
        return found

    def _sentence(
        self, words: list[_Word], question: bool, before: int, text: str, preferred: Collection[str]
    ) -> list[Mention]:
        spans = self._spans(words, preferred)
        scopes = _scopes(words, question, text)
        mentions = [
            Mention(concept, words[first].start, words[last - 1].end, scopes[first]) for first, last, concept in spans
        ]
        bound = []
        for index, mention in enumerate(mentions):
            level = mention.concept_id.partition("/")[0]
            if level in ("low", "motion"):
                bearer = _bearer(index, spans, words)
                bound.append(replace(mention, bearer=None if bearer is None else before + bearer))
            elif level == "relation":
                one, other = _ends(index, spans)
                bound.append(
                    replace(
                        mention,
                        subject=None if one is None else before + one,
                        object=None if other is None else before + other,
                    )
                )
            else:
                bound.append(mention)
        return bound

    def _spans(self, words: list[_Word], preferred: Collection[str]) -> list[tuple[int, int, str]]:
        """(first word, last word outside, concept) of the longest names, from left to right."""
        found, place = [], 0
        while place < len(words):
            for length in range(min(self._longest, len(words) - place), 0, -1):
                named = self._names.get(tuple(word.lemma for word in words[place : place + length]))
                if named:
                    concept = next((each for each in named if each in preferred), named[0])
                    found.append((place, place + length, concept))
                    place += length
                    break
            else:
                place += 1
        return found


def _words(text: str) -> list[_Word]:
    found = []
    for match in _WORD.finditer(text):
        plain = match.group().lower().replace("’", "'")
        if plain.endswith("'s"):
            plain = plain[:-2]
        found.append(_Word(plain, lemma(plain), match.start(), match.end()))
    return found


def _scopes(words: list[_Word], question: bool, text: str) -> list[str]:
    """The scope of each word. A question counts whole, `would` for its whole clause, `no` and `if` for what follows in
    it; a clause ends at a comma, semicolon, colon, bracket or a word like `but`."""
    if question:
        return ["question"] * len(words)
    scopes: list[str] = []
    current, start, modal = "asserted", 0, False
    for index, word in enumerate(words):
        between = text[words[index - 1].end : word.start] if index else ""
        if index and (word.text in _STOPS or any(mark in between for mark in ",;:()")):
            current, start, modal = "asserted", index, False
        if (word.text in _NEGATIONS or word.text.endswith("n't")) and current != "hypothetical":
            current = "negated"
        elif word.text in _HYPOTHESES:
            current = "hypothetical"
            modal = modal or word.text in _MODALS
        scopes.append(current)
        if modal:
            scopes[start:] = ["hypothetical"] * (index + 1 - start)
    return scopes


def _level(spans: list[tuple[int, int, str]], index: int) -> str:
    return spans[index][2].partition("/")[0]


def _bearer(index: int, spans: list[tuple[int, int, str]], words: list[_Word]) -> int | None:
    """The noun a property belongs to: the next one behind it in the same phrase, else the one before `is`."""
    first, last, _ = spans[index]
    after = index + 1
    while after < len(spans) and _level(spans, after) == "low":
        after += 1
    if after < len(spans) and _level(spans, after) in _NOUNS:
        gap = [word for word in words[last : spans[after][0]] if word.text not in ("and", "or")]
        covered = sum(last - first for first, last, _ in spans[index + 1 : after])
        if len(gap) - covered <= 1 and not any(
            word.lemma in _LINKS or word.text in ("in", "on", "with", "of") for word in gap
        ):
            return after
    for earlier in range(index - 1, -1, -1):
        if _level(spans, earlier) in _NOUNS:
            between = words[spans[earlier][1] : first]
            if len(between) <= _REACH and any(word.lemma in _LINKS for word in between):
                return earlier
            return None
    return None


def _ends(index: int, spans: list[tuple[int, int, str]]) -> tuple[int | None, int | None]:
    """The nouns before and behind a relation, within reach."""
    first, last, _ = spans[index]
    nouns = [place for place in range(len(spans)) if _level(spans, place) in _NOUNS]
    before = [place for place in nouns if spans[place][1] <= first and first - spans[place][1] <= _REACH]
    behind = [place for place in nouns if spans[place][0] >= last and spans[place][0] - last <= _REACH]
    return (before[-1] if before else None), (behind[0] if behind else None)
