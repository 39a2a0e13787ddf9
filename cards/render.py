"""README.md and DATASHEET.md: the templates, and what they may use. Texts come out marked (see `cards.text`)."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from cards import questions, text
from cards.citation import bibtex
from cards.datasheet import FILE, Answer, Datasheet, Reference
from cards.fill import languages
from cards.queries import Figures, Names
from schemas import Column, DatasetFolder, GoldsmithError, Label, List, Text

_SHOWN_VALUES = 12
"""Allowed values and classes that a field table lists; the rest is counted."""


@dataclass(frozen=True)
class Material:
    """All that the documents are made from. `version` is that of the release, "" without one; `waived`: its waivers."""

    folder: DatasetFolder
    sheet: Datasheet
    figures: Figures
    version: str
    waived: Sequence[Mapping[str, Any]] = ()

    def fill(self, prose: str, place: str) -> str:
        """A text of datasheet.toml with its figures put in, marked.

        Raises:
            GoldsmithError: it names a figure that there is not, or is no template.
        """
        return _filled(prose, Names(self.figures), place)


def _filled(prose: str, names: Names, place: str) -> str:
    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)  # the result is Markdown
    try:
        return environment.from_string(prose).render(figures=names)
    except jinja2.TemplateError as error:
        raise GoldsmithError(f"[{FILE} > {place}] {error}: write {{{{ figures.name }}}}") from None


def readme_body(material: Material, licences: Iterable[str]) -> str:
    """The README below its YAML head, marked. Renders last: it lists the queries of all figures used so far."""
    folder, sheet = material.folder, material.sheet
    card = sheet.card
    return (
        _environment()
        .get_template("README.md.j2")
        .render(
            **_shared(material),
            title=card.pretty_name or folder.schema.title,
            languages=languages(folder, sheet),
            summary=text.markdown(card.summary) or folder.schema.summary,
            about=material.fill(card.about, "card > about"),
            uses=[said for use in card.uses if (said := material.fill(use, "card > uses"))],
            limitations=[material.fill(limitation, "card > limitations") for limitation in card.limitations],
            license_note=material.fill(card.license_note, "card > license_note"),
            licence_text=_licence_text(sheet, licences),
            repository=card.repository,
            revision=f', revision="v{material.version}"' if card.repository and material.version else "",
            references=[_reference(reference) for reference in sheet.citation.references],
            bibtex=bibtex(folder, sheet, material.version),
            tools=", ".join(f"{name} {version}" for name, version in sorted(folder.build.get("tools", {}).items())),
            used_queries=lambda: _used_queries(material.figures),
        )
    )


def datasheet(material: Material) -> str:
    """DATASHEET.md, marked."""
    environment = _environment()
    facts = environment.get_template("facts.md.j2").make_module(_shared(material))
    counts = {"total": 0, "answered": 0, "not_applicable": 0, "unanswered": 0}
    shown = []
    for section in questions.sections():
        entries = []
        for question in section.questions:
            fact = _tidy(str(getattr(facts, question.key)())) if question.facts else ""
            kind, answer = _answer(material, question.key, fact)
            counts["total"] += 1
            counts[kind] += 1
            entries.append({"text": question.text, "answer": answer})
        shown.append({"title": section.title, "entries": entries})
    title = material.sheet.card.pretty_name or material.folder.schema.title
    template = environment.get_template("DATASHEET.md.j2")
    return template.render(**_shared(material), title=title, sections=shown, counts=counts)


def unanswered(material: Material) -> list[str]:
    """The required questions that neither the data nor datasheet.toml answer."""
    facts = _environment().get_template("facts.md.j2").make_module(_shared(material))
    with_facts = {question.key for section in questions.sections() for question in section.questions if question.facts}
    return [
        key
        for key in material.sheet.required
        if key not in material.sheet.answers and not (key in with_facts and str(getattr(facts, key)()).strip())
    ]


def _answer(material: Material, key: str, fact: str) -> tuple[str, str]:
    """(kind, text) of an entry: the facts first, then what people say."""
    given = material.sheet.answers.get(key, Answer())
    said = material.fill(given.text, f"answers > {key}")
    if given.not_applicable:
        said = "Not applicable: " + material.fill(given.not_applicable, f"answers > {key}")
    kind = "not_applicable" if given.not_applicable else "answered" if fact or said else "unanswered"
    return kind, "\n\n".join(part for part in (fact, said) if part) or "Not answered."


def _tidy(made: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", made).strip()


def _shared(material: Material) -> dict[str, Any]:
    folder = material.folder
    return {
        "folder": folder,
        "schema": folder.schema,
        "version": material.version,
        "checked": folder.report_json.is_file(),
        "left_out": folder.build.get("left_out", []),
        "waived": material.waived,
        "audits": audits(folder),
        "figures": Names(material.figures),
    }


def audits(folder: DatasetFolder) -> list[Mapping[str, Any]]:
    """What people's audits found (audit/<name>/report.json, see `quality.annotation.report`), by name.

    The share of a stratum that can be wrong is that of the rows in the folder, where these were checked: rows may have
    left since the audit, and then as many wrong ones are a larger share.
    """
    checks = folder.report["checks"] if folder.report_json.is_file() else []
    figures = [(check["name"], figure) for check in checks for figure in check.get("figures", ())]
    upper = {(name, figure["subject"]): figure["value"] for name, figure in figures}
    found = []
    for path in sorted((folder.path / "audit").glob("*/report.json")):
        audit = json.loads(path.read_text(encoding="utf-8"))
        for one in audit["strata"]:
            now = upper.get((f"audit.{audit['audit']}", one["stratum"]), one["upper"])
            one |= {"upper": now, "shown": now <= one["target"]}
        found.append(audit)
    return found


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=False,  # noqa: S701 (Markdown: the filters below escape)
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: Mapping[str, Callable[..., str]] = {
        "md": text.markdown,
        "cell": text.cell,
        "code": text.code,
        "constraints": constraints,
        "fenced": _fenced,
        "variable": _variable,
    }
    environment.filters.update(filters)
    return environment


def constraints(column: Column) -> str:
    """What holds for a column's values, for a cell of the field table."""
    facts = ["may be missing"] if column.nullable else []
    length = "length " if isinstance(column.type, Text | List) else ""
    low, high = (None if bound is None else f"{bound:g}" for bound in (column.minimum, column.maximum))
    if low is not None and high is not None:
        facts.append(f"{length}{low} to {high}")
    elif low is not None:
        facts.append(f"{length}at least {low}")
    elif high is not None:
        facts.append(f"{length}at most {high}")
    if column.allowed is not None:
        facts.append(f"one of {_list(column.allowed)}")
    if isinstance(column.type, Label):
        facts.append(f"class of {_list(column.type.names)}")
    if column.pattern:
        facts.append(f"matches {text.code(column.pattern)}")
    if column.references:
        facts.append(f"refers to {text.code(column.references)}")
    return "; ".join(facts)


