"""Gamma of spans, where its library is installed (`make oracles`): of texts laid together, and in a report."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from audit_people import ANN, BEN, BY_NAME, CHECKS, CYD, Habit, careful, content, contrary, judge

from quality.annotation import exchange, report
from quality.annotation.gamma import Marked, gamma, installed
from quality.annotation.plan import plan as make_plan
from quality.annotation.spans import Span
from quality.annotation.work import Work
from schemas import DatasetFolder

pytestmark = [
    pytest.mark.gamma,
    pytest.mark.skipif(not installed(), reason="pygamma-agreement is not installed: `make oracles`"),
]

Write = Callable[..., DatasetFolder]


def texts(shift: int, label: str = "x", count: int = 12) -> list[Marked]:
    """Two people and a span in each text; the second's begins `shift` later and has another label."""
    return [
        Marked(200, {"a": [Span(10 * i, 10 * i + 15, "x")], "b": [Span(10 * i + shift, 10 * i + 15 + shift, label)]})
        for i in range(count)
    ]


def test_it_is_one_for_the_same_and_falls_with_distance_and_label() -> None:
    figures = [gamma(texts(shift)) for shift in (0, 4, 12, 60)]
    assert figures[0] == pytest.approx(1)
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] < 0.3
    assert gamma(texts(0, "y")) < figures[1]


def test_it_is_the_library_s_on_one_text() -> None:
    import numpy as np
    from pyannote.core import Segment  # pyright: ignore[reportMissingImports]
    from pygamma_agreement import CombinedCategoricalDissimilarity, Continuum  # pyright: ignore[reportMissingImports]

    spans = {"a": [Span(0, 5, "x"), Span(20, 30, "y")], "b": [Span(1, 5, "x"), Span(19, 28, "y"), Span(50, 55, "x")]}
    continuum = Continuum()
    for person, marked in spans.items():
        for start, end, label in marked:
            continuum.add(person, Segment(start, end), label)
    np.random.seed(0)
    theirs = continuum.compute_gamma(CombinedCategoricalDissimilarity()).gamma
    assert gamma([Marked(100, spans)]) == pytest.approx(theirs)


def test_the_same_again_and_numpy_s_state_is_left_alone() -> None:
    import numpy as np

    np.random.seed(5)
    expected = np.random.random(3)
    np.random.seed(5)
    assert gamma(texts(4)) == gamma(texts(4))
    assert np.array_equal(np.random.random(3), expected)


def test_who_did_not_judge_a_text_is_not_asked_and_who_marked_nothing_is() -> None:
    alone = [Marked(200, {"c": [Span(0, 9, "x")]})]
    assert gamma(texts(4) + alone) == gamma(texts(4))
    silent = [Marked(200, {"a": [Span(5, 9, "x")], "b": []})] * 12
    assert gamma(texts(4) + silent) < gamma(texts(4)) - 0.1
    assert math.isnan(gamma([Marked(9, {"a": [], "b": []})]))
    assert math.isnan(gamma([]))


def test_many_texts_are_aligned_in_parts() -> None:
    assert gamma(texts(0, count=130)) == pytest.approx(1)


def test_it_is_in_the_report_of_spans_and_of_evidence(write_judged: Write, tmp_path: Path) -> None:
    folder = write_judged(content(12))

    def reported(name: str, third: Habit) -> report.AuditReport:
        work = Work(tmp_path / f"{name}{len(list(tmp_path.iterdir()))}")
        made = make_plan(folder, CHECKS, BY_NAME[name], (ANN, BEN, CYD), work.path)
        exchange.save(work, judge(made, {ANN: careful(0), BEN: careful(0), CYD: third}), [])
        return report.write(folder, work)

    same, other = reported("faults", careful(0)), reported("faults", contrary("c"))
    assert same.gamma == pytest.approx(1)
    assert other.gamma is not None
    assert 0 < other.gamma < 0.8
    out = folder.path / "audit" / "faults"
    assert json.loads((out / "report.json").read_text())["gamma"] == pytest.approx(other.gamma)
    assert f"beyond chance: <strong>{other.gamma:.2f}</strong>" in (out / "report.html").read_text()
    assert f"gamma of spans: {other.gamma:.2f}" in other.lines()
    assert "evidence_gamma" in reported("review", careful(0)).attributes["accuracy"]
    assert reported("topic", careful(0)).gamma is None
