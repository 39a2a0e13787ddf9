"""The command line. It names the steps of the street and knows how they follow each other; the rooms do the work."""

from __future__ import annotations

import schemas  # noqa: F401 (it tells NumPy which instructions to use, before PyArrow loads it)

# isort: split
import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import duckdb
import pyarrow as pa

from schemas import DatasetFolder, GoldsmithError

if TYPE_CHECKING:
    from builders import Builder, Sources
    from quality.annotation.label_studio import Server
    from quality.near.rows import Other
    from releases import Waiver

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False)


class Street(click.Group):
    """Commands whose users' mistakes end in one line and an exit code (`GoldsmithError.code`), never in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except GoldsmithError as error:
            raise (_Failed if error.code == 1 else _Mistake)(str(error)) from None
        except OSError as error:
            where = f"[{error.filename}] " if error.filename else ""
            raise _Mistake(f"{where}{error.strerror or error}: {_CURES.get(error.errno or 0, _ANOTHER)}") from None
        except ModuleNotFoundError as error:
            raise _Mistake(f"{error}: install what it needs, such as pip install 'goldsmith[all]'") from None
        except UnicodeEncodeError:
            raise _Mistake("a name cannot be written in this locale: set PYTHONUTF8=1 and run it again") from None
        except (pa.ArrowException, duckdb.Error) as error:
            reason = str(error).strip().splitlines()[0]
            raise _Mistake(
                f"a file cannot be read, or memory was short ({reason}): check it, or build it again"
            ) from None


_ROOM = "make room and run it again; what is there already is used again"
_RIGHTS = "choose a place you may read and write, or ask for the right"
_ANOTHER = "choose another path"
_CURES = {errno.ENOSPC: _ROOM, errno.EDQUOT: _ROOM, errno.EACCES: _RIGHTS, errno.EPERM: _RIGHTS, errno.EROFS: _RIGHTS}


class _Mistake(click.ClickException):
    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"goldsmith: {self.message}", err=True)


class _Failed(_Mistake):
    exit_code = 1


@click.group(cls=Street, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="goldsmith")
def main() -> None:
    """Build, check, document, release and publish datasets that anyone can make again.

    \b
    sources -> build -> check -> card -> release -> publish
    Exit codes: 0 all well, 1 the data failed, 2 the call was wrong or something is missing.
    """


def _source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where source files come from."""
    for option in (
        click.option(
            "--source", "overrides", multiple=True, metavar="NAME=PATH", help="Your own file, or address, for a source."
        ),
        click.option("--mirror", "mirrors", multiple=True, metavar="DIR", help="Folder or URL laid out as host/path."),
        click.option("--cache", type=FOLDER, help="Where fetched files are kept (default: the user's cache)."),
    ):
        command = option(command)
    return command


def _load_sources(builder: Builder, overrides: tuple[str, ...], mirrors: tuple[str, ...], **options: Any) -> Sources:
    from builders.address import is_address
    from builders.sources import Sources

    named: dict[str, Path | str] = {}
    for text in overrides:
        name, equals, path = text.partition("=")
        if not equals:
            raise GoldsmithError(f"--source {text}: write it as NAME=PATH")
        named[name] = path if is_address(path) else Path(path)
    return Sources.load(builder.folder, overrides=named, mirrors=mirrors, **options)


def _builder_of(folder: DatasetFolder) -> Builder:
    from builders.registry import get

    return get(folder.build["dataset"])


