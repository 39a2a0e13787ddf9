"""The vulnerability-aware backward slice of a function: the statements that matter for a criterion.

Backward over data dependence (access paths, may-definitions), control dependence, and guards (a jump out whose
condition talks about relevant data). Whole-function facts only; callees and types are for `closure`. Removed
text leaves its line ends: line n of the slice is line n of the original.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from builders.verivul.access import MEMORY_CALL, definitions, uses
from builders.verivul.parse import declared_name, field, first, names, nodes, parse, text_of

_STATEMENTS = names(
    """
    expression_statement declaration return_statement goto_statement break_statement continue_statement if_statement
    while_statement for_statement do_statement switch_statement case_statement labeled_statement compound_statement
    """
)
_JUMPS = ("return_statement", "goto_statement", "break_statement", "continue_statement")
_PASSIVE = ("compound_statement", "labeled_statement", "case_statement")
_IN_LIST = frozenset(
    ("compound_statement", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "case_statement")
)
_LOOPS = ("while_statement", "for_statement", "do_statement")
_CONDITION = re.compile(rb"\s*#\s*(if|ifdef|ifndef|endif|else|elif)\b")
_ROUNDS = 50


class NoFunctionError(Exception):
    """The text holds no function that the grammar can read."""


def head(node: Node) -> list[Node]:
    """The expressions of a statement itself, without the statements inside it."""
    match node.type:
        case "if_statement" | "while_statement" | "do_statement" | "switch_statement":
            parts = [node.child_by_field_name("condition")]
        case "for_statement":
            parts = [node.child_by_field_name(name) for name in ("initializer", "condition", "update")]
        case "case_statement":
            parts = [node.child_by_field_name("value")]
        case "labeled_statement" | "compound_statement":
            parts = []
        case _:
            parts = [node]
    return [part for part in parts if part is not None]


class Function:
    """A function's statements with what each reads and writes.

    Args:
        source: text of the function.
        line: its first line in the file.
        jumps: names of macros that hide a `goto` or `return`.
    """

    def __init__(self, source: str, line: int, jumps: frozenset[str] = frozenset()) -> None:
        self.jumps = jumps
        self.source = source.encode()
        self.line = line
        self.root = parse(self.source)
        node = first(self.root, "function_definition")
        body = node.child_by_field_name("body") if node is not None else None
        if node is None or body is None:
            raise NoFunctionError("no function_definition")
        self.node = node
        self.statements: list[Node] = []
        self.parent: dict[int, Node | None] = {}
        self._collect(body)
        self.reads = {node.id: set().union(*map(uses, head(node))) for node in self.statements}
        self.writes = {node.id: set().union(*map(definitions, head(node))) for node in self.statements}

    def _collect(self, body: Node) -> None:
        waiting: list[tuple[Node, Node | None]] = [(child, None) for child in reversed(body.children)]
        while waiting:
            node, parent = waiting.pop()
            if node.type in _STATEMENTS:
                self.statements.append(node)
                self.parent[node.id] = parent
                parent = node
            waiting.extend((child, parent) for child in reversed(node.children))

    def head_lines(self, node: Node) -> range:
        """The file's lines that a statement's own expressions stand on."""
        last = max([part.end_point[0] for part in head(node)], default=node.start_point[0])
        return range(node.start_point[0] + self.line, last + self.line + 1)

    def at(self, lines: Iterable[int]) -> list[Node]:
        """The statements that stand on these lines."""
        wanted = set(lines)
        plain = (node for node in self.statements if node.type != "compound_statement")
        return [node for node in plain if not wanted.isdisjoint(self.head_lines(node))]

    def in_loop_after(self, node: Node, position: int) -> bool:
        """Whether a statement is in a loop that reaches beyond a byte position: then it also runs after it."""
        parent = self.parent[node.id]
        while parent is not None:
            if parent.type in _LOOPS and parent.end_byte >= position:
                return True
            parent = self.parent[parent.id]
        return False

    def is_sink(self, node: Node) -> bool:
        """Whether something can go wrong in a statement: dereference, subscript, memory call, risky arithmetic."""
        for inner in (inner for part in head(node) for inner in nodes(part)):
            operator = text_of(inner.child_by_field_name("operator"))
            if inner.type == "subscript_expression" or (inner.type == "field_expression" and operator == "->"):
                return True
            if inner.type == "pointer_expression" and inner.children[0].type == "*":
                return True
            if inner.type == "binary_expression" and operator in ("/", "%", "<<", "*"):
                return True
            if inner.type == "call_expression" and MEMORY_CALL.search(text_of(inner.child_by_field_name("function"))):
                return True
        return False

    def slice(self, criterion: Iterable[Node]) -> frozenset[int]:
        """Ids of the statements that the criterion depends on, itself included."""
        criterion = list(criterion)
        chosen = {node.id for node in criterion}
        relevant = set().union(*(self.reads[node.id] | self.writes[node.id] for node in criterion))
        last = max((node.start_byte for node in criterion), default=0)
        for _ in range(_ROUNDS):
            before = (len(chosen), len(relevant))
            self._add_dependences(chosen, relevant, last)
            self._add_ancestors(chosen, relevant)
            if (len(chosen), len(relevant)) == before:
                break
        self._add_labels(chosen)
        self._add_final_returns(chosen)
        self._add_declarations(chosen)
        return frozenset(chosen)

    def _add_dependences(self, chosen: set[int], relevant: set[str], last: int) -> None:
        for node in self.statements:
            if node.id in chosen or node.type == "compound_statement":
                continue
            jump = node.type in _JUMPS and node.start_byte < last and self._guards(node, relevant)
            hidden = node.start_byte < last and self._hides_jump(node) and not relevant.isdisjoint(self.reads[node.id])
            if jump or hidden or any(_touches(path, relevant) for path in self.writes[node.id]):
                chosen.add(node.id)
                relevant |= self.reads[node.id]

    def _hides_jump(self, node: Node) -> bool:
        call = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        return call is not None and call.type == "call_expression" and text_of(field(call, "function")) in self.jumps

    def _guards(self, jump: Node, relevant: set[str]) -> bool:
        parent = self.parent[jump.id]
        while parent is not None and parent.type in _PASSIVE:
            parent = self.parent[parent.id]
        return parent is not None and not relevant.isdisjoint(self.reads[parent.id])

    def _add_ancestors(self, chosen: set[int], relevant: set[str]) -> None:
        for start in list(chosen):
            parent = self.parent[start]
            while parent is not None:
                if parent.id not in chosen:
                    chosen.add(parent.id)
                    relevant |= self.reads[parent.id]
                parent = self.parent[parent.id]

    def _add_labels(self, chosen: set[int]) -> None:
        """All labels stay, for macros hide jumps to them."""
        for node in self.statements:
            if node.type == "labeled_statement":
                chosen.add(node.id)
                self._add_ancestors(chosen, set())

    def _add_final_returns(self, chosen: set[int]) -> None:
        for node in self.statements:
            if node.type == "return_statement" and self.parent[node.id] is None:
                chosen.add(node.id)

    def _add_declarations(self, chosen: set[int]) -> None:
        by_id = {node.id: node for node in self.statements}
        mentioned = set()
        for number in chosen:
            for part in head(by_id[number]):
                mentioned.update(text_of(node) for node in nodes(part) if node.type == "identifier")
        for _ in range(4):
            for node in self.statements:
                if node.type != "declaration" or node.id in chosen:
                    continue
                names = {declared_name(child) for child in node.children_by_field_name("declarator")}
                if names & mentioned:
                    chosen.add(node.id)
                    self._add_ancestors(chosen, set())
                    mentioned.update(text_of(inner) for inner in nodes(node) if inner.type == "identifier")

    def render(self, chosen: frozenset[int]) -> str:
        """The function with the other statements, and the comments, taken out; lines stay where they are."""
        cuts: list[tuple[int, int, bytes]] = []
        holds: dict[int, bool] = {}

        def has(node: Node) -> bool:
            if node.id not in holds:
                own = node.id in chosen and node.type != "compound_statement"
                holds[node.id] = own or any(has(child) for child in node.children)
            return holds[node.id]

        waiting = [field(self.node, "body")]
        while waiting:
            for child in waiting.pop().children:
                parent = child.parent
                statement = child.type in _STATEMENTS and child.id not in chosen
                if statement and not (child.type == "compound_statement" and has(child)):
                    if parent is not None and parent.type == "else_clause":
                        cuts.append((parent.start_byte, parent.end_byte, b""))
                    else:
                        listed = parent is not None and parent.type in _IN_LIST
                        cuts.append((child.start_byte, child.end_byte, b"" if listed else b";"))
                elif child.type == "comment" or (child.type == "else_clause" and not has(child)):
                    cuts.append((child.start_byte, child.end_byte, b""))
                else:
                    waiting.append(child)
        return _balanced(self._cut(cuts)).decode("utf-8", "replace")

    def _cut(self, cuts: list[tuple[int, int, bytes]]) -> bytes:
        out, at = [], self.node.start_byte
        for start, end, instead in sorted(cuts):
            if start >= at:
                out += [self.source[at:start], instead, b"\n" * self.source.count(b"\n", start, end)]
                at = end
        return b"".join([b"\n" * self.source.count(b"\n", 0, self.node.start_byte), *out,
                         self.source[at : self.node.end_byte]])  # fmt: skip


def _touches(written: str, relevant: set[str]) -> bool:
    path = written.rstrip("*")
    if path in relevant:
        return True
    return any(other.startswith(path + ".") for other in relevant)


def _balanced(text: bytes) -> bytes:
    """Without conditional directives where the cuts left them unbalanced; all their branches stay."""
    depth, broken, lines = 0, False, text.split(b"\n")
    for line in lines:
        match = _CONDITION.match(line)
        if match and match[1].startswith(b"if"):
            depth += 1
        elif match and match[1] == b"endif":
            depth -= 1
            broken = broken or depth < 0
        elif match:
            broken = broken or depth <= 0
    if not broken and depth == 0:
        return text
    return b"\n".join(b"" if _CONDITION.match(line) else line for line in lines)
