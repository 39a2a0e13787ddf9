"""The waivers file: what it may hold, and which waivers count on a day."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from release_folders import waivers_file

from releases import Waiver, read_waivers
from releases.waivers import Waivers
from schemas import GoldsmithError

DAY = datetime.date(2026, 6, 1)


def test_a_day_may_be_written_as_date_or_text(tmp_path: Path) -> None:
    one = read_waivers(waivers_file(tmp_path / "a.toml", until="2027-01-31", table="variants"))
    two = read_waivers(waivers_file(tmp_path / "b.toml", until='"2027-01-31"', table="variants"))
    assert one == two == (Waiver("near_duplicates", "known upstream", "data team", "2027-01-31", "variants"),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[waiver]]\ncheck = 'x'\n", "has no reason"),
        ("[[waiver]]\ncheck='x'\nreason=' '\nby='y'\nuntil=2027-01-01\n", "has no reason"),
        ("[[waiver]]\ncheck='x'\nreason='r'\nby='y'\nuntil='soon'\n", "soon is no day"),
        ("[[waiver]]\ncheck='x'\nreason='r'\nby='y'\nuntil=2027-01-01\nwho='z'\n", "unknown field who"),
        ("[[waivers]]\ncheck='x'\n", "something else than"),
        ("waiver = 3\n", "something else than"),
        ("[[waiver\n", "is not TOML"),
    ],
)
def test_what_is_no_waiver(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(content)
    with pytest.raises(GoldsmithError, match=message) as caught:
        read_waivers(path)
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(GoldsmithError, match="is not there"):
        read_waivers(tmp_path / "none.toml")


def test_the_last_day_counts_and_the_next_does_not() -> None:
    waiver = Waiver("c", "r", "b", "2026-06-01")
    assert Waivers([waiver], DAY).cover("c", "t")
    late = Waivers([waiver], DAY + datetime.timedelta(1))
    assert not late.cover("c", "t")
    assert late.late("c", "t") == "; the waiver by b expired on 2026-06-01"
    assert late.notes() == ["waiver of c by b expired on 2026-06-01: it does not count"]


def test_a_waiver_of_one_table_covers_no_other() -> None:
    desk = Waivers([Waiver("c", "r", "b", "2026-06-01", "t")], DAY)
    assert not desk.cover("c", "u")
    assert not desk.cover("d", "t")
    assert desk.notes() == ["waiver of c by b covers nothing: take it out"]
    assert desk.cover("c", "t")
    assert desk.notes() == []
