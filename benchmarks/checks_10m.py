"""Twelve kinds of checks over 10,000,000 rows x 8 columns: CPU, time and memory of several ways.

    python benchmarks/checks_10m.py CACHE [--rounds 5] [--rows 10000000]

* `floor`: DuckDB decodes and hashes every value of every column, and checks nothing;
* `goldsmith`: the checks as a schema and a CheckSet, through `quality.run.check`, findings and report written to disk,
  with 400 MB for DuckDB; `roomy` is the same with 1 GB, where the keys of suspected rows fit beside their hashes;
* `pandera`: the same checks in pandera[polars];
* `gx`: the same in Great Expectations over pandas (its SQL form does not run all of them on DuckDB), once: it is slow.

Each runs in a fresh process, in turns, so that a busy machine slows all of them. CPU is user + system time of the whole
process with its imports. The groups beyond the twelve kinds (file hashes, whole-row duplicates, profile) are not run;
`--full` adds a line with them, without lineage and drift, for which these data have no files. All ways must find the
planted faults, or the benchmark fails.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

GROUPS = 50_000
SHARDS = 4
PLANTED = {
    "null": 500,
    "unique": 300,
    "range": 400,
    "regex": 600,
    "allowed": 200,
    "foreign_key": 350,
    "duplicates": 450,
    "length": 250,
    "conditional_null": 150,
}
"""Rows that fail, by kind; the row count, mean and near-constant checks measure a value instead."""

COLUMNS = ("id", "code", "score", "group_id", "split", "text", "flag", "label")
CODE = "[A-Z]{2}[0-9]{4}"


def schema():
    """The eight columns and the table that `group_id` points to."""
    from schemas import Column, Dataset, Float, Int, Table, Text

    rows = Table(
        "rows",
        "Rows.",
        (
            Column("id", Int(), "Key."),
            Column("code", Text(), "Code.", pattern=CODE),
            Column("score", Float(), "Score.", minimum=0, maximum=1),
            Column("group_id", Int(32), "Group.", references="groups.group_id"),
            Column("split", Text(), "Split.", allowed=("train", "valid", "test")),
            Column("text", Text(), "Text.", minimum=1, maximum=60),
            Column("flag", Int(8), "Flag."),
            Column("label", Int(8), "Label.", nullable=True),
        ),
        key=("id",),
    )
    groups = Table("groups", "Groups.", (Column("group_id", Int(32), "Key."),), key=("group_id",))
    return Dataset("bench", "Benchmark", "Rows to check.", (rows, groups))


def check_set():
    """What the schema cannot say: five of the twelve kinds."""
    from schemas import Check, CheckSet, Figure, Unique

    share = "SELECT max(n) / sum(n) FROM (SELECT count(*) AS n FROM rows GROUP BY flag)"
    return CheckSet(
        (
            Unique("duplicates", "Text once a group", "warn", "rows", ("group_id", "text")),
            Check(
                "conditional_null",
                "Test rows have a label",
                "warn",
                "rows",
                "SELECT id FROM rows WHERE split = 'test' AND label IS NULL",
            ),
            Figure("row_count", "Rows", "warn", "rows", "SELECT 'rows' AS subject, count(*) AS value FROM rows", low=1),
            Figure(
                "mean", "Mean", "warn", "rows", "SELECT 'score' AS subject, avg(score) AS value FROM rows", 0.3, 0.7
            ),
            Figure("constant", "Share", "warn", "rows", f"SELECT 'flag' AS subject, ({share}) AS value", high=0.9999),
        )
    )


def make(folder: Path, rows: int) -> None:
    """Write the dataset folder with its planted faults, by the project's own writer."""
    import duckdb
    import pyarrow as pa

    from schemas.folder import shard_name
    from schemas.parquet import write_parquet

    dataset = schema()
    files = []
    con = duckdb.connect()

    def add(table: str, index: int, count: int, query: str) -> None:
        path = f"data/{table}/{shard_name('train', index, count)}"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        content = con.sql(query).to_arrow_table().cast(dataset.table(table).arrow)
        written = write_parquet(folder / path, dataset.table(table).arrow, content.to_batches())
        entry = {"path": path, "table": table, "split": "train", "rows": written.rows, "bytes": written.bytes}
        files.append({**entry, "sha256": written.sha256})

    for index in range(SHARDS):
        start, end = rows * index // SHARDS, rows * (index + 1) // SHARDS
        add("rows", index, SHARDS, _rows_query(start, end, rows))
    add("groups", 0, 1, f"SELECT range AS group_id FROM range({GROUPS})")
    build = {"format": 1, "dataset": "bench", "version": "1", "schema": dataset.to_json(), "files": files}
    build.update({"sources": [], "accounting": [], "tools": {"pyarrow": pa.__version__}})
    (folder / "build.json").write_text(json.dumps(build), encoding="utf-8")


