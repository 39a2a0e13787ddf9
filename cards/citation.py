"""CITATION.cff (Citation File Format 1.2.0) and the BibTeX entry of the README, from `[citation]` of datasheet.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

from cards.datasheet import FILE, Author, Datasheet, Reference
from cards.fill import licences, summary
from schemas import DatasetFolder
from schemas.hub_words import hub_licence

_DOI = re.compile(r"10\.\d{4,9}(\.\d+)?/[A-Za-z0-9:/_;\-\.\(\)\[\]\\]+")
_ORCID = re.compile(r"https://orcid\.org/[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")
_URL = re.compile(r"(https|http|ftp|sftp)://.+")
_DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
_TYPE_WORDS = """art article audiovisual bill blog book catalogue conference conference-paper data database dictionary
edited-work encyclopedia film-broadcast generic government-document grant hearing historical-work legal-case legal-rule
magazine-article manual map multimedia music newspaper-article pamphlet patent personal-communication proceedings report
serial slides software software-code software-container software-executable software-virtual-machine sound-recording
standard statute thesis unpublished video website"""
_TYPES = frozenset(_TYPE_WORDS.split())


def published(folder: DatasetFolder, sheet: Datasheet) -> str:
    """The date of the documents: the datasheet's, or the last day on which a source was accessed; "" if neither."""
    return sheet.card.date or max((source.get("accessed") or "" for source in folder.build["sources"]), default="")


def authors(folder: DatasetFolder, sheet: Datasheet) -> tuple[Author, ...]:
    """The authors; without any, one that names the dataset."""
    return sheet.citation.authors or (Author(name=f"The contributors of {folder.schema.title}"),)


def citation(folder: DatasetFolder, sheet: Datasheet, version: str) -> dict[str, Any]:
    """The content of CITATION.cff as plain values."""
    about = sheet.citation
    ids = licences(folder, sheet)
    made = {
        "cff-version": "1.2.0",
        "message": about.message,
        "type": "dataset",
        "title": about.title or folder.schema.title,
        "version": version,
        "abstract": about.abstract or summary(folder, sheet),
        "authors": [_author(author) for author in authors(folder, sheet)],
        "doi": about.doi,
        "url": about.url or sheet.card.homepage,
        "date-released": sheet.card.date,
        # CFF knows SPDX ids alone; with a source outside them, the README says which licence holds for what.
        "license": ids if all(is_spdx(licence) for licence in ids) else None,
        "keywords": list(folder.schema.tags),
        "references": [_reference(reference) for reference in about.references],
    }
    return {key: value for key, value in made.items() if value}


def is_spdx(licence: str) -> bool:
    """Whether a licence is written as an SPDX id (`MIT`; `mit` is the Hub's way) of those that the Hub knows."""
    return hub_licence(licence) is not None and licence != licence.lower()


def _author(author: Author) -> dict[str, str]:
    made = {
        "name": author.name,
        "family-names": author.family_names,
        "given-names": author.given_names,
        "affiliation": author.affiliation if not author.name else "",
        "orcid": author.orcid,
        "email": author.email,
    }
    return {key: value for key, value in made.items() if value}


def _reference(reference: Reference) -> dict[str, Any]:
    made = {
        "type": reference.type,
        "title": reference.title,
        "authors": [_author(author) for author in reference.authors],
        "year": reference.year,
        "journal": reference.journal,
        "doi": reference.doi,
        "url": reference.url,
    }
    return {key: value for key, value in made.items() if value}


def dump(made: dict[str, Any]) -> str:
    """CITATION.cff as text."""
    return yaml.safe_dump(made, sort_keys=False, allow_unicode=True, width=2**16)


def problems(sheet: Datasheet) -> list[str]:
    """Where `[citation]` breaks the rules of the CFF 1.2.0 schema."""
    found = [] if sheet.citation.authors else ["> authors] is missing: name at least one author"]
    found += _author_problems("> authors", sheet.citation.authors)
    found += _form("> doi", sheet.citation.doi, _DOI, "a DOI such as 10.5281/zenodo.1003150")
    found += _form("> url", sheet.citation.url, _URL, "a web address")
    for index, reference in enumerate(sheet.citation.references):
        place = f"> references > {index}"
        if not reference.title:
            found.append(f"{place} > title] is missing")
        if not reference.authors:
            found.append(f"{place} > authors] is missing: name at least one author")
        if reference.type not in _TYPES:
            found.append(f"{place} > type] {reference.type!r} is no type of CFF: article, report, data, software ...")
        found += _author_problems(f"{place} > authors", reference.authors)
        found += _form(f"{place} > doi", reference.doi, _DOI, "a DOI such as 10.5281/zenodo.1003150")
        found += _form(f"{place} > url", reference.url, _URL, "a web address")
    date = _form("> date", sheet.card.date, _DATE, "a date, YYYY-MM-DD")
    return [f"[{FILE} > citation {line}" for line in found] + [f"[{FILE} > card {line}" for line in date]


def _author_problems(place: str, authors: Iterable[Author]) -> list[str]:
    found = []
    for index, author in enumerate(authors):
        here = f"{place} > {index}"
        if not author.full_name:
            found.append(f"{here}] has no name: give name, or family_names and given_names")
        if author.name and (author.family_names or author.given_names):
            found.append(f"{here}] is both an entity (name) and a person (family_names): give one")
        found += _form(f"{here} > orcid", author.orcid, _ORCID, "https://orcid.org/0000-0000-0000-0000")
    return found


def _form(place: str, value: str, pattern: re.Pattern[str], expected: str) -> list[str]:
    return [f"{place}] {value!r} is not {expected}"] if value and not pattern.fullmatch(value) else []


def bibtex(folder: DatasetFolder, sheet: Datasheet, version: str) -> str:
    """A BibTeX entry for the README and Croissant's `citeAs`."""
    names = " and ".join(
        f"{{{author.name}}}" if author.name else f"{author.family_names}, {author.given_names}".rstrip(", ")
        for author in authors(folder, sheet)
    )
    entries = {
        "title": f"{{{sheet.citation.title or folder.schema.title}}}",
        "author": names,
        "year": published(folder, sheet)[:4],
        "version": version,
        "doi": sheet.citation.doi,
        "url": sheet.citation.url or sheet.card.homepage,
    }
    lines = [f"  {key} = {{{' '.join(value.split())}}}," for key, value in entries.items() if value]
    return "\n".join([f"@misc{{{folder.schema.name},", *lines, "}"])
