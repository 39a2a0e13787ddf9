"""Statements that fill numbers and memory with inputs, and which number is a buffer's length.

Every input comes from a function `input_<type>()` that stores it in `input`, so that a counterexample lists the inputs
in the order in which the program asked for them: see `replay`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from builders.verivul.assumptions import About, Setup
from builders.verivul.ctypes import SPELLING, CType
from builders.verivul.facts import Facts

_LENGTH = re.compile(r"(len|length|size|sz|cnt|count|num|nb|max|bytes|cap|alloc|^n$|^n_|_n$|nitems|used|avail)", re.I)
END = re.compile(r"(end|limit|snapend|_ep$|^ep\d?$|eptr|last|stop|ceil|^maxbuf$)", re.I)
"""Names of pointers to the end of a buffer."""

_NOT_LENGTHS = ("enum", "bool", "double", "float", "char", "uchar")
FILLED = 34
"""Elements that are set one by one; those of a longer buffer stay nondeterministic without a name."""

Sibling = tuple[str, str, CType]
"""(lvalue, name, type) of a parameter or member beside another."""


def ask(kind: CType) -> str:
    """The C expression of a nondeterministic scalar."""
    return f"input_{'uint' if kind.name == 'enum' else kind.name}()" if kind.kind == "scalar" else "0"


def key(place: str, name: str) -> str:
    """What assumptions call a place: see `access.key_of`."""
    return "." + name if "." in place or "->" in place else name


def within(place: str, kind: CType, low: int, high: int) -> str:
    """An assumption that a number lies in inclusive bounds."""
    lower = "" if kind.unsigned and low <= 0 else f" && {place} >= {low}"
    return f"__ESBMC_assume({place} <= {high}{lower});"


def allocated(place: str, size: str, setup: Setup) -> list[str]:
    """Memory for a pointer. A plain `malloc` beside its type: ESBMC takes the object's type from there, and memory
    without a type costs it ten times as much."""
    keep = [f"keep({place});"] if setup.kept else []
    return [f"{place} = malloc({size});", f"__ESBMC_assume({place} != 0);", *keep]


def scalar(place: str, kind: CType, name: str, about: About, facts: Facts, setup: Setup) -> list[str]:
    """Statements that set a number, within what is assumed about it."""
    lines = [f"{place} = {ask(kind)};"]
    whole = kind.name not in ("double", "float", "bool")
    if about.span and whole:
        lines.append(within(place, kind, *about.span))
    elif kind.name == "enum" and not about.nonzero:
        count = kind.text.count(",") + 1 if "{" in kind.text else 64
        lines.append(f"__ESBMC_assume((unsigned){place} < {count});")
    elif setup.bounded and name in facts.loops and whole and not about.nonzero:
        lines.append(within(place, kind, -1 if setup.negative else 0, setup.elements))
    if about.nonzero:
        lines.append(f"__ESBMC_assume({place} != 0);")
    return lines


def filled(place: str, kind: CType, count: str, most: int) -> list[str]:
    """Statements that give every element a named input, without loops, which would count against the bound."""
    byte = kind.kind == "void" or kind.byte
    if not byte and (kind.kind != "scalar" or kind.name == "enum"):
        return []
    value, whole = (ask(CType("scalar", "uchar")), "(unsigned char *)") if byte else (ask(kind), "")
    target = f"({whole}{place})" if byte else f"(({SPELLING[kind.name]} *){place})"
    if count.isdigit() and int(count) > FILLED:
        return []  # too many inputs: this memory stays nondeterministic without a name
    if count.isdigit():
        return [f"{target}[{number}] = {value};" for number in range(int(count))]
    return [f"if ({number} < {count}) {target}[{number}] = {value};" for number in range(most)]


def length_of(name: str, siblings: Sequence[Sibling], facts: Facts, setup: Setup) -> tuple[str, CType] | None:
    """The number beside a buffer that says its length, with its type."""
    if not setup.linked:
        return None
    numbers = [one for one in siblings if one[2].kind == "scalar" and one[2].name not in _NOT_LENGTHS]
    order = [other for _, other, _ in siblings]
    stem, best = re.sub(r"[^a-z]", "", name.lower()).rstrip("s"), None
    for place, other, kind in numbers:
        plain = re.sub(r"[^a-z]", "", other.lower())
        alike = len(stem) >= 3 and (stem in plain or (len(stem) > 4 and stem[:4] in plain))
        length = bool(_LENGTH.search(other))
        next_ = length and name in order and order.index(other) == order.index(name) + 1
        score = 4 * (other in facts.limits.get(name, ())) + length + next_ + 2 * alike
        if score >= (2 if len(numbers) > 1 else 1) and (best is None or score > best[0]):
            best = (score, place, kind)
    return best[1:] if best else None
