"""The figures of the documents: each is a query with a name. Nothing else puts a number into a document.

A template writes `{{ figures.rows }}` for a value and loops over the rows of a figure that has several. A builder adds
its own in datasheet.toml (`[figures]`). Each query runs once, when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

import duckdb

from cards.datasheet import FILE, Datasheet, nearest
from cards.text import cell, code, link, mark, markdown, number, size
from cards.views import connect
from schemas import DatasetFolder, GoldsmithError, Image, Label, Table, sandbox, sql
from schemas.hub_files import HubFile
from schemas.types import Audio

SHARED = {
    "rows": "SELECT coalesce(sum(rows), 0)::BIGINT FROM data_files",
    "bytes": "SELECT coalesce(sum(bytes), 0)::BIGINT FROM data_files",
    "files": "SELECT count(*) FROM data_files",
    "tables": "SELECT table_name, sum(rows)::BIGINT AS rows, count(*) AS files, sum(bytes)::BIGINT AS bytes"
    " FROM data_files GROUP BY table_name ORDER BY min(position)",
    "splits": "SELECT table_name, split, sum(rows)::BIGINT AS rows, sum(bytes)::BIGINT AS bytes"
    " FROM data_files GROUP BY table_name, split ORDER BY min(position)",
    "source_rows": "SELECT s.name, s.licence, s.redistribute, s.url, s.accessed, coalesce(l.rows, 0) AS rows"
    " FROM sources s LEFT JOIN (SELECT source, count(DISTINCT table_name || '/' || id) AS rows FROM lineage"
    " GROUP BY source) l ON l.source = s.name WHERE s.secret IS NOT TRUE ORDER BY s.name",
    "licence_rows": "SELECT licence, count(DISTINCT table_name || '/' || id) AS rows FROM lineage"
    " GROUP BY licence ORDER BY rows DESC, licence",
    "records": "SELECT coalesce(sum(records), 0)::BIGINT FROM accounting",
    "merged": "SELECT coalesce(sum(merged), 0)::BIGINT FROM accounting",
    "rejected": "SELECT count(*) FROM rejects",
    "reject_reasons": "SELECT table_name, reason, count(*) AS records FROM rejects"
    " GROUP BY table_name, reason ORDER BY table_name, records DESC, reason",
    "checks": "SELECT severity, count(*) FILTER (status = 'passed') AS passed,"
    " count(*) FILTER (status = 'failed') AS failed, count(*) FILTER (status = 'reported') AS reported,"
    " count(*) FILTER (status = 'not_applicable') AS not_applicable FROM check_results GROUP BY severity"
    " ORDER BY list_position(['block', 'drop', 'warn', 'info'], severity)",
    "withdrawn": "SELECT date::VARCHAR AS date, table_name, count(*) AS rows, reason, last_version FROM tombstones"
    " GROUP BY ALL ORDER BY ALL",
    "failed_checks": "SELECT name, table_name, severity, failures, meaning FROM check_results"
    " WHERE status = 'failed' ORDER BY list_position(['block', 'drop', 'warn', 'info'], severity), name",
}
"""The figures of every dataset. `missing`, `labels` and `duplicates` are made from the schema and join them."""


def _missing(table: Table) -> str | None:
    """Missing values of each nullable column, in one scan."""
    columns = [column.name for column in table.columns if column.nullable]
    if not columns:
        return None
    names = sql.literals(columns)
    counts = ", ".join(f"count(*) - count({sql.name(name)})" for name in columns)
    return (
        f"SELECT {sql.literal(table.name)} AS table_name, unnest([{names}]) AS column_name,"
        f" unnest([{counts}]) AS missing, count(*) AS rows FROM {sql.name(table.name)}"
    )


def _labels(table: Table) -> list[str]:
    """Rows of each class of each label column."""
    return [
        f"SELECT {sql.literal(table.name)} AS table_name, {sql.literal(column.name)} AS column_name,"
        f" [{sql.literals(column.type.names)}][{sql.name(column.name)} + 1] AS class,"
        f" count(*) AS rows FROM {sql.name(table.name)} GROUP BY {sql.name(column.name)}"
        for column in table.columns
        if isinstance(column.type, Label)
    ]


def _duplicates(table: Table) -> str | None:
    """Rows that equal an earlier row in every column but the key and media (by a 64-bit hash)."""
    names = [c.name for c in table.columns if c.name not in table.key and not isinstance(c.type, Image | Audio)]
    if not names:
        return None
    return (
        f"SELECT {sql.literal(table.name)} AS table_name, count(*) AS rows,"
        f" count(*) - count(DISTINCT hash({sql.names(names)})) AS duplicates"
        f" FROM {sql.name(table.name)}"
    )


def queries(tables: tuple[Table, ...], own: Mapping[str, str]) -> dict[str, str]:
    """All queries by name: the shared ones, those made from the schema, and the builder's own.

    Raises:
        GoldsmithError: an own figure has the name of another or is no name.
    """
    made = dict(SHARED)
    missing = [query for table in tables if (query := _missing(table))]
    labels = [query for table in tables for query in _labels(table)]
    duplicates = [query for table in tables if (query := _duplicates(table))]
    order = " ORDER BY table_name, column_name"
    if missing:
        made["missing"] = f"SELECT * FROM ({' UNION ALL '.join(missing)}) WHERE missing > 0{order}"
    if labels:
        made["labels"] = f"SELECT * FROM ({' UNION ALL '.join(labels)}){order}, class"
    if duplicates:
        made["duplicates"] = (
            f"SELECT * FROM ({' UNION ALL '.join(duplicates)}) WHERE duplicates > 0 ORDER BY table_name"
        )
    for name, query in own.items():
        place = f"[{FILE} > figures > {name}]"
        if name in made or name in ("missing", "labels", "duplicates"):
            raise GoldsmithError(f"{place} is the name of a shared figure: choose another")
        if not name.isidentifier() or name.startswith("_"):
            raise GoldsmithError(f"{place} is no name for a figure: use letters, digits and '_'")
        made[name] = query.strip().rstrip(";")
    return made


class Value:
    """A value of a figure. Written into a document, it is marked with its name (and escaped, if it is text)."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value

    def __str__(self) -> str:
        return mark(self.name, number(self.value))

    def __bool__(self) -> bool:
        return bool(self.value)

    @property
    def code(self) -> str:
        """As a name in a code span."""
        return mark(self.name, code(self.value))

    @property
    def sentence(self) -> str:
        """As a builder's own sentence."""
        return mark(self.name, cell(self.value))

    @property
    def size(self) -> str:
        """As a number of bytes for people."""
        return mark(self.name, size(self.value))

    def linked(self, url: Value) -> str:
        """As a name that links to the value of `url`."""
        return mark(self.name, link(code(self.value), url.value))


