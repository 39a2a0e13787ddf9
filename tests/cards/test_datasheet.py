"""datasheet.toml: every slip of the pen is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cards
from cards import questions
from cards.datasheet import RAI, RAI_LISTS, Answer, Datasheet
from schemas import DatasetFolder, GoldsmithError


def read(folder: Path, text: str) -> Datasheet:
    (folder / "datasheet.toml").write_text(text, encoding="utf-8")
    return Datasheet.read(folder)


def test_there_are_57_questions_in_7_sections() -> None:
    assert [len(section.questions) for section in questions.sections()] == [4, 16, 12, 4, 6, 7, 8]
    assert len(set(questions.keys())) == 57


def test_the_documented_example_is_whole(tmp_path: Path) -> None:
    """cards/README.md shows every key, and all of them are right."""
    shown = (Path(cards.__file__).parent / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```toml\n(.*?)```", shown, re.DOTALL)
    assert example is not None
    sheet = read(tmp_path, example[1])
    assert set(sheet.rai) == set(RAI)
    assert {key for key, value in sheet.rai.items() if isinstance(value, tuple)} == RAI_LISTS
    for record in (sheet.card, sheet.citation, *sheet.citation.references):
        assert all(vars(record).values()), record
    assert sheet.answers["funding"] == Answer(not_applicable="Nobody was paid.")


def test_without_a_file_nothing_is_answered(tmp_path: Path) -> None:
    assert Datasheet.read(tmp_path) == Datasheet()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[card", "is not TOML"),
        ("[crad]\n", r"unknown key 'crad': did you mean 'card'\?"),
        ("[card]\nlimitation = ['x']", "did you mean 'limitations'"),
        ("[answers]\npurpos = 'x'", "did you mean 'purpose'"),
        ("[answers]\npurpose = { not_aplicable = 'x' }", "did you mean 'not_applicable'"),
        ("[answers]\npurpose = { not_applicable = ' ' }", "give the reason"),
        ("[answers]\npurpose = {}", "give the reason"),
        ("[answers]\npurpose = 3", "write a text in quotes"),
        ("required = ['concent']", "did you mean 'consent'"),
        ("required = 'consent'", "write a list"),
        ("[rai]\ndata_bias = ['x']", "did you mean 'data_biases'"),
        ("[rai]\ndata_collection = ['x']", "write a text in quotes"),
        ("[card]\nlimitations = 'x'", "write a list"),
        ("[card]\npretty_name = 3", "write a text in quotes"),
        ("card = 3", r"write \[card\]"),
        ("[citation]\nauthors = 'x'", r"\[\[...authors\]\]"),
        ("[[citation.authors]]\nfamily_name = 'x'", "did you mean 'family_names'"),
        ("[[citation.references]]\nyear = 'x'", "write a number"),
        ("[figures]\nx = 3", "write a text in quotes"),
    ],
)
def test_slips_are_errors_of_one_line(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(GoldsmithError, match=error) as raised:
        read(tmp_path, text)
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("[datasheet.toml")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("{{ figures.roows }}", "did you mean 'rows'"),
        ("{{ rows }}", "undefined"),
        ("{{ figures.rows", "answers > purpose"),
        ("{{ figures.__class__.__mro__ }}", "answers > purpose"),
    ],
)
def test_a_wrong_figure_in_an_answer_is_named(spoken: DatasetFolder, tmp_path: Path, answer: str, error: str) -> None:
    (tmp_path / "datasheet.toml").write_text(f'[answers]\npurpose = "{answer}"')
    with pytest.raises(GoldsmithError, match=error):
        cards.write(spoken, tmp_path)


def test_answers_are_printed_with_the_facts(spoken: DatasetFolder, tmp_path: Path) -> None:
    (tmp_path / "datasheet.toml").write_text(
        "[answers]\ncount = 'All there are.'\nconsent = { not_applicable = 'No people.' }\n"
        "used = 'In {{ figures.files }} files.'"
    )
    cards.write(spoken, tmp_path)
    made = (spoken.path / "DATASHEET.md").read_text()
    assert "| all | 10 |\n\nAll there are." in made
    assert "Not applicable: No people." in made
    assert "In 3 files." in made
    assert made.count("### ") == 57
    answered, not_applicable, not_answered = map(int, re.findall(r"(?:answered|applicable) (\d+)", made))
    assert answered + not_applicable + not_answered == 57
    assert made.count("\nNot answered.\n") == not_answered
