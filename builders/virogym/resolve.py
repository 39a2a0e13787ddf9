"""From records to variants of a protein: positions, canonical names, kinds; or the reason why a record is none.

Records with one change, and those with several substitutions, are resolved as columns, the others one by one through
`edits`. What a source counts as a site
is looked up, never computed: numberings have gaps, letters and negative sites.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import polars as pl

from builders.virogym import edits, hgvs
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry
from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.sequences import substituted

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
    if records["tokens"].null_count() == records.height:
        return _resolve_columns(records, reference, assay)
    whole = pl.col("tokens").is_not_null() & (pl.col("tokens").list.len() == 0) & pl.col("reason").is_null()
    records = records.with_columns(
        reason=pl.when(whole).then(pl.lit("wild_type")).otherwise("reason"),
        message=pl.when(whole).then(pl.lit("the whole wild type: it names no site")).otherwise("message"),
    )
    several = pl.col("tokens").is_not_null() & (pl.col("tokens").list.len() > 0)
    one = _resolve_columns(records.filter(~several), reference, assay)
    substitutions, rest = _resolve_substitutions(records.filter(several), reference, assay)
    rest = _resolve_tokens(rest, reference, assay)
    return pl.concat([one, substitutions, rest], how="diagonal").sort("line", maintain_order=True)


@lru_cache(maxsize=64)
def lookup(reference: Reference, numbering: str) -> pl.DataFrame:
    """What is known of each site: position and residue, and the texts of which its changes are made.

    A deletion stands at the last residue of a run of equal ones (`end_...`).
    """
    sequence = reference.sequence
    ends = list(range(1, len(sequence) + 1))
    for i in range(len(sequence) - 2, -1, -1):
        if sequence[i] == sequence[i + 1]:
            ends[i] = ends[i + 1]
    positions = reference.positions(numbering)
    starts = list(positions.values())
    columns: dict[str, list[Any]] = {"site": list(positions), "ref": [sequence[start - 1] for start in starts]}
    for prefix, places, ending in (("", starts, ""), ("end_", [ends[start - 1] for start in starts], "del")):
        columns[f"{prefix}start"] = places
        columns[f"{prefix}word"] = [f"{sequence[i - 1]}{i}{ending}" for i in places]
        columns[f"{prefix}hgvs"] = [f"p.{hgvs.THREE[sequence[i - 1]]}{i}{ending}" for i in places]
        columns[f"{prefix}sites"] = [reference.sites[i - 1] for i in places]
    types = {name: pl.Int32 if name.endswith("start") else pl.String for name in columns}
    return pl.DataFrame(columns, schema=types).with_columns(pl.concat_list(name) for name in ("sites", "end_sites"))


def _resolve_columns(records: pl.DataFrame, reference: Reference, assay: AssayEntry) -> pl.DataFrame:
    known = lookup(reference, assay.sites)
    found = records.join(known, on="site", how="left", maintain_order="left")
    wt, mut = pl.col("wt"), pl.col("mut")
    deletion = mut == "-"
    ending = pl.when(wt == mut).then(pl.lit("=")).otherwise(_three(mut))
    given = found["sequence"].null_count() < found.height

    def place(column: str) -> pl.Expr:
        return pl.when(deletion).then(f"end_{column}").otherwise(column)

    found = found.with_columns(
        mutant=pl.when(deletion).then("end_word").otherwise(pl.concat_str("word", mut)),
        kind=pl.when(wt == mut).then(pl.lit(assay.identity)).when(mut == "*").then(pl.lit("stop"))
        .when(deletion).then(pl.lit("del")).otherwise(pl.lit("sub")),
        n_mut=(wt != mut).cast(pl.Int32),
        start=place("start"),
        hgvs_pro=pl.when(deletion).then("end_hgvs").otherwise(pl.concat_str("hgvs", ending)),
        ref_site=place("sites"),
        mutated=pl.lit(None, pl.String),
        usable=pl.all_horizontal(
            pl.col("ref") == wt, mut.is_in(list(AMINO_ACIDS + "*-")), pl.col("score").is_not_null(),
            pl.col("reason").is_null(), pl.col("value_reason").is_null(),
            ~_differs(reference) if given else pl.lit(True),
        ),
    )  # fmt: skip
    return _with_reasons(found, reference).drop("usable", set(known.columns) - {"site", "start"})


def _with_reasons(found: pl.DataFrame, reference: Reference) -> pl.DataFrame:
    """Say why records are not usable; most tables have few."""
    places = found.select((~pl.col("usable").fill_null(False)).arg_true()).to_series()
    if not len(places):
        return found
    bad = found[places]
    wt, mut = pl.col("wt"), pl.col("mut")
    reason = (
        pl.when(pl.col("reason").is_not_null()).then("reason")
        .when(wt.is_null() | mut.is_null() | pl.col("site").is_null()).then(pl.lit("missing_field"))
        .when((wt == "*") | pl.col("site").is_in(list(reference.stop_sites))).then(pl.lit("stop_site"))
        .when(~wt.is_in(list(AMINO_ACIDS)) | ~mut.is_in(list(AMINO_ACIDS + "*-"))).then(pl.lit("unknown_residue"))
        .when(pl.col("ref").is_null()).then(pl.lit("unknown_site"))
        .when(pl.col("ref") != wt).then(pl.lit("wrong_residue"))
        .when(_differs(reference) if bad["sequence"].count() else pl.lit(False)).then(pl.lit("sequence_mismatch"))
    )  # fmt: skip
    bad = bad.with_columns(reason=_with_value_reason(reason))
    message = pl.coalesce("message", pl.col("reason").replace_strict(_MESSAGES, default=None, return_dtype=pl.String))
    detail = pl.format("{} (site {}, {} to {})", message, "site", "wt", "mut")
    said = bad.select("reason", message=pl.coalesce(detail, message))
    return found.with_columns(found[name].scatter(places, said[name]) for name in said.columns)


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


def _resolve_substitutions(
    records: pl.DataFrame, reference: Reference, assay: AssayEntry
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Records whose changes are all plain substitutions that fit, resolved; and the other records as they are."""
    words = records.with_row_index("row").select("row", pl.col("tokens").alias("word_")).explode("word_")
    parts = (
        words["word_"].str.extract_groups(r"^([A-Z])(-?\d+[a-z]?)([A-Z])$").struct.rename_fields(["wt", "site", "mut"])
    )
    changes = words.select("row").hstack(parts.struct.unnest())
    changes = changes.join(lookup(reference, assay.sites), on="site", how="left", maintain_order="left")
    fits = (pl.col("ref") == pl.col("wt")) & (pl.col("wt") != pl.col("mut")) & pl.col("mut").is_in(list(AMINO_ACIDS))
    changes = changes.sort("row", "start", maintain_order=True)
    made = changes.group_by("row", maintain_order=True).agg(
        plain=fits.fill_null(False).all() & (pl.col("start").n_unique() == pl.len()),
        mutant=pl.concat_str("word", "mut").str.join(":"),
        n_mut=pl.len().cast(pl.Int32),
        parts=pl.concat_str(pl.col("hgvs").str.slice(2), _three(pl.col("mut"))).str.join(";"),
        ref_site=pl.col("sites").list.first(),
        start=pl.col("start").first(),
    )
    plain = made["plain"]
    rows, rest = records.filter(plain), records.filter(~plain)
    made = made.filter(plain).with_row_index("place")
    kept = changes.join(made.select("row", "place"), on="row", how="inner", maintain_order="left")
    letters = "".join(kept["mut"].to_list())
    mutated = substituted(reference.sequence, rows.height, kept["place"].to_numpy(), kept["start"].to_numpy(), letters)
    several = pl.col("n_mut") > 1
    found = rows.hstack(made.select("mutant", "n_mut", "start", "ref_site", "parts")).with_columns(
        kind=pl.when(several).then(pl.lit("multi")).otherwise(pl.lit("sub")),
        hgvs_pro=pl.when(several).then(pl.format("p.[{}]", "parts")).otherwise(pl.format("p.{}", "parts")),
        mutated=pl.Series(mutated, dtype=pl.String),
    )
    reason = pl.when(pl.col("reason").is_not_null()).then("reason")
    reason = reason.when((pl.col("sequence") != pl.col("mutated")).fill_null(False)).then(pl.lit("sequence_mismatch"))
    found = found.drop("parts").with_columns(reason=_with_value_reason(reason))
    message = pl.coalesce("message", pl.col("reason").replace_strict(_MESSAGES, default=None, return_dtype=pl.String))
    return found.with_columns(message=message), rest


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
