"""The checks that a schema's columns declare; `quality.scan` runs all of a table at once.

For each: a condition under which a value fails (null never fails another check than `not_null`), a message, and the SQL
a person can run. Names are `<table>.<column>.<constraint>`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quality import duck
from schemas import Check, Column, Float, GoldsmithError, Int, Json, Label, List, Struct, Table, Text, sql
from schemas.types import Type


@dataclass(frozen=True)
class Constraint:
    """A check on one row: `fails` is a condition in SQL, `message` an expression that says what is wrong."""

    check: Check
    column: str
    fails: str
    message: str


def table_constraints(table: Table) -> list[Constraint]:
    """The constraints of a table's columns, but for keys and references.

    Raises:
        GoldsmithError: a column declares what its type cannot have.
    """
    return [constraint for column in table.columns for constraint in _column_constraints(table, column)]


def _column_constraints(table: Table, column: Column) -> list[Constraint]:
    value = sql.name(column.name)
    found: list[Constraint] = []

    def add(kind: str, meaning: str, fails: str, what: str, advice: str) -> None:
        shown = f"SELECT {duck.row_id(table)} AS id, {value} FROM {sql.name(table.name)} WHERE {fails}"
        name = f"{table.name}.{column.name}.{kind}"
        check = Check(name, meaning, "block", table.name, shown, advice=advice)
        found.append(Constraint(check, column.name, fails, f"{sql.literal(column.name)} || {what}"))

    mend = "Mend the builder, or reject the record there with a reason; if the value is right, mend the schema."
    if not column.nullable:
        meaning = f"{column.name} is never missing"
        add("not_null", meaning, f"{value} IS NULL", "' is null, must not be'", mend)
    given = f"' is ' || left({value}::VARCHAR, 60)"
    fault = _type_fault(column.type, value)
    if fault:
        kind, words = _type_words(column.type)
        add(kind, f"{column.name} is {words}", fault, f"{given} || {sql.literal(f', must be {words}')}", mend)
    size = _measure(table, column) if (column.minimum, column.maximum) != (None, None) else None
    if size and column.minimum is not None:
        fails, bound = size.below(column.minimum), duck.number(column.minimum)
        add("minimum", f"{size.words} is at least {bound}", fails, f"{size.shown} || ', below {bound}'", mend)
    if size and column.maximum is not None:
        fails, bound = size.above(column.maximum), duck.number(column.maximum)
        add("maximum", f"{size.words} is at most {bound}", fails, f"{size.shown} || ', above {bound}'", mend)
    if column.allowed is not None:
        listed = ", ".join(str(item) for item in column.allowed)
        fails = _each(column, value, lambda item: f"{item} NOT IN ({sql.literals(column.allowed or ())})")
        add("allowed", f"{column.name} is one of {listed}", fails, f"{given} || ', which is not allowed'", mend)
    if column.pattern is not None:
        pattern = sql.literal(column.pattern)
        fails = _each(column, value, lambda item: f"NOT regexp_full_match({item}, {pattern})")
        meaning = f"{column.name} matches {column.pattern} as a whole"
        add("pattern", meaning, fails, f"{given} || ', which does not match ' || {pattern}", mend)
    return found


def _each(column: Column, value: str, fails: Callable[[str], str]) -> str:
    """The condition on a value, or on any item of a list."""
    if isinstance(column.type, List):
        return f"len(list_filter({value}, lambda item: {fails('item')})) > 0"
    return fails(value)


def _type_fault(kind: Type, value: str, depth: int = 0) -> str:
    """The condition under which a value is none of its type, though the file can hold it; empty if there is no such."""
    match kind:
        case Float():
            return f"NOT isfinite({value})"
        case Label(names):
            return f"NOT ({value} BETWEEN 0 AND {len(names) - 1})"
        case Json():
            return f"NOT json_valid({value}::VARCHAR)"
        case List(of):
            item = f"item{depth}"
            inner = _type_fault(of, item, depth + 1)
            return f"len(list_filter({value}, lambda {item}: {inner})) > 0" if inner else ""
        case Struct(fields):
            faults = [_type_fault(of, f"{value}.{sql.name(field)}", depth) for field, of in fields]
            return " OR ".join(f"({fault})" for fault in faults if fault)
    return ""


def _type_words(kind: Type) -> tuple[str, str]:
    """(the constraint's name, what must hold)."""
    match kind:
        case Float():
            return "finite", "a finite number"
        case Label(names):
            return "label", f"a label from 0 to {len(names) - 1}"
        case Json():
            return "json", "valid JSON"
    return "parts", "made of finite numbers, declared labels and valid JSON"


@dataclass(frozen=True)
class _Measure:
    """What a bound compares: the value itself, or a length.

    The length of a text in characters is slow to count. Its bytes are stored, and bound it: characters <= bytes <= 4 x
    characters. So bytes decide nearly every row, and characters only what is left.
    """

    words: str
    shown: str
    value: str
    kind: str = "BIGINT"
    coarse: str | None = None

    def below(self, bound: float) -> str:
        exact = f"{self.value} < {self._bound(bound)}"
        return exact if self.coarse is None else f"({self.coarse} < {duck.number(bound * 4)} AND {exact})"

    def above(self, bound: float) -> str:
        exact = f"{self.value} > {self._bound(bound)}"
        if self.kind in ("FLOAT", "DOUBLE"):  # not a number sorts above all numbers, and is a fault of its own
            exact = f"({exact} AND NOT isnan({self.value}))"
        return exact if self.coarse is None else f"({self.coarse} > {duck.number(bound)} AND {exact})"

    def _bound(self, bound: float) -> str:
        # A 32-bit column is compared in its own precision: 0.1 stored there is above 0.1 in 64 bits.
        return duck.number(bound) + ("::FLOAT" if self.kind == "FLOAT" else "")


def _measure(table: Table, column: Column) -> _Measure:
    value, called = sql.name(column.name), column.name
    match column.type:
        case Text():
            shown = f"' has ' || length({value}) || ' characters'"
            return _Measure(f"length of {called}", shown, f"length({value})", coarse=f"strlen({value})")
        case List():
            return _Measure(f"length of {called}", f"' has ' || len({value}) || ' items'", f"len({value})")
        case Int() | Float():
            return _Measure(called, f"' is ' || {value}::VARCHAR", value, duck.type_of(column.type))
    raise GoldsmithError(
        f"[{table.name} > {called}] a column of type {column.type.label} has no minimum or maximum: leave them out"
    )
