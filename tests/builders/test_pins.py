"""`sources.toml`: what is accepted, and a line that names the fault for what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.mirrors import mirror_path
from builders.pins import read_sources_toml
from schemas import GoldsmithError

SHA = "0" * 64
PINNED = {
    "url": '"https://example.org/a/b.csv"',
    "sha256": f'"{SHA}"',
    "size": "3",
    "licence": '"MIT"',
    "redistribute": "true",
    "accessed": '"2026-11-30"',
    "citation": '"A. Author"',
}


def read(tmp_path, text: str):
    path = tmp_path / "sources.toml"
    path.write_text(text)
    return read_sources_toml(path)


def entry(**changes: str | None) -> str:
    keys = {**PINNED, **changes}
    return "[a]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items() if value is not None)


def test_a_pinned_and_a_bundled_source(tmp_path):
    text = entry(accessed="2026-11-30") + '\n[b]\npath = "sample/b.csv"\nlicence = "CC0-1.0"\n'
    found = read(tmp_path, text)
    assert list(found) == ["a", "b"]
    assert (found["a"].size, found["a"].accessed, found["a"].redistribute) == (3, "2026-11-30", True)
    assert (found["b"].path, found["b"].sha256, found["b"].redistribute) == ("sample/b.csv", None, True)


def test_a_source_that_is_fetched_by_hand_needs_no_address(tmp_path):
    found = read(tmp_path, entry(url=None, sha256=None, size=None, manual='"Ask them."', secret="true"))
    assert (found["a"].manual, found["a"].secret) == ("Ask them.", True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (entry(colour='"red"'), r"\[sources.toml > a > colour\] is unknown: the keys are accessed, citation"),
        (entry(licence=None), r"\[sources.toml > a > licence\] is missing"),
        (entry(licence='" "'), r"> licence\] is missing"),
        (entry(sha256='"abc"'), r"> sha256\] is 'abc': it must be 64 lower-case hexadecimal digits"),
        (entry(sha256=f'"{"A" * 64}"'), r"> sha256\] is 'AAAA"),
        (entry(sha256=None), r"> sha256\] is missing"),
        (entry(size=None), r"> size\] is missing"),
        (entry(size="true"), r"> size\] is True: it must be of type int"),
        (entry(size="-1"), r"> size\] is -1"),
        (entry(redistribute='"no"'), r"> redistribute\] is 'no': it must be of type bool"),
        (entry(redistribute=None), r"> redistribute\] is missing"),
        (entry(citation=None), r"> citation\] is missing"),
        (entry(accessed='"yesterday"'), r"> accessed\] is 'yesterday': write the date as"),
        (entry(url='"ftp://example.org/a"'), r"> url\] 'ftp://example.org/a' is no address"),
        (entry(url='"file:///etc/passwd"'), "is no address of a file"),
        (entry(url='"https://example.org"'), "leads astray"),
        (entry(url='"https://example.org/../../etc/passwd"'), "leads astray"),
        (entry(url='"https://example.org/%2e%2e/secret"'), "leads astray"),
        (entry(url='"https://../a"'), "leads astray"),
        (entry(path='"a.csv"'), "has a path and a url"),
        ('[a]\npath = "../a.csv"\nlicence = "MIT"', "leads out of the folder"),
        ('[a]\npath = "x/../../a.csv"\nlicence = "MIT"', "leads out of the folder"),
        ('[a]\npath = "/etc/passwd"\nlicence = "MIT"', "leads out of the folder"),
        ('["../a"]\npath = "a.csv"\nlicence = "MIT"', "is no name for a source"),
        ('a = "b"', "is no table"),
        ("[a", "is no TOML"),
        ("[a]\n[a]", "is no TOML"),
    ],
)
def test_a_fault_is_named(tmp_path, text, message):
    with pytest.raises(GoldsmithError, match=message) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(GoldsmithError, match=r"sources.toml\] is absent"):
        read_sources_toml(tmp_path / "sources.toml")


def test_a_byte_order_mark_does_not_matter(tmp_path):
    (tmp_path / "sources.toml").write_bytes(b"\xef\xbb\xbf" + entry().encode())
    assert list(read_sources_toml(tmp_path / "sources.toml")) == ["a"]


def test_places_in_a_mirror():
    assert mirror_path("a", "https://example.org/x/y%20z.csv") == "example.org/x/y z.csv"
    assert mirror_path("a", "https://example.org:8443/x?format=csv&u=a/b") == "example.org:8443/x?format=csv&u=a%2Fb"


@given(st.text(max_size=40))
def test_no_address_leads_out_of_a_mirror(path):
    try:
        place = mirror_path("a", f"https://example.org/{path}")
    except (GoldsmithError, ValueError):
        return
    assert place.startswith("example.org/")
    assert not {"", ".", ".."} & set(place.split("/"))
