"""What code says about its data: which pointers are indexed, cast, walked as strings, which lengths go with them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field as data_field

from tree_sitter import Node

from builders.verivul.access import last_name, path_of, uses
from builders.verivul.closure import Closure
from builders.verivul.ctypes import CType, declared, resolve
from builders.verivul.parse import field, nodes, parse, text_of, words

_STRING_CALL = re.compile(r"str(len|cmp|cpy|cat|chr|dup|Equal|Cat|str)|atoi|strto")
_MEMBER = re.compile(r"(?:->|\.)\s*([A-Za-z_]\w*)")
_ARGUMENT_CALL = re.compile(r"str|mem|printf|Str|Equal|Cat")


@dataclass
class Facts:
    """By the last name in the path.

    Attributes:
        used: all identifiers; `members` those after `.` or `->`, also in macros.
        casts: name -> the record type (and how it is written) that a pointer is cast to.
        indexed: subscripted, or moved by arithmetic.
        loops: in the condition of a loop.
        strings: given to string functions; `arguments`: to string, memory or print functions.
        limits: buffer -> names that its index is compared with.
    """

    used: set[str] = data_field(default_factory=set)
    members: set[str] = data_field(default_factory=set)
    casts: dict[str, tuple[CType, str]] = data_field(default_factory=dict)
    indexed: set[str] = data_field(default_factory=set)
    loops: set[str] = data_field(default_factory=set)
    strings: set[str] = data_field(default_factory=set)
    arguments: set[str] = data_field(default_factory=set)
    limits: dict[str, list[str]] = data_field(default_factory=dict)


def gather(sides: Iterable[Closure]) -> Facts:
    """The facts of both sides together, so that both get the same harness."""
    facts = Facts()
    for side in sides:
        for text in [*side.code, *(macro.body for macro in side.macros.values())]:
            facts.used.update(words(text))
            facts.members.update(_MEMBER.findall(text))
        for text in side.code:
            _gather(text, side, facts)
    return facts


def _gather(text: str, side: Closure, facts: Facts) -> None:
    compared: list[tuple[set[str], set[str]]] = []
    subscripts: list[tuple[str, set[str]]] = []
    for node in nodes(parse(text)):
        match node.type:
            case "cast_expression":
                _cast(node, side, facts)
            case "subscript_expression":
                if path := path_of(node.child_by_field_name("argument")):
                    facts.indexed.add(last_name(path))
                    subscripts.append((last_name(path), uses(field(node, "index"))))
            case "update_expression":
                if path := path_of(node.child_by_field_name("argument")):
                    facts.indexed.add(last_name(path))
            case "binary_expression":
                _binary(node, facts, compared, subscripts)
            case "for_statement" | "while_statement" | "do_statement":
                condition = node.child_by_field_name("condition")
                facts.loops |= set(map(last_name, uses(condition))) if condition is not None else set()
            case "call_expression":
                _call(node, facts)
    for buffer, index in subscripts:
        for left, right in compared:
            for one, other in ((left, right), (right, left)):
                if one & index:
                    facts.limits.setdefault(buffer, []).extend(sorted(map(last_name, other - index)))


def _cast(node: Node, side: Closure, facts: Facts) -> None:
    path, target = path_of(node.child_by_field_name("value")), node.child_by_field_name("type")
    declarator = target.child_by_field_name("declarator") if target is not None else None
    if path and target is not None and declarator is not None:
        made = declared(declarator, resolve(target.child_by_field_name("type"), side))
        if made.kind == "pointer" and made.target.kind == "record":
            facts.casts.setdefault(last_name(path), (made.target, text_of(target)))


def _binary(
    node: Node, facts: Facts, compared: list[tuple[set[str], set[str]]], subscripts: list[tuple[str, set[str]]]
) -> None:
    operator = text_of(node.child_by_field_name("operator"))
    left, right = field(node, "left"), field(node, "right")
    if operator in ("+", "-"):
        facts.indexed |= {last_name(path) for path in (path_of(left), path_of(right)) if path}
        if operator == "+" and (path := path_of(left)):
            subscripts.append((last_name(path), uses(right)))
    elif operator in ("<", "<=", ">", ">=", "!="):
        compared.append((uses(left), uses(right)))


def _call(node: Node, facts: Facts) -> None:
    function = text_of(node.child_by_field_name("function"))
    paths = [path for child in field(node, "arguments").named_children if (path := path_of(child))]
    if _STRING_CALL.search(function):
        facts.strings.update(map(last_name, paths))
    if _ARGUMENT_CALL.search(function):
        facts.arguments.update(map(last_name, paths))
