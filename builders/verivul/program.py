"""Puts a closed fragment together as one C file, and knows for each of its lines where it came from."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass

from builders.verivul import libc
from builders.verivul.closure import Closure, signature
from builders.verivul.ctypes import SPELLING
from builders.verivul.harness import Harness
from builders.verivul.index import Item
from builders.verivul.ordering import Unit, ordered
from builders.verivul.parse import without_comments, words
from builders.verivul.stubs import stub

_TAG = re.compile(r"\b(struct|union)\s+(\w+)")
_KEEP = """static void *kept[8];
static unsigned int kept_count;
static void keep(void *made)
{
    __ESBMC_assume(kept_count < 8);
    kept[kept_count++] = made;
}"""
_INPUT_NAMES = [name for name in SPELLING if name != "enum"]


@dataclass(frozen=True)
class Owner:
    """What a part of the program is.

    `target`, `callee`, `caller`, `type`, `global`, `macro`, `stub`, `harness` or `prelude`.

    Attributes:
        path, line: where it stands in the repository; empty and 0 for made text.
        item_line: of a prototype or definition of a stub, the line of its declaration.
    """

    kind: str
    name: str = ""
    path: str = ""
    line: int = 0


@dataclass(frozen=True)
class Program:
    """A C file.

    Attributes:
        parts: (first line from 1, owner), in order.
        lines: for each line, its line in the repository's file; 0 for made text.
    """

    text: str
    parts: tuple[tuple[int, Owner], ...]
    lines: tuple[int, ...]

    def owner(self, line: int) -> Owner:
        """What a line belongs to."""
        at = bisect.bisect_right([start for start, _ in self.parts], line) - 1
        return self.parts[max(at, 0)][1]

    def origin(self, line: int) -> tuple[str, int] | None:
        """(path, line) in the repository of a line of the program; None for made text."""
        number = self.lines[line - 1] if 0 < line <= len(self.lines) else 0
        return (self.owner(line).path, number) if number else None

    def line(self, number: int) -> str:
        """A line's text, without surrounding space; empty where there is none."""
        lines = self.text.split("\n")
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""

    def lines_of(self, *kinds: str) -> list[int]:
        """All line numbers that belong to parts of these kinds."""
        return [line for line in range(1, len(self.lines) + 1) if self.owner(line).kind in kinds]


