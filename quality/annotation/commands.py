"""`goldsmith audit`: plan, push, pull, report. Each loads what it needs when it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemas import CheckSet, DatasetFolder, GoldsmithError
from schemas.command_line import FILE, FOLDER

if TYPE_CHECKING:
    from quality.annotation.label_studio import Server


def audit_commands(checks_of: Callable[[DatasetFolder], CheckSet]) -> click.Group:
    """The group of commands.

    Args:
        checks_of: finds the checks, with the audits, that the builder of a dataset declares.
    """

    @click.group("audit", commands=[_push, _pull, _report])
    def group() -> None:
        """People's judgements of a sample of the rows, as findings that the gate reads.

        \b
        plan -> push -> (people annotate) -> pull -> report -> check
        The folder of an audit (WORK) has names and answers in it: it is never released.
        """

    @group.command("plan")
    @click.argument("folder", type=FOLDER)
    @click.argument("name", required=False)
    @click.option(
        "-a", "--annotator", "people", multiple=True, required=True, help="E-mail address or name; repeat it."
    )
    @click.option("-o", "--out", type=FOLDER, help="Folder of the audit (default: out/audits/DATASET-NAME).")
    @click.option("--seed", default="", help="For another sample of the same data.")
    def plan(folder: Path, name: str | None, people: tuple[str, ...], out: Path | None, seed: str) -> None:
        """Draw the sample of an audit that the dataset declares, and everyone's sheet.

        Example: goldsmith audit plan out/virogym records -a ann@example.org -a ben@example.org
        """
        from quality.annotation import plan as planning

        dataset = DatasetFolder(folder)
        checks = checks_of(dataset)
        chosen = planning.choose(checks.audits, name, dataset.schema.name)
        out = out or Path("out/audits") / f"{dataset.schema.name}-{chosen.name}"
        made = planning.plan(dataset, checks, chosen, people, out, seed=seed)
        for stratum in made.strata:
            shows = f"{chosen.planned_errors} wrong show at most {stratum.target:.1%} wrong"
            click.echo(f"{stratum.name:30} {stratum.sample:6,} of {stratum.lot:,} rows: {shows}")
        if chosen.golds:
            gold = sum(item.role == "gold" for item in made.items)
            asked = "" if gold == chosen.golds else f", of {chosen.golds}: the data have no more outside the sample"
            click.echo(f"{'gold':30} {gold:6,} items whose answer is known{asked}")
        for person, who in made.people.items():
            click.echo(f"{person:30} {len(made.sheet(person)):6,} items for {who}")
        click.echo(f"planned in {out}: next `goldsmith audit push {out} --url http://...`")

    return group


def _server_option(command: Callable[..., Any]) -> Callable[..., Any]:
    text = "Address of Label Studio; the token is read from LABEL_STUDIO_API_KEY."
    return click.option("--url", envvar="LABEL_STUDIO_URL", help=text)(command)


def _server(url: str | None) -> Server:
    from quality.annotation.label_studio import TOKEN_VARIABLE, Server

    if not url:
        raise GoldsmithError("--url: say where Label Studio is, or give the answers with `audit pull --from FILE`")
    return Server(url, os.environ.get(TOKEN_VARIABLE, ""))


@click.command("push")
@click.argument("work", type=FOLDER)
@_server_option
def _push(work: Path, url: str | None) -> None:
    """Lay everyone's sheet on a Label Studio server, a project each. Doing it again adds what is missing.

    Example: goldsmith audit push out/audits/virogym-records --url http://127.0.0.1:8080
    """
    from quality.annotation import exchange
    from quality.annotation.work import Work

    for sheet in exchange.push(Work(work), _server(url)):
        click.echo(f"{sheet.person}: project {sheet.project}, {sheet.added} items added, {sheet.there} were there")


@click.command("pull")
@click.argument("work", type=FOLDER)
@_server_option
@click.option("--from", "file", type=FILE, help="A .json, .jsonl or .csv file of another tool in place of a server.")
def _pull(work: Path, url: str | None, file: Path | None) -> None:
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


@click.command("report")
@click.argument("folder", type=FOLDER)
@click.argument("work", type=FOLDER)
def _report(folder: Path, work: Path) -> None:
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
