"""The parameters of a function, from its text."""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from builders.verivul.parse import declared_name, field, first, function_declarator, parse, text_of


@dataclass(frozen=True)
class Parameter:
    """A parameter: its declaration as text, its type specifier and its declarator."""

    name: str
    text: str
    specifier: Node | None
    declarator: Node | None


def parameters(text: str) -> list[Parameter]:
    """The named parameters of a definition, in order; also of a K&R one."""
    node = first(parse(text), "function_definition")
    declarator = function_declarator(node.child_by_field_name("declarator")) if node is not None else None
    if node is None or declarator is None:
        return []
    found: dict[str, Parameter] = {}
    for child in field(declarator, "parameters").named_children:
        inner = child.child_by_field_name("declarator")
        if child.type == "parameter_declaration" and (name := declared_name(inner)):
            found[name] = Parameter(name, text_of(child), child.child_by_field_name("type"), inner)
        elif child.type == "identifier":
            found[text_of(child)] = Parameter(text_of(child), f"int {text_of(child)}", None, child)
    for child in node.named_children:
        if child.type == "declaration":
            specifier = child.child_by_field_name("type")
            for inner in child.children_by_field_name("declarator"):
                name = declared_name(inner) or ""
                if name in found:
                    found[name] = Parameter(name, f"{text_of(specifier)} {text_of(inner)}", specifier, inner)
    return list(found.values())
