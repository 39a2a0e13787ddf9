"""C text to a syntax tree, and the few questions about nodes that every other module asks.

Not its business: what the names mean (`index`, `ctypes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import tree_sitter_c
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_c.language()))
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|/\*.*?\*/|//[^\n]*', re.S)
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')|/\*.*?\*/|//[^\n]*', re.S)

NAMES = ("identifier", "field_identifier", "type_identifier")


def names(text: str) -> frozenset[str]:
    """The words of a text, for lists of names that people read."""
    return frozenset(text.split())


@lru_cache(maxsize=512)
def _tree(content: bytes):
    return _PARSER.parse(content)


def parse(text: str | bytes) -> Node:
    """The root node of C text; broken text gives ERROR nodes, never an exception."""
    return _tree(text.encode() if isinstance(text, str) else bytes(text)).root_node


def text_of(node: Node | None) -> str:
    """The text of a node, empty for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def nodes(root: Node, *, named: bool = True) -> Iterator[Node]:
    """All nodes under `root`, itself included, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.named_children if named else node.children))


def first(root: Node, *kinds: str) -> Node | None:
    """The first node of one of these kinds, in the order of the text."""
    return next((node for node in nodes(root, named=False) if node.type in kinds), None)


def field(node: Node, name: str) -> Node:
    """A field that the grammar says is there; the node itself where broken text lacks it."""
    return node.child_by_field_name(name) or node


def words(text: str) -> list[str]:
    """The identifiers in a text, each once, in order; strings and comments do not count."""
    return list(dict.fromkeys(_IDENTIFIER.findall(_LITERAL.sub(" ", text))))


def without_comments(text: str) -> str:
    """The text with each comment replaced by the line ends in it (or a space), so that line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        return match[1] if match[1] is not None else "\n" * match[0].count("\n") or " "

    return _COMMENT.sub(blank, text)


def declared_name(node: Node | None) -> str | None:
    """The name that a declarator declares."""
    while node is not None and node.type not in NAMES:
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (child for child in node.named_children if child.type in NAMES or "declarator" in child.type), None
            )
        node = inner
    return text_of(node) if node is not None else None


def declares_function(node: Node | None) -> bool:
    """Whether a declarator declares a function, as opposed to a pointer to one."""
    while node is not None:
        if node.type == "function_declarator":
            inner = node.child_by_field_name("declarator")
            return inner is not None and inner.type != "parenthesized_declarator"
        if node.type not in ("init_declarator", "array_declarator", "pointer_declarator"):
            return False
        node = node.child_by_field_name("declarator")
    return False


def function_declarator(node: Node | None) -> Node | None:
    """The function declarator inside a declarator."""
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    return node