def _rows_query(start: int, end: int, rows: int) -> str:
    """Rows by their number i; each planted fault has a stretch of numbers of its own, spread over the table."""
    step = rows // 1000
    cases = {}
    for place, (kind, count) in enumerate(PLANTED.items()):
        cases[kind] = f"(i % {step} = {11 * place + 3} AND i // {step} < {count})"
    other = f"(i + {step} * 7 + 1)"  # the row that a duplicate repeats: no fault is planted there
    same_id, same = cases["unique"], cases["duplicates"]
    return f"""
        SELECT CASE WHEN {same_id} THEN {other} ELSE i END AS id,
            CASE WHEN {cases["regex"]} THEN 'x' ELSE chr((65 + i % 26)::INTEGER) || chr((65 + hash(i) % 26)::INTEGER)
                || lpad((hash(i + 1) % 10000)::VARCHAR, 4, '0') END AS code,
            CASE WHEN {cases["null"]} THEN NULL WHEN {cases["range"]} THEN 1.5
                ELSE (hash(i + 2) % 1000000007) / 1000000007 END AS score,
            CASE WHEN {cases["foreign_key"]} THEN {GROUPS} + 5 ELSE hash(g + 3) % {GROUPS} END AS group_id,
            CASE WHEN {cases["allowed"]} THEN 'dev' WHEN i % 10 = 0 OR {cases["conditional_null"]} THEN 'test'
                WHEN i % 10 = 1 THEN 'valid' ELSE 'train' END AS split,
            CASE WHEN {cases["length"]} THEN if(i // {step} % 2 = 0, '', repeat('y', 61) || i)
                ELSE substr(md5(g::VARCHAR), 1, 12 + (g % 20)::INTEGER) END AS text,
            if(i % 5000 = 0, 1, 0) AS flag,
            CASE WHEN {cases["conditional_null"]} OR (i % 10 > 1 AND i % 4 = 0) THEN NULL ELSE i % 10 END AS label
        FROM (SELECT range AS i, CASE WHEN {same.replace("i ", "range ")} THEN {other.replace("i ", "range ")}
            ELSE range END AS g FROM range({start}, {end}))"""


def run_floor(folder: Path) -> dict[str, float]:
    import duckdb

    con = duckdb.connect(config={"threads": 2})
    con.execute("SET preserve_insertion_order = false")
    scan = f"read_parquet('{folder}/data/rows/*.parquet')"
    con.execute(f"SELECT bit_xor(hash({', '.join(COLUMNS)})) FROM {scan}").fetchall()
    return {}


FOUR = ("constraints", "keys", "references", "own")


def run_goldsmith(folder: Path, groups: tuple[str, ...] = FOUR, memory_limit: str = "400MB") -> dict[str, float]:
    from quality.run import check
    from schemas import DatasetFolder

    report = check(DatasetFolder(folder), check_set(), threads=2, memory_limit=memory_limit, groups=groups)
    found = {result.name: result.failures for result in report.results}
    value = {result.name: result.figures[0].value for result in report.results if result.name in _FIGURES}
    return {
        "null": found["rows.score.not_null"],
        "unique": found["rows.key_unique"],
        "range": found["rows.score.minimum"] + found["rows.score.maximum"],
        "regex": found["rows.code.pattern"],
        "allowed": found["rows.split.allowed"],
        "foreign_key": found["rows.group_id.reference"],
        "duplicates": found["duplicates"],
        "length": found["rows.text.minimum"] + found["rows.text.maximum"],
        "conditional_null": found["conditional_null"],
        **value,
    }


def run_roomy(folder: Path) -> dict[str, float]:
    return run_goldsmith(folder, memory_limit="1GB")


def run_full(folder: Path) -> dict[str, float]:
    return run_goldsmith(folder, ("files", "constraints", "keys", "references", "duplicates", "profile", "own"))


