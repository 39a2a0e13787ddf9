"""Columns, tables and datasets: one declaration that everything else is made from.

The Arrow schema (with the `huggingface` metadata that `load_dataset` reads), the constraint checks, the card's field
table and the Croissant fields all come from here, so that they cannot disagree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from schemas import sql
from schemas.errors import GoldsmithError
from schemas.types import Bool, Date, Int, Label, List, Text, Type, from_json

_NAME = re.compile(r"\w[\w.-]*")
_SPLIT = re.compile(r"\w+")

KEY_TYPES = (Bool, Date, Int, Label, Text)
"""Types whose values read the same everywhere; floats and timestamps do not (`1` is `1.0` to DuckDB)."""


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: as in the files.
        type: see `schemas.types`.
        meaning: one sentence for people.
        unit: of the values, such as `s` or `log2`.
        nullable: whether a value may be missing.
        minimum, maximum: inclusive bounds; for text and lists, of the length.
        allowed: the only values there may be.
        pattern: a regular expression (RE2) that the whole text matches.
        references: `table.column` that holds every value of this column.
    """

    name: str
    type: Type
    meaning: str
    unit: str | None = None
    nullable: bool = False
    minimum: float | None = None
    maximum: float | None = None
    allowed: tuple[Any, ...] | None = None
    pattern: str | None = None
    references: str | None = None