class Writer:
    """Collects parts, without their empty lines."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._origins: list[int] = []
        self._parts: list[tuple[int, Owner]] = []

    def add(self, owner: Owner, text: str) -> None:
        """Append a part."""
        self._parts.append((len(self._lines) + 1, owner))
        for number, line in enumerate(text.split("\n")):
            line = line.rstrip()
            if line or (self._lines and self._lines[-1].endswith("\\")):
                self._lines.append(line)
                self._origins.append(owner.line + number if owner.line else 0)

    def program(self) -> Program:
        """What was collected."""
        return Program("\n".join([*self._lines, ""]), tuple(self._parts), tuple(self._origins))


def write(side: Closure, harness: Harness, main: Sequence[str], arguments: Sequence[str]) -> Program:
    """The C file of one side."""
    units = ordered(side.types.values(), side.macros)
    stubs = [(name, made) for name, item in side.stubs.items() if (made := stub(side, name, item, harness))]
    unreadable = [name for name in side.stubs if name not in dict(stubs)]
    body = "".join(f"    {line}\n" for line in main)
    entry = f"int main(void)\n{{\n{body}    {side.start}({', '.join(arguments)});\n    return 0;\n}}\n"
    out = Writer()
    _prelude(out, side, harness, units, stubs, entry)
    _types(out, side, units)
    for name in unreadable:
        out.add(Owner("stub", name), f"int {name}();")
    for name, (prototype, _) in stubs:
        out.add(Owner("stub", name), prototype + ";")
    for name, item in side.functions.items():
        out.add(Owner("callee", name, item.path), re.sub(r"\bextern\b", "", item.body) + ";")
    for item in {item.text: item for item in side.globals.values()}.values():
        out.add(_owner("global", item), _global(item))
    for text in [*harness.callbacks, *_maker_prototypes(harness), *harness.makers]:
        out.add(Owner("harness"), text)
    for name, (_, definition) in stubs:
        out.add(Owner("stub", name), definition)
    for item in side.functions.values():
        out.add(_owner("callee", item), without_comments(item.text))
    out.add(_owner("target", side.function), without_comments(side.text))
    if side.caller:
        out.add(_owner("caller", side.caller[0]), without_comments(side.caller[1]))
    out.add(Owner("harness"), entry)
    return out.program()


def input_function(name: str) -> str:
    """The function that gives a nondeterministic scalar and shows it in the trace as `input`."""
    kind = SPELLING[name]
    return f"static {kind} input_{name}(void) {{ {kind} input = __VERIFIER_nondet_{name}(); return input; }}"


def _owner(kind: str, item: Item) -> Owner:
    return Owner(kind, item.name, item.path, item.line)


def _maker_prototypes(harness: Harness) -> list[str]:
    return [text.split(")")[0] + ");" for text in harness.makers]


def _global(item: Item) -> str:
    text = re.sub(r"^\s*extern\b", "", without_comments(item.text))
    if len(text) >= 4000:
        text = text.split("=")[0].rstrip() + ";"
    return text if "=" in text else re.sub(r"\[\s*\]", "[4]", text)


def _prelude(
    out: Writer, side: Closure, harness: Harness, units: Sequence[Unit],
    stubs: Sequence[tuple[str, tuple[str, str]]], entry: str,
) -> None:  # fmt: skip
    code = [*side.code, entry, *harness.makers, *harness.callbacks, *(made for _, (_, made) in stubs)]
    others = [macro.text for macro in side.macros.values()] + [unit.text for unit in units]
    others += [item.text for item in side.globals.values()] + list(side.added.values())
    everything = "\n".join([*code, *others])
    out.add(Owner("prelude"), libc.includes(everything, side.index.by_name))
    asked = [name for name in _INPUT_NAMES if re.search(rf"\binput_{name}\(", everything)]
    lines = [f"extern {SPELLING[name]} __VERIFIER_nondet_{name}(void);" for name in asked]
    lines += ["extern void __ESBMC_assume(_Bool);"]
    lines += ["extern void __ESBMC_assert(_Bool, const char *);"] if "__ESBMC_assert" in everything else []
    lines += [input_function(name) for name in asked]
    out.add(Owner("prelude"), "\n".join(lines))
    if harness.setup.kept:
        out.add(Owner("prelude"), _KEEP)
    for name, instead in side.aliases.items():
        if name != instead:
            out.add(Owner("prelude"), f"#define {name} {instead}")
    for name, text in side.added.items():
        out.add(Owner("added", name), text)


def _types(out: Writer, side: Closure, units: Sequence[Unit]) -> None:
    spelled = " ".join(unit.text for unit in units)
    texts = [unit.text for unit in units] + [*map(without_comments, side.code), *map(signature, side.stubs.values())]
    tags = {tag for text in texts for tag in _TAG.findall(text)}
    nested = {
        (match[1], match[2])
        for unit in units
        for match in re.finditer(r"\b(struct|union)\s+(\w+)\s*\{", unit.text)
        if "{" in unit.text[: match.start()]
    }
    forward = [f"{word} {name};" for word, name in sorted(tags - nested) if name not in libc.KEYWORDS]
    if forward:
        out.add(Owner("prelude"), "\n".join(forward))
    early = _early(side, units, spelled)
    _macros(out, side, early)
    for unit in units:
        out.add(_owner("type", unit.item), unit.text)
    _macros(out, side, set(side.macros) - early)


def _early(side: Closure, units: Sequence[Unit], spelled: str) -> set[str]:
    """Macros that types need, with the macros that these need."""
    in_types, found = set(words(spelled)), set()
    for name, macro in side.macros.items():
        near = macro.path.endswith(".h") or macro.path in {u.item.path for u in units if name in words(u.text)}
        if name in in_types and near and not re.search(rf"\b(struct|union|enum)\s+{name}\b", spelled):
            found.add(name)
    for _ in range(4):
        found |= {word for name in found for word in words(side.macros[name].body) if word in side.macros}
    return found


def _macros(out: Writer, side: Closure, names: set[str]) -> None:
    for name, macro in sorted(side.macros.items(), key=lambda pair: (pair[1].path, pair[1].line, pair[0])):
        if name in names:
            text = without_comments(macro.text)
            out.add(Owner("macro", name), f"#ifndef {name}")
            out.add(_owner("macro", macro), text)
            out.add(Owner("macro", name), "#endif")
