"""The command line: the steps that need several rooms, and how they follow each other. The rooms do the work, and have
the commands that need no other room in modules of their own."""

from __future__ import annotations

import schemas  # noqa: F401 (it tells NumPy which instructions to use, before PyArrow loads it)

# isort: split
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from builders.commands import COMMANDS, builder_of, load_sources, source_options
from quality.annotation.commands import audit_commands
from quality.items.commands import items
from schemas import DatasetFolder, GoldsmithError
from schemas.command_line import FILE, FOLDER, Street
from schemas.rooms import Room

if TYPE_CHECKING:
    from builders import Builder
    from quality.near.rows import Other
    from releases import Verdict, Waiver


@click.group(cls=Street, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="goldsmith")
def main() -> None:
    """Build, check, document, release and publish datasets that anyone can make again.

    \b
    sources -> build -> check -> card -> release -> publish
    Exit codes: 0 all well, 1 the data failed, 2 the call was wrong or something is missing, 3 a fault of goldsmith.
    """


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("--previous", type=FOLDER, help="An earlier release to compare with (drift, rows gone).")
@click.option(
    "--against",
    multiple=True,
    metavar="OTHER",
    help="Look for near copies of rows in it: a dataset folder, a release, or an evaluation set, FILE:COLUMN.",
)
@click.option("--memory", help="Memory before DuckDB spills to disk (default: GOLDSMITH_MEMORY, or 2GB).")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(folder: Path, previous: Path | None, against: tuple[str, ...], memory: str | None, as_json: bool) -> None:
    """Check a dataset; exit 1 if a blocking check fails.

    Writes quality/findings.parquet (every failing key), quality/report.json and quality/report.html.

    Example: goldsmith check out/virogym
    """
    dataset = _not_released(folder)
    report = _check(dataset, builder_of(dataset), previous, memory, against)
    if as_json:
        click.echo(dataset.report_json.read_text(encoding="utf-8"))
    else:
        from quality.console import show

        show(report)
        click.echo(f"report: {dataset.report_html}")
    sys.exit(0 if report.passed else 1)


def _not_released(folder: Path) -> DatasetFolder:
    if DatasetFolder(folder).manifest_json.is_file():
        raise GoldsmithError(f"[{folder}] is a release and is never written to: name its dataset folder, or a copy")
    return DatasetFolder(folder)


def _check(
    dataset: DatasetFolder,
    builder: Builder,
    previous: Path | None = None,
    memory: str | None = None,
    against: Sequence[str] = (),
) -> Any:
    from quality import report_html, run

    earlier = DatasetFolder(previous) if previous else None
    others = [_other(other) for other in against]
    report = run.check(dataset, builder.checks, previous=earlier, memory_limit=memory, against=others)
    report_html.write(dataset, report, builder.checks, memory_limit=memory)
    return report


def _other(text: str) -> Other:
    """What rows are compared with: another dataset, by what its builder says is alike in it, or a file."""
    from quality.near.rows import Other

    if not Path(text).is_dir():
        return Other.of_file(text)
    dataset = DatasetFolder(text)
    return Other.of_dataset(dataset, builder_of(dataset).checks)


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if a document and the data disagree.")
def card(folder: Path, only_check: bool) -> None:
    """Write README.md, DATASHEET.md, croissant.json and CITATION.cff, or check the ones that are there.

    Example: goldsmith card out/virogym --check
    """
    import cards

    dataset = DatasetFolder(folder) if only_check else _not_released(folder)
    builder = builder_of(dataset)
    if not only_check:
        for path in cards.write(dataset, builder.folder):
            click.echo(path)
        return
    problems = cards.problems(dataset, builder.folder)
    for line in problems:
        click.echo(line)
    sys.exit(1 if problems else 0)


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("-o", "--out", type=FOLDER, required=True, help="Folder of the release; it must not exist.")
@click.option("--version", default="auto", show_default=True, help="SemVer, or auto: the smallest honest step.")
@click.option("--previous", type=FOLDER, help="The release before this one.")
@click.option("--waivers", type=FILE, help="TOML file of waivers; it is released with the data.")
def release(folder: Path, out: Path, version: str, previous: Path | None, waivers: Path | None) -> None:
    """Freeze a checked dataset as a release. Exit 1 if the gate refuses, with every reason.

    Example: goldsmith release out/virogym --version 1.0.0 -o out/releases/virogym-1.0.0
    """
    import releases

    dataset = DatasetFolder(folder)
    builder = builder_of(dataset)
    earlier = DatasetFolder(previous) if previous else None
    if earlier:
        dataset.refuse_other(earlier)
    excused = releases.read_waivers(waivers) if waivers else ()
    releases.refuse_inside(folder, out)
    _refuse(releases.stale(dataset))
    with (
        _without_withdrawn(dataset, earlier, out, builder) as left,
        _without_dropped(left, builder, out, excused) as ready,
    ):
        _freeze(ready, version, out, earlier, waivers)


