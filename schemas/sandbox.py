"""SQL of others over files that it may read, and nothing else.

A dataset's folder brings SQL with it (`derived` in its schema, the figures of its documents), and the folder may be
anybody's. A connection is locked before it runs any: it then reads the files named and no other, writes none, loads no
extension and reaches no network, and what runs is one SELECT.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb

from schemas import sql

_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_TABLE_FUNCTIONS = frozenset({"generate_series", "json_each", "json_tree", "range", "repeat", "unnest"})


def lock(connection: duckdb.DuckDBPyConnection, paths: Iterable[Path]) -> None:
    """Let a connection read these files and its own tables, and nothing else, from now on."""
    connection.execute("SET python_enable_replacements = false")
    connection.execute(f"SET allowed_paths = {sql.allowed(paths)}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def is_select(connection: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Whether a text is one SELECT that only reads.

    What parses as a SELECT may still write: DuckDB takes a COPY as the body of a common table expression, and a table
    function such as `query` runs a text. A lock does not stop that, for files that may be read may be written, too.

    Raises:
        duckdb.Error: it is no SQL.
    """
    statements = connection.extract_statements(text)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        return False
    ((tree,),) = connection.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
    parsed = json.loads(tree)
    return not parsed["error"] and all(_reads(node) for node in _nodes(parsed["statements"]))


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """The objects of a parsed query, at all depths."""
    rest = [tree]
    while rest:
        item = rest.pop()
        if isinstance(item, dict):
            yield item
            rest += item.values()
        elif isinstance(item, list):
            rest += item


def _reads(node: dict[str, Any]) -> bool:
    kind = node.get("type")
    if kind == "TABLE_FUNCTION":
        return node["function"].get("function_name") in _TABLE_FUNCTIONS
    return not (isinstance(kind, str) and kind.endswith("_NODE")) or kind in _QUERIES
