"""The mark-up of VAANI's transcripts, parsed without losing a character.

A transcript is cut into tokens whose raw texts, joined, are the transcript again. Everything else (the clean text, the
events, the English glosses, the disfluencies, the issues) is read off the tokens. What language or script the words are
in is the business of `languages`, not of this module.

Grammar, as seen in the published transcripts (tags of any case, spans that may stay open, brackets that may not match):

    <noise> ... </noise>   an event, alone or around words       word {english}   an English word in its own spelling
    [unintelligible]       speech that nobody understood         word--           a word that was cut off
    अन-अ-में                a stutter

Unicode policy. `transcript` is kept as it came. The clean text is NFC, which is a change of code points and never of
text: it writes the nukta letters U+0958 to U+095F, U+09DC, U+09DD, U+09DF, U+0A33, U+0A36, U+0A59 to U+0A5E, U+0B5C and
U+0B5D as letter + nukta (they are composition exclusions), and composes U+0929, U+0931, U+0934, the two-part vowel
signs (Bengali, Oriya, Tamil, Malayalam, Kannada, Telugu) and the Arabic hamza and madda letters. Malayalam chillu
letters keep the form they came in (U+0D7A to U+0D7F and consonant + virama + ZWJ are no canonical equivalents). Marks,
ZWJ and ZWNJ are never removed; `fold`, which is for comparing texts only, equates the chillu forms and drops joiners.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import regex

_TAGS = """
    noise pause horn breathing breath cough laugh laughing laughter sniff sneeze sigh yawn click clicking hmm um
    uh ah baby_crying baby_sound bird_sound bird_squawk birds animal_sound animal dog_barking rooster cow_sound
    goat_sound music wind rain thunder water_sound vehicle vehicle_sound traffic bike siren bell phone
    phone_ringing door footsteps fan machine hammering tapping knock clap children children_talking
    people_talking chatter chattering babble talking background_noise static mic_noise overlap singing tv radio
    utensils silence long_pause unintelligible
