"""An `Alike` of each kind: planted copies are found, their clean twins are not, whatever the order of the rows."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from near_rows import code, drawing, encoded, pixels, protein, sound, text, with_errors
from quality_folders import failing, results

from quality.near.rows import Other
from quality.run import check
from schemas import Alike, CheckSet, Column, Dataset, Float, GoldsmithError, Image, Int, List, Struct, Table, Text

LINE = Struct((("x", List(Float(32))), ("y", List(Float(32)))))
TYPES = {
    "text": Text(),
    "code": Text(),
    "protein": Text(),
    "image": Image(),
    "audio": List(Int(32)),
    "strokes": List(LINE),
}


def dataset(kind: str) -> Dataset:
    columns = (
        Column("key", Text(), "Key."),
        Column("pair", Text(), "What belongs together.", nullable=True),
        Column("value", TYPES[kind], "What is compared.", nullable=True),
    )
    return Dataset("things", "Things", "Things.", (Table("rows", "Rows.", columns, ("key",), ("train", "test")),))


def row(key: str, value, pair: str | None = None) -> dict:
    return {"key": key, "pair": pair, "value": {"bytes": value, "path": None} if isinstance(value, bytes) else value}


def alike(kind: str, **options) -> Alike:
    return Alike("copies", "No row is nearly another.", "rows", "value", kind, **options)  # pyright: ignore


def run(folder, kind, train, test, *, against=(), **options):
    made = folder(dataset(kind), {"rows": {"train": train, "test": test}})
    return made, check(made, CheckSet((alike(kind, **options),)), groups=("own",), against=against)


def renamed(program: str) -> str:
    return re.sub(r"\b(count|total|left|right|item|work)\b", lambda found: f"my_{found[0][::-1]}", program)


def replaced(value: str) -> str:
    return " ".join("other" if place % 30 == 7 else word for place, word in enumerate(value.split()))


def cropped(seed: int) -> bytes:
    return encoded(pixels(seed)[12:140, 9:190], quality=60)


def moved(lines: list[dict]) -> list[dict]:
    return [{"x": [0.5 * x + 300 for x in line["x"]][::-1], "y": [0.5 * y for y in line["y"]][::-1]} for line in lines][
        ::-1
    ]


MAKERS = {
    "text": (text, lambda seed: replaced(text(seed).upper())),
    "code": (code, lambda seed: "// mine\n" + renamed(code(seed)).replace(";\n", ";  /* so */\n")),
    "protein": (protein, lambda seed: "M" + protein(seed)[:60] + "WW" + protein(seed)[63:]),
    "image": (lambda seed: encoded(pixels(seed), "PNG"), cropped),
    "audio": (sound, lambda seed: with_errors(sound(seed), 0.12)[5:]),
    "strokes": (drawing, lambda seed: moved(drawing(seed))),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_copy_is_found_and_its_clean_twin_is_not(folder, kind):
    make, change = MAKERS[kind]
    train = [row(f"a{seed:02}", make(seed)) for seed in range(30)]
    clean = [row(f"b{seed:02}", make(100 + seed)) for seed in range(5)]
    made, report = run(folder, kind, train, clean)
    assert failing(made) == {}
    assert report.passed
    copy = row("copy", change(7))
    made, report = run(folder, kind, [*train, row("again", change(3))], [*clean, copy])
    assert failing(made) == {"copies": ["again", "copy"], "copies.leakage": ["copy"]}
    said = dict(results(report)["copies.leakage"].examples)["copy"]
    assert re.search(r"in split test, like a07 in split train \(\d+ %\)$", said)
    assert not report.passed  # leakage blocks
    compared = {value.subject: value.value for value in results(report)["copies.compared"].figures}
    assert compared == {"compared": 37}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_order_of_rows_changes_nothing(folder, kind):
    make, change = MAKERS[kind]
    rows = [row(f"a{seed:02}", make(seed)) for seed in range(20)] + [
        row(f"c{seed:02}", change(seed)) for seed in range(6)
    ]
    found = []
    for seed in (0, 1):
        order = np.random.default_rng(seed).permutation(len(rows))
        made, _ = run(folder, kind, [rows[place] for place in order], [])
        found.append(pq.read_table(made.findings).to_pylist())
    assert found[0] == found[1]
    assert [finding["id"] for finding in found[0]] == [f"c{seed:02}" for seed in range(6)]


@pytest.mark.parametrize("kind", MAKERS)
def test_rows_that_cannot_be_compared_are_counted_and_never_fail(folder, kind):
    make, _ = MAKERS[kind]
    bad = {
        "text": [None, "", "ok", "\x00\ufffd\u200b " * 30],
        "code": [None, "", "}" * 5, '"""' + "x" * 50, "/* never closed"],
        "protein": [None, "", "MK", "☃" * 5],
        "image": [None, b"no picture", encoded(pixels(1))[:300], encoded(np.full((50, 50, 3), 200, np.uint8))],
        "audio": [None, [], [1, 2, 3], [0] * 11],
        "strokes": [
            None,
            [],
            [{"x": [1.0], "y": [1.0]}],
            [{"x": [1.0, 2.0], "y": [1.0]}],
            [{"x": [float("nan")] * 2, "y": [0.0, 1.0]}],
        ],
    }[kind]
    rows = [row(f"bad{place}", value) for place, value in enumerate(bad)]
    made, report = run(folder, kind, [*rows, row("good", make(1))], [])
    assert failing(made) == {}
    compared = {value.subject: value.value for value in results(report)["copies.compared"].figures}
    assert compared.pop("compared") == 1
    assert sum(compared.values()) == len(bad)


