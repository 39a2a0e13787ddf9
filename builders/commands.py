"""The commands of this room: what there is, plan, build, explain, probe, new.

Each loads what it needs when it runs, so that the command line starts at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas import DatasetFolder, GoldsmithError
from schemas.command_line import FOLDER

if TYPE_CHECKING:
    from builders.api import Builder
    from builders.sources import Sources


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
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


def load_sources(builder: Builder, overrides: tuple[str, ...], mirrors: tuple[str, ...], **options: Any) -> Sources:
    """The sources of a builder, as `source_options` say where they are.

    Raises:
        GoldsmithError: a `--source` is not NAME=PATH, or names none of the builder's.
    """
    from builders.address import is_address
    from builders.sources import Sources

    named: dict[str, Path | str] = {}
    for text in overrides:
        name, equals, path = text.partition("=")
        if not equals or is_address(name):
            what = text if not is_address(text) else "of an address"  # Which may have a key in it.
            raise GoldsmithError(f"--source {what}: write it as NAME=PATH")
        named[name] = path if is_address(path) else Path(path)
    return Sources.load(builder.folder, overrides=named, mirrors=mirrors, **options)


def builder_of(folder: DatasetFolder) -> Builder:
    """The builder that made a folder."""
    from builders.registry import get

    return get(folder.build["dataset"])


@click.command("list")
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
    declared = [sources.spec(source) for source in sources.names]
    specs = [spec for spec in declared if not spec.secret]
    return {
        "name": name,
        "version": builder.version,
        "title": builder.schema.title,
        "tables": [table.name for table in builder.schema.tables],
        "sources": len(specs),
        "redistributable": sum(spec.redistribute for spec in specs),
        "needs": [f"{spec.name}: {spec.manual}" for spec in declared if spec.manual],
    }


@click.command()
@click.argument("name")
@click.option("-o", "--out", type=FOLDER, help="Folder of the dataset (default: out/NAME).")
@click.option("--sample", is_flag=True, help="From the bundled sample.")
@click.option("--redistributable", is_flag=True, help="Leave out sources whose licence does not allow passing them on.")
@source_options
def plan(name: str, out: Path | None, sample: bool, redistributable: bool, **where: Any) -> None:
    """What `build` would do, and why.

    Example: goldsmith plan virogym --sample
    """
    from builders.build import plan as make_plan
    from builders.registry import get

    builder = get(name)
    sources = load_sources(builder, sample=sample, redistributable_only=redistributable, **where)
    for shard, verdict, why in make_plan(builder, sources, out or Path("out") / name):
        click.echo(f"{verdict:6} {shard.name:40} {why}")


@click.command()
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
@source_options
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
    sources = load_sources(builder, sample=sample, redistributable_only=redistributable, **where)
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
    if not (re.fullmatch(r"[0-9]{1,9}/[0-9]{1,9}", text) and 1 <= int(index) <= int(count)):
        raise GoldsmithError(f"--shard {text}: write I/N with 1 <= I <= N, such as 3/8")
    return int(index), int(count)


class _WithId(click.Command):
    """A command that takes an id, which may be a number below zero, and so look like an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = any(re.match(r"-\.?\d", text) for text in args)
        return super().parse_args(ctx, args)


@click.command(cls=_WithId)
@click.argument("folder", type=FOLDER)
@click.argument("row_id", metavar="ID")
@click.option("--table", help="Where the id is in several tables.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@source_options
def explain(folder: Path, row_id: str, table: str | None, as_json: bool, **where: Any) -> None:
    """Walk a row back to the place in the source that it came from.

    Example: goldsmith explain out/virogym RABV_cell_entry_Pasteur --table assays
    """
    from builders.explain import explain as walk

    dataset = DatasetFolder(folder)
    sources = load_sources(builder_of(dataset), sample=dataset.build["sample"], **where)
    found = walk(dataset, row_id, sources, table)
    click.echo(json.dumps(found.to_json(), ensure_ascii=False, indent=1) if as_json else found.text())


@click.command()
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


@click.command()
@click.argument("name")
@click.option("--into", type=FOLDER, default=Path(), help="Where to lay it (default: here).")
def new(name: str, into: Path) -> None:
    """Lay the folder of a new dataset: a package that builds as it is, to be filled.

    Example: goldsmith new birdsong --into ~/datasets
    """
    from builders.new import new as lay

    for path in lay(name, into):
        click.echo(path)


COMMANDS = (list_, plan, build, explain, probe, new)