def _freeze(
    dataset: DatasetFolder, version: str, out: Path, previous: DatasetFolder | None, waivers: Path | None
) -> None:
    """Write the documents for the version beside the data, and the release; exit 1 where the gate refuses."""
    import cards
    import releases

    there = out.exists()
    with releases.work_folder(out) as room:
        staged = DatasetFolder(shutil.copytree(dataset.path, room / "dataset", copy_function=_link, ignore=_hidden))

        def write_documents(verdict: Verdict) -> None:
            for name in releases.DOCUMENTS:  # the names, not the files, which are the dataset's, too
                (staged.path / name).unlink(missing_ok=True)
            waived = [asdict(waiver) for waiver in verdict.waived]
            cards.write(staged, builder_of(staged).folder, version=verdict.version, waived=waived)
            for line in verdict.notes:
                click.echo(line)

        try:
            manifest = releases.release(
                staged, version, out, previous=previous, waivers=waivers, write_documents=write_documents
            )
        except releases.RefusedError as error:
            _refuse(error.refusals)
            raise
    said = "is this release already" if there else "holds the new release"
    click.echo(f"{out} {said}: {manifest.dataset} {manifest.version}")


def _refuse(reasons: Sequence[str]) -> None:
    for line in reasons:
        click.echo(f"refused: {line}", err=True)
    if reasons:
        sys.exit(1)


