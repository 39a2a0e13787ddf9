"""Facts of the data in `[card]` and `[citation]`: what YAML, Croissant and CFF say then comes from the rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import cards
from schemas import DatasetFolder, GoldsmithError
from schemas.hub import read_card

FACTS = """
[card]
pretty_name = "{{ figures.name }} of speech"
summary = "{{ figures.name }}, spoken."
uses = ["Hearing.", "{{ figures.nothing or '' }}"]
homepage = "{{ figures.nothing }}"
language = ["{{ figures.tags }}", "en"]
license = ["{{ figures.licence }}"]
license_name = "own"
license_link = "{{ figures.link }}"
multilinguality = ["{{ figures.nothing }}"]
[citation]
title = "{{ figures.name }}"
[[citation.authors]]
name = "{{ figures.nothing }}"
[[citation.authors]]
name = "{% if figures.nothing %}{{ figures.nothing }}{% else %}The makers of {{ figures.name }}{% endif %}"
[figures]
name = "SELECT 'A_1 *collection*'"
nothing = "SELECT NULL::VARCHAR"
licence = "SELECT 'CC-BY-SA-4.0'"
link = "SELECT 'https://example.org/l'"
tags = "SELECT unnest(['ml', 'mis-x-beary'])"
"""


def written(folder: DatasetFolder, builder: Path, sheet: str) -> tuple[dict, str, dict, dict]:
    (builder / "datasheet.toml").write_text(sheet, encoding="utf-8")
    cards.write(folder, builder)
    metadata, body = read_card((folder.path / "README.md").read_text(encoding="utf-8"))
    croissant = json.loads((folder.path / "croissant.json").read_text(encoding="utf-8"))
    return dict(metadata), body, croissant, yaml.safe_load((folder.path / "CITATION.cff").read_text(encoding="utf-8"))


def test_figures_fill_the_short_texts_as_plain_values(spoken: DatasetFolder, builder: Path) -> None:
    metadata, body, croissant, cff = written(spoken, builder, FACTS)
    assert metadata["pretty_name"] == croissant["alternateName"] == "A_1 *collection* of speech"
    assert "# A\\_1 \\*collection\\* of speech" in body
    assert croissant["description"] == cff["abstract"] == "A_1 *collection*, spoken."
    assert "\nA\\_1 \\*collection\\*, spoken.\n" in body
    assert metadata["license"] == "cc-by-sa-4.0"
    assert croissant["license"] == ["https://spdx.org/licenses/CC-BY-SA-4.0"]
    assert cff["license"] == ["CC-BY-SA-4.0"]
    assert croissant["inLanguage"] == ["ml", "mis-x-beary", "en"]
    assert cards.problems(spoken, builder) == []


def test_tags_that_the_hub_does_not_know_are_in_bcp47_alone(spoken: DatasetFolder, builder: Path) -> None:
    metadata, *_ = written(spoken, builder, FACTS)
    assert metadata["language"] == ["ml", "en"]
    assert metadata["language_bcp47"] == ["ml", "mis-x-beary", "en"]


def test_what_comes_out_empty_is_left_out(spoken: DatasetFolder, builder: Path) -> None:
    metadata, body, croissant, cff = written(spoken, builder, FACTS)
    assert "multilinguality" not in metadata
    assert "url" not in cff
    assert "url" not in croissant
    assert "- Hearing.\n\n" in body
    assert [author["name"] for author in cff["authors"]] == ["The makers of A_1 *collection*"]


def test_a_licence_of_the_rows_that_the_hub_does_not_know_needs_a_link(spoken: DatasetFolder, builder: Path) -> None:
    own = FACTS.replace("'CC-BY-SA-4.0'", "'ask us'")
    metadata, *_ = written(spoken, builder, own)
    assert (metadata["license"], metadata["license_link"]) == ("other", "https://example.org/l")
    assert cards.problems(spoken, builder) == []
    written(spoken, builder, own.replace("'https://example.org/l'", "NULL"))
    assert cards.problems(spoken, builder) == [
        "[datasheet.toml > card] licences that the Hub does not know (ask us): give license_name and license_link"
    ]


def test_an_unknown_figure_is_named_with_its_place(spoken: DatasetFolder, builder: Path) -> None:
    (builder / "datasheet.toml").write_text('[card]\nhomepage = "{{ figures.hom }}"\n', encoding="utf-8")
    with pytest.raises(GoldsmithError, match=r"unknown figure 'hom'"):
        cards.write(spoken, builder)
    (builder / "datasheet.toml").write_text('[citation]\ntitle = "{{ figures."\n', encoding="utf-8")
    with pytest.raises(GoldsmithError, match=r"\[datasheet.toml > citation > title\]"):
        cards.write(spoken, builder)
