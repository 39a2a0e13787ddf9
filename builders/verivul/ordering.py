"""Type definitions in an order that a compiler accepts: enums, forward names, then bodies by what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tree_sitter import Node

from builders.verivul.index import Item
from builders.verivul.parse import declared_name, parse, text_of, without_comments, words

_KINDS = ("enum", "forward", "body")


@dataclass(frozen=True)
class Unit:
    """A piece of a type definition.

    Attributes:
        provides: names (`size`, `struct x`, enum constants) that it defines.
        kind: `enum`, `forward` (a typedef that needs no body) or `body`.
    """

    item: Item
    text: str
    provides: frozenset[str]
    kind: str


def ordered(types: Iterable[Item], macros: Mapping[str, Item]) -> list[Unit]:
    """The definitions as units, each name once, in order.

    Args:
        macros: a definition that mentions one needs what the macro mentions.
    """
    units = _units(types)
    provider: dict[str, int] = {}
    for number, unit in enumerate(units):
        for name in unit.provides:
            provider.setdefault(name, number)
    done: dict[int, None] = {}
    active: set[int] = set()

    def visit(number: int) -> None:
        if number in done or number in active:
            return
        active.add(number)
        for need in _needs(units, provider, number, macros):
            visit(need)
        active.discard(number)
        done[number] = None

    for kind in _KINDS:
        for number, unit in enumerate(units):
            if unit.kind == kind:
                visit(number)
    return [units[number] for number in done]


def _needs(units: list[Unit], provider: dict[str, int], number: int, macros: Mapping[str, Item]) -> list[int]:
    unit, found = units[number], []
    text = " ".join([unit.text, *(macros[name].body for name in words(unit.text) if name in macros)])
    for name in words(text):
        need = provider.get(name)
        if need is None or need == number:
            continue
        tagged = any(word.split(" ")[0] in ("struct", "union") for word in units[need].provides)
        if not (unit.kind == "forward" and units[need].kind == "body" and tagged):
            found.append(need)
    if unit.kind != "body":
        return found
    for word, name in re.findall(r"\b(struct|union|enum)\s+(\w+)\b(?!\s*\{)(?!\s*\*)", text):
        found.append(provider.get(f"{word} {name}", number))
    for name in words(text):  # a typedef held by value needs its tag's body first
        need = provider.get(name)
        by_value = rf"\b{re.escape(name)}\s+(?!\*)\w+\s*[;,\[:]"
        if need is not None and units[need].kind == "forward" and re.search(by_value, text):
            tags = re.findall(r"typedef\s+(?:const\s+)?(struct|union)\s+(\w+)\s+\w+", units[need].text)
            found += [provider.get(f"{word} {tag}", number) for word, tag in tags]
    return [need for need in found if need != number]


def _units(types: Iterable[Item]) -> list[Unit]:
    units: list[Unit] = []
    seen: set[str] = set()
    for item in types:
        text = without_comments(item.text).strip()
        text = text if text.endswith(";") else text + ";"
        kinds = ("type_definition", "struct_specifier", "union_specifier", "enum_specifier", "declaration")
        node = next((child for child in parse(text).children if child.type in kinds), None)
        if node is None:
            units.append(Unit(item, text, frozenset((item.name,)), "body"))
        else:
            units += _split(item, text, node, seen)
    return units


def _split(item: Item, text: str, node: Node, seen: set[str]) -> list[Unit]:
    kind = node if node.type.endswith("_specifier") else node.child_by_field_name("type")
    declarators = node.children_by_field_name("declarator") if node.type == "type_definition" else []
    names = {name for child in declarators if (name := declared_name(child))}
    if kind is not None and kind.type in ("struct_specifier", "union_specifier", "enum_specifier"):
        word, body = kind.type.split("_")[0], kind.child_by_field_name("body")
        name = kind.child_by_field_name("name")
        tag = f"{word} {text_of(name)}" if name is not None else None
        if word == "enum":
            return _enum(item, text, body, names | ({tag} if tag else set()), seen)
        if body is not None and tag:
            units = []
            if tag not in seen:
                units.append(Unit(item, text_of(kind) + ";", frozenset((tag,)), "body"))
                seen.add(tag)
            if names - seen:
                text = f"typedef {tag} {', '.join(map(text_of, declarators))};"
                units.append(Unit(item, text, frozenset(names), "forward"))
                seen |= names
            return units
        if body is not None:
            fresh = not names or bool(names - seen)
            seen |= names
            return [Unit(item, text, frozenset(names), "body")] if fresh else []
    if node.type == "type_definition":
        fresh = bool(names - seen)
        seen |= names
        return [Unit(item, text, frozenset(names), "forward")] if fresh else []
    return [Unit(item, text, frozenset(names or {item.name}), "body")]


def _enum(item: Item, text: str, body: Node | None, names: set[str], seen: set[str]) -> list[Unit]:
    entries = [child for child in body.named_children if child.type == "enumerator"] if body is not None else []
    constants = {text_of(entry.child_by_field_name("name")) for entry in entries}
    if constants & seen:
        return []
    seen |= constants
    return [Unit(item, text, frozenset(names | constants), "enum")]
