"""A dataset with a model's programs, from its build to a release that is made again without an endpoint."""

from __future__ import annotations

import audit_way
import polars as pl
import pytest
from click.testing import CliRunner

from builders.verivul import audits, calls, sample_answers
from builders.verivul.builder import BUILDER
from goldsmith import main
from quality.annotation import population
from quality.annotation.work import Work
from schemas import DatasetFolder

WAIVER = """[[waiver]]
check = "own_source"
reason = "a part of the sample"
by = "the tests"
until = 2030-12-31
"""


def goldsmith(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def given(tmp_path_factory, fixes_by_subject):
    """The sample's repository and calls, with one fix."""
    room = tmp_path_factory.mktemp("release")
    (room / "commits.toml").write_text(fixes_by_subject["grid_set"].toml(), encoding="utf-8")
    (room / "python.toml").write_text("", encoding="utf-8")
    (room / "waivers.toml").write_text(WAIVER, encoding="utf-8")
    return room, [f"--source=commits={room}/commits.toml", f"--source=python={room}/python.toml"]


@pytest.fixture(scope="module")
def built(given):
    """The room with what is built; no endpoint may be asked."""
    room, sources = given

    def asked(*_: object) -> None:
        raise AssertionError("an endpoint was asked")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calls.Live, "_post", asked)
        goldsmith("build", "verivul", "--sample", *sources, "-o", room / "built")
    return room


def test_the_fault_is_known_where_two_tools_see_it_in_one_line(built):
    dataset = DatasetFolder(built / "built")
    with population.session(dataset, BUILDER.checks) as session:
        known = [row["item_id"] for row in population.gold_items(session, audits.FAULTS)]
    programs = pl.read_parquet(built / "built/data/programs/*.parquet").filter(
        (pl.col("replay") == "exact") & (pl.col("replay_line") == pl.col("violating_line"))
    )
    assert sorted(known) == sorted(programs["program_id"]) != []


@pytest.mark.parametrize("audit", audits.AUDITS, ids=lambda audit: audit.kind)
def test_people_mark_the_fault_and_review_it_with_evidence(built, audit, tmp_path):
    audit_way.go(built / "built", audit, tmp_path, "--waivers", built / "waivers.toml")
    statements = pl.read_parquet(built / "built/data/programs/*.parquet").select("program_id", "violating_statement")
    said = dict(statements.iter_rows())
    items = Work(tmp_path / "work").plan().items
    assert items
    for item in items:
        statement = said[item.item_id]
        if audit is audits.FAULTS:
            ((start, end, label),) = item.answer["spans"]
            assert (item.shown[0][start:end], label) == (statement, "fault")
        else:
            assert statement in item.shown[0]
            assert item.shown[1].endswith(f": {statement}")


def test_a_models_programs_are_replayed_from_the_record(given, built):
    room, sources = given
    attempts = pl.read_parquet(room / "built/data/attempts/*.parquet").filter(pl.col("expander") == "model")
    assert attempts["outcome"].to_list() == ["does_not_parse", "certified"]
    pairs = pl.read_parquet(room / "built/data/programs/*.parquet").group_by("expander").agg(pl.len())
    assert dict(pairs.iter_rows()) == {"closer": 2, "model": 2}
    goldsmith("check", room / "built")
    goldsmith("card", room / "built")
    goldsmith(
        "release", room / "built", "--version", "1.0.0", "--waivers", room / "waivers.toml", "-o", room / "release"
    )
    assert "the same rows" in goldsmith("regenerate", room / "release", *sources)


def test_the_record_of_the_sample_is_what_the_answers_give(sample, fixes_by_subject):
    made = sample_answers.record(sample / "repository.stream", fixes_by_subject["grid_set"])
    assert (sample / "calls.jsonl").read_text(encoding="utf-8") == made
