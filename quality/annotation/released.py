"""The files of a finished audit in a dataset folder, read with suspicion: somebody may have changed them by hand."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quality.annotation.bounds import most_wrong
from quality.annotation.population import SCHEMA as POPULATION
from quality.annotation.report import LABELS
from schemas import Audit, GoldsmithError

FILES = ("design.json", "report.json", "population.parquet", "labels.parquet")
_COUNTS = ("gold", "gold_right")
_AGAINST = ("wrong", "unsure", "unjudged")
_AGAIN = "run `goldsmith audit report` again"


def read_report(audit: Audit, folder: Path) -> Mapping[str, Any]:
    """report.json, once its bounds are what its counts and the rows in labels.parquet say.

    Raises:
        GoldsmithError: a file is missing or cannot be read, or they do not say the same.
    """
    where = f"audit/{audit.name}"
    if lacking := [name for name in FILES if not (folder / name).is_file()]:
        raise GoldsmithError(f"[{where}/{lacking[0]}] is missing: {_AGAIN}")
    population, labels = (
        _rows(folder / f"{name}.parquet", f"{where}/{name}.parquet", schema)
        for name, schema in (("population", POPULATION), ("labels", LABELS))
    )
    try:
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        alpha = report["agreement"]["alpha"]
        shaped = alpha is None or isinstance(alpha, int | float)
        shaped = shaped and all(isinstance(flag[key], str) for flag in report["flags"] for key in ("person", "code"))
        shaped = shaped and all(isinstance(one[key], int) for one in report["annotators"] for key in _COUNTS)
        found = shaped and all(_holds(audit, one, population, labels) for one in report["strata"])
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        raise GoldsmithError(f"[{where}/report.json] is no report of an audit ({error!r}): {_AGAIN}") from None
    if not found:
        raise GoldsmithError(f"[{where}/report.json] does not say what labels.parquet says: {_AGAIN}")
    return report


def _rows(path: Path, name: str, schema: pa.Schema) -> dict[str, Counter[str]]:
    """How many rows of which state (of the population: all of one) each stratum has."""
    try:
        if not pq.read_schema(path).remove_metadata().equals(schema):
            raise GoldsmithError(f"[{name}] has other columns than an audit's: {_AGAIN}")
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise GoldsmithError(f"[{name}] cannot be read ({str(error)[:80]}): {_AGAIN}") from None
    strata = table.column("stratum").to_pylist()
    states = table.column("state").to_pylist() if "state" in schema.names else [""] * len(strata)
    found: dict[str, Counter[str]] = {}
    for stratum, state in zip(strata, states, strict=True):
        found.setdefault(stratum, Counter())[state] += 1
    return found


def _holds(
    audit: Audit, one: Mapping[str, Any], population: Mapping[str, Counter[str]], labels: Mapping[str, Counter[str]]
) -> bool:
    """Whether a stratum's bound follows from its counts, and these from its rows.

    Of rows that were withdrawn since no trace is kept (`releases.audits`): counts may be more than the rows, not less.
    """
    lot, sample, against, most = (one[name] for name in ("lot", "sample", "against", "most_wrong"))
    if not 0 <= against <= sample <= lot or most != most_wrong(against, sample, lot, audit.confidence):
        return False
    states = labels.get(one["stratum"], Counter())
    rows = sum(population.get(one["stratum"], Counter()).values())
    judged, wrong = sum(states.values()), sum(states[state] for state in _AGAINST)
    whole = (rows, judged) == (lot, sample)
    return wrong == against if whole else rows <= lot and judged <= sample and wrong <= against