@dataclass(frozen=True)
class Table:
    """A table: its columns, and the key that names each row for ever.

    Attributes:
        splits: the splits its rows may be in, in the order a reader should see them.
        derived: SQL over the other tables that gives all its rows (in the first split), for sums that must agree with
            them: see `schemas.derived`. No builder yields its rows, and they have no lineage.
        content: the columns in which no two rows should be equal; None: all but the last of the key, where they can
            tell rows apart; (): rows under different keys may be equal, for each is a measurement of its own.
        describes_build: its rows say how the dataset was made (thresholds, versions), not what a source record holds:
            none of them can be withdrawn.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    splits: tuple[str, ...] = ("train",)
    derived: str | None = None
    content: tuple[str, ...] | None = None
    describes_build: bool = False

    def __post_init__(self) -> None:
        for what, name, pattern in (("table", self.name, _NAME), *(("split", split, _SPLIT) for split in self.splits)):
            if not pattern.fullmatch(name):
                raise GoldsmithError(
                    f"[{self.name}] {name!r} is no name of a {what}, for files bear it: use letters, digits and _"
                )
        missing = [name for name in self.key if name not in self.names]
        if missing or not self.key:
            raise GoldsmithError(
                f"[{self.name}] key {self.key} names no column {missing}: declare it among the columns"
            )
        if unknown := [name for name in self.content or () if name not in self.names]:
            raise GoldsmithError(f"[{self.name}] content names no column {unknown}: declare it among the columns")
        for name in self.key:
            if not isinstance(self.column(name).type, KEY_TYPES):
                label = self.column(name).type.label
                raise GoldsmithError(
                    f"[{self.name} > {name}] a {label} cannot be in a key, for it is not written one way only: use text"
                )

    @property
    def names(self) -> list[str]:
        """The column names, in order."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """The column called `name`; KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def features(self) -> dict[str, Any]:
        """The Hugging Face features, as `datasets.Features.from_dict` reads them."""
        return {column.name: column.type.feature for column in self.columns}

    @property
    def arrow(self) -> pa.Schema:
        """The schema of every Parquet file of this table."""
        info = json.dumps({"info": {"features": self.features}}, ensure_ascii=False)
        arrow_fields = [pa.field(column.name, column.type.arrow) for column in self.columns]
        return pa.schema(arrow_fields, metadata={"huggingface": info})

    def row_ids(self, rows: pa.RecordBatch | pa.Table) -> pa.Array | pa.ChunkedArray:
        """The id of each row: its key values, joined by `/`. In a key of several columns a `%` within a value is
        written `%25` and a `/` `%2F`, so that different keys have different ids."""
        parts = [pc.cast(rows.column(name), pa.string()) for name in self.key]
        if len(parts) > 1:
            for old, new in (("%", "%25"), ("/", "%2F")):
                parts = [pc.replace_substring(part, old, new) for part in parts]  # pyright: ignore
        return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, "/")  # pyright: ignore

    def row_id_sql(self, alias: str = "") -> str:
        """The SQL expression of a row's id, equal to `row_ids`; `alias` is the table's alias in the query."""
        prefix = f"{alias}." if alias else ""
        parts = {name: f"{prefix}{sql.name(name)}::VARCHAR" for name in self.key}
        if len(parts) == 1:
            return parts[self.key[0]]
        texts = {name for name in parts if isinstance(self.column(name).type, Text)}
        return " || '/' || ".join(_escaped(part) if name in texts else part for name, part in parts.items())

    def to_json(self) -> dict[str, Any]:
        """A plain form that `Table.from_json` reads back; empty attributes are left out."""
        columns = []
        for column in self.columns:
            form = {field.name: getattr(column, field.name) for field in fields(column)}
            form["type"] = column.type.to_json()
            columns.append({name: value for name, value in form.items() if value is not None and value is not False})
        return {
            "name": self.name,
            "meaning": self.meaning,
            "columns": columns,
            "key": list(self.key),
            "splits": list(self.splits),
            **({"derived": self.derived} if self.derived else {}),
            **({"content": list(self.content)} if self.content is not None else {}),
            **({"describes_build": True} if self.describes_build else {}),
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Table:
        """Read back what `to_json` wrote."""
        columns = []
        for column in form["columns"]:
            allowed = tuple(column["allowed"]) if "allowed" in column else None
            columns.append(Column(**{**column, "type": from_json(column["type"]), "allowed": allowed}))
        key, splits = tuple(form["key"]), tuple(form["splits"])
        content = tuple(form["content"]) if "content" in form else None
        return cls(
            form["name"], form["meaning"], tuple(columns), key, splits, form.get("derived"), content,
            form.get("describes_build", False),
        )  # fmt: skip


def _escaped(text: str) -> str:
    """SQL that escapes a text. Few texts need it: to look for both signs first costs less than to replace one."""
    escaped = f"replace(replace({text}, '%', '%25'), '/', '%2F')"
    return f"CASE WHEN contains({text}, '%') OR contains({text}, '/') THEN {escaped} ELSE {text} END"


@dataclass(frozen=True)
class Dataset:
    """A dataset: a name and its tables, the main one first.

    Attributes:
        name: short, lower case; the command line's name for it.
        title: for people.
        summary: one paragraph for the top of the card.
        language: BCP-47 tags of the natural languages in it, none for other data.
        tasks: Hub task categories.
        tags: free Hub tags.

    Raises:
        GoldsmithError: a column references what is no column, or a text a number.
    """

    name: str
    title: str
    summary: str
    tables: tuple[Table, ...]
    language: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        known = {f"{table.name}.{column.name}": column for table in self.tables for column in table.columns}
        for name, column in known.items():
            if column.references is None:
                continue
            target = known.get(column.references)
            where = f"[{name.replace('.', ' > ')}] references {column.references}"
            if target is None:
                raise GoldsmithError(f"{where}, which is no column: mend the schema")
            kind = column.type.of if isinstance(column.type, List) else column.type
            if isinstance(kind, Text) != isinstance(target.type, Text):
                raise GoldsmithError(f"{where}, which is of another type: mend the schema")

    def table(self, name: str) -> Table:
        """The table called `name`; KeyError if there is none."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """A plain form that `Dataset.from_json` reads back."""
        return {
            "name": self.name,
            "title": self.title,
            "summary": self.summary,
            "tables": [table.to_json() for table in self.tables],
            "language": list(self.language),
            "tasks": list(self.tasks),
            "tags": list(self.tags),
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Dataset:
        """Read back what `to_json` wrote."""
        tables = tuple(Table.from_json(table) for table in form["tables"])
        words = {name: tuple(form[name]) for name in ("language", "tasks", "tags")}
        return cls(form["name"], form["title"], form["summary"], tables, **words)
