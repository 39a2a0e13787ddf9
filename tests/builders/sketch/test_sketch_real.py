"""Real drawings: all of the shared ones are read, and SPG's orders equal a count made with other means."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("rlemasklib", reason="needs goldsmith[sketch]")

from made_sketch import Yielded, failed, folder, given, run

from builders.sketch.names import part_name
from builders.sketch.orders import ENOUGH

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def spg(shared_file: Callable[[str], Path]) -> tuple[Path, Yielded]:
    """The folder of SPG's subset, and what is made of it."""
    path = shared_file("real/sketch/spg_subset")
    return path, given(spg=path)


def turns(path: Path) -> dict[str, dict[str, list[str]]]:
    """Category -> key -> parts in the order of their first strokes, read with json alone."""
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for file in sorted(path.glob("*_raw.ndjson")):
        category = file.name.removesuffix("_raw.ndjson")
        names = [part_name(line)[0] for line in (path / f"{category}.txt").read_text().splitlines() if line.strip()]
        for line in file.read_text().splitlines():
            record = json.loads(line)
            order: list[str] = []
            for stroke in record["drawing"]:
                if names[stroke[2][0]] not in order:
                    order.append(names[stroke[2][0]])
            found[category.replace("_", " ")][record["key_id"]] = order
    return found


def test_every_drawing_is_there_and_the_six_are_mended(spg: tuple[Path, Yielded]) -> None:
    path, made = spg
    records = sum(len(file.read_text().splitlines()) for file in path.glob("*.ndjson"))
    assert made.read["spg", "sketches"] == made.became["spg", "sketches"] == records == 1046
    assert made.rejects == []
    defects = [json.loads(line) for line in (path / "defect_4row_strokes.ndjson").read_text().splitlines()]
    assert len(defects) == 6
    rows = {row["key"]: row for row in made.tables["sketches"]}
    for record in defects:
        row = rows[record["key_id"]]
        assert "label_row_twice" in row["repairs"]
        assert [stroke["x"] for stroke in row["strokes"]] == [stroke[0] for stroke in record["drawing"]]
        assert row["n_parts"] == len({stroke[2][0] for stroke in record["drawing"]})
    merged = {row["key"] for row in rows.values() if not row["category"].startswith("defect")}
    assert {"5867655649034240", "4776039727235072"} <= merged  # Two of them stand in named files, too.


def test_orders_equal_a_count_by_hand(spg: tuple[Path, Yielded]) -> None:
    path, made = spg
    by_hand = turns(path)
    summaries = {row["category"]: row for row in made.tables["order_summaries"]}
    assert set(summaries) == set(by_hand)
    for category, drawings in by_hand.items():
        first: Counter[tuple[str, str]] = Counter()
        for order in drawings.values():
            first.update(itertools.combinations(order, 2))
        parts = sorted({part for order in drawings.values() for part in order})
        cost, best = min(
            (sum(first[later, earlier] for earlier, later in itertools.combinations(order, 2)), order)
            for order in itertools.permutations(parts)
        )
        summary = summaries[category]
        assert summary["kemeny"] == list(best)
        assert summary["agreement"] == pytest.approx(1 - cost / first.total())
        weighted, weight = 0.0, 0
        for row in (row for row in made.tables["orders"] if row["category"] == category):
            a, b = row["part_a"], row["part_b"]
            n = first[a, b] + first[b, a]
            assert (row["n"], row["n_a_first"]) == (n, first[a, b])
            alone = sum(a in order and b not in order for order in drawings.values())
            assert row["only_a"] == alone
            assert row["a_first"] == (best.index(a) < best.index(b))
            if n >= ENOUGH:
                p = first[a, b] / n
                weighted += n * -sum(q * math.log2(q) for q in (p, 1 - p) if q)
                weight += n
        assert summary["entropy"] == pytest.approx(weighted / weight)


def test_people_agree_less_where_orders_vary(spg: tuple[Path, Yielded], tmp_path: Path) -> None:
    _, made = spg
    results = run(folder(tmp_path, made.tables))
    (figure,) = results["entropy_against_human_tau"].figures
    assert figure.value == pytest.approx(-0.85, abs=0.03)  # 19 categories of 800 drawings: -.94
    assert failed(results) == {"parts_without_names": sum(
        row["part"].startswith("part ") for row in made.tables["parts"]
    )}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "name", "records"),
    [
        ("quickdraw", "quickdraw_ndjson", 329),
        ("quickdraw_simplified", "quickdraw_simplified_25", 150),
        ("friss", "friss_val", 145),
    ],
)
def test_other_sets_are_read_whole(source: str, name: str, records: int, shared_file: Callable[[str], Path]) -> None:
    made = given(**{source: shared_file(f"real/sketch/{name}")})
    assert made.rejects == []
    assert made.read[source, "sketches"] == len(made.tables["sketches"]) == records
    if source == "quickdraw":
        seconds = sorted(row["duration_ms"] / 1000 for row in made.tables["sketches"])
        assert seconds[len(seconds) // 2] == pytest.approx(7.3, abs=0.1)
        assert seconds[-1] == pytest.approx(19.7, abs=0.1)
        assert all(row["recognized"] is not None for row in made.tables["sketches"])
    if source == "friss":
        assert {row["kind"] for row in made.tables["sketches"]} == {"scene"}
        assert all(row["n_parts"] for row in made.tables["sketches"])


def test_omniglot_is_read_from_its_zip(shared_file: Callable[[str], Path]) -> None:
    from builders.sketch.forms import Entry
    from builders.sketch.readers import READERS

    reader = READERS["omniglot"](shared_file("real/sketch/omniglot/strokes_background_small1.zip"))
    entries = [entry for entry in reader.entries() if isinstance(entry, Entry)]
    assert len(entries) == 2720
    assert Counter(Counter(entry.category for entry in entries).values()) == {20: 136}
    assert len({entry.drawer for entry in entries}) == 100
    drawings = [reader.drawing(entry) for entry in entries[::10]]
    assert all(drawing.strokes for drawing in drawings)
