"""C types as far as a harness needs them: what a value of the type is made of.

`resolve` follows typedefs and type macros through a closure of definitions; what it cannot follow is `opaque`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from tree_sitter import Node

from builders.verivul.index import Item
from builders.verivul.parse import declared_name, first, parse, text_of

_DEPTH = 12
_WIDTHS = {"8": "char", "16": "short", "32": "int", "64": "long"}
_FIXED = {
    f"{sign}int{kind}{bits}_t": ("u" if sign else "") + width
    for sign in ("", "u")
    for kind in ("", "_fast", "_least")
    for bits, width in _WIDTHS.items()
}
NAMED = {
    **_FIXED, "size_t": "ulong", "ssize_t": "long", "ptrdiff_t": "long", "uintptr_t": "ulong", "intptr_t": "long",
    "uintmax_t": "ulong", "intmax_t": "long", "off_t": "long", "time_t": "long", "wchar_t": "int", "bool": "bool",
    "_Bool": "bool", "u_char": "uchar", "u_int": "uint", "u_short": "ushort", "u_long": "ulong", "uint": "uint",
    "ulong": "ulong", "ushort": "ushort", "uchar": "uchar", "u_int8_t": "uchar", "u_int16_t": "ushort",
    "u_int32_t": "uint", "u_int64_t": "ulong", "longlong": "long", "ulonglong": "ulong", "la_int64_t": "long",
    "la_ssize_t": "long",
}  # fmt: skip
"""Well-known type names and the scalar that each is."""

SPELLING = {
    "int": "int", "uint": "unsigned int", "char": "char", "uchar": "unsigned char", "short": "short",
    "ushort": "unsigned short", "long": "long", "ulong": "unsigned long", "bool": "_Bool", "double": "double",
    "float": "float", "enum": "unsigned int",
}  # fmt: skip
"""How each scalar is written in C."""


@dataclass(frozen=True)
class CType:
    """A type.

    Attributes:
        name: of a scalar, a key of `SPELLING`; of a record, `struct` or `union`; of an opaque type, its name.
        text: of a record or an enum, its definition; of an array, its size as written.
        of: what a pointer points to, an array holds or a function returns.
    """

    kind: Literal["scalar", "pointer", "array", "record", "function", "opaque", "void"]
    name: str = ""
    text: str = ""
    of: CType | None = None

    @property
    def target(self) -> CType:
        """`of`, for the kinds that have one."""
        return self.of or VOID

    @property
    def byte(self) -> bool:
        """Whether it is a plain character."""
        return self.kind == "scalar" and self.name in ("char", "uchar")

    @property
    def unsigned(self) -> bool:
        """Whether it is a scalar that cannot be negative."""
        return self.kind == "scalar" and self.name.startswith("u")


VOID = CType("void")
INT = CType("scalar", "int")


class Definitions(Protocol):
    """Where names are looked up: see `closure.Closure.pick`."""

    def pick(self, name: str, *kinds: str) -> Item | None: ...


def declared(declarator: Node | None, base: CType) -> CType:
    """The type that a declarator makes of a base type: of `*x[3]` and int, an array of pointers."""
    if declarator is None or declarator.type in ("identifier", "field_identifier", "type_identifier"):
        return base
    inner = declarator.child_by_field_name("declarator")
    match declarator.type:
        case "pointer_declarator" | "abstract_pointer_declarator":
            return declared(inner, CType("pointer", of=base))
        case "array_declarator" | "abstract_array_declarator":
            return declared(inner, CType("array", text=text_of(declarator.child_by_field_name("size")), of=base))
        case "function_declarator" | "abstract_function_declarator":
            return declared(inner, CType("function", of=base))
        case "init_declarator":
            return declared(inner, base)
    inner = next(
        (
            child
            for child in declarator.named_children
            if "declarator" in child.type or child.type.endswith("identifier")
        ),
        None,
    )
    return declared(inner, base)


def resolve(node: Node | None, names: Definitions, depth: int = 0) -> CType:
    """The type that a type specifier names."""
    if node is None or depth > _DEPTH:
        return INT
    text = text_of(node)
    match node.type:
        case "primitive_type" | "sized_type_specifier":
            return _primitive(text)
        case "type_identifier":
            return _named(text, names, depth)
        case "struct_specifier" | "union_specifier":
            word = node.type.split("_")[0]
            if node.child_by_field_name("body") is not None:
                return CType("record", word, text)
            tag = names.pick(f"{word} {text_of(node.child_by_field_name('name'))}", "tag")
            return CType("record", word, tag.text) if tag else CType("opaque", text)
        case "enum_specifier":
            return CType("scalar", "enum", text)
    return INT


def _primitive(text: str) -> CType:
    if text in NAMED:
        return CType("scalar", NAMED[text])
    parts = text.split()
    if "void" in parts:
        return VOID
    for name in ("double", "float", "bool", "_Bool"):
        if name in parts:
            return CType("scalar", "bool" if name == "_Bool" else name)
    width = next((name for name in ("char", "short", "long") if name in parts), "int")
    return CType("scalar", ("u" if "unsigned" in parts else "") + width)


def _named(name: str, names: Definitions, depth: int) -> CType:
    item = names.pick(name, "typedef")
    if item:
        node = first(parse(item.text), "type_definition")
        for declarator in node.children_by_field_name("declarator") if node is not None else ():
            if declared_name(declarator) == name and node is not None:
                return declared(declarator, resolve(node.child_by_field_name("type"), names, depth + 1))
    if name in NAMED:
        return CType("scalar", NAMED[name])
    macro = names.pick(name, "macro")
    if macro and macro.body.strip() not in ("", name):
        node = first(parse(macro.body.strip() + " x;"), "declaration")
        if node is not None:
            declarators = node.children_by_field_name("declarator")
            base = resolve(node.child_by_field_name("type"), names, depth + 1)
            return declared(declarators[0] if declarators else None, base)
    return CType("opaque", name)


def members(record: CType) -> Iterator[tuple[str, Node | None, Node]]:
    """(name, type specifier, declarator) of each member of a record; those of unnamed inner records count as its."""
    body = first(parse(record.text.rstrip().rstrip(";") + ";"), "field_declaration_list")
    if body is not None:
        yield from _members(body)


def _members(body: Node) -> Iterator[tuple[str, Node | None, Node]]:
    for child in body.named_children:
        if child.type == "field_declaration":
            declarators, kind = child.children_by_field_name("declarator"), child.child_by_field_name("type")
            inner = kind.child_by_field_name("body") if kind is not None else None
            if not declarators and inner is not None:
                yield from _members(inner)
            for declarator in declarators:
                if name := declared_name(declarator):
                    yield name, kind, declarator
        elif child.type.startswith("preproc"):
            yield from _members(child)
