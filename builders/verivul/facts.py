"""What code says about its data: which pointers are indexed, cast, walked as strings, which lengths go with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as data_field

from tree_sitter import Node

from builders.verivul.access import ends, key_of, last_name, path_of, uses
from builders.verivul.closure import Closure
from builders.verivul.ctypes import CType, declared, resolve
from builders.verivul.parse import declared_name, field, first, function_declarator, nodes, parse, text_of, words

_STRING_CALL = re.compile(r"str(len|cmp|cpy|cat|chr|dup|Equal|Cat|str)|atoi|strto")
_FAR = 3
_MEMBER = re.compile(r"(?:->|\.)\s*([A-Za-z_]\w*)")


@dataclass
class Facts:
    """By the last name in the path.

    Attributes:
        used: all identifiers; `members` those after `.` or `->`, also in macros.
        casts: name -> the record type (and how it is written) that a pointer is cast to.
        indexed: subscripted, or moved by arithmetic.
        loops: in the condition of a loop.
        strings: given to string functions.
        limits: buffer -> names that its index is compared with.
        arguments: function -> what it is given; `sources`: variable -> what it is set from; both as `access.key_of`.
    """

    used: set[str] = data_field(default_factory=set)
    members: set[str] = data_field(default_factory=set)
    casts: dict[str, tuple[CType, str]] = data_field(default_factory=dict)
    indexed: set[str] = data_field(default_factory=set)
    loops: set[str] = data_field(default_factory=set)
    strings: set[str] = data_field(default_factory=set)
    limits: dict[str, list[str]] = data_field(default_factory=dict)
    arguments: dict[str, set[str]] = data_field(default_factory=dict)
    sources: dict[str, set[str]] = data_field(default_factory=dict)


def gather(sides: Iterable[Closure]) -> Facts:
    """The facts of both sides together, so that both get the same harness."""
    facts = Facts()
    for side in sides:
        for text in [*side.code, *(macro.body for macro in side.macros.values())]:
            facts.used.update(words(text))
            facts.members.update(_MEMBER.findall(text))
        texts = {side.function.name: side.text, **{name: item.text for name, item in side.functions.items()}}
        parameters = {name: _parameters(text) for name, text in texts.items()}
        for text in side.code:
            facts.members.update(_given_to_macros(text, side))
            _gather(text, side, facts, parameters)
    _pass_casts_on(facts)
    return facts


def _pass_casts_on(facts: Facts) -> None:
    """What a variable is cast to is what it was set from: of a parameter, the caller's argument."""
    for _ in range(_FAR):
        for name, cast in list(facts.casts.items()):
            for source in facts.sources.get(name, ()):
                facts.casts.setdefault(source.lstrip("."), cast)


def _parameters(text: str) -> list[str]:
    """Names of a function's parameters, in order; empty for one without a name."""
    node = first(parse(text), "function_definition")
    declarator = function_declarator(node.child_by_field_name("declarator")) if node is not None else None
    if declarator is None:
        return []
    return [declared_name(child.child_by_field_name("declarator")) or ""
            for child in field(declarator, "parameters").named_children]  # fmt: skip


def _given_to_macros(text: str, side: Closure) -> set[str]:
    """Plain names among the arguments of function-like macros: these can be members."""
    found: set[str] = set()
    for node in nodes(parse(text)):
        if node.type == "call_expression" and text_of(node.child_by_field_name("function")) in side.macros:
            found |= {text_of(child) for child in field(node, "arguments").named_children if child.type == "identifier"}
    return found


def _gather(text: str, side: Closure, facts: Facts, parameters: Mapping[str, list[str]]) -> None:
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
                _call(node, facts, parameters)
            case "assignment_expression":
                _set_from(path_of(node.child_by_field_name("left")), field(node, "right"), facts)
            case "init_declarator":
                _set_from(declared_name(node), field(node, "value"), facts)
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


def behind(names: Iterable[str], text: str) -> frozenset[str]:
    """What these variables of a function's text are set from; parameters, members and others stay themselves."""
    facts, found = Facts(), set()
    for node in nodes(parse(text)):
        if node.type == "assignment_expression":
            _set_from(path_of(node.child_by_field_name("left")), field(node, "right"), facts)
        elif node.type == "init_declarator":
            _set_from(declared_name(node), field(node, "value"), facts)
    own = set(_parameters(text))
    for name in names:
        found |= {name} if name in own or name.startswith(".") else facts.sources.get(name, {name})
    return frozenset(found)


def _set_from(path: str | None, value: Node, facts: Facts) -> None:
    if path:
        facts.sources.setdefault(key_of(path), set()).update(map(key_of, ends(uses(value))))


def _call(node: Node, facts: Facts, parameters: Mapping[str, list[str]]) -> None:
    function = text_of(node.child_by_field_name("function"))
    given = field(node, "arguments").named_children
    paths = [path for child in given if (path := path_of(child))]
    if _STRING_CALL.search(function):
        facts.strings.update(map(last_name, paths))
    facts.arguments.setdefault(function, set()).update(map(key_of, paths))
    for name, value in zip(parameters.get(function, ()), given, strict=False):
        _set_from(name, value, facts)