def test_rows_with_the_same_value_of_apart_are_meant_to_be_alike(folder):
    rows = [row("a", text(1), "p"), row("b", replaced(text(1)), "p"), row("c", text(2)), row("d", replaced(text(2)))]
    made, _ = run(folder, "text", rows, [], apart="pair")
    assert failing(made) == {"copies": ["d"]}


def test_boilerplate_hides_no_copy(folder):
    shared = text(1, 400)
    rows = [row(f"a{seed:04}", shared + " " + text(seed + 10, 60)) for seed in range(300)]
    twin = row("b", shared + " " + replaced(text(10 + 123, 60)))
    made, report = run(folder, "text", [*rows, twin], [], least=0.93)
    assert failing(made) == {"copies": ["b"]}
    assert "like a0123" in results(report)["copies"].examples[0][1]


def test_the_data_can_say_how_alike_rows_must_be(folder):
    rows = [row("a", text(1)), row("b", replaced(text(1)))]
    assert failing(run(folder, "text", rows, [], least="(SELECT 0.5)")[0]) == {"copies": ["b"]}
    assert failing(run(folder, "text", rows, [], least="(SELECT 0.999)")[0]) == {}
    for wrong in ("0", "1.01", "NULL::DOUBLE"):
        with pytest.raises(GoldsmithError, match=r"\[things > copies\] rows are to be alike by .*: give more than 0"):
            run(folder, "text", rows, [], least=wrong)


def test_rows_of_an_evaluation_set_are_found(folder, tmp_path):
    rows = [row(f"a{seed}", text(seed)) for seed in range(5)]
    file = tmp_path / "exam.parquet"
    pq.write_table(pa.table({"n": [1, 2], "question": [text(77), replaced(text(3))]}), file)
    made, report = run(folder, "text", rows, [], against=[Other.of_file(str(file))])
    assert failing(made) == {"copies.in.exam": ["a3"]}
    assert report.passed
    assert "like row 2 of exam" in results(report)["copies.in.exam"].examples[0][1]
    lines = tmp_path / "exam.jsonl"
    lines.write_text(f'{{"q": "{text(3)}", "a": "x"}}\n')
    made, report = run(folder, "text", rows, [], against=[Other.of_file(f"{lines}:q")], never_in=("exam", "bar"))
    assert not report.passed
    assert failing(made) == {"copies.in.exam:q": ["a3"]}
    assert results(report)["copies.in.bar"].status == "not_applicable"


def test_a_file_that_is_called_like_a_pattern_is_itself(folder, tmp_path):
    rows = [row(f"a{seed}", text(seed)) for seed in range(5)]
    for name, seed in (("exam[1]", 3), ("exam1", 2)):
        (tmp_path / f"{name}.csv").write_text(f"q\n{text(seed)}\n")
        pq.write_table(pa.table({"q": [text(seed)]}), tmp_path / f"{name}.parquet")
    for ending in ("csv", "parquet"):
        made, _ = run(folder, "text", rows, [], against=[Other.of_file(str(tmp_path / f"exam[1].{ending}"))])
        assert failing(made) == {"copies.in.exam[1]": ["a3"]}


