"""The page of an item audit: verdicts by group, where items lie, and which ones a person should look at."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from quality.items.measure import VERDICTS, Audit
from schemas.files import replace_text

_TEMPLATES = Path(__file__).parent.parent / "templates"
_SHOWN = 60
_SUSPECT = ("backwards", "unsolved")
"""Verdicts that may come from a wrong answer key."""


def write(found: Audit, folder: Path) -> list[Path]:
    """Write items.parquet and items.html into a folder, which is made where it is absent."""
    folder.mkdir(parents=True, exist_ok=True)
    table, page = folder / "items.parquet", folder / "items.html"
    found.rows.write_parquet(table)
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    suspects = found.rows.filter(pl.col("verdict").is_in(_SUSPECT))
    order = [pl.col("discrimination").fill_null(1), pl.col("group"), pl.col("item")]
    text = environment.get_template("items.html.j2").render(
        audit=found,
        verdicts=VERDICTS,
        groups=[
            (name, Counter(part["verdict"])) for (name,), part in found.rows.group_by("group", maintain_order=True)
        ],
        points=_points(found.rows),
        suspects=suspects.sort(order).head(_SHOWN).to_dicts(),
        more=max(0, suspects.height - _SHOWN),
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704 - our own
    )
    replace_text(page, text)
    return [table, page]


def _points(rows: pl.DataFrame) -> list[dict]:
    """Where items lie, those at the same place together: x and y in per mille, the radius in pixels."""
    place = rows.group_by(
        x=(pl.col("improvability") * 100).round() * 10,
        y=(pl.col("variance") * 400).round() * 10,
        verdict="verdict",
    ).agg(n=pl.len(), item=pl.col("item").min())
    radius = (pl.col("n").sqrt() * 2).clip(2.5, 16).round(1)
    return (
        place.with_columns(radius=radius)
        .sort(pl.col("n"), "x", "y", "verdict", descending=[True, *[False] * 3])
        .to_dicts()
    )