class Rows:
    """A figure of several rows; as text it is a Markdown table."""

    def __init__(self, name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
        self.columns = columns
        self.rows: list[dict[str, Value]] = []
        for row in rows:
            which = " ".join(list(takewhile(lambda value: isinstance(value, str), row))[:3])
            cells = zip(columns, row, strict=True)
            self.rows.append({column: Value(f"{name} ({which}) {column}", value) for column, value in cells})

    def __iter__(self) -> Iterator[dict[str, Value]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns)]
        head = [f"| {' | '.join(markdown(name) if name != '---' else name for name in line)} |" for line in lines]
        return "\n".join([*head, *(f"| {' | '.join(str(v) for v in row.values())} |" for row in self.rows)])


class Figures:
    """The figures of a dataset folder, computed when first asked for."""

    def __init__(
        self, folder: DatasetFolder, sheet: Datasheet, files: Mapping[str, Mapping[str, list[HubFile]]]
    ) -> None:
        self.queries = queries(folder.schema.tables, sheet.figures)
        self.own = frozenset(sheet.figures)
        self.results: dict[str, Value | Rows] = {}
        self._connection = connect(folder, files)

    def get(self, name: str) -> Value | Rows:
        """The figure called `name`. One made from the schema is an empty table where the schema gives no reason for it.

        Raises:
            GoldsmithError: there is no such figure, or its query fails or is more than one SELECT.
        """
        if name not in self.results:
            if name in ("missing", "labels", "duplicates") and name not in self.queries:
                return Rows(name, [], [])
            if name not in self.queries:
                raise GoldsmithError(f"[{FILE}] unknown figure {name!r}: {nearest(name, self.queries)}")
            self.results[name] = self._run(name, self.queries[name])
        return self.results[name]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The plain values of a figure of several rows."""
        result = self.get(name)
        assert isinstance(result, Rows)
        return [{column: value.value for column, value in row.items()} for row in result]

    def _run(self, name: str, query: str) -> Value | Rows:
        place = f"[{FILE} > figures > {name}]" if name in self.own else f"[figures > {name}]"
        try:
            if not sandbox.is_select(self._connection, query):
                raise GoldsmithError(f"{place} is not one SELECT: figures only read")
            cursor = self._connection.execute(query)
            columns = [column[0] for column in cursor.description or []]
            rows = cursor.fetchall()
        except duckdb.Error as error:
            reason = " ".join(str(error).split())
            raise GoldsmithError(f"{place} fails ({reason}): mend the query") from None
        if len(rows) == 1 and len(columns) == 1:
            return Value(name, rows[0][0])
        return Rows(name, columns, rows)


class Names:
    """What templates see as `figures`: each figure as an attribute, and nothing else."""

    __slots__ = ("_get",)

    def __init__(self, figures: Figures) -> None:
        self._get = figures.get

    def __getattr__(self, name: str) -> Value | Rows:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._get(name)
