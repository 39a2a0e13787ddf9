"""Access paths: what an expression reads and what it may write, as dotted paths (`p.len`, `buf.[]`).

A path is flow-insensitive and does not know aliases: `p->len` and `(*p).len` and `p[0].len` differ or agree by text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from builders.verivul.parse import declared_name, field, text_of

QUIET_CALL = re.compile(
    r"(print|log|err(or)?$|warn|debug|trace|msg|abort|assert|perror|puts|putc|_dump|usage|ND_PRINT|strcmp|strncmp"
    r"|memcmp|strlen|isdigit|isspace|isalpha)",
    re.I,
)
"""Calls that write to none of their arguments."""

MEMORY_CALL = re.compile(
    r"(memcpy|memmove|memset|memcmp|strcpy|strcat|strncpy|strncat|sprintf|snprintf|malloc|calloc|realloc|free|alloc"
    r"|read|strdup|EXTRACT_|GET_BE|GET_LE|GET_U_|unpack|copy)",
    re.I,
)
"""Calls that copy, allocate or release memory: sinks, and writers of what their arguments point to."""

_ACCESS = ("identifier", "field_expression", "subscript_expression", "pointer_expression")


def path_of(node: Node | None) -> str | None:
    """The access path of an expression; None for one that is no place."""
    if node is None:
        return None
    match node.type:
        case "identifier":
            return text_of(node)
        case "field_expression":
            base = path_of(node.child_by_field_name("argument"))
            return base and f"{base}.{text_of(node.child_by_field_name('field'))}"
        case "subscript_expression":
            base = path_of(node.child_by_field_name("argument"))
            return base and f"{base}.[]"
        case "pointer_expression":
            base = path_of(node.child_by_field_name("argument"))
            return base and (f"{base}.[]" if node.children[0].type == "*" else base)
        case "parenthesized_expression" if node.named_child_count == 1:
            return path_of(node.named_children[0])
        case "cast_expression":
            return path_of(node.child_by_field_name("value"))
    return None


def last_name(path: str) -> str:
    """The last name in a path: of `p.buf.[]`, `buf`."""
    return path.replace(".[]", "").rpartition(".")[2]


def key_of(path: str) -> str:
    """What assumptions call the end of a path: a member with a dot (of `p.buf.[]`, `.buf`), a variable without."""
    plain = path.replace(".[]", "")
    return "." + plain.rpartition(".")[2] if "." in plain else plain


def ends(paths: Iterable[str]) -> set[str]:
    """Those paths that no other goes on from."""
    found = set(paths)
    return {path for path in found if not any(other.startswith(path + ".") for other in found)}


def uses(node: Node, found: set[str] | None = None) -> set[str]:
    """The paths that an expression reads, with all their beginnings."""
    found = set() if found is None else found
    if node.type in _ACCESS:
        path = path_of(node)
        if path is not None:
            parts = path.split(".")
            found.update(".".join(parts[:count]) for count in range(1, len(parts) + 1))
        _uses_inside(node, found, known=path is not None)
    elif node.type == "call_expression":
        function = field(node, "function")
        if function.type != "identifier":
            uses(function, found)
        for argument in field(node, "arguments").named_children:
            uses(argument, found)
    elif node.type not in ("type_descriptor", "sizeof_expression"):
        for child in node.named_children:
            uses(child, found)
    return found


def _uses_inside(node: Node, found: set[str], *, known: bool) -> None:
    """The index expressions of an access, and what it goes through where it is no path itself."""
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type == "subscript_expression":
            index = inner.child_by_field_name("index")
            if index is not None:
                uses(index, found)
            waiting.append(field(inner, "argument")) if field(inner, "argument") is not inner else None
        elif inner.type not in ("identifier", "field_identifier"):
            if not known and inner is not node and inner.id != node.id:
                uses(inner, found)
            else:
                waiting.extend(inner.named_children)


def definitions(node: Node, found: set[str] | None = None) -> set[str]:
    """The paths that an expression may write; a final `*` means anything reachable from there."""
    found = set() if found is None else found
    path = None
    match node.type:
        case "assignment_expression":
            path = path_of(node.child_by_field_name("left"))
        case "update_expression":
            path = path_of(node.child_by_field_name("argument"))
        case "init_declarator":
            path = declared_name(node)
        case "call_expression":
            _written_by_call(node, found)
    if path:
        found.add(path)
    for child in node.named_children:
        definitions(child, found)
    return found


def _written_by_call(node: Node, found: set[str]) -> None:
    function = text_of(node.child_by_field_name("function"))
    if QUIET_CALL.search(function):
        return
    for argument in field(node, "arguments").named_children:
        while argument.type in ("parenthesized_expression", "cast_expression") and argument.named_children:
            argument = argument.named_children[-1]
        path = path_of(argument)
        if path and argument.type == "pointer_expression" and argument.children[0].type == "&":
            found.update((path, path + "*"))
        elif path and MEMORY_CALL.search(function):
            found.add(path + ".[]")
