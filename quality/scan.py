"""Scans a table for rows that break a constraint, and for the hashes of what must not repeat.

DuckDB streams the scan; a row in order sends its hashes and nothing else. Decoding text is most of what checking costs,
so hashes that fit the memory budget ride along with the constraints of their columns, which are then not read again.
"""

from __future__ import annotations

import numpy as np

from quality import sql
from quality.connect import Session
from quality.constraints import Constraint, table_constraints
from quality.digest import Digest
from quality.ledger import Ledger
from quality.repeats import BATCH_ROWS, Numbers, Suspects, id_hash, is_number, row_hash
from schemas import Table

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
    fit = 0 if table.name in session.raw else session.sort_bytes // max(1, rows * 8)
    hashed = list(dict.fromkeys(hashed))[:fit]
    if not constraints and not hashed and not ids:
        return
    hashes = [row_hash(table, columns) for columns in hashed] + [id_hash(table)] * ids
    found = Digest()
    collected = {columns: Numbers(rows, session.buffers) for columns in hashed}
    with ledger.together(table, [constraint.check for constraint in constraints]) as add:
        held: list[str] = []
        for batch in session.con.sql(_query(table, source, constraints, hashes)).to_arrow_reader(BATCH_ROWS):
            for numbers, values in zip(collected.values(), batch.columns[1:], strict=False):
                numbers.add(values)
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


def _remember(session: Session, table: Table, collected: dict[tuple[str, ...], Numbers]) -> None:
    """Keep what repeats. A row is known by its key where that is a number: DuckDB then decodes texts of few rows."""
    keys = collected.pop(table.key, None)
    for columns, numbers in collected.items():
        if keys is not None and is_number(table, table.key):
            suspects = Suspects(table.key, keys.values[numbers.repeated_places()])
        else:
            suspects = Suspects(columns, numbers.repeated())
        session.suspects[table.name, columns] = suspects
        numbers.release()
    if keys is not None:
        session.suspects[table.name, table.key] = Suspects(table.key, keys.repeated())
        keys.release()


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
    return f"to_json({{'id': {sql.row_id(table)}, 'faults': {faults}}})::VARCHAR"
