"""The harness: values for the parameters and globals of a fragment, nondeterministic within stated assumptions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from builders.verivul.assumptions import Setup
from builders.verivul.buffers import END, Sibling, key
from builders.verivul.closure import Closure
from builders.verivul.ctypes import CType, members
from builders.verivul.facts import Facts
from builders.verivul.parameters import Parameter
from builders.verivul.parse import declared_name, first, parse
from builders.verivul.values import Values


class Harness(Values):
    """Makes the body of `main` and the functions that it needs: the same for both sides."""

    def __init__(self, before: Closure, after: Closure, facts: Facts, setup: Setup) -> None:
        super().__init__(before, facts, setup)
        self.before, self.after = before, after

    def main(self) -> tuple[list[str], list[str], list[str]]:
        """(statements of `main`, arguments before, arguments after)."""
        here, there = self.before.parameters(), self.after.parameters()
        names = [one.name for one in here]
        extra = [one for one in there if one.name not in names]
        declarations, siblings = [], []
        for one in [*here, *extra]:
            text, kind = self._parameter(one)
            declarations.append(text + ";")
            siblings.append((one.name, one.name, kind))
        lines: list[str] = []
        self._set_all(siblings, 0, lines, parameter=True)
        self._set_ends(siblings, lines)
        return declarations + self._globals() + lines, names, [one.name for one in there]

    def _parameter(self, one: Parameter) -> tuple[str, CType]:
        text, kind = one.text, self._type(one.specifier, one.declarator)
        if kind.kind == "array":
            kind = CType("pointer", of=kind.of)
            text = re.sub(r"(\w+)\s*\[[^\]]*\]\s*$", r"*\1", text)
        text = re.sub(r"\*\s*const\b", "*", re.sub(r"\b(register|restrict|__restrict)\b", "", text))
        return (re.sub(r"\bconst\b", "", text) if kind.kind == "scalar" else text), kind

    def _set_ends(self, siblings: Sequence[Sibling], lines: list[str]) -> None:
        """Ends inside records that are passed beside a buffer are the buffer's."""
        if self._buffer is None:
            return
        for place, name, kind in siblings:
            if kind.kind == "pointer" and kind.target.kind == "record" and key(place, name) not in self.setup.nullable:
                for member, specifier, declarator in members(kind.target):
                    made = self._type(specifier, declarator)
                    bytes_ = made.kind == "pointer" and made.target.kind in ("scalar", "void")
                    if bytes_ and member in self.facts.members - self.setup.skipped and END.search(member):
                        lines.append(f"{place}->{member} = (void *)({self._buffer[0]} + {self._buffer[1]});")

    def _globals(self) -> list[str]:
        lines: list[str] = []
        for name, item in self.before.globals.items():
            constant = "const" in item.text.split(name)[0].split()
            node = first(parse(item.text), "declaration")
            if node is None or constant or name not in self.facts.used or ("=" in item.text and not item.shared):
                continue
            for declarator in node.children_by_field_name("declarator"):
                if declared_name(declarator) == name:
                    kind = self._type(node.child_by_field_name("type"), declarator)
                    self._set(name, kind, name, 1, lines, (), parameter=False)
        return lines
