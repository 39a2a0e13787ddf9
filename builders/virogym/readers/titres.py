"""Tables of titres: who was tested against what, the titre and whether it is a limit.

`seqneut`: tables of seqneut-pipeline, one row a serum and virus (`titer_bound`: `upper`, `lower`, `interpolated`) or
one a replicate. `nextstrain`: tables of fauna, in which `<40` and `>5120` are limits and a serum is
named by its strain and its id; those of the Crick and the CDC have the passages, too.
Columns that an entry does not name are not read: what tables say of donors stays in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from builders.virogym.strains import passage_of
from builders.virogym.tables import NULLS, read_table
from builders.virogym.tasks import TitreTask
from schemas import GoldsmithError

COLUMNS = {
    "line": pl.Int64,  # of the source
    "virus": pl.String,  # the spelling
    "passage": pl.String,  # egg, cell or unstated
    "serum": pl.String,  # its name, without what tells of a donor
    "immunogen": pl.String,
    "text": pl.String,  # the titre as the source writes it, with the sign of a bound
    "titre": pl.Float64,
    "censor": pl.String,  # left, right, none
    "sem": pl.Float64,
    "n_rep": pl.Int32,
    "reason": pl.String,  # why the record makes no row
    "message": pl.String,
}

_FORMATS: Mapping[str, dict[str, Any]] = {
    "seqneut": {"virus": "virus", "serum": "serum", "titre": "titer"},
    "nextstrain": {
        "virus": "virus_strain",
        "serum": ["serum_strain", "serum_id"],
        "immunogen": "serum_strain",
        "titre": "titer",
    },
}
_WHERE_PRESENT = {
    "bound": "titer_bound",
    "sem": "titer_sem",
    "n_rep": "n_replicates",
    "passage": "virus_passage",
}
_BOUNDS = {"upper": "left", "lower": "right", "interpolated": "none", "<": "left", ">": "right", "=": "none"}
_KEYS = frozenset({"virus", "serum", "titre", "immunogen", "bound", "sem", "n_rep", "passage"})
_TITRE = r"^\s*([<>]?)=?\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*$"


def read(task: TitreTask, text: str, passage: str, where: str) -> pl.DataFrame:
    """The task's records, in `COLUMNS`. A record that equals an earlier one in every column of the table is a `copy`.

    Args:
        passage: in what strains were grown, where neither name nor table says.

    Raises:
        GoldsmithError: the table is empty, cut off, or lacks a column.
    """
    unknown = sorted(set(task.columns) - _KEYS)
    if unknown:
        raise GoldsmithError(f"[{where} > columns > {unknown[0]}] is unknown: the keys are {', '.join(sorted(_KEYS))}")
    names = {**_FORMATS[task.reader], **task.columns}
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    needed = [each for name in names.values() for each in ([name] if isinstance(name, str) else name)]
    table = read_table(text, where, [*needed, *task.filters], separator)
    names = {**{key: name for key, name in _WHERE_PRESENT.items() if name in table.columns}, **names}
    for column, wanted in task.filters.items():
        table = table.filter(pl.col(column).is_in(wanted if isinstance(wanted, list) else [wanted]))
        if not table.height:
            raise GoldsmithError(f"[{where} > filters > {column}] no record has {wanted!r}: correct the value")
    copy = ~pl.struct(pl.exclude("line")).is_first_distinct()
    serum = [names["serum"]] if isinstance(names["serum"], str) else names["serum"]
    raw = table.select(
        "line",
        virus=pl.col(names["virus"]).str.strip_chars(),
        serum=pl.concat_str([pl.col(name).str.strip_chars() for name in serum], separator=" "),
        immunogen=pl.col(names["immunogen"]) if "immunogen" in names else pl.lit(None, pl.String),
        passage=pl.col(names["passage"]) if "passage" in names else pl.lit(None, pl.String),
        written=pl.col(names["titre"]).replace(task.coded) if task.coded else pl.col(names["titre"]),
        bound=pl.col(names["bound"]) if "bound" in names else pl.lit(None, pl.String),
        sem=pl.col(names["sem"]).cast(pl.Float64, strict=False) if "sem" in names else pl.lit(None, pl.Float64),
        n_rep=pl.col(names["n_rep"]).cast(pl.Int32, strict=False) if "n_rep" in names else pl.lit(None, pl.Int32),
        copy=copy,
    )
    return _records(_without_donors(raw, task), task, passage, marked="bound" in names)


def _without_donors(raw: pl.DataFrame, task: TitreTask) -> pl.DataFrame:
    """Serum names without what `serum_drop` finds. Two sera that become one would be mixed."""
    if task.serum_drop is None:
        return raw
    cut = raw.with_columns(name=pl.col("serum").str.replace_all(task.serum_drop, ""))
    mixed = cut.group_by("name").agg(pl.col("serum").n_unique()).filter(pl.col("serum") > 1)
    if mixed.height:
        raise GoldsmithError(
            f"[tasks.toml > titres > serum_drop] makes {mixed['serum'][0]} sera one ({mixed['name'][0]}): "
            "take less out of the names"
        )
    return cut.with_columns(serum="name").drop("name")


def _records(raw: pl.DataFrame, task: TitreTask, passage: str, *, marked: bool) -> pl.DataFrame:
    parts = pl.col("written").str.extract_groups(_TITRE)
    titre = parts.struct.field("2").cast(pl.Float64, strict=False)
    sign = parts.struct.field("1").replace_strict({"<": "left", ">": "right"}, default=None)
    bound = pl.col("bound").str.to_lowercase().str.strip_chars()
    flag = bound.replace_strict(_BOUNDS, default=None)
    low, high = task.detection_low, task.detection_high
    censor = pl.coalesce(sign, flag, pl.lit("none"))
    if not marked:  # nothing but the limit itself tells that a titre is at it
        at_low = pl.lit(False) if low is None else titre <= low
        at_high = pl.lit(False) if high is None else titre >= high
        limited = pl.when(at_low).then(pl.lit("left")).when(at_high).then(pl.lit("right"))
        censor = pl.when(censor == "none").then(pl.coalesce(limited, censor)).otherwise(censor)
    nothing = pl.col("written").fill_null("").str.strip_chars().str.to_lowercase().is_in(list(NULLS))
    blank = pl.col("virus").fill_null("") == ""
    no_serum = pl.col("serum").fill_null("") == ""
    odd_bound = bound.is_not_null() & flag.is_null()
    reason = (
        pl.when("copy").then(pl.lit("copy"))
        .when(nothing).then(pl.lit("no_titre"))
        .when(titre.is_null() | (titre <= 0) | titre.is_infinite()).then(pl.lit("bad_titre"))
        .when(odd_bound).then(pl.lit("bad_bound"))
        .when(blank).then(pl.lit("no_strain"))
        .when(no_serum).then(pl.lit("no_serum"))
    )  # fmt: skip
    grown = {text: passage_of(text, passage) for text in raw["passage"].unique().to_list()}
    mark = censor.replace_strict({"left": "<", "right": ">"}, default="")
    made = raw.with_columns(titre=titre, censor=censor, reason=reason).with_columns(
        passage=pl.Series([grown[text] for text in raw["passage"].to_list()], dtype=pl.String),
        text=pl.concat_str(mark, pl.col("written").str.strip_chars(" <>=")),
        message=pl.col("reason").replace_strict(
            {
                "copy": "equal to an earlier record in every column",
                "no_titre": "no titre",
                "bad_titre": "the titre is no positive number",
                "bad_bound": "the bound is none of upper, lower and interpolated",
                "no_strain": "no strain",
                "no_serum": "no serum",
            },
            default=None,
        ),
    )
    return made.select(*COLUMNS)


def immunogens(task: TitreTask, text: str, where: str) -> pl.DataFrame:
    """The sera of a table of sera: `serum`, `immunogen` (the strain's name, or null) and `line`. Nothing else is read.

    Raises:
        GoldsmithError: the table lacks a column.
    """
    names = task.sera_columns
    table = read_table(text, where, (names["serum"], names["immunogen"]))
    pattern = re.compile(task.immunogen_pattern)
    found = [pattern.search(words or "") for words in table[names["immunogen"]].to_list()]
    return table.select("line", serum=pl.col(names["serum"])).with_columns(
        immunogen=pl.Series([match and match["strain"].strip() for match in found], dtype=pl.String)
    )
