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

from schemas import GoldsmithError

_READERS = {".parquet": pl.read_parquet, ".csv": pl.read_csv, ".jsonl": pl.read_ndjson}


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
        GoldsmithError: a file cannot be read or lacks a column, a score is none, a model has an item twice, an
            item is in two groups, there are fewer than two models, or they have no item in common.
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


def write_items(path: Path, model: str, items: Iterable[tuple[str, str, float]], dataset: str) -> None:
    """Write a model's scores of items: (item, group, score from 0 to 1).

    Raises:
        GoldsmithError: there are none, for the dataset's scorer gives none.
    """
    rows = pl.DataFrame(list(items), {"item": pl.String, "group": pl.String, "score": pl.Float64}, orient="row")
    if not rows.height:
        raise GoldsmithError(f"[{dataset}] its scorer gives no scores of single items: leave --items out")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    rows.select(pl.lit(model).alias("model"), "item", "group", "score").write_parquet(temporary)
    temporary.replace(path)


def _read(path: Path) -> pl.DataFrame:
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise GoldsmithError(f"[{path}] is no .parquet, .csv or .jsonl file: give item results in one of these")
    try:
        found = reader(path)
    except FileNotFoundError:
        raise GoldsmithError(f"[{path}] is absent: `goldsmith score NAME PREDICTIONS --items FILE` writes it") from None
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[{path}] cannot be read ({str(error).splitlines()[0]}): write it again") from None
    for column in ("item", "score"):
        if column not in found.columns:
            raise GoldsmithError(f"[{path}] has no column {column}: an item result is item, score and, if any, group")
    if not found.height:
        raise GoldsmithError(f"[{path}] has no item: give at least one")
    model = pl.col("model").cast(pl.String) if "model" in found.columns else pl.lit(path.stem)
    group = pl.col("group").cast(pl.String).fill_null("") if "group" in found.columns else pl.lit("")
    rows = found.select(
        model=model,
        item=pl.col("item").cast(pl.String),
        group=group,
        score=pl.col("score").cast(pl.Float64, strict=False),
    )
    wrong = rows.filter(~pl.col("score").is_between(0, 1).fill_null(False) | pl.any_horizontal(pl.all().is_null()))
    if wrong.height:
        first = wrong.row(0, named=True)
        raise GoldsmithError(f"[{path} > {first['item']}] score {first['score']} is no number from 0 to 1: correct it")
    return rows


def read_priorities(path: Path) -> dict[str, float]:
    """How much a group or an item matters, 0 to 1, from a CSV with the columns `name` and `priority`.

    Raises:
        GoldsmithError: the file cannot be read, or a priority is none.
    """
    try:
        rows = pl.read_csv(path).select(
            pl.col("name").cast(pl.String), pl.col("priority").cast(pl.Float64, strict=False)
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise GoldsmithError(
            f"[{path}] cannot be read ({reason}): give a CSV with the columns name and priority"
        ) from None
    for name, priority in rows.iter_rows():
        if priority is None or not 0 <= priority <= 1:
            raise GoldsmithError(f"[{path} > {name}] priority {priority} is no number from 0 to 1: correct it")
    return dict(rows.iter_rows())
