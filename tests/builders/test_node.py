"""A node that does not see what the driver sees, or is not set up as it is, builds nothing and says why."""

from __future__ import annotations

import dataclasses

import pytest
from tinyset.builder import BUILDER

from builders.code import libraries
from builders.node import NodeWork, shared
from builders.planning import make_plan
from builders.shard import Job, ShardWork
from schemas import GoldsmithError


@pytest.fixture
def job_and_work(tiny, tmp_path):
    """The first job of a build, and its work as a node gets it."""
    sources = tiny.sources()
    for name in sources.names:
        sources.resolve(name)
    (tmp_path / "out" / "shards").mkdir(parents=True)
    job = make_plan(BUILDER, sources, tmp_path / "out").jobs[0]
    with shared(ShardWork(BUILDER, sources, tmp_path / "out" / "shards"), tmp_path / "out") as work:
        yield job, work


def refusal(work: NodeWork, job: Job) -> str:
    with pytest.raises(GoldsmithError) as caught:
        work(job, lambda _: None)
    assert not list(work.work.folder.iterdir())
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_node_like_the_driver_builds(job_and_work):
    job, work = job_and_work
    assert work(job, lambda _: None)["name"] == "a"
    assert [path.name for path in work.work.folder.iterdir()] == [job.key]


def test_the_folder_is_not_seen(job_and_work, tmp_path):
    job, work = job_and_work
    elsewhere = dataclasses.replace(work, sign=tmp_path / "another" / work.sign.name)
    assert refusal(elsewhere, job).startswith(f"[{tmp_path}/another] is not seen on the node ")


def test_a_source_is_not_seen(job_and_work, tiny):
    job, work = job_and_work
    (tiny.folder / "a.csv").unlink()
    assert refusal(work, job).startswith(f"[a] {tiny.folder}/a.csv is not seen on the node ")


def test_another_version_of_a_tool(job_and_work):
    job, work = job_and_work
    facts = {**job.facts, "tools": {**job.facts["tools"], "polars": "0.1"}}
    assert "and 0.1 where the build was started: install the same" in refusal(
        work, dataclasses.replace(job, facts=facts)
    )


def test_a_library_that_the_node_lacks(job_and_work):
    job, work = job_and_work
    facts = {**job.facts, "tools": {**job.facts["tools"], "no-such-library": "0.1"}}
    said = refusal(work, dataclasses.replace(job, facts=facts))
    assert said.startswith("[no-such-library] is absent on the node ")


def test_other_code(job_and_work):
    job, work = job_and_work
    other = dataclasses.replace(job, facts={**job.facts, "code": "0" * 64})
    assert refusal(work, other).startswith("[tinyset] the builder's code on the node ")


def test_libraries_are_those_that_the_builder_imports():
    found = libraries("builders.vaani.builder")
    assert {"av", "numpy", "pyarrow", "scipy", "soxr"} <= set(found)
    assert not {"fsspec", "goldsmith", "pytest", "ray"} & set(found)
