"""Versions and their steps."""

from __future__ import annotations

import pytest

from releases import Version
from schemas import GoldsmithError


@pytest.mark.parametrize(
    "text", ["1", "1.0", "v1.0.0", "01.0.0", "1.0.0-rc.1", "1.0.0+b", "1.0.0 ", "1.0.0\n", "١.0.0", ""]
)
def test_what_is_no_version(text: str) -> None:
    with pytest.raises(GoldsmithError, match=r"is no MAJOR\.MINOR\.PATCH"):
        Version.parse(text)


@pytest.mark.parametrize(
    ("before", "level", "after"),
    [
        ("1.2.3", "patch", "1.2.4"),
        ("1.2.3", "minor", "1.3.0"),
        ("1.2.3", "major", "2.0.0"),
        ("0.2.3", "major", "1.0.0"),
        ("1.9.9", "minor", "1.10.0"),
    ],
)
def test_steps(before: str, level, after: str) -> None:
    assert str(Version.parse(before).step(level)) == after
    assert Version.parse(before) < Version.parse(after)


def test_order_is_by_number() -> None:
    assert Version.parse("1.10.0") > Version.parse("1.9.0")
