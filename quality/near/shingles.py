"""Texts, programs and proteins as sets of small overlapping pieces, each piece a 32-bit number.

* Text: three words that follow each other, without case, punctuation and marks of width; three characters in scripts
  that do not separate words.
* Code: ten tokens without comments; numbers and strings are all the same, and so are names, but for which of the ten
  are equal. So a program whose names were changed throughout has the same pieces (a parameterised match, Baker 1992).
* Protein: five residues.

Two different pieces have one number by chance: one in four billion.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from zlib import crc32

import numpy as np

Flat = tuple[np.ndarray, np.ndarray]
"""Distinct pieces row behind row, uint32 of shape (pieces,) in order within a row, and their number by row, int64."""

_WORD = re.compile(
    r"[^\s!-/:-@\[-`{-~\u2010-\u2027\u00ab\u00bb\u0964\u0965\u060c\u061f\u3001\u3002\uff01-\uff0f\uff1f]+"
)
_UNSEPARATED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_WORDS, _TOKENS, _RESIDUES = 3, 10, 5

_QUOTED = r'"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?'
_PIECES = r"|[^\W\d]\w*|\.?\d[\w.]*|[-+*/%&|^<>=!]=|&&|\|\||->|<<|>>|\+\+|--|::|\S"
_C = re.compile(r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)|" + _QUOTED + _PIECES)
_HASH = re.compile(r"#[^\n]*|" + _QUOTED + _PIECES)
_C_LINE = re.compile(r"[;{}][^\S\n]*(?://.*|/\*.*)?$", re.MULTILINE)

KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """and as assert async await auto bool break case catch char class const continue def default del delete do
        double elif else enum except extern false finally float for from func function global goto if implements import
        in inline instanceof int interface is lambda let long match mut namespace new None not null nullptr or package
        pass private protected public raise register return self short signed sizeof static struct super switch template
        this throw throws true True False try typedef typename union unsigned use using var virtual void volatile while
        with yield""",
    )
)
"""Names that are the language's own, in those languages that programs of datasets are mostly in."""

_NAME, _DROPPED = 1, 2


class _Words(dict[str, int]):
    """Words as numbers, each computed once."""

    def __missing__(self, word: str) -> int:
        if len(self) > 500_000:
            self.clear()
        self[word] = number = crc32(word.encode("utf-8", "surrogatepass"))
        return number


class _Tokens(dict[str, int]):
    """Tokens as their kind (above bit 32) and a number."""

    def __missing__(self, token: str) -> int:
        if len(self) > 500_000:
            self.clear()
        self[token] = number = _token(token)
        return number


def _token(token: str) -> int:
    first = token[0]
    if token.startswith(("//", "/*")) or (first == "#" and len(token) > 1):
        return _DROPPED << 32
    if first in "\"'":
        return crc32(b'"')
    if first.isdigit() or (first == "." and len(token) > 1):
        return crc32(b"0")
    number = crc32(token.encode("utf-8", "surrogatepass"))
    named = (first.isalpha() or first == "_") and token not in KEYWORDS
    return (_NAME << 32 | number) if named else number


def words(text: str) -> list[str]:
    """The words of a text in one form, or its characters where its script does not separate words."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found = _WORD.findall(text.casefold())
    if text.isascii():
        return found
    joined = "".join(found)
    return list(joined) if 3 * len(_UNSEPARATED.findall(joined)) > len(joined) else found


def tokens(code: str) -> list[str]:
    """The tokens of a program in a language like C or like Python, comments among them.

    `#` begins a comment unless every tenth line or more ends as lines of C do.
    """
    like_c = 10 * len(_C_LINE.findall(code)) >= code.count("\n") + 1
    return (_C if like_c else _HASH).findall(code)


def of_texts(texts: Sequence[str | None], known: dict[str, int]) -> Flat:
    """Pieces of texts."""
    numbers, rows = _numbered([words(text or "") for text in texts], known)
    return _pieces(*_windows(numbers, rows, _WORDS), len(texts))


def of_code(programs: Sequence[str | None], known: dict[str, int]) -> Flat:
    """Pieces of programs."""
    numbers, rows = _numbered([tokens(program or "") for program in programs], known)
    kept = numbers >> 32 != _DROPPED
    numbers, rows = numbers[kept], rows[kept]
    named = numbers >> 32 == _NAME
    since = np.where(named, _since(numbers, rows), 0)
    plain = np.where(named, 0, numbers).astype(np.uint64)
    return _pieces(*_windows(plain, rows, _TOKENS, since), len(programs))


def of_proteins(proteins: Sequence[str | None], _: dict[str, int]) -> Flat:
    """Pieces of proteins."""
    encoded = [(protein or "").upper().encode("utf-8", "replace") for protein in proteins]
    numbers = np.frombuffer(b"".join(encoded), np.uint8).astype(np.uint64)
    rows = np.repeat(np.arange(len(encoded)), [len(one) for one in encoded])
    return _pieces(*_windows(numbers, rows, _RESIDUES), len(proteins))


SHINGLES: dict[
    str, tuple[Callable[[Sequence[str | None], dict[str, int]], Flat], Callable[[], dict[str, int]], int]
] = {
    "text": (of_texts, _Words, 6),
    "code": (of_code, _Tokens, 20),
    "protein": (of_proteins, dict, 16),
}
"""By kind: what makes the pieces, what it remembers, and how many pieces a row must have to be compared."""


def _numbered(listed: list[list[str]], known: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens as numbers, int64 of shape (tokens,), and the row of each."""
    lengths = [len(one) for one in listed]
    flat = (known[token] for one in listed for token in one)
    return np.fromiter(flat, np.int64, sum(lengths)), np.repeat(np.arange(len(listed)), lengths)


def _since(numbers: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """How many tokens ago the same one stood in the same row; 0 where it is new."""
    order = np.lexsort((numbers, rows))
    same = (numbers[order][1:] == numbers[order][:-1]) & (rows[order][1:] == rows[order][:-1])
    since = np.zeros(len(numbers), np.int64)
    since[order[1:][same]] = np.diff(order)[same]
    return since


def _windows(
    numbers: np.ndarray, rows: np.ndarray, width: int, since: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """A number for each `width` tokens that follow each other in a row, uint32, and that row.

    Args:
        since: how long ago a name stood last; it counts where that is within the window.
    """
    count = max(0, len(numbers) - width + 1)
    whole = rows[:count] == rows[width - 1 :] if count else np.zeros(0, bool)
    numbers = numbers.astype(np.uint64)
    piece = np.zeros(count, np.uint64)
    for place in range(width):
        token = numbers[place : place + count]
        if since is not None:
            ago = since[place : place + count]
            token = token + np.where(ago <= place, ago, 0).astype(np.uint64)
        piece = mix(piece + token + np.uint64(1))
    return (piece[whole] >> np.uint64(32)).astype(np.uint32), rows[:count][whole]


def _pieces(pieces: np.ndarray, rows: np.ndarray, count: int) -> Flat:
    keys = distinct(rows.astype(np.uint64) << np.uint64(32) | pieces)
    return keys.astype(np.uint32), np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=count)


def distinct(keys: np.ndarray) -> np.ndarray:
    """The different keys in order. (`np.unique` hashes first, and takes several times as long.)"""
    keys = np.sort(keys)
    return keys[np.concatenate([np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1]])]


def mix(numbers: np.ndarray) -> np.ndarray:
    """splitmix64 (Steele, Lea and Flood, 2014): uint64 to uint64, one to one, as good as random."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