def _list(values: Iterable[Any]) -> str:
    shown = [text.code(value) for value in values]
    more = len(shown) - _SHOWN_VALUES
    return ", ".join(shown[:_SHOWN_VALUES]) + (f" and {more} more" if more > 0 else "")


def _variable(name: str) -> str:
    """A Python name for a table."""
    name = re.sub(r"\W", "_", name)
    return f"_{name}" if not name.isidentifier() or keyword.iskeyword(name) else name


def _fenced(content: str, language: str) -> str:
    """A code block that `content` cannot close."""
    longest = max((len(run) for run in re.findall("`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{content}\n{fence}"


def _licence_text(sheet: Datasheet, licences: Iterable[str]) -> str:
    """The licences of the card; the name of the licence stands for `other`."""
    names = [sheet.card.license_name or "see below" if name == "other" else name for name in licences]
    shown = ", ".join(text.markdown(name) for name in names)
    return (
        f"{shown}: see [Sources and licences](#sources-and-licences)"
        if len(names) > 1 or "other" in licences
        else shown
    )


def _reference(reference: Reference) -> str:
    address = f"https://doi.org/{reference.doi}" if reference.doi else reference.url
    names = ", ".join(author.full_name for author in reference.authors)
    head = ", ".join(part for part in (names, str(reference.year or "")) if part)
    parts = [text.markdown(head), text.link(text.markdown(reference.title), address), text.markdown(reference.journal)]
    return ". ".join(part for part in parts if part) + "."


def _used_queries(figures: Figures) -> str:
    used = [(name, figures.queries[name]) for name in sorted(figures.results)]
    return "\n\n".join(f"-- {name}\n{sql};" for name, sql in used)
