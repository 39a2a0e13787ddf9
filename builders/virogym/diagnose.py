"""Why a table does not fit its reference: a shifted numbering, swapped columns, or another assay's file.

A wholesale mismatch is one mistake, not thousands of bad records: the build stops and says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import polars as pl

from builders.virogym.references import Reference
from builders.virogym.resolve import EXPECTED

LARGEST_SHIFT = 30
CLEAR = 0.9
"""A match from which an explanation is named."""


def share_unexpected(resolved: pl.DataFrame) -> float:
    """The share of records that are rejected for a reason that speaks against the source."""
    bad = resolved.select((pl.col("reason").is_not_null() & ~pl.col("reason").is_in(list(EXPECTED))).mean()).item()
    return float(bad or 0.0)


def explain(resolved: pl.DataFrame, reference: Reference, numbering: str, others: Iterable[Reference]) -> str:
    """One sentence: how many records fit, what would make them fit, and what to do.

    Args:
        resolved: all records of the assay.
        others: the other registered references.
    """
    counts = resolved.filter(pl.col("reason").is_not_null() & ~pl.col("reason").is_in(list(EXPECTED)))["reason"]
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in counts.value_counts(sort=True).iter_rows())
    said = f"{counts.len():,} of {resolved.height:,} records cannot be used ({reasons})"
    letters = resolved.filter(pl.col("wt").is_not_null() & pl.col("site").is_not_null())
    if not letters.height:
        return f"{said}: look at rejects' messages and correct the entry's reader and columns"
    fit = match(letters, "wt", reference, numbering)
    said += f"; the wild type matches {reference.id} at {fit:.1%}"
    if match(letters, "mut", reference, numbering) >= CLEAR:
        return f"{said}, the mutant at nearly all: the columns wt and mut are swapped; correct the entry or the file"
    shift, shifted = best_shift(letters, reference, numbering)
    if shift and shifted >= CLEAR:
        return (
            f"{said}, and at {shifted:.1%} with sites shifted by {shift:+d}: "
            "correct the site map, the span or `sites` of the entry"
        )
    fits = [(match(letters, "wt", other, "reference"), other.id) for other in others if other.id != reference.id]
    best, name = max(fits, default=(0.0, ""))
    if best > max(fit, CLEAR):
        return f"{said}, and reference {name} at {best:.1%}: it is the file of another assay, or the reference is wrong"
    near = f" (best: {shifted:.1%} at {shift:+d})" if shift else ""
    return (
        f"{said}; no shift within {LARGEST_SHIFT} sites fits{near} and no other registered reference: "
        "check strain, numbering and file"
    )


def match(letters: pl.DataFrame, column: str, reference: Reference, numbering: str) -> float:
    """The share of records whose letter is the reference's residue at their site."""
    positions = reference.positions(numbering)
    residues = {site: reference.sequence[position - 1] for site, position in positions.items()}
    found = letters["site"].replace_strict(residues, default=None, return_dtype=pl.String)
    return float((found == letters[column]).fill_null(False).mean() or 0.0)  # type: ignore[arg-type]


def best_shift(letters: pl.DataFrame, reference: Reference, numbering: str) -> tuple[int, float]:
    """The shift within +-30 at which most wild types match, and the share of records that do.

    Tried in both ways in which a shift happens: of the source's whole-numbered sites (a forgotten signal peptide), and
    of the positions that its sites are mapped to (a wrong site map).
    """
    wild = letters["wt"].to_numpy()
    positions = reference.positions(numbering)
    residues = dict(enumerate(reference.sequence, 1))
    numbered = {int(site): residues[i] for site, i in positions.items() if re.fullmatch(r"-?\d+", site)}
    ways = [
        (letters["site"].cast(pl.Int64, strict=False), numbered),
        (letters["site"].replace_strict(positions, default=None, return_dtype=pl.Int64), residues),
    ]
    best = (0, 0.0)
    for shift in sorted(range(-LARGEST_SHIFT, LARGEST_SHIFT + 1), key=abs):
        for place, there in ways:
            found = (place + shift).replace_strict(there, default=None, return_dtype=pl.String).to_numpy()
            best = max(best, (shift, float((found == wild).mean())), key=lambda pair: pair[1])
    return best
