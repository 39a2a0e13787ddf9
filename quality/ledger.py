"""Keeps every finding of a run, however many, and writes quality/findings.parquet.

Findings wait in a DuckDB table, which spills to disk; Python holds only the examples that people are shown.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from quality.connect import Session
from quality.failures import reason
from quality.results import EXAMPLES, Measured, Result
from schemas import Check, Figure, GoldsmithError, Table, sql
from schemas.folder import FINDING_SCHEMA
from schemas.parquet import Written, write_parquet

_BATCH_ROWS = 65_536
_FAULTS = '[{"id": "VARCHAR", "faults": [{"number": "INTEGER", "message": "VARCHAR"}]}]'


class Ledger:
    """The results of a run in their order, and the findings of each."""

    def __init__(self, session: Session, table: str = "_findings") -> None:
        self.session = session
        self.results: list[Result] = []
        self._table = table
        session.con.execute(f"CREATE TABLE {table} (number INTEGER, id VARCHAR, message VARCHAR, value DOUBLE)")

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
        message = f"coalesce(message::VARCHAR, {sql.literal(check.meaning)})"
        named = f"SELECT coalesce(id::VARCHAR, 'null') AS id, message FROM ({_with_columns(query, 'message')})"
        kept = f"SELECT {number}, id, {self._path(check.table)} || {message}, NULL FROM ({named})"
        try:
            failures = self.session.one(f"INSERT INTO {self._table} {kept}")[0]
        except duckdb.Error as error:
            self._need(check, query, "id")
            raise self._does_not_run(check, error) from None
        return self._settle(check, failures)

    @contextmanager
    def together(self, table: Table, checks: list[Check]) -> Iterator[Callable[[list[str]], None]]:
        """Take the faults of several checks of one table while a scan of it streams.

        Yields a function that keeps faults, each JSON of {id, faults: [{number, message}]}, the number being the place
        of the check in `checks`. Afterwards the checks have their results.

        Raises:
            GoldsmithError: the scan fails.
        """
        start, failures = len(self.results), {}
        cursor = self.session.con.cursor()  # the connection itself is busy with the scan
        query = (
            f"INSERT INTO {self._table} "
            f"SELECT {start} + said.number, id, {self._path(table.name)} || said.message, NULL "
            f"FROM (SELECT fault.id AS id, unnest(fault.faults) AS said FROM "
            f"(SELECT unnest(from_json(?, {sql.literal(_FAULTS)})) AS fault))"
        )

        added = False

        def add(faults: list[str]) -> None:
            # As JSON text: DuckDB imports pandas, where there is one, to look at a registered object.
            nonlocal added
            if faults:
                added = True
                cursor.execute(query, [f"[{','.join(faults)}]"])

        try:
            yield add
        except duckdb.Error as error:
            place = f"{self.session.dataset.name} > {table.name}"
            raise GoldsmithError(f"[{place}] cannot be read ({reason(error)}): build it again") from None
        finally:
            cursor.close()
        if added:
            count = f"SELECT number, count(*) FROM {self._table} WHERE number >= {start} GROUP BY number"
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
        query = (
            "SELECT subject::VARCHAR, value::DOUBLE, message::VARCHAR, low::DOUBLE, high::DOUBLE "
            f"FROM ({_with_columns(figure.sql, 'message', 'low', 'high')}) WHERE value IS NOT NULL ORDER BY 1, 2, 3"
        )
        try:
            rows = self.session.rows(query)
        except duckdb.Error as error:
            self._need(figure, figure.sql, "subject", "value")
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

    def append(self, *others: tuple[Ledger, list[int]]) -> None:
        """Put the results of ledgers of `beside` after one's own, in the order of the places given with each."""
        order = sorted(
            (place, which, number) for which, (_, places) in enumerate(others) for number, place in enumerate(places)
        )
        for new, (_, which, number) in enumerate(order, len(self.results)):
            other, _ = others[which]
            if other.results[number].failures:
                moved = f"SELECT {new}, id, message, value FROM {other._table} WHERE number = {number}"
                self.session.con.execute(f"INSERT INTO {self._table} {moved}")
        self.results += [others[which][0].results[number] for _, which, number in order]

    def _settle(self, check: Check | Figure, failures: int, figures: tuple[Measured, ...] = ()) -> Result:
        examples: list[tuple[str, str]] = []
        if failures:
            number = len(self.results)
            query = f"SELECT id, message FROM {self._table} WHERE number = {number} ORDER BY ALL LIMIT {EXAMPLES}"
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
            query = (
                f"INSERT INTO {self._table} SELECT {number}, row[1], row[2], row[3]::DOUBLE "
                "FROM (SELECT unnest(from_json(?, '[[\"VARCHAR\"]]')) AS row)"
            )
            found = [[row, message, None if value is None else repr(value)] for row, message, value in rows]
            self.session.con.execute(query, [json.dumps(found)])

    def _path(self, table: str) -> str:
        """The SQL expression of a finding's path, for the row `id`."""
        return f"'[' || {sql.literal(f'{self.session.dataset.name} > {table} > ')} || id || '] '"

    def _said(self, check: Check | Figure, row: str, message: str) -> str:
        return f"[{self.session.dataset.name} > {check.table} > {row}] {message}"

    def _need(self, check: Check | Figure, query: str, *names: str) -> None:
        """Say which columns a query that did not run lacks, if it lacks any."""
        try:
            columns = [row[0] for row in self.session.rows(f"DESCRIBE {query}")]
        except duckdb.Error as error:
            raise self._does_not_run(check, error) from None
        if not set(names) <= set(columns):
            wanted = " and ".join(f"`{name}`" for name in names)
            raise GoldsmithError(self._mend(check, f"returns the columns {columns}, and no {wanted}")) from None

    def _does_not_run(self, check: Check | Figure, error: duckdb.Error) -> GoldsmithError:
        return GoldsmithError(self._mend(check, f"does not run ({reason(error)})"))

    def _mend(self, check: Check | Figure, what: str) -> str:
        return f"[{self.session.dataset.name} > {check.name}] its SQL {what}: mend the check"

    def write(self, path: Path) -> Written:
        """Write quality/findings.parquet, ordered by check (as run), id, message and value: same data, same bytes."""
        return write_parquet(path, FINDING_SCHEMA, self._batches())

    def _batches(self) -> Iterator[pa.RecordBatch]:
        """Findings in order, with the name, severity and table of their check."""
        if not any(result.failures for result in self.results):
            return
        said = [
            {"number": number, "check": result.name, "severity": result.severity, "table_name": result.table}
            for number, result in enumerate(self.results)
        ]
        form = '[{"number": "INTEGER", "check": "VARCHAR", "severity": "VARCHAR", "table_name": "VARCHAR"}]'
        words = f"SELECT unnest(from_json(?, {sql.literal(form)}), max_depth := 2)"
        rows = self.session.con.sql(
            f'SELECT "check", severity, table_name, id, message, value FROM {self._table} '
            f"JOIN ({words}) USING (number) ORDER BY number, id, message, value",
            params=[json.dumps(said)],
        )
        for batch in rows.to_arrow_reader(_BATCH_ROWS):
            columns = [column.cast(field.type) for column, field in zip(batch.columns, FINDING_SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=FINDING_SCHEMA)


@contextmanager
def beside(ledger: Ledger, name: str) -> Iterator[Ledger]:
    """A ledger for another thread: it reads the same views over its own connection, and its results are its own."""
    con = ledger.session.con.cursor()
    session = dataclasses.replace(ledger.session, con=con, names=set(ledger.session.names), buffers=[])
    try:
        yield Ledger(session, f"_findings_{name}")
    finally:
        con.close()


def _with_columns(query: str, *names: str) -> str:
    """A query's rows, with nulls in those of the columns that it does not have. Asking it first would plan it twice."""
    absent = ", ".join(f"NULL AS {name}" for name in names)
    return f"SELECT {absent} WHERE false UNION ALL BY NAME SELECT * FROM ({query})"


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
