"""Edits on a protein: one canonical way to write each changed sequence, so that one protein has one id.

Tables with one substitution a row do not come here (`resolve` treats their columns at once); insertions, deletions and
multi-mutants do. Positions count from 1 on the reference.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from builders.virogym.schema import AMINO_ACIDS

_SITE = r"-?\d+[a-z]?"
_SUB = re.compile(rf"([A-Za-z*])({_SITE})([A-Za-z*-]|del)")
_SPAN = re.compile(rf"([A-Z])({_SITE})(?:_([A-Z])({_SITE}))?(del|ins|delins)([A-Z*]*)")


class EditError(ValueError):
    """An edit that cannot be used: `reason` is the reject's code, the text says why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, order=True)
class Edit:
    """One change.

    Attributes:
        start, end: first and last position concerned; of an insertion, the residues on both sides.
        op: `sub` (also a stop or no change), `del`, `ins` or `delins`.
        new: the residues put in.
    """

    start: int
    end: int
    op: Literal["sub", "del", "ins", "delins"]
    new: str = ""


def parse(token: str, sequence: str, positions: Mapping[str, int]) -> Edit:
    """Read `A12V`, `A12*`, `A12-`, `A12del`, `A12_C14del`, `A12_C13insGG` or `A12delinsGG`.

    Args:
        positions: the position of each site, as the token names sites.

    Raises:
        EditError: it is no edit, or does not fit the sequence.
    """
    if match := _SUB.fullmatch(token):
        wt, site, new = match.groups()
        start = _position(site, wt, sequence, positions)
        if new in ("-", "del"):
            return Edit(start, start, "del")
        _check_residues(new, "*")
        return Edit(start, start, "sub", new)
    if match := _SPAN.fullmatch(token):
        wt, site, wt_end, site_end, op, new = match.groups()
        start = _position(site, wt, sequence, positions)
        end = _position(site_end, wt_end, sequence, positions) if site_end else start
        _check_residues(new)
        if op == "ins" and end != start + 1:
            raise EditError("bad_mutant", f"{token} inserts between sites that are not neighbours")
        if end < start or bool(new) == (op == "del"):
            raise EditError("bad_mutant", f"{token} is no change that can be made")
        return Edit(start, end, op, new)  # type: ignore[arg-type]
    raise EditError("bad_mutant", f"{token!r} is no mutant: expected such as A12V, A12del or A12_C13insGG")


def _position(site: str, wt: str, sequence: str, positions: Mapping[str, int]) -> int:
    if wt == "*":
        raise EditError("stop_site", f"site {site} is the stop codon, not a residue of the protein")
    if wt not in AMINO_ACIDS:
        raise EditError("unknown_residue", f"wild type {wt} at site {site} is none of the 20 amino acids")
    position = positions.get(site)
    if position is None:
        raise EditError("unknown_site", f"site {site} is not in the numbering of the reference")
    if sequence[position - 1] != wt:
        raise EditError("wrong_residue", f"site {site} has {sequence[position - 1]} in the reference, not {wt}")
    return position


def _check_residues(new: str, also: str = "") -> None:
    for residue in new:
        if residue not in AMINO_ACIDS + also:
            raise EditError("unknown_residue", f"{residue} is none of the 20 amino acids")


def canonical(edits: Iterable[Edit], sequence: str) -> tuple[Edit, ...]:
    """Sorted, without no-ops beside other edits, neighbouring deletions joined, each shifted to the right as HGVS asks.

    Raises:
        EditError: two edits concern the same position.
    """
    plain = [piece for edit in edits for piece in _simplest(edit, sequence)]
    if not plain:
        raise EditError("bad_mutant", "it changes nothing and names no site")
    if len(plain) > 1:
        plain = [edit for edit in plain if not is_identity(edit, sequence)] or plain[:1]
    plain.sort()
    joined: list[Edit] = []
    for edit in plain:
        last = joined[-1] if joined else None
        if last is not None and edit.op == last.op == "del" and edit.start == last.end + 1:
            joined[-1] = Edit(last.start, edit.end, "del")
            continue
        taken = 0 if last is None else last.start if last.op == "ins" else last.end
        if edit.start < taken or (edit.start == taken and (edit.op != "ins" or (last and last.op == "ins"))):
            raise EditError("overlapping_edits", f"position {edit.start} is changed twice")
        joined.append(edit)
    limits = [edit.start for edit in joined[1:]] + [len(sequence) + 1]
    return tuple(_shifted(edit, sequence, limit) for edit, limit in zip(joined, limits, strict=True))