def test_two_columns_of_an_evaluation_set_are_checked_apart(folder, tmp_path):
    rows = [row(f"a{seed}", text(seed)) for seed in range(5)]
    file = tmp_path / "exam.parquet"
    pq.write_table(pa.table({"q": [text(77), replaced(text(3))], "a": [text(1), text(78)]}), file)
    against = [Other.of_file(f"{file}:{column}") for column in "qa"]
    made, report = run(folder, "text", rows, [], against=against, never_in=("exam",))
    assert failing(made) == {"copies.in.exam:q": ["a3"], "copies.in.exam:a": ["a1"]}
    assert "like row 1 of exam:a" in results(report)["copies.in.exam:a"].examples[0][1]
    assert {results(report)[f"copies.in.exam:{column}"].severity for column in "qa"} == {"block"}
    assert "copies.in.exam" not in results(report)


def test_ids_of_another_dataset_are_named_as_they_are_written(folder):
    theirs = [row("0000", text(1)), row("00c13968", text(2))]
    other = folder(dataset("text"), {"rows": {"train": theirs, "test": []}})
    given = Other.of_dataset(other, CheckSet((alike("text"),)))
    _, report = run(folder, "text", [row("a", text(1)), row("b", text(2))], [], against=[given])
    said = [message.split("] ")[1] for _, message in results(report)["copies.in.things"].examples]
    assert said == ["like row 0000 of things (100 %)", "like row 00c13968 of things (100 %)"]


def test_rows_of_another_dataset_are_found(folder):
    other = folder(dataset("image"), {"rows": {"train": [row("x", encoded(pixels(4)))], "test": []}})
    given = Other.of_dataset(other, CheckSet((alike("image"),)))
    rows = [row(f"a{seed}", cropped(seed)) for seed in range(6)]
    made, report = run(folder, "image", rows, [], against=[given])
    assert failing(made) == {"copies.in.things": ["a4"]}
    assert "like row x of things" in results(report)["copies.in.things"].examples[0][1]


def test_a_name_to_compare_with_is_given_once(folder, tmp_path):
    files = [tmp_path / "exam.parquet", tmp_path / "more" / "exam.parquet"]
    files[1].parent.mkdir()
    for file in files:
        pq.write_table(pa.table({"q": [text(1)], "a": [text(2)]}), file)
    for second in (f"{files[0]}:q", f"{files[0]}", f"{files[1]}:q", f"{files[1]}:a"):
        against = [Other.of_file(f"{files[0]}:q"), Other.of_file(second)]
        with pytest.raises(GoldsmithError, match=r"^\[--against exam\] is given twice: give it once, .* its file$"):
            run(folder, "text", [row("a", text(1))], [], against=against)


def test_what_cannot_be_compared_is_said_in_one_line(folder, tmp_path):
    rows = [row("a", text(1))]
    empty = tmp_path / "two.csv"
    empty.write_text("q,a\nx,y\n")
    nothing = tmp_path / "notes.txt"
    nothing.write_text("x")
    with pytest.raises(GoldsmithError, match="2 columns of text: name one"):
        run(folder, "text", rows, [], against=[Other.of_file(str(empty))])
    with pytest.raises(GoldsmithError, match="has no column z: it has q, a"):
        run(folder, "text", rows, [], against=[Other.of_file(f"{empty}:z")])
    with pytest.raises(GoldsmithError, match="is not there"):
        Other.of_file(str(tmp_path / "absent.parquet"))
    with pytest.raises(GoldsmithError, match="is none of"):
        Other.of_file(str(nothing))
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 no")
    with pytest.raises(GoldsmithError, match="cannot be read"):
        run(folder, "text", rows, [], against=[Other.of_file(str(broken))])
    other = folder(dataset("image"), {"rows": {"train": [], "test": []}})
    with pytest.raises(GoldsmithError, match=r"holds none of what this dataset compares \(text\)"):
        run(folder, "text", rows, [], against=[Other.of_dataset(other, CheckSet((alike("image"),)))])
    pictures = {"rows": {"train": [row("a", encoded(pixels(1)))], "test": []}}
    with pytest.raises(GoldsmithError, match=r"holds none of what this dataset compares \(image\)"):
        check(folder(dataset("image"), pictures), CheckSet((alike("image"),)), against=[Other.of_file(f"{empty}:q")])
    with pytest.raises(GoldsmithError, match="declares no Alike"):
        Other.of_dataset(other, CheckSet())
    made = folder(dataset("text"), {"rows": {"train": rows, "test": []}})
    with pytest.raises(GoldsmithError, match="holds no image"):
        check(made, CheckSet((alike("image"),)), groups=("own",))
