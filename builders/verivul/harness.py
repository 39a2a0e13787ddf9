"""The harness: values for the parameters and globals of a fragment, nondeterministic within stated assumptions.

Every input comes from a function `input_<type>()` that stores it in `input`, so that a counterexample lists the inputs
in the order in which the program asked for them: see `replay`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from builders.verivul.assumptions import About, Setup
from builders.verivul.closure import Closure, Parameter
from builders.verivul.ctypes import SPELLING, CType, declared, members, resolve
from builders.verivul.facts import Facts
from builders.verivul.parse import declared_name, first, parse, text_of

_LENGTH = re.compile(r"(len|length|size|sz|cnt|count|num|nb|max|bytes|cap|alloc|^n$|^n_|_n$|nitems|used|avail)", re.I)
_END = re.compile(r"(end|limit|snapend|_ep$|^ep\d?$|eptr|last|stop|ceil|^maxbuf$)", re.I)
_NOT_LENGTHS = ("enum", "bool", "double", "float", "char", "uchar")
_FILLED = 34
_RECORD = 24
"""Bytes of a buffer that the code reads as a record."""

Sibling = tuple[str, str, CType]
"""(lvalue, name, type) of a parameter or member beside another."""


def ask(kind: CType) -> str:
    """The C expression of a nondeterministic scalar."""
    return f"input_{'uint' if kind.name == 'enum' else kind.name}()" if kind.kind == "scalar" else "0"


class Harness:
    """Makes the body of `main` and the functions that it needs.

    Attributes:
        makers: text of the functions that make records, in order.
        callbacks: text of functions for function pointers.
    """

    def __init__(self, before: Closure, after: Closure, facts: Facts, setup: Setup) -> None:
        self.before, self.after, self.facts, self.setup = before, after, facts, setup
        self.makers: list[str] = []
        self.callbacks: list[str] = []
        self._made: dict[tuple[str, int], str] = {}
        self._buffer: tuple[str, str] | None = None

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

    def _type(self, specifier: Node | None, declarator: Node | None) -> CType:
        return declared(declarator, resolve(specifier, self.before))

    def _set_all(self, siblings: Sequence[Sibling], depth: int, lines: list[str], *, parameter: bool) -> None:
        """Numbers first, then pointers (character buffers first of all), then pointers to the ends of buffers."""

        def rank(sibling: Sibling) -> int:
            _, name, kind = sibling
            if kind.kind == "scalar":
                return 0
            if _END.search(name) and kind.kind == "pointer":
                return 3
            text = kind.kind == "pointer" and (kind.target.byte or kind.target.kind == "void")
            return 1 if parameter and text else 2

        for place, name, kind in sorted(siblings, key=rank):
            self._set(place, kind, name, depth, lines, siblings, parameter=parameter)

    def _set_ends(self, siblings: Sequence[Sibling], lines: list[str]) -> None:
        """Ends inside records that are passed beside a buffer are the buffer's."""
        if self._buffer is None:
            return
        for place, name, kind in siblings:
            if kind.kind == "pointer" and kind.target.kind == "record" and name not in self.setup.nullable:
                for member, specifier, declarator in members(kind.target):
                    made = self._type(specifier, declarator)
                    bytes_ = made.kind == "pointer" and made.target.kind in ("scalar", "void")
                    if bytes_ and member in self.facts.used - self.setup.skipped and _END.search(member):
                        lines.append(f"{place}->{member} = (void *)({self._buffer[0]} + {self._buffer[1]});")

    def _new(self, place: str, size: str) -> list[str]:
        """Memory for a pointer. A plain `malloc` beside its type: ESBMC takes the object's type from there, and memory
        without a type costs it ten times as much."""
        keep = [f"keep({place});"] if self.setup.kept else []
        return [f"{place} = malloc({size});", f"__ESBMC_assume({place} != 0);", *keep]

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

    def _set(
        self, place: str, kind: CType, name: str, depth: int, lines: list[str], siblings: Sequence[Sibling], *,
        parameter: bool,
    ) -> None:  # fmt: skip
        about = self.setup.about.get(name, About())
        match kind.kind:
            case "scalar":
                self._set_scalar(place, kind, name, lines, about)
            case "array":
                self._set_array(place, kind, name, depth, lines)
            case "record":
                self._set_members(place + ".", kind, depth, lines)
            case "pointer":
                self._set_pointer(place, kind.target, name, depth, lines, siblings, about, parameter=parameter)

    def _set_scalar(self, place: str, kind: CType, name: str, lines: list[str], about: About) -> None:
        lines.append(f"{place} = {ask(kind)};")
        whole = kind.name not in ("double", "float", "bool")
        if about.span and whole:
            lines.append(_within(place, kind, *about.span))
        elif kind.name == "enum" and not about.nonzero:
            count = kind.text.count(",") + 1 if "{" in kind.text else 64
            lines.append(f"__ESBMC_assume((unsigned){place} < {count});")
        elif self.setup.bounded and name in self.facts.loops and whole and not about.nonzero:
            lines.append(_within(place, kind, -1 if self.setup.negative else 0, self.setup.elements))
        if about.nonzero:
            lines.append(f"__ESBMC_assume({place} != 0);")

    def _set_array(self, place: str, kind: CType, name: str, depth: int, lines: list[str]) -> None:
        size = int(kind.text, 0) if re.fullmatch(r"0[xX][0-9a-fA-F]+|[1-9]\d*", kind.text) else None
        if kind.target.kind == "record":
            for number in range(min(size or 1, 2)):
                self._set(f"{place}[{number}]", kind.target, name, depth, lines, (), parameter=False)
        elif kind.target.kind == "scalar" and size and size <= _FILLED and kind.target.name != "enum":
            lines += [f"{place}[{number}] = {ask(kind.target)};" for number in range(size)]

    def _set_pointer(
        self, place: str, kind: CType, name: str, depth: int, lines: list[str], siblings: Sequence[Sibling],
        about: About, *, parameter: bool,
    ) -> None:  # fmt: skip
        if parameter and kind.kind == "record" and not about.size and self._overlaid(kind):
            self._set_packet(place, lines)
            return
        cast_to = self.facts.casts.get(name)
        other = kind.kind in ("void", "opaque") or (kind.kind == "record" and cast_to and cast_to[0].text != kind.text)
        if cast_to and other and depth < self.setup.depth:
            lines.append(f"{place} = (void *){self.make(cast_to[0], depth + 1)}();")
            return
        match kind.kind:
            case "function":
                lines.append(f"{place} = {self._callback(kind, name)};")
                return
            case "opaque":
                lines += self._new(place, "8")
                return
            case "record":
                if depth >= self.setup.depth + about.nonnull:
                    lines.append(f"{place} = 0;")
                    return
                self._set_record(place, kind, name, depth, lines, siblings, about, parameter=parameter)
            case "pointer":
                count, link = min(about.size or self.setup.objects, 8), self._link(name, siblings)
                lines += self._new(place, f"{count} * sizeof(*{place})")
                lines += [_within(*link, 0, count)] if link else []
                for number in range(count):
                    self._set(f"{place}[{number}]", kind, name + "_e", depth + 1, lines, (), parameter=parameter)
                return
            case _:
                if _END.search(name) and self._buffer:
                    lines.append(f"{place} = (void *)({self._buffer[0]} + {self._buffer[1]});")
                    return
                link = None if about.size or about.terminated else self._link(name, siblings)
                plain = kind.kind == "void" or kind.byte
                if parameter and plain and not about.size and not about.terminated and self._ends():
                    self._set_packet(place, lines)
                else:
                    self._set_buffer(place, kind, name, lines, link, about)
        if name in self.setup.nullable and not about.nonnull:
            lines.append(f"if (input_bool()) {place} = 0;")

    def _ends(self) -> bool:
        """Whether the code asks a record for the end of its data, as packet printers do."""
        return self.setup.packets and self._buffer is None and any(_END.search(name) for name in self.facts.members)

    def _overlaid(self, kind: CType) -> bool:
        """Whether a record is laid over the bytes of a packet: the code looks at an end, which is in another record."""
        own = {name for name, _, _ in members(kind)}
        return self._ends() and not any(_END.search(name) for name in own & self.facts.used)

    def _set_packet(self, place: str, lines: list[str]) -> None:
        """Bytes of any number up to `_RECORD`, whose end is the end of the data."""
        lines += [f"size_t room = {ask(CType('scalar', 'ulong'))};", f"__ESBMC_assume(room <= {_RECORD});"]
        lines += self._new(place, "room")
        value = ask(CType("scalar", "uchar"))
        lines += [f"if ({at} < room) ((unsigned char *){place})[{at}] = {value};" for at in range(_RECORD)]
        self._buffer = (f"(unsigned char *){place}", "room")

    def _set_record(
        self, place: str, kind: CType, name: str, depth: int, lines: list[str], siblings: Sequence[Sibling],
        about: About, *, parameter: bool,
    ) -> None:  # fmt: skip
        link = self._link(name, siblings)
        if name not in self.facts.indexed or (parameter and not link):
            lines.append(f"{place} = {self.make(kind, depth + 1)}();")
            return
        count = min(about.size or self.setup.objects, 8)
        lines += self._new(place, f"{count} * sizeof(*{place})")
        lines += [_within(*link, 0, count)] if link else []
        for number in range(count):
            self._set_members(f"{place}[{number}].", kind, depth + 1, lines)

    def _set_buffer(
        self, place: str, kind: CType, name: str, lines: list[str], link: tuple[str, CType] | None, about: About
    ) -> None:
        if kind.kind == "scalar" and not kind.byte and name not in self.facts.indexed:
            lines += [*self._new(place, f"sizeof(*{place})"), f"*{place} = {ask(kind)};"]
            return
        usual = self.setup.elements if name not in self.facts.casts else max(_RECORD, self.setup.elements)
        if link:
            lines.append(_within(*link, 0, usual))
        count = f"(size_t){link[0]}" if link else str(about.size or usual)
        width = "1" if kind.kind == "void" or kind.byte else f"sizeof(*{place})"
        lines += self._new(place, count if width == "1" else f"{count} * {width}")
        lines += self._fill(place, kind, count, usual)
        if kind.byte and not link and (name in self.facts.strings or kind.name == "char" or about.terminated):
            lines.append(f"((char *){place})[{count} - 1] = 0;")
        if self._buffer is None and not _END.search(name):
            self._buffer = (place, count)

    def _fill(self, place: str, kind: CType, count: str, most: int) -> list[str]:
        """Statements that give every element a named input, without loops, which would count against the bound."""
        byte = kind.kind == "void" or kind.byte
        if not byte and (kind.kind != "scalar" or kind.name == "enum"):
            return []
        value, whole = (ask(CType("scalar", "uchar")), "(unsigned char *)") if byte else (ask(kind), "")
        target = f"({whole}{place})" if byte else f"(({SPELLING[kind.name]} *){place})"
        if count.isdigit() and int(count) > _FILLED:
            return []  # too many inputs: this memory stays nondeterministic without a name
        if count.isdigit():
            return [f"{target}[{number}] = {value};" for number in range(int(count))]
        return [f"if ({number} < {count}) {target}[{number}] = {value};" for number in range(most)]

    def _link(self, name: str, siblings: Sequence[Sibling]) -> tuple[str, CType] | None:
        """The number beside a buffer that says its length, with its type."""
        if not self.setup.linked:
            return None
        numbers = [one for one in siblings if one[2].kind == "scalar" and one[2].name not in _NOT_LENGTHS]
        order = [other for _, other, _ in siblings]
        stem, best = re.sub(r"[^a-z]", "", name.lower()).rstrip("s"), None
        for place, other, kind in numbers:
            plain = re.sub(r"[^a-z]", "", other.lower())
            alike = len(stem) >= 3 and (stem in plain or (len(stem) > 4 and stem[:4] in plain))
            length = bool(_LENGTH.search(other))
            next_ = length and name in order and order.index(other) == order.index(name) + 1
            score = 4 * (other in self.facts.limits.get(name, ())) + length + next_ + 2 * alike
            if score >= (2 if len(numbers) > 1 else 1) and (best is None or score > best[0]):
                best = (score, place, kind)
        return best[1:] if best else None

    def _set_members(self, prefix: str, record: CType, depth: int, lines: list[str]) -> None:
        found: list[Sibling] = []
        for name, specifier, declarator in members(record):
            if name not in self.facts.used or name in self.setup.skipped:
                continue
            kind, text = self._type(specifier, declarator), text_of(declarator.parent)
            if kind.kind == "pointer" and re.search(r"\*\s*const\b", text):
                lines.append(f"*(void **)&({prefix}{name}) = malloc({self.setup.elements * 8});")
            elif kind.kind == "record" and re.match(r"\s*const\b", text):
                self._set_constant(prefix + name, text_of(specifier), kind, depth, lines)
            elif not (kind.kind == "scalar" and re.match(r"\s*const\b", text)):
                found.append((prefix + name, name, kind))
        if record.name == "union":  # one member is enough: the last write would win
            found = ([one for one in found if one[2].kind == "record"] or found)[:1]
        self._set_all(found, depth, lines, parameter=False)

    def _set_constant(self, place: str, spelled: str, kind: CType, depth: int, lines: list[str]) -> None:
        if re.fullmatch(r"\w+", spelled):
            inner: list[str] = []
            self._set_members("inner->", kind, depth, inner)
            lines.append(f"{{ {spelled} *inner = ({spelled} *)&({place}); {' '.join(inner)} }}")

    def make(self, record: CType, depth: int) -> str:
        """The name of the function that makes a record of this type."""
        key = (record.text, depth)
        if key in self._made:
            return self._made[key]
        name = self._made[key] = f"make_{len(self._made)}"
        spelled = self._spelling(record)
        if spelled is None or spelled in self.setup.opaque:
            self.makers.append(f"static void *{name}(void) {{ return malloc(64); }}")
            return name
        lines: list[str] = []
        outer, self._buffer = self._buffer, None
        self._set_members("made->", record, depth, lines)
        self._buffer = outer
        body = "".join(f"    {line}\n" for line in lines)
        start = "".join(f"    {line}\n" for line in self._new("made", f"sizeof({spelled})"))
        head = f"static {spelled} *{name}(void)\n{{\n    {spelled} *made;\n{start}"
        self.makers.append(f"{head}{body}    return made;\n}}")
        return name

    def _spelling(self, record: CType) -> str | None:
        match = re.match(r"\s*(struct|union)\s+(\w+)", record.text)
        if match and match[2] not in self.before.macros:
            return f"{match[1]} {match[2]}"
        wanted = record.text.rstrip(";")
        for item in self.before.types.values():
            if item.kind == "typedef" and wanted in item.text:
                node = first(parse(item.text), "type_definition")
                for declarator in node.children_by_field_name("declarator") if node is not None else ():
                    return declared_name(declarator)
        return None

    def _callback(self, kind: CType, name: str) -> str:
        for word in ("realloc", "calloc", "malloc", "free"):
            if word in name.lower():
                return f"(void *){word}"
        if name.lower().endswith("alloc"):
            return "(void *)malloc"
        made, result = f"callback_{len(self.callbacks)}", kind.target
        if result.kind == "scalar":
            self.callbacks.append(f"static {SPELLING[result.name]} {made}() {{ return {ask(result)}; }}")
        elif result.kind == "void":
            self.callbacks.append(f"static void {made}() {{ }}")
        else:
            self.callbacks.append(f"static void *{made}() {{ return 0; }}")
        return f"(void *){made}"


def _within(place: str, kind: CType, low: int, high: int) -> str:
    lower = "" if kind.unsigned and low <= 0 else f" && {place} >= {low}"
    return f"__ESBMC_assume({place} <= {high}{lower});"