def _simplest(edit: Edit, sequence: str) -> list[Edit]:
    """A delins of equal length is substitutions, one that keeps residues at its ends is a smaller change."""
    if edit.op != "delins":
        return [edit]
    return list(between(sequence, apply([edit], sequence)))


def _shifted(edit: Edit, sequence: str, limit: int) -> Edit:
    """The same change as far to the right as it can stand before position `limit`."""
    if edit.op == "del":
        start, end = edit.start, edit.end
        while end + 1 < limit and sequence[start - 1] == sequence[end]:
            start, end = start + 1, end + 1
        return Edit(start, end, "del")
    if edit.op == "ins":
        start, new = edit.start, edit.new
        while start + 1 < min(limit, len(sequence)) and sequence[start] == new[0]:
            start, new = start + 1, new[1:] + new[0]
        return Edit(start, start + 1, "ins", new)
    return edit


def between(old: str, new: str) -> tuple[Edit, ...]:
    """The edits that turn `old` into `new`, as one change between the residues that both ends share.

    Equal length gives substitutions. A change before the first or after the last residue cannot be an insertion between
    two residues and becomes a `delins` of the residue there.
    """
    if len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True), 1)
        return tuple(Edit(i, i, "sub", b) for i, (a, b) in pairs if a != b)
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    gone, put = old[head : len(old) - tail], new[head : len(new) - tail]
    start = head + 1
    if not put:
        return (Edit(start, start + len(gone) - 1, "del"),)
    if not gone:
        if head == 0:
            return (Edit(start, start, "delins", put + old[0]),)
        if tail == 0:
            return (Edit(start - 1, start - 1, "delins", old[-1] + put),)
        return (Edit(start - 1, start, "ins", put),)
    return (Edit(start, start + len(gone) - 1, "delins", put),)


def is_identity(edit: Edit, sequence: str) -> bool:
    """Whether it changes nothing (`A12A`)."""
    return edit.op == "sub" and sequence[edit.start - 1] == edit.new


def text(edits: Sequence[Edit], sequence: str) -> str:
    """The canonical name, such as `A12V:D20N`."""
    return ":".join(_text(edit, sequence) for edit in edits)


def _text(edit: Edit, sequence: str) -> str:
    first = f"{sequence[edit.start - 1]}{edit.start}"
    if edit.op == "sub":
        return first + edit.new
    if edit.start != edit.end:
        first += f"_{sequence[edit.end - 1]}{edit.end}"
    return first + edit.op + edit.new


def apply(edits: Sequence[Edit], sequence: str) -> str:
    """The changed sequence; `*` stands where a stop was put in."""
    result = sequence
    for edit in sorted(edits, reverse=True):
        start, end = (edit.start, edit.end - 1) if edit.op == "ins" else (edit.start - 1, edit.end)
        result = result[:start] + edit.new + result[end:]
    return result


def kind(edits: Sequence[Edit], sequence: str, identity: str) -> str:
    """What kind of change it is; `identity` is the kind of a row that changes nothing."""
    if any("*" in edit.new for edit in edits):
        return "stop"
    change = sum(len(apply([edit], sequence)) - len(sequence) for edit in edits)
    if any(edit.op != "sub" for edit in edits):
        return "ins" if change > 0 else "del"
    if len(edits) > 1:
        return "multi"
    return identity if is_identity(edits[0], sequence) else "sub"


def variant_id(reference_id: str, mutant: str) -> str:
    """sha1 (hex) of the reference id, a blank and the canonical name."""
    return hashlib.sha1(f"{reference_id} {mutant}".encode(), usedforsecurity=False).hexdigest()