@main.command("list")
@click.option("--names", is_flag=True, help="Only the names of the datasets that have a bundled sample.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def list_(names: bool, as_json: bool) -> None:
    """Datasets known here, their version, their sources and what each needs.

    Example: goldsmith list
    """
    from builders.registry import broken, known

    builders = known()
    if names:
        for name, builder in builders.items():
            if (builder.folder / "sample" / "sources.toml").is_file():
                click.echo(name)
        return
    rows = [_describe(name, builder) for name, builder in builders.items()]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        click.echo(f"{row['name']:12} {row['version']:8} {row['title']}")
        click.echo(f"{'':21} {row['sources']} sources, {row['redistributable']} of them may be passed on")
        for need in row["needs"]:
            click.echo(f"{'':21} needs {need}")
    for name, why in broken().items():
        click.echo(f"{name:12} cannot be used: {why}", err=True)


def _describe(name: str, builder: Builder) -> dict[str, Any]:
    from builders.sources import Sources

    sources = Sources.load(builder.folder)
    specs = [sources.spec(source) for source in sources.names]
    return {
        "name": name,
        "version": builder.version,
        "title": builder.schema.title,
        "tables": [table.name for table in builder.schema.tables],
        "sources": len(specs),
        "redistributable": sum(spec.redistribute for spec in specs),
        "needs": [f"{spec.name}: {spec.manual}" for spec in specs if spec.manual],
    }


@main.command()
@click.argument("name")
@click.option("-o", "--out", type=FOLDER, help="Folder of the dataset (default: out/NAME).")
@click.option("--sample", is_flag=True, help="From the bundled sample.")
@click.option("--redistributable", is_flag=True, help="Leave out sources whose licence does not allow passing them on.")
@_source_options
def plan(name: str, out: Path | None, sample: bool, redistributable: bool, **where: Any) -> None:
    """What `build` would do, and why.

    Example: goldsmith plan virogym --sample
    """
    from builders.build import plan as make_plan
    from builders.registry import get

    builder = get(name)
    sources = _load_sources(builder, sample=sample, redistributable_only=redistributable, **where)
    for shard, verdict, why in make_plan(builder, sources, out or Path("out") / name):
        click.echo(f"{verdict:6} {shard.name:40} {why}")


@main.command()
@click.argument("name")
@click.option("-o", "--out", metavar="PLACE", help="Folder (default: out/NAME), or an address: s3://BUCKET/NAME.")
@click.option("--sample", is_flag=True, help="From the bundled sample.")
@click.option("--redistributable", is_flag=True, help="Leave out sources whose licence does not allow passing them on.")
@click.option(
    "--workers", type=click.IntRange(1), help="Processes (default: 1); with ray, tasks at once (default: all)."
)
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option("--address", help="Of your Ray cluster: host:port, auto (default: local, one for this build).")
@click.option("--shard", "part", metavar="I/N", help="Only the I-th of N parts, for job arrays; then once without.")
@_source_options
def build(
    name: str, out: str | None, sample: bool, redistributable: bool, workers: int | None, engine: str,
    address: str | None, part: str | None, **where: Any,
) -> None:  # fmt: skip
    """Build a dataset from its pinned sources.

    With an address in place of a folder, the dataset is built in out/NAME and copied when it is whole. The steps that
    follow work on the folder; `publish` brings what they make to the Hub.

    Example: goldsmith build virogym --mirror ../mirror -o out/virogym
    """
    from builders import copy_out
    from builders.address import is_address
    from builders.build import build as run
    from builders.registry import get

    builder = get(name)
    sources = _load_sources(builder, sample=sample, redistributable_only=redistributable, **where)
    if address and engine != "ray":
        raise GoldsmithError("--address names a Ray cluster: give --engine ray, too")
    cluster = (address or "local") if engine == "ray" else None
    far = out if out and is_address(out) else None
    if far:
        copy_out.refuse_address(far, name)
    folder = Path(out) if out and not far else Path("out") / name
    result = run(builder, sources, folder, workers=workers, cluster=cluster, part=_part(part))
    click.echo(result.text())
    if far and result.finished:
        click.echo(f"{far}: {copy_out.copy_out(folder, far)} files sent")


def _part(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    index, _, count = text.partition("/")
    if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise GoldsmithError(f"--shard {text}: write I/N with 1 <= I <= N, such as 3/8")
    return int(index), int(count)


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("--previous", type=FOLDER, help="An earlier release to compare with (drift, rows gone).")
@click.option(
    "--against",
    multiple=True,
    metavar="OTHER",
    help="Look for near copies of rows in it: a dataset folder, a release, or an evaluation set, FILE:COLUMN.",
)
@click.option("--memory", default="2GB", show_default=True, help="Memory before DuckDB spills to disk.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(folder: Path, previous: Path | None, against: tuple[str, ...], memory: str, as_json: bool) -> None:
    """Check a dataset; exit 1 if a blocking check fails.

    Writes quality/findings.parquet (every failing key), quality/report.json and quality/report.html.

    Example: goldsmith check out/virogym
    """
    dataset = _not_released(folder)
    report = _check(dataset, _builder_of(dataset), previous, memory, against)
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
    memory: str = "2GB",
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
    return Other.of_dataset(dataset, _builder_of(dataset).checks)


@main.command()
@click.argument("folder", type=FOLDER)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 if a document and the data disagree.")
def card(folder: Path, only_check: bool) -> None:
    """Write README.md, DATASHEET.md, croissant.json and CITATION.cff, or check the ones that are there.

    Example: goldsmith card out/virogym --check
    """
    import cards

    dataset = DatasetFolder(folder) if only_check else _not_released(folder)
    builder = _builder_of(dataset)
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
    builder = _builder_of(dataset)
    earlier = DatasetFolder(previous) if previous else None
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

    excused = releases.read_waivers(waivers) if waivers else ()
    with releases.work_folder(out) as room:
        staged = DatasetFolder(shutil.copytree(dataset.path, room / "dataset", copy_function=_link, ignore=_hidden))
        there = out.exists()
        verdict = releases.gate(
            staged, version, previous=previous, waivers=excused, waivers_file=waivers, documents=False
        )
        if not there:
            _refuse(verdict.refusals)
        for name in releases.DOCUMENTS:
            (staged.path / name).unlink(missing_ok=True)
        waived = [asdict(waiver) for waiver in verdict.waived]
        cards.write(staged, _builder_of(staged).folder, version=verdict.version, waived=waived)
        try:
            manifest = releases.release(staged, verdict.version, out, previous=previous, waivers=waivers)
        except releases.RefusedError as error:
            _refuse(error.refusals)
            raise
    for line in verdict.notes:
        click.echo(line)
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
@_source_options
def regenerate(release: Path, out: Path | None, workers: int, **where: Any) -> None:
    """Build a release again from its lock, and compare the rows. Exit 1 if they differ.

    Example: goldsmith regenerate out/releases/virogym-1.0.0 --mirror ../mirror --workers 2
    """
    import releases
    from builders.build import build as run
    from builders.registry import get

    wants = releases.wants(release)
    builder = get(wants.dataset)
    sources = _load_sources(builder, sample=wants.sample, redistributable_only=wants.redistributable_only, **where)
    given = {name: sources.sha256(name) for name in sources.names if name in wants.sources and sources.given(name)}
    if missing := releases.missing_sources(wants, given):
        raise GoldsmithError(missing[0])
    with tempfile.TemporaryDirectory(prefix="goldsmith-regenerate-") as room:
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
@click.argument("folder", type=FOLDER)
@click.argument("row_id", metavar="ID")
@click.option("--table", help="Where the id is in several tables.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@_source_options
def explain(folder: Path, row_id: str, table: str | None, as_json: bool, **where: Any) -> None:
    """Walk a row back to the place in the source that it came from.

    Example: goldsmith explain out/virogym RABV_entry_Pasteur --table assays
    """
    from builders.explain import explain as walk

    dataset = DatasetFolder(folder)
    sources = _load_sources(_builder_of(dataset), sample=dataset.build["sample"], **where)
    found = walk(dataset, row_id, sources, table)
    click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1) if as_json else found.text())


@main.command()
@click.argument("release", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def lint(release: Path, as_json: bool) -> None:
    """What the Hub, its viewer or `load_dataset` would refuse or show wrongly, without asking them. Exit 1 if anything.

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
        _check(kept, _builder_of(kept))
        _freeze(kept, "auto", out, DatasetFolder(release), waivers)


@main.group()
def audit() -> None:
    """People's judgements of a sample of the rows, as findings that the gate reads.

    \b
    plan -> push -> (people annotate) -> pull -> report -> check
    The folder of an audit (WORK) has names and answers in it: it is never released.
    """


@audit.command("plan")
@click.argument("folder", type=FOLDER)
@click.argument("name", required=False)
@click.option("-a", "--annotator", "people", multiple=True, required=True, help="E-mail address or name; repeat it.")
@click.option("-o", "--out", type=FOLDER, help="Folder of the audit (default: out/audits/DATASET-NAME).")
@click.option("--seed", default="", help="For another sample of the same data.")
def audit_plan(folder: Path, name: str | None, people: tuple[str, ...], out: Path | None, seed: str) -> None:
    """Draw the sample of an audit that the dataset declares, and everyone's sheet.

    Example: goldsmith audit plan out/virogym records -a ann@example.org -a ben@example.org
    """
    from quality.annotation import plan as planning

    dataset = DatasetFolder(folder)
    checks = _builder_of(dataset).checks
    chosen = planning.choose(checks.audits, name, dataset.schema.name)
    out = out or Path("out/audits") / f"{dataset.schema.name}-{chosen.name}"
    made = planning.plan(dataset, checks, chosen, people, out, seed=seed)
    for stratum in made.strata:
        shows = f"{chosen.planned_errors} wrong show at most {stratum.target:.1%} wrong"
        click.echo(f"{stratum.name:30} {stratum.sample:6,} of {stratum.lot:,} rows: {shows}")
    if chosen.golds:
        gold = sum(item.role == "gold" for item in made.items)
        few = "" if gold == chosen.golds else f", of {chosen.golds} asked for: the data have no more outside the sample"
        click.echo(f"{'gold':30} {gold:6,} items whose answer is known{few}")
    for person, who in made.people.items():
        click.echo(f"{person:30} {len(made.sheet(person)):6,} items for {who}")
    click.echo(f"planned in {out}: next `goldsmith audit push {out} --url http://...`")


def _server_option(command: Callable[..., Any]) -> Callable[..., Any]:
    text = "Address of Label Studio; the token is read from LABEL_STUDIO_API_KEY."
    return click.option("--url", envvar="LABEL_STUDIO_URL", help=text)(command)


def _server(url: str | None) -> Server:
    from quality.annotation.label_studio import TOKEN_VARIABLE, Server

    if not url:
        raise GoldsmithError("--url: say where Label Studio is, or give the answers with `audit pull --from FILE`")
    return Server(url, os.environ.get(TOKEN_VARIABLE, ""))


@audit.command("push")
@click.argument("work", type=FOLDER)
@_server_option
def audit_push(work: Path, url: str | None) -> None:
    """Lay everyone's sheet on a Label Studio server, a project each. Doing it again adds what is missing.

    Example: goldsmith audit push out/audits/virogym-records --url http://127.0.0.1:8080
    """
    from quality.annotation import exchange
    from quality.annotation.work import Work

    for sheet in exchange.push(Work(work), _server(url)):
        click.echo(f"{sheet.person}: project {sheet.project}, {sheet.added} items added, {sheet.there} were there")


@audit.command("pull")
@click.argument("work", type=FOLDER)
@_server_option
@click.option("--from", "file", type=FILE, help="A .json, .jsonl or .csv file of another tool in place of a server.")
def audit_pull(work: Path, url: str | None, file: Path | None) -> None:
    """Fetch the answers, check each, and compare with what was fetched before.

    Example: goldsmith audit pull out/audits/virogym-records --from answers.csv
    """
    from quality.annotation import exchange, files
    from quality.annotation.work import Work

    place = Work(work)
    if file:
        found, problems = files.from_file(place.plan(), file)
        exchange.save(place, found, problems)
    else:
        found, problems = exchange.pull(place, _server(url))
    click.echo(f"{len(found):,} answers")
    for problem in problems:
        counted = "counted" if problem.counted else "not counted"
        click.echo(f"{problem.code}: {problem.person} {problem.key}: {problem.message} ({counted})")


@audit.command("report")
@click.argument("folder", type=FOLDER)
@click.argument("work", type=FOLDER)
def audit_report(folder: Path, work: Path) -> None:
    """Count an audit into the dataset's audit/ folder; exit 1 where a stratum does not show its target.

    Example: goldsmith audit report out/virogym out/audits/virogym-records
    """
    from quality.annotation import report, report_html
    from quality.annotation.work import Work

    place = Work(work)
    found = report.write(DatasetFolder(folder), place)
    report_html.write(found, place, work / "report.html", private=True)
    for line in found.lines():
        click.echo(line)
    click.echo(f"with names: {work / 'report.html'}; next `goldsmith check {folder}`")
    sys.exit(0 if found.passed else 1)


@main.command()
@click.argument("name")
@click.argument("model")
@click.option(
    "-d", "--data", "--dataset", "data", type=FOLDER, help="Folder of the dataset or a release (default: out/NAME)."
)
@click.option("-o", "--out", type=FOLDER, required=True, help="Folder of the outputs; a stopped run goes on in it.")
@click.option("--revision", help="Commit, tag or branch of a model of the Hub.")
@click.option("--dtype", type=click.Choice(["float32", "bfloat16", "float16"]), default="float32", show_default=True)
@click.option("--device", default="cpu", show_default=True, help="As torch names it, such as cuda.")
@click.option("--batch", type=click.IntRange(1), default=8, show_default=True, help="Prompts at a time.")
@click.option("--limit", type=click.IntRange(1), help="Drawings of a category at most.")
def probe(name: str, model: str, data: Path | None, out: Path, **options: Any) -> None:
    """Ask a model of a folder or of the Hub a dataset's questions; `score` then reads OUT.

    Example: goldsmith probe sketch llava-hf/llava-1.5-7b-hf --device cuda -o out/llava
    """
    from builders.registry import get

    prober = getattr(get(name), "probe", None)
    if prober is None:
        raise GoldsmithError(f"[{name}] has no probe: it asks models no questions")
    click.echo(prober(DatasetFolder(data or Path("out") / name), model, out, **options).text())


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

    scorer = getattr(get(name), "score", None)
    if scorer is None:
        raise GoldsmithError(f"[{name}] has no scorer: it is no benchmark that scores predictions")
    folder = DatasetFolder(dataset or Path("out") / name)
    if folder.build["dataset"] != name:
        raise GoldsmithError(f"[{folder.path}] is of {folder.build['dataset']}: score it by that name")
    report = scorer(folder, predictions)
    click.echo(json.dumps(report.to_json(), indent=1) if as_json else report.text())
    if items_file is not None:
        from quality.items.panel import write_items

        write_items(items_file, predictions.stem, getattr(report, "items", ()), name)


@main.command("items")
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


@main.command()
@click.argument("name")
@click.option("--into", type=FOLDER, default=Path(), help="Where to lay it (default: here).")
def new(name: str, into: Path) -> None:
    """Lay the folder of a new dataset: a package that builds as it is, to be filled.

    Example: goldsmith new birdsong --into ~/datasets
    """
    from builders.new import new as lay

    for path in lay(name, into):
        click.echo(path)


if __name__ == "__main__":
    main()