_FIGURES = ("row_count", "mean", "constant")


def run_pandera(folder: Path) -> dict[str, float]:
    import pandera.polars as pa
    import polars as pl

    column = pl.col
    groups = pl.read_parquet(f"{folder}/data/groups/*.parquet")["group_id"]
    frame = pl.read_parquet(f"{folder}/data/rows/*.parquet")
    values: dict[str, float] = {}

    def reference(data):
        return data.lazyframe.select(column("group_id").is_in(groups.implode()))

    def measured(name, expression, low, high):
        def measure(data):
            values[name] = float(data.lazyframe.select(expression).collect().item())
            return low <= values[name] <= high

        return pa.Check(measure, name=name)

    share = column("flag").value_counts(normalize=True).struct.field("proportion").max()
    columns = {
        "id": pa.Column(pl.Int64, unique=True),
        "code": pa.Column(pl.String, pa.Check.str_matches(f"^{CODE}$")),
        "score": pa.Column(pl.Float64, pa.Check.in_range(0, 1), nullable=False),
        "group_id": pa.Column(pl.Int32, pa.Check(reference, name="foreign_key")),
        "split": pa.Column(pl.String, pa.Check.isin(["train", "valid", "test"])),
        "text": pa.Column(pl.String, pa.Check.str_length(1, 60)),
        "flag": pa.Column(pl.Int8),
        "label": pa.Column(pl.Int8, nullable=True),
    }
    frames = [
        pa.Check(
            lambda data: data.lazyframe.select((column("split") != "test") | column("label").is_not_null()),
            name="conditional_null",
        ),
        pa.Check(lambda data: data.lazyframe.select(~pl.struct("group_id", "text").is_duplicated()), name="duplicates"),
        measured("row_count", pl.len(), 1, 1e12),
        measured("mean", column("score").mean(), 0.3, 0.7),
        measured("constant", share, 0, 0.9999),
    ]
    found = _pandera_failures(pa.DataFrameSchema(columns), frame)
    # Frame checks one by one: pandera cannot stack their failure cases with those of columns.
    for check in frames:
        found.update(_pandera_failures(pa.DataFrameSchema({}, checks=[check]), frame))
    names = {"not_nullable": "null", "field_uniqueness": "unique", "str_matches": "regex", "in_range": "range"}
    names.update({"isin": "allowed", "str_length": "length"})
    found = {names.get(name, name): count for name, count in found.items()}
    # It lists every member of a group of equals; the repeats are half of each pair.
    return {**found, "unique": found["unique"] / 2, "duplicates": found["duplicates"] / 2, **values}


def _pandera_failures(schema, frame) -> dict[str, int]:
    from pandera.errors import SchemaErrors

    try:
        schema.validate(frame, lazy=True)
    except SchemaErrors as error:
        return {name.split("(")[0]: count for name, count in error.failure_cases.group_by("check").len().rows()}
    return {}


def run_gx(folder: Path) -> dict[str, float]:
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx
    import great_expectations.expectations as expect
    import pandas as pd

    frame = pd.read_parquet(folder / "data" / "rows")
    groups = pd.read_parquet(folder / "data" / "groups")["group_id"]
    frame["known"] = frame["group_id"].isin(groups)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    asset = context.data_sources.add_pandas("rows").add_dataframe_asset("rows")
    batch = asset.add_batch_definition_whole_dataframe("all")
    wanted = {
        "null": expect.ExpectColumnValuesToNotBeNull(column="score"),
        "unique": expect.ExpectColumnValuesToBeUnique(column="id"),
        "range": expect.ExpectColumnValuesToBeBetween(column="score", min_value=0, max_value=1),
        "regex": expect.ExpectColumnValuesToMatchRegex(column="code", regex=f"^{CODE}$"),
        "allowed": expect.ExpectColumnValuesToBeInSet(column="split", value_set=["train", "valid", "test"]),
        "foreign_key": expect.ExpectColumnValuesToBeInSet(column="known", value_set=[True]),
        "duplicates": expect.ExpectCompoundColumnsToBeUnique(column_list=["group_id", "text"]),
        "length": expect.ExpectColumnValueLengthsToBeBetween(column="text", min_value=1, max_value=60),
        "conditional_null": expect.ExpectColumnValuesToNotBeNull(
            column="label", row_condition='split == "test"', condition_parser="pandas"
        ),
        "row_count": expect.ExpectTableRowCountToBeBetween(min_value=1),
        "mean": expect.ExpectColumnMeanToBeBetween(column="score", min_value=0.3, max_value=0.7),
    }
    for name, expectation in wanted.items():
        expectation.meta = {"name": name}
    suite = context.suites.add(gx.ExpectationSuite(name="twelve", expectations=list(wanted.values())))
    task = context.validation_definitions.add(gx.ValidationDefinition(name="twelve", data=batch, suite=suite))
    found: dict[str, float] = {"constant": float(frame["flag"].value_counts(normalize=True).iloc[0])}  # it has none
    for each in task.run(batch_parameters={"dataframe": frame}, result_format="BASIC").results:
        value = each.result.get("unexpected_count", each.result.get("observed_value"))
        found[each.expectation_config.meta["name"]] = float(value)
    # It counts every member of a group of equals; the repeats are half of each pair.
    return {**found, "unique": found["unique"] / 2, "duplicates": found["duplicates"] / 2}


