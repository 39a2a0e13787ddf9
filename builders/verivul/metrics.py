"""Structural metrics of C code, counted on the syntax tree (comments do not count).

Densities are per line of code; a line of code holds at least one token.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from tree_sitter import Node

from builders.verivul.parse import NAMES, field, names, parse, text_of

_ALLOCATES = re.compile(r"(^|_)(m|c|re)?alloc\w*$|strn?dup$|malloc", re.I)
_FREES = re.compile(r"(^|_)free|_destroy$|_close$", re.I)
_DECISIONS = frozenset(("if_statement", "while_statement", "for_statement", "do_statement", "conditional_expression"))
_LOOPS = frozenset(("for_statement", "while_statement", "do_statement"))
_NESTING = _LOOPS | {"if_statement", "switch_statement"}
_OPERATIONS = names(
    """
    unary_expression assignment_expression update_expression pointer_expression conditional_expression
    cast_expression sizeof_expression subscript_expression field_expression call_expression comma_expression
    """
)
_WORDS = frozenset(
    "if for while return goto switch case break continue do".split()  # noqa: SIM905
)
_LITERALS = frozenset(("number_literal", "string_literal", "char_literal"))

NAMES_OF_METRICS = (
    "loc", "functions", "cyclomatic", "decision_density", "max_nesting", "loop_density", "pointer_density",
    "address_density", "subscript_density", "field_density", "allocations", "call_density", "cast_density", "gotos",
    "identifier_ratio", "identifier_guiraud", "halstead_volume", "halstead_difficulty",
)  # fmt: skip


def measure(text: str, functions: Iterable[str] | None = None) -> dict[str, float]:
    """The metrics of C text.

    Args:
        functions: names of the functions that count; None for the whole text with its types and globals.
    """
    root = parse(text)
    if functions is None:
        counted, count = [root], sum(child.type == "function_definition" for child in root.children)
    else:
        wanted = set(functions)
        counted = [child for child in root.children if child.type == "function_definition" and _name(child) in wanted]
        count = len(counted)
    tally = _Tally()
    for node in counted:
        tally.walk(node)
    return tally.metrics(count)


def _name(node: Node) -> str:
    from builders.verivul.parse import declared_name

    return declared_name(node.child_by_field_name("declarator")) or ""


class _Tally:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.operators: Counter[str] = Counter()
        self.operands: Counter[str] = Counter()
        self.identifiers: list[str] = []
        self.lines: set[int] = set()
        self.deepest = 0

    def walk(self, root: Node) -> None:
        waiting = [(root, 0)]
        while waiting:
            node, depth = waiting.pop()
            if node.type == "comment":
                continue
            if node.child_count == 0:
                self.lines.update(range(node.start_point[0], node.end_point[0] + 1))
            parent = node.parent
            if node.type in _NESTING and not (
                node.type == "if_statement" and parent is not None and parent.type == "else_clause"
            ):
                depth += 1
                self.deepest = max(self.deepest, depth)
            self._count(node)
            self._halstead(node)
            waiting.extend((child, depth) for child in node.children)

    def _count(self, node: Node) -> None:
        counts = self.counts
        counts["decision"] += node.type in _DECISIONS
        counts["loop"] += node.type in _LOOPS
        match node.type:
            case "case_statement":
                counts["decision"] += node.child_by_field_name("value") is not None
            case "binary_expression":
                counts["decision"] += text_of(field(node, "operator")) in ("&&", "||")
            case "pointer_expression":
                counts["dereference" if node.children[0].type == "*" else "address"] += 1
            case "subscript_expression":
                counts["subscript"] += 1
            case "field_expression":
                counts["field"] += 1
                counts["dereference"] += text_of(field(node, "operator")) == "->"
            case "call_expression":
                name = text_of(field(node, "function"))
                counts["call"] += 1
                counts["allocation"] += bool(_ALLOCATES.search(name)) or bool(_FREES.search(name))
            case "cast_expression":
                counts["cast"] += 1
            case "goto_statement":
                counts["goto"] += 1

    def _halstead(self, node: Node) -> None:
        if node.type == "binary_expression":
            self.operators[text_of(field(node, "operator"))] += 1
        elif node.type in _OPERATIONS:
            operator = node.child_by_field_name("operator")
            self.operators[f"{node.type}:{text_of(operator)}"] += 1
        elif node.child_count == 0 and node.type in _WORDS:
            self.operators[node.type] += 1
        if node.type in NAMES:
            self.identifiers.append(text_of(node))
            self.operands[text_of(node)] += 1
        elif node.type in _LITERALS:
            self.operands[text_of(node)] += 1

    def metrics(self, functions: int) -> dict[str, float]:
        counts, lines = self.counts, max(1, len(self.lines))
        total, different = len(self.identifiers), len(set(self.identifiers))
        operators, operands = sum(self.operators.values()), sum(self.operands.values())
        vocabulary = len(self.operators) + len(self.operands)
        values = (
            len(self.lines), functions, counts["decision"] + functions, counts["decision"] / lines, self.deepest,
            counts["loop"] / lines, counts["dereference"] / lines, counts["address"] / lines, counts["subscript"]
            / lines, counts["field"] / lines, counts["allocation"], counts["call"] / lines, counts["cast"] / lines,
            counts["goto"],
            different / max(1, total), different / math.sqrt(max(1, total)),
            (operators + operands) * math.log2(max(2, vocabulary)),
            len(self.operators) / 2 * operands / max(1, len(self.operands)),
        )  # fmt: skip
        return dict(zip(NAMES_OF_METRICS, map(float, values), strict=True))


def vector(metrics: Mapping[str, float]) -> list[float]:
    """The values in the order of `NAMES_OF_METRICS`."""
    return [metrics[name] for name in NAMES_OF_METRICS]
