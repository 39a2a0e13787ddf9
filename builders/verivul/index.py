"""Every definition in a C source tree at one commit: functions, types, macros, enum constants, globals.

Without a compiler and without include paths: a name has all its definitions, and `closure` picks the nearest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tree_sitter import Node

from builders.verivul import annotations
from builders.verivul.annotations import Annotations
from builders.verivul.parse import declared_name, declares_function, nodes, parse, text_of

_CONDITIONAL = ("preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "preproc_elifdef", "ERROR")
_TRANSPARENT = ("linkage_specification", "declaration_list")
_TAGGED = ("struct_specifier", "union_specifier", "enum_specifier")
_cache: dict[tuple[str, str], list[Item]] = {}


@dataclass(frozen=True)
class Item:
    """One definition.

    Attributes:
        kind: `function`, `prototype`, `global`, `typedef`, `tag` (`struct x`), `enumerator` or `macro`.
        text: as written, without decorating macros; of an enumerator, the whole enum.
        line: first line in the file, from 1; `end` the last.
        body: of a macro, its replacement; of a function, its signature.
        nesting: how many conditional directives it is under.
        callable: a macro with parameters.
        shared: a global that is only declared here (`extern`).
    """

    kind: str
    name: str
    path: str
    text: str
    line: int
    end: int
    body: str = ""
    static: bool = False
    nesting: int = 0
    callable: bool = False
    shared: bool = False


class Index:
    """The definitions of a tree by name.

    Args:
        files: path -> content; CRLF line ends are read as LF.
        decoration: of the tree; found in it if None. Both sides of a fix share one.
    """

    def __init__(self, files: Mapping[str, tuple[str, bytes]], decoration: Annotations | None = None) -> None:
        self.decoration = decoration or annotations.find(content for _, content in files.values())
        self.by_name: dict[str, list[Item]] = {}
        self.by_path: dict[str, list[Item]] = {}
        self._jumps: frozenset[str] | None = None
        for path, (blob, content) in files.items():
            items = _items(path, blob, content, self.decoration)
            self.by_path[path] = items
            for item in items:
                self.by_name.setdefault(item.name, []).append(item)

    def named(self, name: str, *kinds: str) -> list[Item]:
        """All definitions of a name, of these kinds."""
        return [item for item in self.by_name.get(name, ()) if item.kind in kinds]

    def jumps(self) -> frozenset[str]:
        """The macros with parameters that hide a `goto` or a `return`, themselves or through another."""
        if self._jumps is None:
            bodies = {item.name: item.body for items in self.by_name.values() for item in items
                      if item.kind == "macro" and item.callable}  # fmt: skip
            found = {name for name, body in bodies.items() if re.search(r"\b(goto|return)\b", body)}
            for _ in range(3):
                found |= {name for name, body in bodies.items() if found.intersection(re.findall(r"\w+", body))}
            self._jumps = frozenset(found)
        return self._jumps

    def functions(self, path: str) -> list[Item]:
        """The functions defined in a file, in its order."""
        return [item for item in self.by_path.get(path, ()) if item.kind == "function"]

    def typedefs(self, path: str) -> list[Item]:
        """The typedefs of a file."""
        return [item for item in self.by_path.get(path, ()) if item.kind == "typedef"]


def _items(path: str, blob: str, content: bytes, decoration: Annotations) -> list[Item]:
    key = (blob, decoration.key)
    if key not in _cache:
        if len(_cache) > 4000:
            _cache.clear()
        text = annotations.blank(content.replace(b"\r\n", b"\n"), decoration)
        _cache[key] = list(_walk(parse(text), path, 0))
    return [item if item.path == path else replace(item, path=path) for item in _cache[key]]


def _walk(node: Node, path: str, nesting: int) -> Iterator[Item]:
    for child in node.children:
        if child.type in _CONDITIONAL:
            yield from _walk(child, path, nesting + 1)
        elif child.type in _TRANSPARENT:
            yield from _walk(child, path, nesting)
        elif child.type in ("preproc_def", "preproc_function_def"):
            yield _macro(child, path, nesting)
        elif child.type == "function_definition":
            yield from _function(child, path, nesting)
        elif child.type == "declaration":
            yield from _tags(child, path, nesting)
            yield from _declaration(child, path, nesting)
        elif child.type == "type_definition":
            yield from _tags(child, path, nesting)
            for declarator in child.children_by_field_name("declarator"):
                if name := declared_name(declarator):
                    yield _item("typedef", name, path, child, nesting)
        elif child.type in _TAGGED:
            yield from _tags(child, path, nesting)


def _item(kind: str, name: str, path: str, node: Node, nesting: int, **more: object) -> Item:
    made = Item(kind, name, path, text_of(node), node.start_point[0] + 1, node.end_point[0] + 1, nesting=nesting)
    return replace(made, **more)  # pyright: ignore[reportArgumentType]


def _macro(node: Node, path: str, nesting: int) -> Item:
    name, body = text_of(node.child_by_field_name("name")), text_of(node.child_by_field_name("value"))
    more = {"text": text_of(node).rstrip("\n"), "body": body, "callable": node.type == "preproc_function_def"}
    return _item("macro", name, path, node, nesting, **more)


def _function(node: Node, path: str, nesting: int) -> Iterator[Item]:
    kind = node.child_by_field_name("type")
    if kind is not None:
        yield from _tags(kind, path, nesting)
    name, body = declared_name(node.child_by_field_name("declarator")), node.child_by_field_name("body")
    if name and node.text is not None:
        end = body.start_byte - node.start_byte if body is not None else None
        signature = node.text[:end].decode("utf-8", "replace").strip()
        static = "static" in signature.split("(")[0].split()
        yield _item("function", name, path, node, nesting, body=signature, static=static)


def _declaration(node: Node, path: str, nesting: int) -> Iterator[Item]:
    text = text_of(node)
    shared = "extern" in re.split(r"[=(]", text)[0].split()
    for declarator in node.children_by_field_name("declarator"):
        if name := declared_name(declarator):
            kind = "prototype" if declares_function(declarator) else "global"
            yield _item(kind, name, path, node, nesting, static=text.startswith("static"), shared=shared)


def _tags(root: Node, path: str, nesting: int) -> Iterator[Item]:
    for node in nodes(root):
        body = node.child_by_field_name("body")
        if node.type not in _TAGGED or body is None:
            continue
        word, name = node.type.split("_")[0], node.child_by_field_name("name")
        if name is not None:
            yield _item("tag", f"{word} {text_of(name)}", path, node, nesting, text=text_of(node) + ";")
        if word == "enum":
            for entry in body.named_children:
                if entry.type == "enumerator":
                    entry_name = text_of(entry.child_by_field_name("name"))
                    yield _item("enumerator", entry_name, path, node, nesting, text=text_of(node) + ";")
