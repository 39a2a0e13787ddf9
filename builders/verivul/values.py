"""Values of any type for a harness: what each pointer points to, what each record holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tree_sitter import Node

from builders.verivul.assumptions import About, Setup
from builders.verivul.buffers import END, FILLED, Sibling, allocated, ask, filled, key, length_of, scalar, within
from builders.verivul.closure import Closure
from builders.verivul.ctypes import SPELLING, CType, declared, members, resolve
from builders.verivul.facts import Facts
from builders.verivul.parse import declared_name, first, parse, text_of

_RECORD = 24
"""Bytes of a buffer that the code reads as a record."""


class Values:
    """Makes statements that set variables and members.

    Attributes:
        makers: text of the functions that make records, in order.
        callbacks: text of functions for function pointers.
        inputs: what is set, as `access.key_of` calls it -> kind of its type.
    """

    def __init__(self, names: Closure, facts: Facts, setup: Setup) -> None:
        self.names, self.facts, self.setup = names, facts, setup
        self.makers: list[str] = []
        self.callbacks: list[str] = []
        self.inputs: dict[str, str] = {}
        self._made: dict[tuple[str, int], str] = {}
        self._buffer: tuple[str, str] | None = None

    def _type(self, specifier: Node | None, declarator: Node | None) -> CType:
        return declared(declarator, resolve(specifier, self.names))

    def _set_all(self, siblings: Sequence[Sibling], depth: int, lines: list[str], *, parameter: bool) -> None:
        """Numbers first, then pointers (character buffers first of all), then pointers to the ends of buffers."""

        def rank(sibling: Sibling) -> int:
            _, name, kind = sibling
            if kind.kind == "scalar":
                return 0
            if END.search(name) and kind.kind == "pointer":
                return 3
            text = kind.kind == "pointer" and (kind.target.byte or kind.target.kind == "void")
            return 1 if parameter and text else 2

        for place, name, kind in sorted(siblings, key=rank):
            self._set(place, kind, name, depth, lines, siblings, parameter=parameter)

    def _set(
        self, place: str, kind: CType, name: str, depth: int, lines: list[str], siblings: Sequence[Sibling], *,
        parameter: bool,
    ) -> None:  # fmt: skip
        called = key(place, name)
        text = kind.kind == "pointer" and (kind.target.byte or kind.target.kind == "void")
        self.inputs.setdefault(called, "text" if text else kind.kind)
        about = self.setup.about.get(called, About())
        match kind.kind:
            case "scalar":
                lines += scalar(place, kind, name, about, self.facts, self.setup)
            case "array":
                self._set_array(place, kind, name, depth, lines)
            case "record":
                self._set_members(place + ".", kind, depth, lines)
            case "pointer":
                self._set_pointer(place, kind.target, name, depth, lines, siblings, about, parameter=parameter)

    def _set_array(self, place: str, kind: CType, name: str, depth: int, lines: list[str]) -> None:
        size = int(kind.text, 0) if re.fullmatch(r"0[xX][0-9a-fA-F]+|[1-9]\d*", kind.text) else None
        if kind.target.kind == "record":
            for number in range(min(size or 1, 2)):
                self._set(f"{place}[{number}]", kind.target, name, depth, lines, (), parameter=False)
        elif kind.target.kind == "scalar" and size and size <= FILLED and kind.target.name != "enum":
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
                lines += allocated(place, "8", self.setup)
                return
            case "record":
                if depth >= self.setup.depth + about.nonnull:
                    lines.append(f"{place} = 0;")
                    return
                self._set_record(place, kind, name, depth, lines, siblings, about, parameter=parameter)
            case "pointer":
                count, link = (
                    min(about.size or self.setup.objects, 8),
                    length_of(name, siblings, self.facts, self.setup),
                )
                lines += allocated(place, f"{count} * sizeof(*{place})", self.setup)
                lines += [within(*link, 0, count)] if link else []
                for number in range(count):
                    self._set(f"{place}[{number}]", kind, name + "_e", depth + 1, lines, (), parameter=parameter)
                return
            case _:
                if END.search(name) and self._buffer:
                    lines.append(f"{place} = (void *)({self._buffer[0]} + {self._buffer[1]});")
                    return
                link = None if about.size or about.terminated else length_of(name, siblings, self.facts, self.setup)
                plain = kind.kind == "void" or kind.byte
                if parameter and plain and not about.size and not about.terminated and self._ends():
                    self._set_packet(place, lines)
                else:
                    self._set_buffer(place, kind, name, lines, link, about)
        if key(place, name) in self.setup.nullable and not about.nonnull:
            lines.append(f"if (input_bool()) {place} = 0;")

    def _ends(self) -> bool:
        """Whether the code asks a record for the end of its data, as packet printers do."""
        return self.setup.packets and self._buffer is None and any(END.search(name) for name in self.facts.members)

    def _overlaid(self, kind: CType) -> bool:
        """Whether a record is laid over the bytes of a packet: the code looks at an end, which is in another record."""
        own = {name for name, _, _ in members(kind)}
        return self._ends() and not any(END.search(name) for name in own & self.facts.members)

    def _set_packet(self, place: str, lines: list[str]) -> None:
        """Bytes of any number up to `_RECORD`, whose end is the end of the data."""
        lines += [f"size_t room = {ask(CType('scalar', 'ulong'))};", f"__ESBMC_assume(room <= {_RECORD});"]
        lines += allocated(place, "room", self.setup)
        value = ask(CType("scalar", "uchar"))
        lines += [f"if ({at} < room) ((unsigned char *){place})[{at}] = {value};" for at in range(_RECORD)]
        self._buffer = (f"(unsigned char *){place}", "room")

    def _set_record(
        self, place: str, kind: CType, name: str, depth: int, lines: list[str], siblings: Sequence[Sibling],
        about: About, *, parameter: bool,
    ) -> None:  # fmt: skip
        link = length_of(name, siblings, self.facts, self.setup)
        if name not in self.facts.indexed or (parameter and not link):
            lines.append(f"{place} = {self.make(kind, depth + 1)}();")
            return
        count = min(about.size or self.setup.objects, 8)
        lines += allocated(place, f"{count} * sizeof(*{place})", self.setup)
        lines += [within(*link, 0, count)] if link else []
        for number in range(count):
            self._set_members(f"{place}[{number}].", kind, depth + 1, lines)

    def _set_buffer(
        self, place: str, kind: CType, name: str, lines: list[str], link: tuple[str, CType] | None, about: About
    ) -> None:
        if kind.kind == "scalar" and not kind.byte and name not in self.facts.indexed:
            lines += [*allocated(place, f"sizeof(*{place})", self.setup), f"*{place} = {ask(kind)};"]
            return
        usual = self.setup.elements if name not in self.facts.casts else max(_RECORD, self.setup.elements)
        if link:
            lines.append(within(*link, 0, usual))
        count = f"(size_t){link[0]}" if link else str(about.size or usual)
        width = "1" if kind.kind == "void" or kind.byte else f"sizeof(*{place})"
        lines += allocated(place, count if width == "1" else f"{count} * {width}", self.setup)
        lines += filled(place, kind, count, usual)
        if kind.byte and not link and (name in self.facts.strings or kind.name == "char" or about.terminated):
            lines.append(f"((char *){place})[{count} - 1] = 0;")
        if self._buffer is None and not END.search(name):
            self._buffer = (place, count)

    def _set_members(self, prefix: str, record: CType, depth: int, lines: list[str]) -> None:
        found: list[Sibling] = []
        for name, specifier, declarator in members(record):
            if name not in self.facts.members or name in self.setup.skipped:
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
        start = "".join(f"    {line}\n" for line in allocated("made", f"sizeof({spelled})", self.setup))
        head = f"static {spelled} *{name}(void)\n{{\n    {spelled} *made;\n{start}"
        self.makers.append(f"{head}{body}    return made;\n}}")
        return name

    def _spelling(self, record: CType) -> str | None:
        match = re.match(r"\s*(struct|union)\s+(\w+)", record.text)
        if match and match[2] not in self.names.macros:
            return f"{match[1]} {match[2]}"
        wanted = record.text.rstrip(";")
        for item in self.names.types.values():
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
