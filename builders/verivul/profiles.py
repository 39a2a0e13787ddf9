"""Which properties ESBMC checks, by the weakness that a fix is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

COMMON = ("--no-align-check", "--sv-comp")

HUNT = ("--no-unwinding-assertions",)
"""For the program before the fix: a loop that the bound cuts is no violation there, and must not hide one."""

EVERY = ("--multi-property",)
"""Solves each property by itself: all violations and not only one, for up to forty times the cost."""

WHOLE_TRACE = ("--no-slice",)
"""A counterexample lists every input and every step, also those that do not matter."""

PROFILES: dict[str, tuple[str, ...]] = {
    "mem": ("--overflow-check", "--ub-shift-check"),
    "memonly": (),
    "leak": ("--overflow-check", "--ub-shift-check", "--memory-leak-check", "--no-reachable-memory-leak"),
    "wrap": ("--overflow-check", "--ub-shift-check", "--unsigned-overflow-check"),
}
"""`wrap` counts unsigned arithmetic that wraps, which C defines: its labels say so by their profile."""

_ASSIGNS = re.compile(r"(?<![=!<>])=(?!=)")
_LEAKS = frozenset((401, 771, 772, 775))
_WRAPS = frozenset((128, 190, 191, 680))


def chosen(cwe: Iterable[int], text: str) -> list[str]:
    """The profiles to try, in order.

    Args:
        cwe: of the fix; `text` its message and difference, which decide where no CWE says it.
    """
    known, text = frozenset(cwe), text.lower()
    names = ["mem"]
    if known & _LEAKS or "leak" in text:
        names = ["leak", "mem"] if known & _LEAKS else ["mem", "leak"]
    if known & _WRAPS or any(word in text for word in ("overflow", "_max", "wrap")):
        names.append("wrap")
    return names


def arguments(profile: str, unwind: int) -> list[str]:
    """ESBMC's arguments. Unwinding assertions stay on: `safe` means that no loop was cut."""
    return ["--unwind", str(unwind), *COMMON, *PROFILES[profile]]


def unwind(arguments: Sequence[str]) -> int:
    """The bound in ESBMC's arguments."""
    return int(arguments[list(arguments).index("--unwind") + 1])


def induction(profile: str, unwind: int) -> list[str]:
    """Arguments for a proof by k-induction, never with `EVERY`: together they end as unknown."""
    return ["--k-induction", "--max-k-step", str(unwind), *COMMON, *PROFILES[profile]]


def primary_cwe(given: Sequence[int], candidates: Sequence[int], comment: str, line: str) -> int:
    """One CWE for a violation: the fix's own where ESBMC's candidates have it, else by what the line does.

    Args:
        candidates: ESBMC's set, which does not know a read from a write.
        comment: of the property; `line` is the violating line.
    """
    for number in given:
        if number in candidates:
            return number
    text = comment.lower()
    if "bounds" in text or ("object" in text and "invalidated" not in text):
        parts = _ASSIGNS.split(line, maxsplit=1)
        left = parts[0] if len(parts) > 1 else ""
        write = (
            "[" in left or left.strip().startswith("*") or any(word in line for word in ("memcpy", "strcpy", "memset"))
        )
        return 787 if write else 125
    for word, number in (("null", 476), ("double", 415), ("invalidated", 416), ("freed", 416), ("division", 369),
                         ("forgotten", 401), ("shift", 1335), ("overflow", 190), ("abort", 617), ("assert", 617),
                         ("free", 763)):  # fmt: skip
        if word in text:
            return number
    return candidates[0] if candidates else 0


def known(arguments: Sequence[str]) -> bool:
    """Whether ESBMC's arguments are of those that this builder gives: others can name programs and files."""
    given = {*COMMON, *HUNT, *EVERY, *WHOLE_TRACE, *(one for profile in PROFILES.values() for one in profile)}
    return all(one in given | {"--unwind", "--k-induction", "--max-k-step"} or one.isdecimal() for one in arguments)
