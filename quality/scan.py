"""Scans a table for rows that break a constraint, and for the hashes of what must not repeat.

DuckDB streams the scan; a row in order sends its hashes and nothing else. Decoding text is most of what checking costs,
so hashes that fit the memory budget ride along with the constraints of their columns, which are then not read again.
"""

from __future__ import annotations

from itertools import chain, islice

import numpy as np

from quality import duck
from quality.connect import Session
from quality.constraints import Constraint, table_constraints
from quality.digest import Digest
from quality.ledger import Ledger
from quality.repeats import BATCH_ROWS, NULL, Hashes, Numbers, Suspects, id_hash, is_number, width
from schemas import Table, sql

_HELD_ROWS = 20_000


def check_constraints(ledger: Ledger, table: Table, hashed: list[tuple[str, ...]], *, ids: bool = False) -> None:
    """Run all constraints of a table, in the order of its columns, and look for repeats among `hashed` columns.

    What repeats is remembered in the session for `quality.unique`; columns beyond the budget are left to it. With
    `ids`, the session remembers the digest of the row ids for `quality.links`.
    """
    session = ledger.session
    constraints = table_constraints(table)
    source = session.raw.get(table.name, table.name)
    (rows,) = session.one(f"SELECT count(*) FROM {sql.name(source)}")
    collected = {} if table.name in session.raw else _collected(session, table, rows, hashed)
    if not constraints and not collected and not ids:
        return
    asked = {columns: numbers.sent(table, columns) for columns, numbers in collected.items()}
    hashes = [*chain.from_iterable(asked.values()), *[id_hash(table)] * ids]
    found = Digest()
    with ledger.together(table, [constraint.check for constraint in constraints]) as add:
        held: list[str] = []
        for batch in session.con.sql(_query(table, source, constraints, hashes)).to_arrow_reader(BATCH_ROWS):
            sent = iter(batch.columns[1:])
            for columns, numbers in collected.items():
                numbers.add(*islice(sent, len(asked[columns])))
            if ids:
                found.add(np.from_dlpack(batch.columns[-1]))
            if batch.column(0).null_count < len(batch):
                held += batch.column(0).drop_null().to_pylist()
            if len(held) >= _HELD_ROWS:
                add(held)
                held = []
        add(held)
    _remember(session, table, collected)
    if ids:
        session.ids[table.name] = found


def _collected(
    session: Session, table: Table, rows: int, hashed: list[tuple[str, ...]]
) -> dict[tuple[str, ...], Numbers | Hashes]:
    """What is to be collected of a scan, as far as the memory budget goes.

    Where the key is a number, a row is known by it: 40 bits of a hash are enough then, and DuckDB decodes texts of few
    rows when they are compared. Where nothing else fits, the key may.
    """
    hashed = list(dict.fromkeys(hashed))
    room = session.sort_bytes // max(1, rows)
    if table.key in hashed and is_number(table, table.key):
        bounds = _bounds(session, table)
        left = room - width(bounds)
        if left >= Hashes.WIDTH or (left >= 0 and room < 8):
            others = [columns for columns in hashed if columns != table.key][: left // Hashes.WIDTH]
            hashes = {columns: Hashes(rows, session.buffers) for columns in others}
            return {**hashes, table.key: Numbers(rows, session.buffers, bounds)}
    return {columns: Numbers(rows, session.buffers) for columns in hashed[: room // 8]}


def _bounds(session: Session, table: Table) -> tuple[int, int]:
    """The least and the greatest key; DuckDB takes them from the files' footers."""
    key = sql.name(table.key[0])
    low, high, missing = session.one(
        f"SELECT min({key}), max({key}), count(*) - count({key}) FROM {sql.name(table.name)}"
    )
    return (NULL if missing else low or 0, high or 0)


def _remember(session: Session, table: Table, collected: dict[tuple[str, ...], Numbers | Hashes]) -> None:
    """Keep what repeats."""
    keys = collected.get(table.key)
    for columns, numbers in collected.items():
        if isinstance(numbers, Numbers):
            suspects = Suspects(columns, numbers.repeated())
        else:
            assert isinstance(keys, Numbers)
            suspects = Suspects(table.key, keys.at(numbers.repeated_places()))
        session.suspects[table.name, columns] = suspects
        numbers.release()


def _query(table: Table, source: str, constraints: list[Constraint], hashes: list[str]) -> str:
    """The faults of each row (null where there is none) and its hashes; rows without a fault only where they have
    hashes to send."""
    wrong = " OR ".join(f"({constraint.fails})" for constraint in constraints) or "false"
    fault = _fault(table, constraints)
    if not hashes:
        return f"SELECT {fault} AS fault FROM {sql.name(source)} WHERE {wrong}"
    named = [f"{hashed} AS h{index}" for index, hashed in enumerate(hashes)]
    # Inside CASE, DuckDB tests a condition only on rows that no earlier one has decided.
    return f"SELECT CASE WHEN {wrong} THEN {fault} END AS fault, {', '.join(named)} FROM {sql.name(source)}"


def _fault(table: Table, constraints: list[Constraint]) -> str:
    """What is wrong with a row, in SQL: JSON text of {id, faults: [{number, message}]}. It is text because a nested
    column costs as much for rows without a fault as for those with one."""
    said = ", ".join(
        f"CASE WHEN {constraint.fails} THEN {{'number': {number}, 'message': {constraint.message}}} END"
        for number, constraint in enumerate(constraints)
    )
    if not said:
        return "NULL::VARCHAR"
    faults = f"list_filter([{said}], lambda fault: fault IS NOT NULL)"
    return f"to_json({{'id': {duck.row_id(table)}, 'faults': {faults}}})::VARCHAR"
