"""CITATION.cff: the required keys, and every rule of its schema that datasheet.toml could break."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import cards
from cards import citation
from cards.datasheet import Datasheet
from schemas import DatasetFolder

BY = 'authors = [{ name = "A" }]'
AUTHOR = '[[citation.authors]]\nname = "Acme"\n'


def problems(folder: Path, text: str) -> list[str]:
    (folder / "datasheet.toml").write_text(text)
    return citation.problems(Datasheet.read(folder))


def test_the_required_keys_are_there(spoken: DatasetFolder, builder: Path) -> None:
    cards.write(spoken, builder, version="1.2.0")
    made = yaml.safe_load((spoken.path / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(made)
    assert made["cff-version"] == "1.2.0"
    assert made["type"] == "dataset"
    assert made["version"] == "1.2.0"
    assert made["license"] == ["CC-BY-4.0", "MIT"]
    assert isinstance(made["date-released"], str), "CFF takes dates as text"
    assert made["references"][0]["authors"] == [{"family-names": "Body", "given-names": "Some"}]


def test_without_authors_the_dataset_is_named(spoken: DatasetFolder, tmp_path: Path) -> None:
    cards.write(spoken, tmp_path)
    made = yaml.safe_load((spoken.path / "CITATION.cff").read_text())
    assert made["authors"] == [{"name": "The contributors of Spoken sentences"}]
    assert "[datasheet.toml > citation > authors] is missing: name at least one author" in cards.problems(
        spoken, tmp_path
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'[citation]\ndoi = "https://doi.org/10.5281/x"\n{AUTHOR}', "citation > doi"),
        (f'[citation]\nurl = "example.org"\n{AUTHOR}', "citation > url"),
        (f'[card]\ndate = "30.11.2026"\n{AUTHOR}', "card > date"),
        ('[[citation.authors]]\nfamily_names = "B"\norcid = "0000-0002"', "authors > 0 > orcid"),
        ('[[citation.authors]]\naffiliation = "B"', "has no name"),
        ('[[citation.authors]]\nname = "A"\nfamily_names = "B"', "both an entity"),
        (f'{AUTHOR}[[citation.references]]\ntitle = "T"', "references > 0 > authors"),
        (f'{AUTHOR}[[citation.references]]\nauthors = [{{ name = "A" }}]', "references > 0 > title"),
        (f'{AUTHOR}[[citation.references]]\ntitle = "T"\ntype = "papr"\n{BY}', "no type of CFF"),
        (f'{AUTHOR}[[citation.references]]\ntitle = "T"\ndoi = "x"\n{BY}', "references > 0 > doi"),
    ],
)  # fmt: skip
def test_breaches_are_named(tmp_path: Path, text: str, expected: str) -> None:
    assert problems(tmp_path, AUTHOR) == []
    found = problems(tmp_path, text)
    assert len(found) == 1
    assert expected in found[0]


def test_bibtex_names_people_and_entities(spoken: DatasetFolder, tmp_path: Path) -> None:
    (tmp_path / "datasheet.toml").write_text(
        AUTHOR + '[[citation.authors]]\nfamily_names = "Writer"\ngiven_names = "Ada"\n'
    )
    made = citation.bibtex(spoken, Datasheet.read(tmp_path), "1.0.0")
    assert "author = {{Acme} and Writer, Ada}" in made
    assert "year = {2026}" in made