def _link(source: str, target: str) -> None:
    """A second name for a file that is not written to, or a copy where the disk knows no second names."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _hidden(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(".")]


@contextmanager
def _without_withdrawn(
    dataset: DatasetFolder, previous: DatasetFolder | None, beside: Path, builder: Builder | None = None
) -> Iterator[DatasetFolder]:
    """The dataset, or, where the earlier release has tombstones that it lacks, a copy without those rows.

    With a builder the copy is checked.
    """
    import releases
    from releases.hub.withdraw import apply_tombstones
    from releases.tombstones import needed

    told = needed(dataset.path, previous.path) if previous else ()
    if not told:
        yield dataset
        return
    with releases.work_folder(beside) as room:
        kept = DatasetFolder(room / "dataset")
        apply_tombstones(dataset, kept.path, told)
        if builder:
            _check(kept, builder)
        yield kept


@contextmanager
def _without_dropped(
    dataset: DatasetFolder, builder: Builder, beside: Path, waived: Sequence[Waiver]
) -> Iterator[DatasetFolder]:
    """The dataset, or, where `drop` checks failed, a checked copy of it without those rows."""
    import releases

    with releases.work_folder(beside) as room:
        copy = DatasetFolder(room / "dataset")
        if not releases.apply_drops(dataset, copy.path, waived=waived):
            yield dataset
            return
        _check(copy, builder)
        yield copy


@main.command()
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@click.option("--html", type=FILE, help="Also as a page.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def diff(old: Path, new: Path, html: Path | None, as_json: bool) -> None:
    """Compare two releases or dataset folders row by row, and say the smallest honest version step.

    Example: goldsmith diff out/releases/virogym-1.0.0 out/virogym --html diff.html
    """
    import releases

    difference = releases.diff(DatasetFolder(old), DatasetFolder(new))
    click.echo(json.dumps(difference.to_json(), indent=1) if as_json else difference.text())
    if html:
        releases.write_diff_html(difference, html)


@main.command()
@click.argument("release", type=FOLDER)
@click.option("-o", "--out", type=FOLDER, help="Folder for the rebuild (default: a temporary one).")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@source_options
def regenerate(release: Path, out: Path | None, workers: int, **where: Any) -> None:
    """Build a release again from its lock, and compare the rows. Exit 1 if they differ.

    Example: goldsmith regenerate out/releases/virogym-1.0.0 --mirror ../mirror --workers 2
    """
    import releases
    from builders.build import build as run
    from builders.registry import get

    wants = releases.wants(release)
    builder = get(wants.dataset)
    sources = load_sources(builder, sample=wants.sample, redistributable_only=wants.redistributable_only, **where)
    given = {name: sources.sha256(name) for name in sources.names if name in wants.sources and sources.given(name)}
    if missing := releases.missing_sources(wants, given):
        raise GoldsmithError(missing[0])
    with Room("regenerate") as room:
        rebuilt = DatasetFolder(out or Path(room) / "rebuilt")
        run(builder, sources, rebuilt.path, workers=workers)
        with ExitStack() as copies:
            if wants.drops:
                _take_audits(release, rebuilt)
                _check(rebuilt, builder)
                rebuilt = copies.enter_context(_without_dropped(rebuilt, builder, Path(room) / "dropped", wants.waived))
            rebuilt = copies.enter_context(
                _without_withdrawn(rebuilt, DatasetFolder(release), Path(room) / "withdrawn")
            )
            comparison = releases.compare(release, rebuilt)
    for line in comparison.lines:
        click.echo(line)
    verdict = "the same rows" if comparison.equal else "NOT the same rows"
    click.echo(f"{wants.dataset} {wants.version}: {verdict}")
    sys.exit(0 if comparison.equal else 1)


def _take_audits(release: Path, rebuilt: DatasetFolder) -> None:
    """Let what people found in the release count for the rebuild: their audits may have taken rows out."""
    if (release / "audit").is_dir():
        shutil.copytree(release / "audit", rebuilt.path / "audit", dirs_exist_ok=True)


@main.command()
@click.argument("release", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def lint(release: Path, as_json: bool) -> None:
    """What `publish`, the Hub, its viewer or `load_dataset` would refuse or show wrongly, without asking them.

    Every file is compared with its checksum. Exit 1 if anything.

    Example: goldsmith lint out/releases/virogym-1.0.0
    """
    from releases.lint import lint as find

    problems = find(release)
    click.echo(json.dumps(problems, indent=1, ensure_ascii=False) if as_json else "\n".join(problems or ["lint clean"]))
    sys.exit(1 if problems else 0)


@main.command()
@click.argument("release", type=FOLDER)
@click.option("--repo", required=True, metavar="ORG/NAME", help="The dataset repository on the Hub.")
@click.option("--dry-run", is_flag=True, help="Print the plan; write nothing.")
@click.option("--private", is_flag=True, help="For members only.")
@click.option("--gated", type=click.Choice(["auto", "manual"]), help="Readers must ask for access.")
@click.option("--no-xet", is_flag=True, help="Send through plain LFS.")
def publish(release: Path, repo: str, dry_run: bool, private: bool, gated: Any, no_xet: bool) -> None:
    """Put a release on the Hugging Face Hub: whole, verified, then tagged. Run it again after any interruption.

    The token is that of `hf auth login`.

    Example: goldsmith publish out/releases/virogym-1.0.0 --repo my-lab/virogym --dry-run
    """
    from releases.hub.publish import publish as put

    outcome = put(release, repo, dry_run=dry_run, private=private, gated=gated, xet=not no_xet)
    click.echo(outcome.plan.text())
    click.echo(outcome.status if outcome.commit is None else f"{outcome.status}: {repo} at {outcome.commit}")


@main.command()
@click.argument("published", metavar="ORG/NAME@VERSION")
@click.option("--everything", is_flag=True, help="Read back all bytes, not a sample.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def verify(published: str, everything: bool, as_json: bool) -> None:
    """Check a release on the Hub against its own manifest. Exit 1 if anything differs.

    Example: goldsmith verify my-lab/virogym@1.0.0
    """
    from releases.hub.verify import verify as prove

    repo, at, version = published.partition("@")
    if not (at and version and "/" in repo):
        raise GoldsmithError(f"{published}: write it as ORG/NAME@VERSION, such as my-lab/virogym@1.0.0")
    found = prove(repo, version, everything=everything)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=1))
    else:
        for line in found.problems:
            click.echo(line)
        read = f"{len(found.read)} of {found.files} files read back"
        click.echo(f"{published} ({found.commit}): {'differs' if found.problems else 'as released'}, {read}")
        click.echo(f"manifest sha256 {found.manifest_sha256}")
    sys.exit(1 if found.problems else 0)


@main.command()
@click.argument("release", type=FOLDER)
@click.option("--row", "rows", multiple=True, required=True, metavar="TABLE:ID", help="A row to withdraw.")
@click.option("--reason", required=True, help="Why, for people; it must not say what the row held.")
@click.option("-o", "--out", type=FOLDER, required=True, help="Folder of the new release; it must not exist.")
@click.option("--waivers", type=FILE, help="TOML file of waivers for the new release.")
def withdraw(release: Path, rows: tuple[str, ...], reason: str, out: Path, waivers: Path | None) -> None:
    """Make the next release without some rows, which leave tombstones; then publish it.

    Example: goldsmith withdraw out/releases/vaani-1.0.0 --row utterances:UP_0007_12 --reason "consent withdrawn"
    -o out/releases/vaani-2.0.0
    """
    import releases
    from releases.hub.withdraw import withdraw as take_out

    named: dict[str, list[str]] = {}
    for row in rows:
        table, colon, row_id = row.partition(":")
        if not colon:
            raise GoldsmithError(f"--row {row}: write it as TABLE:ID")
        named.setdefault(table, []).append(row_id)
    releases.refuse_inside(release, out)
    with releases.work_folder(out) as room:
        kept = DatasetFolder(room / "dataset")
        take_out(release, kept.path, named, reason=reason)
        _check(kept, builder_of(kept))
        _freeze(kept, "auto", out, DatasetFolder(release), waivers)


@main.command()
@click.argument("name")
@click.argument("predictions", type=click.Path(path_type=Path))
@click.option("-d", "--dataset", type=FOLDER, help="Folder of the dataset or a release (default: out/NAME).")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@click.option(
    "--items", "items_file", type=click.Path(path_type=Path), help="Write the score of each item here (.parquet)."
)
def score(name: str, predictions: Path, dataset: Path | None, as_json: bool, items_file: Path | None) -> None:
    """Score a model's predictions against a dataset, by the dataset's own measures.

    Example: goldsmith score vigor predictions.jsonl -d out/vigor
    """
    from builders.registry import get

    builder = get(name)
    scorer = getattr(builder, "score", None)
    if scorer is None:
        raise GoldsmithError(f"[{name}] has no scorer: it is no benchmark that scores predictions")
    if items_file is not None and items_file.suffix != ".parquet":
        raise GoldsmithError(f"[{items_file}] item scores are written as Parquet: give a name that ends in .parquet")
    folder = DatasetFolder(dataset or Path("out") / name)
    if folder.build["dataset"] != name:
        raise GoldsmithError(f"[{folder.path}] is of {folder.build['dataset']}: score it by that name")
    if folder.manifest_json.is_file():
        from releases.manifest import verify_files

        if wrong := verify_files(folder.path):
            raise GoldsmithError(f"[{folder.path}] is not as it was released ({wrong[0]}): get it again")
    report = scorer(folder, predictions)
    items_scored = getattr(report, "items", ()) if items_file is not None else ()
    click.echo(json.dumps(report.to_json(), indent=1) if as_json else report.text())
    if items_file is not None:
        from quality.items.panel import write_items

        write_items(items_file, predictions.stem, items_scored)


for _command in (*COMMANDS, audit_commands(lambda dataset: builder_of(dataset).checks), items):
    main.add_command(_command)


if __name__ == "__main__":
    main()
