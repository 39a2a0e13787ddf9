"""All rows that an audit speaks for, and a fingerprint of each, so that a bound can never be claimed for other rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from quality.connect import Session, add_views, opened
from quality.failures import reason
from quality.own import add_own_views, missing
from schemas import Audit, CheckSet, DatasetFolder, GoldsmithError, sql

SCHEMA = pa.schema(
    [
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("stratum", pa.string(), nullable=False),
        pa.field("fingerprint", pa.string(), nullable=False),
    ]
)
"""`audit/<name>/population.parquet`. A fingerprint is the MD5 of what people were shown and of the dataset's answer."""

ONE_STRATUM = "all"
_OPTIONAL = ("stratum", "made_by", "answer")


@contextmanager
def session(folder: DatasetFolder, checks: CheckSet) -> Iterator[Session]:
    """A connection with the dataset's tables and views."""
    with opened(folder, None) as open_session:
        add_views(open_session, set())
        add_own_views(open_session, checks.views)
        yield open_session


def population(session: Session, audit: Audit) -> pa.Table:
    """item_id, stratum, fingerprint of every row the audit speaks for, in the order of `item_id`.

    Raises:
        GoldsmithError: its SQL does not run, lacks a column, or gives an item twice or without an id.
    """
    query = _query(session, audit, audit.sql)
    columns = _columns(session, audit, query)
    stratum = (
        "coalesce(stratum::VARCHAR, '(none)') AS stratum" if "stratum" in columns else f"'{ONE_STRATUM}' AS stratum"
    )
    shown = [show.column for show in audit.shows] + (["answer"] if "answer" in columns else [])
    parts = [_hashed(name, columns[name]) for name in shown]
    table = (
        session.con.sql(f"SELECT item_id::VARCHAR AS item_id, {stratum}, md5({' || '.join(parts)}) AS fingerprint "
                        f"FROM ({query}) ORDER BY item_id")
        .to_arrow_table()
        .cast(SCHEMA.with_metadata(None), safe=True)
    )  # fmt: skip
    ids = table.column("item_id")
    if ids.null_count or len(ids.unique()) != len(ids):
        raise GoldsmithError(f"[audit {audit.name}] its SQL gives an item twice or without an id: mend it")
    if not len(ids):
        raise GoldsmithError(f"[audit {audit.name}] its SQL gives no item: there is nothing to audit here")
    return table


def items(session: Session, audit: Audit, ids: Sequence[str]) -> list[dict[str, Any]]:
    """What is shown of some items, in the order of `ids`; all optional columns are there, None where not given."""
    return _fetch(session, audit, audit.sql, ids)


def gold_items(session: Session, audit: Audit) -> list[dict[str, Any]]:
    """The items whose answer is known, in the order of their ids.

    Raises:
        GoldsmithError: one has no answer.
    """
    if not audit.gold_sql:
        return []
    rows = _fetch(session, audit, audit.gold_sql, None)
    if bare := [row["item_id"] for row in rows if row["answer"] is None]:
        raise GoldsmithError(f"[audit {audit.name} > gold {bare[0]}] has no answer: mend gold_sql")
    return rows


def _fetch(session: Session, audit: Audit, text: str, ids: Sequence[str] | None) -> list[dict[str, Any]]:
    query = _query(session, audit, text)
    columns = _columns(session, audit, query)
    wanted = ["item_id", *(name for name in _OPTIONAL if name in columns), *(show.column for show in audit.shows)]
    names = sql.names(tuple(dict.fromkeys(wanted)))
    chosen = f"SELECT * REPLACE (item_id::VARCHAR AS item_id) FROM (SELECT {names} FROM ({query}))"
    if ids is None:
        found = session.con.sql(f"SELECT * FROM ({chosen}) ORDER BY item_id").to_arrow_table()
    else:
        session.con.register("_wanted", pa.table({"wanted": pa.array(ids, pa.string())}))
        found = session.con.sql(
            f"SELECT * FROM ({chosen}) WHERE item_id IN (SELECT wanted FROM _wanted)"
        ).to_arrow_table()
        session.con.unregister("_wanted")
    by_id = {row["item_id"]: {**dict.fromkeys(_OPTIONAL), **row} for row in found.to_pylist()}
    return [by_id[name] for name in (sorted(by_id) if ids is None else ids)]


def _query(session: Session, audit: Audit, text: str) -> str:
    if absent := missing(session, (audit.table, *audit.needs)):
        raise GoldsmithError(f"[audit {audit.name}] the dataset has no {', '.join(absent)}: it cannot be audited here")
    return text.strip().rstrip(";")


def _columns(session: Session, audit: Audit, query: str) -> dict[str, str]:
    try:
        columns = {row[0]: row[1] for row in session.rows(f"DESCRIBE {query}")}
    except duckdb.Error as error:
        raise GoldsmithError(f"[audit {audit.name}] its SQL does not run ({reason(error)}): mend it") from None
    if absent := [name for name in ("item_id", *(show.column for show in audit.shows)) if name not in columns]:
        raise GoldsmithError(f"[audit {audit.name}] its SQL gives no column {absent[0]}: mend it")
    return columns


def _hashed(name: str, kind: str) -> str:
    """Text that stands for a value: media by their bytes, else the MD5 of its JSON; of fixed length, so unambiguous."""
    quoted = sql.name(name)
    value = f"{quoted}.bytes" if kind.startswith('STRUCT("bytes" BLOB') else f"to_json({quoted})::VARCHAR"
    return f"coalesce(md5({value}), repeat('0', 32))"
