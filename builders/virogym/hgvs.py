"""HGVS protein notation: a strict writer and a tolerant reader.

The reader takes what is found in MaveDB (`p.Ala10*`, `p.(Glu27Trp)`, unsorted lists, targets before a colon, several
variants in a row) and turns it into the tokens of `edits.parse`. The writer gives what mavehgvs accepts: three letters,
`Ter`, sorted. Whether a residue fits a protein is the business of `edits`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from builders.virogym.edits import Edit, EditError

THREE = {
    "A": "Ala", "C": "Cys", "D": "Asp", "E": "Glu", "F": "Phe", "G": "Gly", "H": "His", "I": "Ile", "K": "Lys",
    "L": "Leu", "M": "Met", "N": "Asn", "P": "Pro", "Q": "Gln", "R": "Arg", "S": "Ser", "T": "Thr", "V": "Val",
    "W": "Trp", "Y": "Tyr", "*": "Ter",
}  # fmt: skip
ONE = {three: one for one, three in THREE.items()} | {"*": "*"}

SIMPLE = r"^p\.\(?(?<wt>[A-Z][a-z]{2})(?<site>\d+)(?<mut>[A-Z][a-z]{2}|\*|=|del)\)?$"
"""One residue changed: nearly all of every score set. In the syntax of polars; see `readers.mavedb`."""

_SIMPLE = re.compile(SIMPLE.replace("?<", "?P<").lstrip("^").rstrip("$"))

WILD_TYPE = frozenset({"_wt", "_sy", "p.=", "p.(=)", "p._wt", "p._sy"})
"""The whole protein unchanged: it names no site."""


def write(edits: Sequence[Edit], sequence: str) -> str:
    """The variant on the reference, such as `p.Ala12Val`, `p.Ala12Ter`, `p.Ala12=` or `p.[Ala12Val;Asp20Asn]`."""
    parts = [_write(edit, sequence) for edit in sorted(edits)]
    return f"p.{parts[0]}" if len(parts) == 1 else f"p.[{';'.join(parts)}]"


def _write(edit: Edit, sequence: str) -> str:
    first = THREE[sequence[edit.start - 1]] + str(edit.start)
    if edit.op == "sub":
        return first + ("=" if edit.new == sequence[edit.start - 1] else THREE[edit.new])
    if edit.start != edit.end:
        first += f"_{THREE[sequence[edit.end - 1]]}{edit.end}"
    return first + edit.op + "".join(THREE[residue] for residue in edit.new)


def read(text: str, target: str | None = None) -> list[str]:
    """The variant as tokens of `edits.parse`; empty for the whole wild type.

    Args:
        target: the target wanted, where a score set has several (`RBD:p.Asn1Ala`).

    Raises:
        EditError: `bad_hgvs`, `unknown_residue`, `unsupported_change` or `other_target`.
    """
    tokens: list[str] = []
    words = text.split()
    if not words:
        raise EditError("bad_hgvs", "no variant is given")
    for word in words:
        name, colon, variant = word.rpartition(":")
        if colon and target is not None and name != target:
            raise EditError("other_target", f"{word} is a variant of {name}, not of {target}")
        if variant in WILD_TYPE:
            continue
        tokens += [_token(part, text) for part in _parts(variant, text)]
    return tokens


def _parts(variant: str, text: str) -> list[str]:
    if not variant.startswith("p."):
        raise EditError("bad_hgvs", f"{text!r} is no protein variant: it must start with p.")
    body = variant[2:]
    if body.startswith("(") and body.endswith(")"):
        body = body[1:-1]
    if body.startswith("[") and body.endswith("]"):
        return body[1:-1].split(";")
    return [body]


def _token(part: str, text: str) -> str:
    if match := _SIMPLE.fullmatch("p." + part):
        wt, site, mut = match.groups()
        return _one(wt) + site + (_one(wt) if mut == "=" else "del" if mut == "del" else _one(mut))
    part = re.sub(r"(?<=\d)\*|(?<![A-Za-z])\*", "Ter", part)
    for residue in re.findall(r"[A-Z][a-z]{2}", part):
        _one(residue)
    from mavehgvs import Variant  # here, for most tables need none: it takes as long as reading one
    from mavehgvs.exceptions import MaveHgvsParseError

    try:
        variant = Variant(f"p.{part}")
    except MaveHgvsParseError:
        raise EditError("bad_hgvs", f"{text!r} is not HGVS") from None
    if variant.variant_type not in ("del", "ins", "delins"):
        raise EditError(
            "unsupported_change", f"{text!r}: a change of type {variant.variant_type} makes no known protein"
        )
    ends = re.findall(r"([A-Z][a-z]{2})(\d+)", part.partition(variant.variant_type)[0])
    place = "_".join(f"{_one(residue)}{position}" for residue, position in ends)
    new = re.findall(r"[A-Z][a-z]{2}", str(variant.sequence)) if variant.variant_type != "del" else []
    return place + variant.variant_type + "".join(_one(residue) for residue in new)


def _one(residue: str) -> str:
    if residue not in ONE:
        raise EditError("unknown_residue", f"{residue} is none of the 20 amino acids")
    return ONE[residue]
