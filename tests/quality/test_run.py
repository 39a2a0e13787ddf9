"""The run as a whole: what it writes, that it is the same every time, and names that need quotes."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from quality_folders import failing, results, write_folder

from quality.run import GROUPS, check
from schemas import Check, CheckSet, Column, Dataset, DatasetFolder, Float, GoldsmithError, Int, Table, Text
from schemas.folder import FINDING_SCHEMA

TABLE = Table(
    "items",
    "Items.",
    (
        Column("id", Int(), "Key."),
        Column("text", Text(), "Text.", maximum=5),
        Column("score", Float(), "S.", maximum=1),
    ),
    key=("id",),
    splits=("train", "test"),
)
DATASET = Dataset("things", "Things", "Things.", (TABLE,))


def rows(count: int) -> dict:
    made = [{"id": n, "text": f"text {n % 50}", "score": n / 100} for n in range(count)]
    return {"items": {"train": made[: count // 2], "test": made[count // 2 :]}}


def test_all_findings_are_kept_and_ten_are_shown(folder):
    made = folder(DATASET, rows(1000))
    report = check(made, CheckSet((Check("own", "Own", "info", "items", "SELECT id FROM items"),)))
    found = failing(made)
    assert len(found["items.text.maximum"]) == results(report)["items.text.maximum"].failures == 1000
    assert len(found["items.score.maximum"]) == 899
    assert len(found["own"]) == 1000
    assert len(results(report)["own"].examples) == 10
    table = pq.read_table(made.findings)
    assert table.schema == FINDING_SCHEMA
    assert report.findings["rows"] == table.num_rows


def test_the_same_bytes_give_the_same_report(folder):
    made = folder(DATASET, rows(3000), shard_rows=100)
    seen = set()
    for threads in (1, 2, 2):
        check(made, CheckSet((Check("own", "Own", "info", "items", "SELECT id FROM items"),)), threads=threads)
        seen.add((made.findings.read_bytes(), made.report_json.read_bytes()))
    assert len(seen) == 1


def test_report_json_has_no_path_of_this_machine(folder, tmp_path):
    made = folder(DATASET, rows(10))
    check(made, CheckSet())
    text = made.report_json.read_text()
    assert str(tmp_path) not in text
    form = json.loads(text)
    assert (form["format"], form["dataset"], form["passed"], form["groups"]) == (1, "things", False, list(GROUPS))
    assert {"name", "meaning", "severity", "table", "kind", "status", "failures", "sql"} <= set(form["checks"][0])


def test_a_run_leaves_nothing_but_its_files(folder):
    made = folder(DATASET, rows(10))
    made.report_html.parent.mkdir()
    made.report_html.write_text("old")
    check(made, CheckSet())
    assert sorted(path.name for path in made.findings.parent.iterdir()) == ["findings.parquet", "report.json"]
    assert not [path for path in made.path.iterdir() if path.name.startswith(".")]


NAMES = ['quo"te', "it's", "ünï > côdé", "select", "a.b", "{x}", "%s"]


def test_names_that_need_quotes(folder):
    columns = (Column("key/1", Text(), "Key."), *(Column(name, Text(), "Odd.", maximum=3) for name in NAMES))
    table = Table("order", "Order.", columns, key=("key/1", NAMES[0]), splits=("train", "test"))
    dataset = Dataset("odd", "Odd", "Odd.", (table,))
    good = dict.fromkeys(NAMES, "ok")
    rows = [{**good, "key/1": "a/b"}, {**dict.fromkeys(NAMES, "it's \" too long"), "key/1": "<script>"}]
    made = folder(dataset, {"order": {"train": rows, "test": [{**good, "key/1": "c", 'quo"te': "z", "it's": "y"}]}})
    previous = write_folder(made.path.parent, dataset, {"order": {"train": rows}})
    report = check(made, CheckSet(), previous=previous)
    ids = {f"order.{name}.maximum": ["<script>/it's \" too long"] for name in NAMES}
    assert failing(made) == {**ids, "order.drift_rows": ["rows"]}
    assert results(report)["order.key_unique"].status == "passed"


@pytest.mark.parametrize("content", [{}, {"train": []}, {"train": [], "test": []}], ids=["no file", "no row", "two"])
def test_tables_without_rows(folder, content):
    made = folder(DATASET, {"items": content})
    report = check(made, CheckSet((Check("own", "Own", "block", "items", "SELECT id FROM items"),)))
    assert failing(made) == {"items.rows": ["items"]}
    assert not report.passed
    assert report.profile["items"]["rows"] == 0


def test_a_table_of_one_column(folder):
    table = Table("t", "T.", (Column("id", Text(), "Key."),), key=("id",), splits=("train", "test"))
    made = folder(Dataset("d", "D", "D.", (table,)), {"t": {"train": [{"id": "a"}], "test": [{"id": "b"}]}})
    assert check(made, CheckSet()).passed
    assert failing(made) == {}


def test_a_folder_that_is_no_dataset(tmp_path):
    with pytest.raises(GoldsmithError, match="is no finished dataset"):
        check(DatasetFolder(tmp_path), CheckSet())


@pytest.mark.parametrize("limit", ["much", "-1", "2", ""])
def test_what_is_no_amount_of_memory(folder, limit):
    made = folder(DATASET, rows(1))
    with pytest.raises(GoldsmithError) as raised:
        check(made, CheckSet(), memory_limit=limit)
    assert str(raised.value) == f"[check > memory] {limit} is no amount of memory: give it as in 2GB"


def test_memory_that_is_short_is_no_fault_of_the_files_or_the_checks(folder):
    made = folder(DATASET, rows(1000))
    own = Check("own", "Own", "info", "items", "SELECT DISTINCT repeat(text, 1000) AS id FROM items, range(1000)")
    for limit, checks in (("0GB", CheckSet()), ("1MB", CheckSet()), ("10MB", CheckSet((own,)))):
        with pytest.raises(GoldsmithError) as raised:
            check(made, checks, memory_limit=limit)
        said = f"takes more memory than {limit}: give more with GOLDSMITH_MEMORY, or --memory where the command has it"
        assert str(raised.value) == f"[{made.path}] {said}"


def test_names_of_the_checks_own_are_refused(folder):
    taken = Table("lineage", "L.", (Column("id", Text(), "Key."),), key=("id",))
    with pytest.raises(GoldsmithError, match="rename the table"):
        check(folder(Dataset("d", "D", "D.", (taken,)), {"lineage": {"train": []}}), CheckSet())
    column = Table("t", "T.", (Column("_split", Text(), "Key."),), key=("_split",))
    with pytest.raises(GoldsmithError, match="rename the column"):
        check(folder(Dataset("d", "D", "D.", (column,)), {"t": {"train": []}}), CheckSet())


def test_checking_imports_nothing_heavy():
    heavy = "{'pandas', 'datasets', 'plotly', 'jinja2', 'polars'}"
    code = f"import sys, quality.run; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