CHILDREN = {
    "floor": run_floor,
    "goldsmith": run_goldsmith,
    "roomy": run_roomy,
    "pandera": run_pandera,
    "full": run_full,
    "gx": run_gx,
}


def measure(name: str, folder: Path) -> tuple[tuple[float, float, float], dict[str, float]]:
    """(CPU seconds, seconds, peak MB) of one way in a fresh process, and what it found."""
    command = [sys.executable, __file__, "--child", name, str(folder)]
    # As on a machine where the program ran before: compiled modules are kept, ours like those of the packages.
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{name} failed")
    taken = time.perf_counter() - start
    return (usage.ru_utime + usage.ru_stime, taken, usage.ru_maxrss / 1024), json.loads(output.splitlines()[-1])


def agree(name: str, found: dict[str, float], rows: int) -> None:
    """Fail unless the way found the planted faults, each of them and no other."""
    if name == "floor":
        return
    expected = dict(PLANTED)
    wrong = {kind: (found.get(kind), count) for kind, count in expected.items() if found.get(kind) != count}
    if wrong or found["row_count"] != rows or abs(found["mean"] - 0.5) > 0.01 or abs(found["constant"] - 0.9998) > 1e-6:
        raise SystemExit(f"{name} found something else than was planted (found, planted): {wrong or found}")


def main() -> None:
    """Make the data if need be, run the rounds, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--full", action="store_true", help="also time all groups of checks")
    parser.add_argument("--only", nargs="+", choices=CHILDREN, help="ways to run")
    arguments = parser.parse_args()
    folder = arguments.cache / f"checks-{arguments.rows}"
    if not (folder / "build.json").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, __file__, "--make", str(arguments.rows), str(folder)], check=True)
    names = arguments.only or ["floor", "goldsmith", "roomy", "pandera", *(["full"] if arguments.full else [])]
    seen: dict[str, list[tuple[float, float, float]]] = {name: [] for name in names}
    names += [] if arguments.only else ["gx"]
    seen = {**seen, **{name: [] for name in names}}
    for number in range(arguments.rounds):
        for name in names:
            if name == "gx" and number:
                continue
            run, found = measure(name, folder)
            agree(name, found, arguments.rows)
            seen[name].append(run)
    print(f"{arguments.rows:,} rows x {len(COLUMNS)} columns, {arguments.rounds} rounds, medians")
    print(f"{'':12}{'CPU s':>8}{'x floor':>9}{'s':>7}{'x floor':>9}{'peak MB':>9}")
    for name, runs in seen.items():
        # Ratios are taken within a round: what slows the machine slows both.
        pairs = list(zip(runs, seen[names[0]], strict=False))
        (cpu, cpus), (taken, times) = (
            (statistics.median(run[i] for run in runs), statistics.median(mine[i] / floor[i] for mine, floor in pairs))
            for i in (0, 1)
        )
        print(f"{name:12}{cpu:8.2f}{cpus:9.2f}{taken:7.2f}{times:9.2f}{max(run[2] for run in runs):9.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(CHILDREN[sys.argv[2]](Path(sys.argv[3]))))
    elif sys.argv[1:2] == ["--make"]:
        make(Path(sys.argv[3]), int(sys.argv[2]))
    else:
        main()
