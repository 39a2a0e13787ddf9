"""Probes against vacuity: an assertion that always fails, put before a statement, must fail if anything gets there."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from builders.verivul.parse import declared_name, names, nodes, parse
from builders.verivul.program import Program

MARK = "probe"
_PROBE = b'__ESBMC_assert(0, "probe");'
_DECLARE = "extern void __ESBMC_assert(_Bool, const char *);\n"
_KINDS = names(
    """
    expression_statement return_statement goto_statement break_statement continue_statement if_statement
    while_statement for_statement do_statement switch_statement declaration
    """
)


def arguments(unwind: int) -> list[str]:
    """ESBMC's arguments for a program with probes."""
    return ["--unwind", str(unwind), "--multi-property", "--no-align-check", "--sv-comp", "--no-standard-checks",
            "--no-unwinding-assertions"]  # fmt: skip


def insert(program: Program, function: str, lines: Iterable[int]) -> tuple[str, int]:
    """The program with a probe before each statement that stands on one of these lines; and how many there are."""
    wanted, content = {line - 1 for line in lines}, program.text.encode()
    found: list[Node] = []
    for definition in parse(content).children:
        if definition.type != "function_definition":
            continue
        name = declared_name(definition.child_by_field_name("declarator"))
        for node in nodes(definition):
            if node.type in _KINDS and (node.start_point[0] in wanted or _head(node) & wanted) and name != "main":
                found.append(node)
    return _with(content, found)


def insert_last(program: Program) -> tuple[str, int]:
    """The program with a probe at the end of `main`."""
    content = program.text.encode()
    for definition in reversed(parse(content).children):
        if definition.type == "function_definition":
            last = [node for node in nodes(definition) if node.type == "return_statement"]
            return _with(content, last[-1:])
    return program.text, 0


def _head(node: Node) -> set[int]:
    condition = node.child_by_field_name("condition")
    end = condition.end_point[0] if condition is not None else node.start_point[0]
    return set(range(node.start_point[0], end + 1))


def _with(content: bytes, found: list[Node]) -> tuple[str, int]:
    edits: list[tuple[int, int, bytes]] = []
    count = 0
    for node in found:
        listed = node.parent is not None and node.parent.type in ("compound_statement", "case_statement")
        if listed:
            edits.append((node.start_byte, 0, _PROBE + b" "))
        elif node.type != "declaration":
            edits += [(node.start_byte, 0, b"{ " + _PROBE + b" "), (node.end_byte, 1, b" }")]
        else:
            continue
        count += 1
    out = content
    for at, _, text in sorted(edits, key=lambda edit: (-edit[0], edit[1])):
        out = out[:at] + text + out[at:]
    text = out.decode("utf-8", "replace")
    return (text if "void __ESBMC_assert" in text else _DECLARE + text), count
