"""Large JSON files, an item at a time: the values and refusals of `json.loads`, in little memory."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("rlemasklib", reason="needs goldsmith[vigor]")

from builders.vigor import documents
from builders.vigor.documents import Groups, JsonList, JsonObject, open_json
from builders.vigor.readers import READERS
from schemas import GoldsmithError

SAMPLE = Path(documents.__file__).parent / "sample"
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**30, 10**40)
    | st.floats()
    | st.text()
    | st.sampled_from(["\ud800", "é", "漢字", "\U0001f415", "\\", '"', "]", ", {"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


def whole(content: Any) -> Any:
    """What `json.loads` would have made of it."""
    if isinstance(content, JsonObject):
        return {key: whole(content[key]) for key in content}
    return list(content) if isinstance(content, JsonList) else content


def outcome(path: Path) -> tuple[str, str]:
    """What `open_json` and `json.loads` make of a file, as texts (NaN equals itself); `refused` where they do not."""
    try:
        found = repr(whole(open_json(path)))
    except GoldsmithError as error:
        found = (
            "refused" if re.fullmatch(rf"\[{path.name}\] is no JSON \(.*\): fetch it again, whole", str(error)) else ""
        )
    try:
        return found, repr(json.loads(path.read_bytes()))
    except ValueError:
        return found, "refused"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents") / "a.json"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=VALUES, chunk=st.integers(1, 9), ascii_=st.booleans(), indent=st.none() | st.integers(0, 2))
def test_any_json_is_what_json_loads_makes_of_it(file, monkeypatch, content, chunk, ascii_, indent) -> None:
    monkeypatch.setattr(documents, "_CHUNK", chunk)
    text = json.dumps(content, ensure_ascii=ascii_, indent=indent)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    found, expected = outcome(file)
    assert found == expected != "refused"


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), content=VALUES, chunk=st.integers(1, 9))
def test_a_broken_file_is_refused_where_json_loads_refuses_it(file, monkeypatch, data, content, chunk) -> None:
    monkeypatch.setattr(documents, "_CHUNK", chunk)
    raw = json.dumps({"images": [content], "a": content}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    place = data.draw(st.integers(4, len(raw) - 1))  # The first four bytes tell the encoding.
    broken = data.draw(st.sampled_from([b"", b",", b"]", b"}", b"{", b'"', b"1", b".", b"-", b"\\", b"\xff", b" "]))
    file.write_bytes(raw[:place] + broken + raw[place + data.draw(st.integers(0, len(raw))) :])
    found, expected = outcome(file)
    assert found == expected


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b" ", b"[", b"{", b"[1", b"[1,", b"[1,]", b"[1 2]", b'{"a"', b'{"a":', b'{"a":1', b'{"a":1,}', b"{1:2}"),
        *(
            b"[] []",
            b"[1]]",
            b"{}}",
            b"tru",
            b"-",
            b"[12.]",
            b"[1e]",
            b'["a',
            b'["\\u12"]',
            b"['a']",
            b"[01]",
            b"[\x01]",
        ),
        *(
            b'{"a": [1], "b": 2, "a": [NaN, -Infinity, 1e999, -0.0]}',
            b"\xef\xbb\xbf[1]",
            b"[12.5e3 , 7]\n",
            b"7",
            b'"x"',
        ),
        *(b'["\xed\xa0\x80"]', b'["\xff"]', b'["\xc3"]', b"[" * 100_000, b"[" + b"9" * 5000 + b"]"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
def test_corners(file, monkeypatch, raw, chunk) -> None:
    monkeypatch.setattr(documents, "_CHUNK", chunk)
    file.write_bytes(raw)
    if raw.startswith(b"[["):
        with pytest.raises(GoldsmithError, match="is no JSON"):
            open_json(file)
    else:
        found, expected = outcome(file)
        assert found == expected


def test_an_error_says_what_and_where(file) -> None:
    file.write_text('{"images": [{"é": 1}, {"id": 2, "width" 7}]}', encoding="utf-8")
    with pytest.raises(
        GoldsmithError, match=r"^\[a.json\] is no JSON \(Expecting ':' delimiter, at byte 41\): fetch it"
    ):
        open_json(file)
    file.write_bytes("[1]".encode("utf-16"))
    with pytest.raises(GoldsmithError, match="it is UTF-16, JSON files are UTF-8"):
        open_json(file)


def test_an_item_without_an_end_does_not_fill_the_memory(file, monkeypatch) -> None:
    monkeypatch.setattr(documents, "_LARGEST", 1 << 20)
    monkeypatch.setattr(documents, "_CHUNK", 1 << 16)
    file.write_bytes(b'[1, "' + b"x" * (40 << 20) + b'"]')
    tracemalloc.start()
    with pytest.raises(GoldsmithError, match=r"an item is longer than 1 MB, or Unterminated string .* at byte 4\)"):
        open_json(file)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_items_are_found_again_by_index_and_by_what_they_speak_of(file) -> None:
    file.write_text(json.dumps([{"of": of, "n": n, "ü": "ü" * n} for n, of in enumerate("abacab")], ensure_ascii=False))
    items = open_json(file)
    assert [each["n"] for each in items[1:4]] == [1, 2, 3]
    assert (items[0]["n"], items[-1]["n"], len(items)) == (0, 5, 6)
    with pytest.raises(IndexError):
        items[6]
    groups = Groups(items, lambda item: item["of"] if item["of"] != "c" else None)
    assert list(groups.keys()) == ["a", "b"]
    assert [each["n"] for each in groups.of("a")] == [0, 2, 4]
    assert (groups.count("b"), groups.count("c"), list(groups.of("c"))) == (2, 0, [])


def test_a_file_that_changes_under_the_reader_is_said(file) -> None:
    file.write_text('[{"id": 1}, {"id": 2}]')
    items = open_json(file)
    file.write_text("[1]")
    with pytest.raises(GoldsmithError, match=r"^\[a.json\] is no longer what it was"):
        list(items)


@pytest.mark.parametrize("name", [name for name in READERS if name not in ("stills", "davis", "ade20k")])
def test_readers_say_the_same_however_little_is_read_at_once(monkeypatch, name) -> None:
    def said() -> list[str]:
        reader = READERS[name](SAMPLE / name)
        pictures = reader.pictures()
        claims = [(reader.records(picture), *reader.claims(picture)) for picture in pictures]
        return [repr(each) for each in (pictures, claims, list(reader.concepts()), reader.strays())]

    at_once = said()
    monkeypatch.setattr(documents, "_CHUNK", 13)
    assert said() == at_once


def test_annotations_are_not_kept_in_memory(tmp_path) -> None:
    """A file of 20 MB, 100 MB as objects of Python; a reader keeps its pictures and where their records are."""
    polygon = [float(number) + 0.5 for number in range(500)]
    annotation = {"category_id": 1, "segmentation": [polygon], "bbox": [0, 0, 9, 9], "iscrowd": 0}
    content = {
        "annotations": [{"id": n, "image_id": n % 100, **annotation} for n in range(6000)],
        "images": [{"id": n, "file_name": f"{n}.jpg", "width": 640, "height": 640, "license": 4} for n in range(100)],
        "categories": [{"id": 1, "name": "dog"}],
    }
    path = tmp_path / "instances.json"
    path.write_text(json.dumps(content))
    del content
    assert path.stat().st_size > 20_000_000
    tracemalloc.start()
    reader = READERS["coco"](tmp_path)
    assert sum(reader.records(picture) for picture in reader.pictures()) == 6000
    assert tracemalloc.get_traced_memory()[1] < 12 << 20
    tracemalloc.stop()
