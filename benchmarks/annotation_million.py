"""One million judgements: the time of every statistic that DuckDB computes, on two threads.

    python benchmarks/annotation_million.py [judgements]

Synthetic: 20 people, 5 answers an item, 4 labels, 2 % gold, one who guesses, one who drifts. Aim: 10 s for all.
"""

from __future__ import annotations

import sys
import time

import duckdb

from quality.annotation.agreement import agreement, cohen
from quality.annotation.flags import flags
from quality.annotation.people import people

JUDGES, PEOPLE = 5, 20


def make(con: duckdb.DuckDBPyConnection, judgements: int) -> None:
    """The tables that statistics read."""
    items = judgements // JUDGES
    con.execute("SELECT setseed(0.5)")
    con.execute(f"""
        CREATE TABLE drawn AS
        SELECT 'i' || i AS item, 'p' || lpad(((i * 7 + j * (1 + i % 3)) % {PEOPLE})::VARCHAR, 2, '0') AS annotator,
            (i * 31 % 4) AS truth, i % 50 = 0 AS gold, i AS place, random() AS dice, random() AS other,
            exp(1.5 + random()) AS seconds
        FROM range({items}) t(i), range({JUDGES}) u(j)
    """)
    con.execute(f"""
        CREATE TABLE judged AS
        SELECT item, annotator, place, seconds, gold, NULL::VARCHAR AS side,
            'label' || answer AS label, answer AS position,
            CASE WHEN gold THEN (answer = truth)::DOUBLE ELSE NULL END AS known
        FROM (SELECT *, (CASE WHEN dice < CASE WHEN annotator = 'p03' THEN 0.0
                WHEN annotator = 'p05' AND place > {items} / 2 THEN 0.6 ELSE 0.9 END
                THEN truth ELSE floor(other * 4) END)::INTEGER AS answer FROM drawn)
    """)
    con.execute("""
        CREATE OR REPLACE TABLE judged AS
        WITH said AS (SELECT item, label, count(*) AS n FROM judged GROUP BY ALL),
        sizes AS (SELECT item, count(*) AS m FROM judged GROUP BY item),
        first AS (SELECT item, arg_max(label, n) AS other FROM said GROUP BY item)
        SELECT j.* EXCLUDE (known), other, coalesce(known, (n - 1) / (m - 1)) AS score
        FROM judged j JOIN said USING (item, label) JOIN sizes USING (item) JOIN first USING (item) WHERE m > 1
    """)
    con.execute("CREATE VIEW votes AS SELECT item, annotator, label, position FROM judged WHERE NOT gold")


def main() -> None:
    judgements = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    con = duckdb.connect(config={"threads": 2})
    make(con, judgements)
    steps = {
        "agreement, nominal, with bootstrap": lambda: agreement(con, "nominal", 4),
        "agreement, ordinal, with bootstrap": lambda: agreement(con, "ordinal", 4),
        "kappa of all pairs": lambda: cohen(con),
        "people: gold, windows, drift, times": lambda: people(con),
    }
    whole, cpu = 0.0, time.process_time()
    for name, step in steps.items():
        start = time.perf_counter()
        result = step()
        whole += time.perf_counter() - start
        print(f"{name:40} {time.perf_counter() - start:6.2f} s")
    start = time.perf_counter()
    for flag in flags(con, result):
        print(f"    {flag.person}: {flag.code}, {flag.message}")
    whole += time.perf_counter() - start
    print(f"{'flags':40} {time.perf_counter() - start:6.2f} s")
    print(f"{judgements:,} judgements: {whole:.2f} s, CPU {time.process_time() - cpu:.2f} s")


if __name__ == "__main__":
    main()
