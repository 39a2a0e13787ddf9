"""The slicing criterion of a fix: the statements that it changes or guards, and the sinks behind them."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from builders.verivul.access import key_of, path_of
from builders.verivul.git import Hunks
from builders.verivul.parse import field, nodes, text_of
from builders.verivul.slicer import Function, head

_NEVER = 10**9


@dataclass(frozen=True)
class Criterion:
    """Statements of one side.

    Attributes:
        changed: those on the fix's lines; `sinks`: those that can go wrong afterwards with the same data.
    """

    changed: tuple[Node, ...]
    sinks: tuple[Node, ...]

    @property
    def statements(self) -> tuple[Node, ...]:
        """All of them."""
        return self.changed + self.sinks


def criteria(before: Function, after: Function, hunks: Hunks) -> tuple[Criterion, Criterion]:
    """The criterion before and after the fix.

    A fix that only inserts a check changes no statement of the before side: there the sinks are the criterion.
    """
    changed = before.at(hunks.deleted), after.at(hunks.added)
    paths: set[str] = set()
    for function, statements in zip((before, after), changed, strict=True):
        for node in statements:
            paths |= function.reads[node.id] | function.writes[node.id]
    inserted = min(hunks.inserted, default=_NEVER)
    sides = []
    for function, statements, old in ((before, changed[0], True), (after, changed[1], False)):
        start = min((node.start_byte for node in statements), default=_NEVER)
        sinks = [
            node
            for node in function.statements
            if node.type != "compound_statement"
            and node not in statements
            and function.is_sink(node)
            and (
                _inside(function, node, statements)
                or (
                    _follows(function, node, start, inserted if old else _NEVER)
                    and _shares(paths, function.reads[node.id])
                )
            )
        ]
        sides.append(Criterion(tuple(statements), tuple(sinks)))
    return sides[0], sides[1]


def _inside(function: Function, node: Node, statements: list[Node]) -> bool:
    """Whether a changed condition or loop decides if a statement runs."""
    parent = function.parent[node.id]
    while parent is not None:
        if parent in statements:
            return True
        parent = function.parent[parent.id]
    return False


def _follows(function: Function, node: Node, start: int, inserted: int) -> bool:
    after = node.start_byte >= start or node.start_point[0] + function.line >= inserted
    return after or function.in_loop_after(node, start)


def _shares(paths: set[str], read: set[str]) -> bool:
    return any(path in read or any(other.startswith(path + ".") for other in read) for path in paths)


def null_checked(statements: tuple[Node, ...]) -> set[str]:
    """What these statements compare with NULL, as `key_of` calls it: only these are worth being NULL in a harness."""
    found = set()
    for node in (inner for statement in statements for part in head(statement) for inner in nodes(part)):
        operands: list[Node] = []
        if node.type == "binary_expression":
            operator = text_of(node.child_by_field_name("operator"))
            left, right = field(node, "left"), field(node, "right")
            if operator in ("&&", "||"):
                operands = [left, right]
            elif operator in ("==", "!="):
                operands = [one for one, other in ((left, right), (right, left)) if text_of(other) in ("NULL", "0")]
        elif node.type == "unary_expression" and node.children[0].type == "!":
            operands = [field(node, "argument")]
        elif node.type == "parenthesized_expression" and node.parent is not None and node.parent.type == "if_statement":
            operands = list(node.named_children)
        found |= {key_of(path) for path in map(path_of, operands) if path}
    return found