"""
KNOWN_TAGS = frozenset(_TAGS.split())
"""Events that transcribers use often. The vocabulary is open: an unknown tag is an issue to look at, not an error."""

_TOKEN = regex.compile(
    r"""(?P<tag><\s*(?P<close>/)?\s*(?P<name>[A-Za-z][\w\ '-]*?)\s*/?>)
    | (?P<bracket>(?P<left>[\[{])(?P<inside>[^\[\]{}<>]*)(?P<right>[\]}]))
    | (?P<cut>-{2,}|[\u2014]+)
    | (?P<word>[\p{L}\p{N}\p{M}\u200c\u200d](?:[\p{L}\p{M}\p{N}\u200c\u200d'\u2019]|-(?=[\p{L}\p{N}]))*)
    | (?P<space>\s+)
    | (?P<bare>[<>\[\]{}])
    | (?P<invisible>[\p{Cc}\p{Cf}\p{Co}\p{Cn}--\s--[\u200c\u200d]])
    | (?P<mark>.)""",
    regex.VERBOSE | regex.DOTALL | regex.VERSION1,
)
_FOREIGN_IN_GLOSS = regex.compile(r"[^\p{Latin}\p{N}\s.,'’\-/&]")
_CLEAN = regex.compile(r"[^\p{L}\p{M}\p{N}\s'\u200c\u200d]+")
_LATIN = regex.compile(r"\p{Latin}")
_FINAL = frozenset(".?!|।॥۔؟…")
_BEFORE_NO_BLANK = frozenset(",।॥?!")
_CHILLU = {"ണ": "ൺ", "ന": "ൻ", "ര": "ർ", "ല": "ൽ", "ള": "ൾ", "ക": "ൿ"}
_OLD_CHILLU = regex.compile("([" + "".join(_CHILLU) + "])\u0d4d\u200d")


@dataclass(frozen=True)
class Token:
    """A piece of the transcript: `raw` as it stands there, from `start` (code points).

    Attributes:
        kind: word, space, mark, open, close, gloss, unintelligible, note (other square brackets), cut, bare (a bracket
            without its partner) or invisible (a control or format character other than ZWJ and ZWNJ).
        value: the tag's name in lower case, the gloss, the note; else empty.
    """

    kind: str
    raw: str
    start: int
    value: str = ""

    @property
    def end(self) -> int:
        """Where it ends, in code points from the start of the transcript."""
        return self.start + len(self.raw)


@dataclass(frozen=True)
class Event:
    """A tag: `start` and `end` in code points of the verbatim text, from the opening tag to the end of the closing one,
    or of the opening tag alone where it is never closed (`paired` is False)."""

    tag: str
    paired: bool
    start: int
    end: int


@dataclass(frozen=True)
class Gloss:
    """English in braces. `word` is what it explains: as many of the words before it as it has words itself."""

    word: str
    english: str
    start: int
    end: int


@dataclass(frozen=True)
class Disfluency:
    """`cut_off` (a word broken off) or `stutter` (syllables repeated with hyphens)."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True)
class Transcript:
    """A parsed transcript.

    Attributes:
        text: the words that were spoken, NFC, mark-up and punctuation gone, joiners kept.
        issues: sorted codes, some with a detail after a colon.
    """

    tokens: tuple[Token, ...]
    text: str
    events: tuple[Event, ...]
    glosses: tuple[Gloss, ...]
    disfluencies: tuple[Disfluency, ...]
    unintelligible: int
    issues: tuple[str, ...]

    @property
    def verbatim(self) -> str:
        """The transcript as it came, put together again."""
        return "".join(token.raw for token in self.tokens)


def parse(transcript: str) -> Transcript:
    """Parse any text; nothing is an error, and `parse(t).verbatim == t` for every t."""
    issues: set[str] = set()
    tokens = tuple(_tokens(transcript, issues))
    events = _events(tokens, len(transcript.rstrip()), issues)
    glosses = _glosses(tokens, issues)
    disfluencies = _disfluencies(tokens)
    _punctuation(tokens, issues)
    return Transcript(
        tokens,
        clean("".join(token.raw if token.kind in ("word", "space", "mark") else " " for token in tokens)),
        events,
        glosses,
        disfluencies,
        sum(token.kind == "unintelligible" for token in tokens),
        tuple(sorted(issues)),
    )


def clean(text: str) -> str:
    """NFC; letters, marks, digits, apostrophes, ZWJ and ZWNJ stay, all else becomes a blank."""
    return " ".join(_CLEAN.sub(" ", unicodedata.normalize("NFC", text)).split())


def fold(text: str) -> str:
    """A form for comparing clean texts, never for publishing: case folded, chillu forms equal, joiners dropped."""
    modern = _OLD_CHILLU.sub(lambda match: _CHILLU[match[1]], text)
    return modern.replace("\u200c", "").replace("\u200d", "").casefold()


def _tokens(transcript: str, issues: set[str]):
    for match in _TOKEN.finditer(transcript):
        kind, raw, value = match.lastgroup or "mark", match[0], ""
        if match["tag"]:
            kind, value = ("close" if match["close"] else "open"), _tag_name(match["name"])
            if match["name"] != match["name"].lower():
                issues.add(f"tag_case:{match['name']}")
            if value not in KNOWN_TAGS:
                issues.add(f"unknown_tag:{value}")
        elif match["bracket"]:
            kind, value = _bracket(match["left"], match["inside"].strip(), match["right"], issues)
        elif match["bare"]:
            kind = "bare"
            issues.add("unbalanced_bracket")
        elif match["invisible"]:
            kind = "invisible"
            issues.add(f"invisible_character:U+{ord(raw):04X}")
        else:
            kind = next(name for name in ("cut", "word", "space", "mark") if match[name] is not None)
        yield Token(kind, raw, match.start(), value)


@lru_cache(maxsize=4096)
def _tag_name(name: str) -> str:
    return regex.sub(r"[\s-]+", "_", name.strip()).lower()


def _bracket(left: str, inside: str, right: str, issues: set[str]) -> tuple[str, str]:
    """The kind and value of a bracketed piece."""
    if (left, right) not in (("{", "}"), ("[", "]")):
        issues.add(f"mismatched_bracket:{left}{inside}{right}")
    elif left == "[":
        if inside.lower() == "unintelligible":
            return "unintelligible", ""
        issues.add(f"unknown_note:{inside}")
        return "note", inside
    if not inside:
        issues.add("empty_gloss")
    elif _FOREIGN_IN_GLOSS.search(inside):
        issues.add(f"gloss_not_latin:{inside}")
    return "gloss", inside


def _events(tokens: tuple[Token, ...], length: int, issues: set[str]) -> tuple[Event, ...]:
    found: list[Event] = []
    waiting: list[Token] = []
    for token in tokens:
        if token.kind == "open":
            waiting.append(token)
        elif token.kind == "close":
            start = next((other for other in reversed(waiting) if other.value == token.value), None)
            if start is None:
                issues.add(f"close_without_open:{token.value}")
                continue
            waiting.remove(start)
            found.append(Event(token.value, True, start.start, token.end))
            if start.start == 0 and token.end == length:
                issues.add(f"tag_around_everything:{token.value}")
    closed_somewhere = {event.tag for event in found}
    for token in waiting:
        found.append(Event(token.value, False, token.start, token.end))
        # A pause or a horn may stand alone; a span that should have an end and has none may not.
        if token.value in closed_somewhere or token.value in ("noise",):
            issues.add(f"unclosed_tag:{token.value}")
    return tuple(sorted(found, key=lambda event: (event.start, event.end)))


def _glosses(tokens: tuple[Token, ...], issues: set[str]) -> tuple[Gloss, ...]:
    found = []
    words: list[str] = []
    for token in tokens:
        if token.kind == "word":
            words.append(token.raw)
        elif token.kind == "gloss":
            if not words or _LATIN.search(words[-1]):
                issues.add("gloss_without_word")
            count = max(1, len(token.value.split()))
            found.append(Gloss(" ".join(words[-count:]), token.value, token.start, token.end))
            words = []
        elif token.kind not in ("space", "invisible"):
            words = [] if token.kind in ("mark", "cut") else words
    return tuple(found)


def _disfluencies(tokens: tuple[Token, ...]) -> tuple[Disfluency, ...]:
    found = []
    last: Token | None = None
    for token in tokens:
        if token.kind == "cut":
            found.append(Disfluency("cut_off", last.raw if last else "", last.start if last else token.start))
            last = None
        elif token.kind == "word":
            last = token
            if "-" in token.raw and _is_stutter(token.raw):
                found.append(Disfluency("stutter", token.raw, token.start))
        elif token.kind != "space":
            last = None
    return tuple(found)


def _is_stutter(word: str) -> bool:
    """Whether a hyphenated word repeats a syllable: a part is one letter or begins the next part, but differs from it
    (equal parts are reduplication, which these languages use as grammar)."""
    parts = word.split("-")
    return any(
        (len(regex.findall(r"\X", first)) == 1 and not first.isdecimal())
        or (second.startswith(first) and first != second)
        for first, second in pairwise(parts)
        if first
    )


def _punctuation(tokens: tuple[Token, ...], issues: set[str]) -> None:
    for before, token in pairwise(tokens):
        if token.kind == "mark" and token.raw in _BEFORE_NO_BLANK and before.kind == "space":
            issues.add("blank_before_punctuation")
    if any(token.kind == "mark" and token.raw == "|" for token in tokens):
        issues.add("pipe_as_danda")
    spoken = [token for token in tokens if token.kind in ("word", "mark", "cut", "unintelligible")]
    if any(token.kind == "word" for token in spoken):
        last = spoken[-1]
        if last.kind == "word" or (last.kind == "mark" and last.raw not in _FINAL):
            issues.add("no_final_mark")
