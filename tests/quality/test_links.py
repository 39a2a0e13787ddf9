"""References, lineage and row accounting."""

from __future__ import annotations

import pytest
from quality_folders import failing, line, results

from quality.run import check
from schemas import CheckSet, Column, Dataset, Float, Int, List, Table, Text

SPEAKERS = Table("speakers", "Speakers.", (Column("speaker", Text(), "Key."),), key=("speaker",))
UTTERANCES = Table(
    "utterances",
    "Utterances.",
    (
        Column("id", Int(), "Key."),
        Column("speaker", Text(), "Speaker.", nullable=True, references="speakers.speaker"),
        Column("others", List(Text()), "Others.", nullable=True, references="speakers.speaker"),
    ),
    key=("id",),
)
DATASET = Dataset("talk", "Talk", "Talk.", (UTTERANCES, SPEAKERS))
KNOWN = {"train": [{"speaker": "anna"}, {"speaker": "bo"}]}
CLEAN = [{"id": 1, "speaker": "anna", "others": ["bo", "anna"]}, {"id": 2, "speaker": None, "others": None}]


def reject(reason: str, source: str = "raw") -> dict[str, str]:
    return {"reason": reason, "message": "m", "source": source, "place": "line 9", "record": "r"}


def entry(**change) -> dict:
    return {
        "source": "raw",
        "table": "utterances",
        "records": 3,
        "rows": 2,
        "merged": 0,
        "rejects": {"noise": 1},
        **change,
    }


SPEAKER_ENTRY = {"source": "raw", "table": "speakers", "records": 2, "rows": 2, "merged": 0, "rejects": {}}


def test_clean_links_fire_nothing(folder):
    clean = folder(
        DATASET,
        {"utterances": {"train": CLEAN}, "speakers": KNOWN},
        rejects={"utterances": [reject("noise")]},
        accounting=[entry(), SPEAKER_ENTRY],
    )
    assert check(clean, CheckSet(), groups=("references", "lineage")).passed
    assert failing(clean) == {}


@pytest.mark.parametrize(
    ("row", "name"),
    [({"id": 3, "speaker": "cy"}, "speaker"), ({"id": 3, "others": ["bo", "cy"]}, "others")],
)
def test_a_reference_to_nothing_is_found(folder, row, name):
    dirty = folder(DATASET, {"utterances": {"train": [*CLEAN, row]}, "speakers": KNOWN})
    report = check(dirty, CheckSet(), groups=("references",))
    assert failing(dirty) == {f"utterances.{name}.reference": ["3"]}
    assert (
        results(report)[f"utterances.{name}.reference"].examples[0][1].endswith(f"{name} cy is not in speakers.speaker")
    )


@pytest.mark.parametrize("groups", [("references",), ("constraints", "keys", "references")], ids=["joined", "bounded"])
@pytest.mark.parametrize("keys", [[0, 1, 2, 3], [3, 1, 0, 2], [0, 1, 3, 5], [-1, 0, 1, 1, 3], [0, None, 2, 1], []])
@pytest.mark.parametrize("kind", [Int(32), Float(), List(Int()), List(Float())], ids=str)
def test_references_to_numbers_are_found_whether_or_not_any_is_missing(folder, kind, keys, groups):
    """Where no integer between the first and the last key is missing, a bound stands for the join."""
    values = [0, 1, 2, 3, 4, 5, -1, 9, None]
    if "Float" in str(kind):
        values += [1.5, 2.25]
    if isinstance(kind, List):
        values = [[0, value] for value in values]
    rows = [{"id": place, "a": value} for place, value in enumerate(values)]
    target = Table("k", "K.", (Column("k", Int(), "K.", nullable=True),), key=("k",))
    column = Column("a", kind, "A.", nullable=True, references="k.k")
    table = Table("t", "T.", (Column("id", Int(), "Id."), column), key=("id",))
    made = folder(
        Dataset("d", "D", "D.", (table, target)), {"t": {"train": rows}, "k": {"train": [{"k": key} for key in keys]}}
    )
    check(made, CheckSet(), groups=groups)
    members = [value if isinstance(value, list) else [value] for value in values]
    expected = [str(place) for place, some in enumerate(members) for value in some if value not in {None, *keys}]
    assert sorted(failing(made).get("t.a.reference", [])) == sorted(expected)


@pytest.mark.parametrize("large", [False, True], ids=["sorted", "joined"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([line("1"), line("2"), line("2", "line 7")], {}),
        ([line("1")], {"utterances.lineage": ["2"]}),
        ([line("1"), line("2"), line("5")], {"utterances.lineage_rows": ["5"]}),
        ([line("1"), line("1")], {"utterances.lineage": ["2"]}),
    ],
    ids=["merged", "row without lineage", "lineage without row", "as many but not the same"],
)
def test_lineage_and_rows_are_the_same(folder, lines, expected, large, monkeypatch):
    if large:
        monkeypatch.setattr("quality.links._lines", lambda *_: None)
    made = folder(
        DATASET, {"utterances": {"train": CLEAN}, "speakers": KNOWN}, lineage={"utterances": lines}, accounting=[]
    )
    for groups in (("lineage",), ("constraints", "lineage")):  # the scan of the constraints makes the same digest
        check(made, CheckSet(), groups=groups)
        assert failing(made) == expected


@pytest.mark.parametrize(
    ("accounting", "name", "message"),
    [
        (entry(records=4), "balance", "4 records, but 2 rows + 0 merged + 1 rejected"),
        (entry(records=4, rejects={"noise": 2}), "rejects", "2 counted, 1 kept in rejects/"),
        (entry(records=2, rejects={}), "rejects", "0 counted, 1 kept in rejects/"),
        (entry(records=4, rows=3), "rows", "3 rows + 0 merged counted, 2 lines in lineage/"),
        (entry(records=4, merged=1), "rows", "2 rows + 1 merged counted, 2 lines in lineage/"),
    ],
)
def test_accounting_that_does_not_add_up_is_found(folder, accounting, name, message):
    dirty = folder(
        DATASET,
        {"utterances": {"train": CLEAN}, "speakers": KNOWN},
        rejects={"utterances": [reject("noise")]},
        accounting=[accounting, SPEAKER_ENTRY],
    )
    report = check(dirty, CheckSet(), groups=("lineage",))
    assert list(failing(dirty)) == [f"accounting.{name}"]
    assert results(report)[f"accounting.{name}"].examples[0][1].endswith(message)


def test_an_empty_main_table_is_one_failure_and_another_one_is_none(folder):
    nothing = folder(DATASET, {"utterances": {"train": []}, "speakers": KNOWN})
    assert not check(nothing, CheckSet(), groups=("constraints",)).passed
    assert failing(nothing) == {"utterances.rows": ["utterances"]}
    alone = folder(DATASET, {"utterances": {"train": [CLEAN[1]]}, "speakers": {"train": []}})
    assert check(alone, CheckSet(), groups=("constraints",)).passed
    assert failing(alone) == {}
