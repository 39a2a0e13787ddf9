"""Keeps every finding of a run, however many, and writes quality/findings.parquet.

Findings wait in a DuckDB table, which spills to disk; Python holds only the examples that people are shown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from quality import sql
from quality.connect import Session
from quality.results import EXAMPLES, Measured, Result
from schemas import Check, Figure, GoldsmithError, Table
from schemas.folder import FINDING_SCHEMA
from schemas.parquet import Written, write_parquet

_BATCH_ROWS = 65_536
_FAULT = '{"id": "VARCHAR", "faults": [{"number": "INTEGER", "message": "VARCHAR"}]}'


class Ledger:
    """The results of a run in their order, and the findings of each."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.results: list[Result] = []
        session.con.execute("CREATE TABLE _findings (number INTEGER, id VARCHAR, message VARCHAR, value DOUBLE)")

    def check(self, check: Check, query: str | None = None) -> Result:
        """Run a check and keep the rows it returns.

        Args:
            query: what to run in place of `check.sql` when that form is for people to read and another is faster.
                Columns `id` and, if it helps, `message`.

        Raises:
            GoldsmithError: the SQL does not run, or returns no column `id`.
        """
        number = len(self.results)
        query = query or check.sql
        columns = self._columns(check, query)
        if "id" not in columns:
            raise GoldsmithError(self._mend(check, f"returns the columns {columns}, and no `id`"))
        meaning = sql.literal(check.meaning)
        message = f"coalesce(message::VARCHAR, {meaning})" if "message" in columns else meaning
        named = f"SELECT * REPLACE (coalesce(id::VARCHAR, 'null') AS id) FROM ({query})"
        kept = f"SELECT {number}, id, {self._path(check.table)} || {message}, NULL FROM ({named})"
        try:
            failures = self.session.one(f"INSERT INTO _findings {kept}")[0]
        except duckdb.Error as error:
            raise self._does_not_run(check, error) from None
        return self._settle(check, failures)

    @contextmanager
    def together(self, table: Table, checks: list[Check]) -> Iterator[Callable[[list[pa.RecordBatch]], None]]:
        """Take the faults of several checks of one table while a scan of it streams.

        Yields a function that keeps batches of `fault`, JSON of {id, faults: [{number, message}]}, the number being the
        place of the check in `checks`. Afterwards the checks have their results.
        """
        start = len(self.results)
        cursor = self.session.con.cursor()  # the connection itself is busy with the scan
        query = (
            f"INSERT INTO _findings SELECT {start} + said.number, id, {self._path(table.name)} || said.message, NULL "
            f"FROM (SELECT fault.id AS id, unnest(fault.faults) AS said FROM "
            f"(SELECT from_json(fault, {sql.literal(_FAULT)}) AS fault FROM _held))"
        )

        def add(batches: list[pa.RecordBatch]) -> None:
            if batches:
                cursor.register("_held", pa.Table.from_batches(batches))
                cursor.execute(query)
                cursor.unregister("_held")

        try:
            yield add
        except duckdb.Error as error:
            raise self._does_not_run(checks[0], error) from None
        finally:
            cursor.close()
        count = f"SELECT number, count(*) FROM _findings WHERE number >= {start} GROUP BY number"
        failures = dict(self.session.rows(count))
        for number, check in enumerate(checks, start):
            self._settle(check, failures.get(number, 0))

    def listed(self, check: Check, failing: Iterable[tuple[str, str]]) -> Result:
        """Keep failures that Python found: (id, message)."""
        rows = [(row, self._said(check, row, message), None) for row, message in failing]
        self._insert(len(self.results), rows)
        return self._settle(check, len(rows))

    def figure(self, figure: Figure) -> Result:
        """Run a figure and keep the values outside their bounds.

        Raises:
            GoldsmithError: the SQL does not run, or returns no `subject` and `value`.
        """
        columns = self._columns(figure, figure.sql)
        if not {"subject", "value"} <= set(columns):
            raise GoldsmithError(self._mend(figure, f"returns the columns {columns}, and no `subject` and `value`"))
        text = "message::VARCHAR" if "message" in columns else "NULL"
        low = "low::DOUBLE" if "low" in columns else "NULL"
        high = "high::DOUBLE" if "high" in columns else "NULL"
        query = (
            f"SELECT subject::VARCHAR, value::DOUBLE, {text}, {low}, {high} FROM ({figure.sql}) "
            "WHERE value IS NOT NULL ORDER BY 1, 2, 3"
        )
        try:
            rows = self.session.rows(query)
        except duckdb.Error as error:
            raise self._does_not_run(figure, error) from None
        return self.measured(figure, rows)

    def measured(
        self, figure: Figure, rows: Iterable[tuple[str | None, float, str | None, float | None, float | None]]
    ) -> Result:
        """Keep values: (subject, value, message, low, high); a null message or bound takes the figure's own."""
        values = []
        for subject, value, message, low, high in rows:
            low = figure.low if low is None else low
            high = figure.high if high is None else high
            fault = _fault(value, low, high)
            said = f"{message}: {fault}" if fault and message else fault
            values.append(Measured("null" if subject is None else subject, value, low, high, said))
        bounded = any(value.low is not None or value.high is not None for value in values)
        failing = [value for value in values if value.message]
        found = [(value.subject, self._said(figure, value.subject, value.message), value.value) for value in failing]
        self._insert(len(self.results), found)
        declared = figure.low is not None or figure.high is not None
        result = self._settle(figure, len(failing), tuple(values))
        if not bounded and not declared:
            result = dataclasses.replace(result, status="reported")
            self.results[-1] = result
        return result

    def skip(self, check: Check | Figure, why: str) -> Result:
        """Record that a check does not apply."""
        result = dataclasses.replace(_result(check), status="not_applicable", why=why)
        self.results.append(result)
        return result

    def _settle(self, check: Check | Figure, failures: int, figures: tuple[Measured, ...] = ()) -> Result:
        examples: list[tuple[str, str]] = []
        if failures:
            number = len(self.results)
            query = f"SELECT id, message FROM _findings WHERE number = {number} ORDER BY ALL LIMIT {EXAMPLES}"
            examples = [(row, message) for row, message in self.session.rows(query)]
        result = dataclasses.replace(
            _result(check),
            status="failed" if failures else "passed",
            failures=failures,
            figures=figures,
            examples=tuple(examples),
        )
        self.results.append(result)
        return result

    def _insert(self, number: int, rows: Sequence[tuple[str, str, float | None]]) -> None:
        if rows:
            ids, messages, values = zip(*rows, strict=True)
            found = pa.table({"id": ids, "message": messages, "value": pa.array(values, pa.float64())})
            self.session.con.register("_found", found)
            self.session.con.execute(f"INSERT INTO _findings SELECT {number}, id, message, value FROM _found")
            self.session.con.unregister("_found")

    def _path(self, table: str) -> str:
        """The SQL expression of a finding's path, for the row `id`."""
        return f"'[' || {sql.literal(f'{self.session.dataset.name} > {table} > ')} || id || '] '"

    def _said(self, check: Check | Figure, row: str, message: str) -> str:
        return f"[{self.session.dataset.name} > {check.table} > {row}] {message}"

    def _columns(self, check: Check | Figure, query: str) -> list[str]:
        try:
            return [row[0] for row in self.session.rows(f"DESCRIBE {query}")]
        except duckdb.Error as error:
            raise self._does_not_run(check, error) from None

    def _does_not_run(self, check: Check | Figure, error: duckdb.Error) -> GoldsmithError:
        reason = " ".join(str(error).split("\n\nLINE")[0].split())
        return GoldsmithError(self._mend(check, f"does not run ({reason})"))

    def _mend(self, check: Check | Figure, what: str) -> str:
        return f"[{self.session.dataset.name} > {check.name}] its SQL {what}: mend the check"

    def write(self, path: Path) -> Written:
        """Write quality/findings.parquet, ordered by check (as run), id, message and value: same data, same bytes."""
        return write_parquet(path, FINDING_SCHEMA, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Findings in order; the check's name, severity and table are joined in batch by batch."""
        if not any(result.failures for result in self.results):
            return
        rows = self.session.con.sql("SELECT * FROM _findings ORDER BY number, id, message, value")
        for batch in rows.to_arrow_reader(_BATCH_ROWS):
            numbers = batch.column(0)
            words = [
                pa.array([getattr(result, word) for result in self.results], pa.string()).take(numbers)
                for word in ("name", "severity", "table")
            ]
            columns = [*words, *(batch.column(index).cast(FINDING_SCHEMA.field(index + 2).type) for index in (1, 2, 3))]
            yield pa.RecordBatch.from_arrays(columns, schema=FINDING_SCHEMA)


def _result(check: Check | Figure) -> Result:
    return Result(
        name=check.name,
        meaning=check.meaning,
        severity=check.severity,
        table=check.table,
        kind="figure" if isinstance(check, Figure) else "check",
        status="passed",
        unit=check.unit if isinstance(check, Figure) else "",
        advice=check.advice,
        sql=check.sql.strip(),
    )


def _fault(value: float, low: float | None, high: float | None) -> str:
    """What is wrong with a value; empty if nothing. Not a number fails wherever there is a bound."""
    if low is not None and not value >= low:
        return f"{value:.4g} is below {low:g}"
    if high is not None and not value <= high:
        return f"{value:.4g} is above {high:g}"
    return ""
