"""Reads a panel: what each model reached on each item, from the files that `goldsmith score --items` writes or others.

A file (Parquet, CSV or JSON lines) has the columns `item` and `score` (0 wrong to 1 right) and may have `model` (else
the file's name is it) and `group` (a type, a level, a phenotype). Items that not every model has are left aside and
counted: an item that half of the panel left out would look hard or easy for the wrong reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from quality.items.files import PLACE, number, read_rows
from schemas import GoldsmithError
from schemas.files import replacing


@dataclass(frozen=True)
class Panel:
    """Scores of models on items.

    Attributes:
        models: names, in order.
        items, groups: of each item, in order of group and item.
        scores: float64 of shape (items, models), 0 to 1.
        left_aside: items that not every model has.
    """

    models: tuple[str, ...]
    items: tuple[str, ...]
    groups: tuple[str, ...]
    scores: np.ndarray
    left_aside: int = 0


def read_panel(paths: Sequence[Path]) -> Panel:
    """The panel of several files.

    Raises:
        GoldsmithError: a file cannot be read or lacks a column, an item has no id, a score is none, a model has an
            item twice, an item is in two groups, there are fewer than two models, or they have no item in common.
    """
    rows = pl.concat([_read(path) for path in paths])
    twice = rows.filter(pl.struct("model", "item").is_duplicated()).sort("model", "item")
    if twice.height:
        raise GoldsmithError(f"[{twice['model'][0]} > {twice['item'][0]}] is there twice: keep one score of an item")
    torn = rows.group_by("item").agg(pl.col("group").n_unique()).filter(pl.col("group") > 1).sort("item")
    if torn.height:
        raise GoldsmithError(f"[{torn['item'][0]}] is in several groups: an item has one")
    models = rows["model"].unique().sort().to_list()
    if len(models) < 2:
        raise GoldsmithError(f"[items] one model ({models[0]}) makes no panel: give the results of at least two")
    table = (
        rows.pivot("model", index=["group", "item"], values="score")
        .sort("group", "item")
        .select("group", "item", *models)
    )
    common = table.drop_nulls()
    if not common.height:
        raise GoldsmithError(
            f"[items] the {len(models)} models have no item in common: give results of the same benchmark"
        )
    left = table.height - common.height
    scores = common.select(models).to_numpy()
    return Panel(tuple(models), tuple(common["item"]), tuple(common["group"]), scores, left)


def write_items(path: Path, model: str, items: Iterable[tuple[str, str, float]]) -> None:
    """Write a model's scores of items: (item, group, score from 0 to 1).

    Raises:
        GoldsmithError: there are none.
    """
    rows = pl.DataFrame(list(items), {"item": pl.String, "group": pl.String, "score": pl.Float64}, orient="row")
    if not rows.height:
        raise GoldsmithError(f"[{model}] no item of it was scored: leave --items out")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        rows.select(pl.lit(model).alias("model"), "item", "group", "score").write_parquet(temporary)


def _read(path: Path) -> pl.DataFrame:
    found = read_rows(path, ("item", "score"), ("model", "group"))
    if not found.height:
        raise GoldsmithError(f"[{path}] has no item: give at least one")
    group = pl.col("group").cast(pl.String).fill_null("") if "group" in found.columns else pl.lit("")
    rows = found.select(
        model=pl.col("model").cast(pl.String) if "model" in found.columns else pl.lit(path.stem),
        item=pl.col("item").cast(pl.String),
        group=group,
        score=number("score"),
        written=pl.col("score").cast(pl.String).fill_null(""),
        place=PLACE,
    )
    for name in ("item", "model"):
        _refuse(path, rows.filter(pl.col(name).fill_null("") == ""), f"has no {name}: name one")
    wrong = rows.filter(~pl.col("score").is_between(0, 1).fill_null(False))
    _refuse(path, wrong, "score {written!r} is no number from 0 to 1: correct it")
    return rows.select("model", "item", "group", "score")


def _refuse(path: Path, rows: pl.DataFrame, why: str) -> None:
    for row in rows.head(1).iter_rows(named=True):
        where = " > ".join(filter(None, (str(path), row["place"], row["item"])))
        raise GoldsmithError(f"[{where}] {why.format_map(row)}")


def read_priorities(path: Path) -> dict[str, float]:
    """How much a group or an item matters, 0 to 1, from a file with the columns `name` and `priority`.

    Raises:
        GoldsmithError: the file cannot be read, a priority is none, or a name is empty or there twice.
    """
    found = read_rows(path, ("name", "priority"))
    rows = found.select(item=pl.col("name").cast(pl.String), priority=number("priority"),
                        written=pl.col("priority").cast(pl.String).fill_null(""), place=PLACE)  # fmt: skip
    _refuse(path, rows.filter(pl.col("item").fill_null("") == ""), "has no name: give that of a group or an item")
    wrong = rows.filter(~pl.col("priority").is_between(0, 1).fill_null(False))
    _refuse(path, wrong, "priority {written!r} is no number from 0 to 1: correct it")
    _refuse(path, rows.filter(~pl.col("item").is_first_distinct()), "is there twice: keep one priority")
    return dict(rows.select("item", "priority").iter_rows())
