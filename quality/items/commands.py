"""`goldsmith items`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from schemas.command_line import FOLDER


@click.command("items")
@click.argument("results", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--priorities", type=click.Path(path_type=Path), help="CSV of name (a group or an item) and priority, 0 to 1."
)
@click.option("-o", "--out", type=FOLDER, help="Where to write items.parquet and items.html.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def items(results: tuple[Path, ...], priorities: Path | None, out: Path | None, as_json: bool) -> None:
    """Judge the items of a benchmark by what several models reached: saturated, unsolved, needless, backwards.

    RESULTS are files of `score --items`, one a model, or any with the columns item, score and, if any, model and group.

    Example: goldsmith items out/items/*.parquet -o out/items/audit
    """
    from quality.items import measure, page
    from quality.items.panel import read_panel, read_priorities

    found = measure.audit(read_panel(results), read_priorities(priorities) if priorities else None)
    click.echo(json.dumps(found.to_json(), indent=1) if as_json else found.text())
    if out is not None:
        for path in page.write(found, out):
            click.echo(path, err=True)
