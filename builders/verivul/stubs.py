"""Stubs: callees without a body return any value of their type, and write any value through their pointers."""

from __future__ import annotations

import re

from tree_sitter import Node

from builders.verivul import libc
from builders.verivul.buffers import ask
from builders.verivul.closure import Closure, signature
from builders.verivul.ctypes import CType, declared, resolve
from builders.verivul.harness import Harness
from builders.verivul.index import Item
from builders.verivul.parse import declared_name, field, function_declarator, parse, text_of

_ALLOCATOR = re.compile(r"(malloc|calloc|realloc|free|strdup)(fn|_fcn|_func)?$", re.I)
_ARGUMENTS = {"malloc": 1, "calloc": 2, "realloc": 2, "free": 1, "strdup": 1}
_UNCAPPED = ("uchar", "char", "double", "float", "bool")


def stub(side: Closure, name: str, item: Item, harness: Harness) -> tuple[str, str] | None:
    """(prototype, definition) of a callee without a body; None where its signature cannot be read."""
    text = signature(item)
    node = next(
        (child for child in parse(text + ";").children if child.type in ("declaration", "function_definition")), None
    )
    declarators = node.children_by_field_name("declarator") if node is not None else []
    declarator = next((child for child in declarators if declared_name(child) == name), None)
    function = function_declarator(declarator)
    if node is None or function is None or name not in text:
        return None
    result = re.sub(r"\b(extern|static|inline|__inline)\b", "", text[: text.index(name)]).strip()
    kind = declared(declarator, resolve(node.child_by_field_name("type"), side))
    kind = kind.target if kind.kind == "function" else kind
    if name in side.bare:
        head, writes, arguments, texts = f"static {result} {name}()", [], [], []
    else:
        spelled, arguments, writes = _parameters(side, function, harness)
        texts = _texts(side, function)
        head = f"static {result} {name}({', '.join(spelled)})"
    if body := _allocates(name, arguments, texts):
        return head, f"{head} {{ {body} }}"
    if libc.NORETURN.search(name):
        writes.append("__ESBMC_assume(0);")
    return head, f"{head} {{ {' '.join([*writes, _returns(kind, result, harness)])} }}"


def _parameters(side: Closure, function: Node, harness: Harness) -> tuple[list[str], list[str], list[str]]:
    """(spelled, names, statements that write through them) of the parameters."""
    spelled, names, writes = [], [], []
    for child in field(function, "parameters").children:
        if child.type == "variadic_parameter":
            spelled.append("...")
        if child.type != "parameter_declaration":
            continue
        declarator, text = child.child_by_field_name("declarator"), text_of(child)
        name = declared_name(declarator) if declarator is not None else None
        if name is None:
            if text.strip() == "void":
                spelled.append("void")
                continue
            name = f"arg{len(spelled)}"
            if declarator is None:
                text = f"{text} {name}"
            elif text.rstrip().endswith(("*", "const")):
                text = re.sub(r"(\*+)\s*((?:const|volatile)?\s*)$", rf"\1\2 {name}", text)
            else:
                name = None
        spelled.append(text)
        names += [name] if name else []
        kind = declared(declarator, resolve(child.child_by_field_name("type"), side))
        plain = kind.kind == "pointer" and kind.target.kind == "scalar" and kind.target.name not in ("char", "enum")
        if name and plain and not re.match(r"\s*const\b", text):
            writes.append(_write(name, kind.target, harness.setup.stub_cap))
    return spelled, names, writes


def _write(name: str, kind: CType, cap: int) -> str:
    limit = f" __ESBMC_assume(*{name} <= {cap});" if cap and kind.name not in _UNCAPPED else ""
    return f"if ({name}) {{ *{name} = {ask(kind)};{limit} }}"


def _returns(kind: CType, result: str, harness: Harness) -> str:
    if re.fullmatch(r"(const\s+)?void", result) or kind.kind == "void":
        return ""
    if kind.kind == "scalar":
        return "return 0;" if "*" in result else f"return {ask(kind)};"
    if kind.kind != "pointer":
        return f"{result} any; return any;"
    target = kind.target
    if target.kind == "record" and harness.setup.depth > 1:
        return f"return input_bool() ? 0 : (void *){harness.make(target, harness.setup.depth - 1)}();"
    if target.byte:
        count = harness.setup.elements
        fill = " ".join(f"made[{number}] = input_char();" for number in range(count - 1))
        start = f"char *made = malloc({count}); if (made == 0 || input_bool()) return 0;"
        return f"{start} {fill} made[{count} - 1] = 0; return (void *)made;"
    return "return malloc(8);" if target.kind in ("scalar", "void", "opaque") else "return 0;"


def _texts(side: Closure, function: Node) -> list[str]:
    """The parameters that point to characters."""
    found = []
    for child in field(function, "parameters").named_children:
        declarator = child.child_by_field_name("declarator")
        kind = declared(declarator, resolve(child.child_by_field_name("type"), side))
        if kind.kind == "pointer" and kind.target.byte and (name := declared_name(declarator)):
            found.append(name)
    return found


def _allocates(name: str, arguments: list[str], texts: list[str]) -> str | None:
    """The body of a project's own allocator: the library's, with the last arguments, or with the text to copy."""
    match = _ALLOCATOR.search(name)
    word = match[1].lower() if match else ""
    if not match or name == "free" or len(arguments) < _ARGUMENTS[word]:
        return None
    given = arguments[-_ARGUMENTS[word] :]
    if word == "strdup":
        if not texts:
            return None
        given = texts[:1]
    if word in ("free", "realloc", "strdup"):
        given = [f"(void *){given[0]}", *given[1:]]
    call = f"{word}({', '.join(given)});"
    return call if word == "free" else f"return (void *){call}"
