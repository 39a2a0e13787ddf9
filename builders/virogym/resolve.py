"""From records to variants of a protein: positions, canonical names, kinds; or the reason why a record is none.

Records with one change are resolved as columns, the others one by one through `edits`. What a source counts as a site
is looked up, never computed: numberings have gaps, letters and negative sites.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from builders.virogym import edits, hgvs
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry
from builders.virogym.schema import AMINO_ACIDS

EXPECTED = frozenset({"no_score", "stop_site", "wild_type", "filtered", "other_target"})
"""Reasons that say nothing against the source: not measured, no residue, a control, a filter, another protein."""

_MESSAGES = {
    "missing_field": "site, wild type or mutant is not given",
    "stop_site": "the site is the stop codon, not a residue of the protein",
    "unknown_residue": "a residue is none of the 20 amino acids",
    "unknown_site": "the site is not in the numbering of the reference",
    "sequence_mismatch": "the source's mutated sequence is not the reference with this mutant",
    "wrong_residue": "the reference has another residue at this site",
    "filtered": "outside the entry's filters",
    "bad_score": "the value is no finite number",
    "no_score": "no value was measured",
}


def resolve(records: pl.DataFrame, reference: Reference, assay: AssayEntry) -> pl.DataFrame:
    """Say of each record which variant it is, or why it is none; in the order of the source.

    Returns:
        The records with `mutant`, `kind`, `n_mut`, `start` (first position), `hgvs_pro`, `ref_site`, `mutated` (the
        sequence, only of records with several changes) and the final `reason` and `message`.
    """
    whole = pl.col("tokens").is_not_null() & (pl.col("tokens").list.len() == 0) & pl.col("reason").is_null()
    records = records.with_columns(
        reason=pl.when(whole).then(pl.lit("wild_type")).otherwise("reason"),
        message=pl.when(whole).then(pl.lit("the whole wild type: it names no site")).otherwise("message"),
    )
    several = pl.col("tokens").is_not_null() & (pl.col("tokens").list.len() > 0)
    if records["tokens"].null_count() == records.height:
        return _resolve_columns(records, reference, assay)
    one = _resolve_columns(records.filter(~several), reference, assay)
    rest = _resolve_tokens(records.filter(several), reference, assay)
    return pl.concat([one, rest], how="diagonal").sort("line", maintain_order=True)


def lookup(reference: Reference, numbering: str) -> pl.DataFrame:
    """What is known of each site: its position and residue, and where a deletion of it stands in canonical form."""
    sequence = reference.sequence
    ends = list(range(1, len(sequence) + 1))
    for i in range(len(sequence) - 2, -1, -1):
        if sequence[i] == sequence[i + 1]:
            ends[i] = ends[i + 1]
    rows = [
        (site, position, sequence[position - 1], ends[position - 1], reference.sites[position - 1],
         reference.sites[ends[position - 1] - 1])
        for site, position in reference.positions(numbering).items()
    ]  # fmt: skip
    text, whole = pl.String, pl.Int32
    names = {"site": text, "start": whole, "ref": text, "end": whole, "field_site": text, "end_field_site": text}
    return pl.DataFrame(rows, schema=names, orient="row")


def _resolve_columns(records: pl.DataFrame, reference: Reference, assay: AssayEntry) -> pl.DataFrame:
    found = records.join(lookup(reference, assay.sites), on="site", how="left", maintain_order="left")
    wt, mut, start, ref = (pl.col(name) for name in ("wt", "mut", "start", "ref"))
    deletion = mut == "-"
    place = pl.when(deletion).then("end").otherwise(start)
    stops = list(reference.stop_sites)
    reason = (
        pl.when(pl.col("reason").is_not_null()).then("reason")
        .when(wt.is_null() | mut.is_null() | pl.col("site").is_null()).then(pl.lit("missing_field"))
        .when((wt == "*") | pl.col("site").is_in(stops)).then(pl.lit("stop_site"))
        .when(~wt.is_in(list(AMINO_ACIDS)) | ~mut.is_in(list(AMINO_ACIDS + "*-"))).then(pl.lit("unknown_residue"))
        .when(start.is_null()).then(pl.lit("unknown_site"))
        .when(ref != wt).then(pl.lit("wrong_residue"))
        .when(_differs(reference)).then(pl.lit("sequence_mismatch"))
    )  # fmt: skip
    reason = _with_value_reason(reason)
    written = pl.when(deletion).then(pl.lit("del")).when(wt == mut).then(pl.lit("=")).otherwise(_three(mut))
    found = found.with_columns(
        mutant=pl.concat_str(ref, place.cast(pl.String), pl.when(deletion).then(pl.lit("del")).otherwise(mut)),
        kind=pl.when(mut == "*").then(pl.lit("stop")).when(deletion).then(pl.lit("del"))
        .when(wt == mut).then(pl.lit(assay.identity)).otherwise(pl.lit("sub")),
        n_mut=pl.when(wt == mut).then(0).otherwise(1).cast(pl.Int32),
        start=place,
        hgvs_pro=pl.concat_str(pl.lit("p."), _three(ref), place.cast(pl.String), written),
        ref_site=pl.concat_list(pl.when(deletion).then("end_field_site").otherwise("field_site")),
        mutated=pl.lit(None, pl.String),
        source_word=pl.concat_str("wt", "site", "mut"),
        reason=reason,
    )  # fmt: skip
    message = pl.coalesce("message", pl.col("reason").replace_strict(_MESSAGES, default=None))
    detail = pl.format("{} (site {}, {} to {})", message, "site", "wt", "mut")
    found = found.with_columns(message=pl.when(pl.col("reason").is_not_null()).then(pl.coalesce(detail, message)))
    return found.drop("ref", "end", "field_site", "end_field_site")


def _differs(reference: Reference) -> pl.Expr:
    """Whether the source gives a mutated sequence that is another one."""
    whole = pl.lit(reference.sequence)
    made = pl.concat_str(whole.str.slice(0, pl.col("start") - 1), pl.col("mut"), whole.str.slice(pl.col("start")))
    return (pl.col("sequence") != made).fill_null(False)


def _three(column: pl.Expr) -> pl.Expr:
    return column.replace_strict(hgvs.THREE, default=None, return_dtype=pl.String)


def _with_value_reason(reason: Any) -> pl.Expr:
    return (
        reason.when(pl.col("value_reason").is_not_null()).then("value_reason")
        .when(pl.col("score").is_null()).then(pl.lit("no_score"))
        .otherwise(None)
    )  # fmt: skip


def _resolve_tokens(records: pl.DataFrame, reference: Reference, assay: AssayEntry) -> pl.DataFrame:
    positions = reference.positions(assay.sites)
    made = [
        _resolved(tokens, given, reference, positions, assay.identity)
        if reason is None
        else {"reason": reason, "message": message}
        for tokens, given, reason, message in records.select("tokens", "sequence", "reason", "message").iter_rows()
    ]
    schema = {
        "mutant": pl.String, "kind": pl.String, "n_mut": pl.Int32, "start": pl.Int32, "hgvs_pro": pl.String,
        "ref_site": pl.List(pl.String), "mutated": pl.String, "reason": pl.String, "message": pl.String,
    }  # fmt: skip
    found = pl.concat([records.drop("reason", "message"), pl.DataFrame(made, schema=schema)], how="horizontal")
    found = found.with_columns(
        reason=_with_value_reason(pl.when(pl.col("reason").is_not_null()).then("reason")),
        source_word=pl.col("tokens").list.join(":"),
    )
    return found.with_columns(
        message=pl.coalesce("message", pl.col("reason").replace_strict(_MESSAGES, default=None, return_dtype=pl.String))
    )


def _resolved(
    tokens: list[str], given: str | None, reference: Reference, positions: dict[str, int], identity: str
) -> dict[str, Any]:
    sequence = reference.sequence
    try:
        found = edits.canonical([edits.parse(token, sequence, positions) for token in tokens], sequence)
        if given is not None and edits.apply(found, sequence) != given:
            raise edits.EditError(
                "sequence_mismatch", "the source's mutated sequence is not the reference with this mutant"
            )
    except edits.EditError as error:
        at_stop = error.reason == "unknown_site" and any(token[1:-1] in reference.stop_sites for token in tokens)
        return {"reason": "stop_site" if at_stop else error.reason, "message": str(error)}
    sites = [place for edit in found for place in dict.fromkeys((edit.start, edit.end))]
    kind = edits.kind(found, sequence, identity)
    return {
        "mutant": edits.text(found, sequence),
        "kind": kind,
        "n_mut": 0 if kind == identity else len(found),
        "start": found[0].start,
        "hgvs_pro": hgvs.write(found, sequence),
        "ref_site": [reference.sites[place - 1] for place in sites],
        "mutated": None if kind == "stop" else edits.apply(found, sequence),
    }
