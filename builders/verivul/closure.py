"""What a fragment needs to stand alone: macros, types, globals, callees (to a bound) and stubs for the others."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from typing import Protocol

from builders.verivul import libc
from builders.verivul.index import Index, Item
from builders.verivul.parameters import Parameter, parameters
from builders.verivul.parse import (
    declared_name,
    nodes,
    parse,
    text_of,
    without_comments,
    words,
)

_QUIET = re.compile(r"(print|log|err|warn|debug|trace|msg|perror|dump|report|eprintf|verbose)", re.I)
_ALLOCATOR = re.compile(r"^\w*?(malloc|calloc|realloc|free|strdup)(?:Atomic|_fn|Fn)?$", re.I)
_TAG = re.compile(r"\b(struct|union|enum)\s+(\w+)\b")
_CALLEE_LINES = 45
_BUDGET_LINES = 260
_LONG = 4000


class Known(Protocol):
    """What repairs found out before: see `closer.Learnt`, which is changed in place."""

    added: dict[str, str]
    dropped: set[tuple[str, str, str, int]]
    bare: set[str]
    inferred: dict[str, list[str]]


class Closure:
    """One side of a fix with everything that it needs, by name.

    Args:
        index: of the tree.
        function: the changed function; `text` is it or its slice.
        near: paths whose definitions win (the files of the fix).
        depth: how deep callees are taken with their bodies.
        known: what repairs found out; it is shared and grows.
        caller: a function that calls it, with its text: then this is where the program starts.

    Attributes:
        macros, types, globals, functions, stubs: what was found; types by (kind, text).
        aliases: the project's allocators -> the library's.
        added: declarations that the repair invents, by name.
        dropped: definitions (kind, name, path, line) that are not to be used again.
        bare: stubs that are declared without parameters.
        inferred: of types that the repair invents, their members.
    """

    def __init__(
        self, index: Index, function: Item, text: str, near: Iterable[str], depth: int, known: Known,
        caller: tuple[Item, str] | None = None,
    ) -> None:  # fmt: skip
        self.index, self.function, self.text, self.caller = index, function, text, caller
        self.near, self.depth = frozenset(near), depth
        self.macros: dict[str, Item] = {}
        self.types: dict[tuple[str, str], Item] = {}
        self.globals: dict[str, Item] = {}
        self.functions: dict[str, Item] = {}
        self.stubs: dict[str, Item] = {}
        self.aliases: dict[str, str] = {}
        self.added, self.dropped, self.bare, self.inferred = known.added, known.dropped, known.bare, known.inferred
        self._close()

    def pick(self, name: str, *kinds: str) -> Item | None:
        """The nearest definition of a name: in the same file, the fix's files, the same folder, then by path."""
        found = [item for item in self.index.named(name, *kinds) if _key(item) not in self.dropped]
        return min(found, key=self._rank) if found else None

    def _rank(self, item: Item) -> tuple[bool, bool, bool, int, int, int]:
        home = self.function.path
        return (
            item.path != home,
            item.path not in self.near,
            item.path.rpartition("/")[0] != home.rpartition("/")[0],
            -_shared(item.path, home),
            item.nesting,
            item.line,
        )

    def parameters(self) -> list[Parameter]:
        """The named parameters where the program starts."""
        return parameters(self.caller[1] if self.caller else self.text)

    def _close(self) -> None:
        local = {one.name for one in self.parameters()}
        for node in (node for text in self._given for node in nodes(parse(text))):
            if node.type == "declaration":
                local |= {name for child in node.children_by_field_name("declarator") if (name := declared_name(child))}
        self._waiting: deque[tuple[str, int]] = deque()
        for text in self._given:
            self._want_text(text, 0)
        seen = {self.function.name, self.start}
        while self._waiting:
            name, depth = self._waiting.popleft()
            hidden = name in local and not self.pick(name, "macro")
            if name in seen or name in libc.KEYWORDS or hidden or name.startswith(("__VERIFIER_", "__ESBMC")):
                continue
            seen.add(name)
            self._take(name, depth)

    def _want_text(self, text: str, depth: int) -> None:
        """Everything that a piece of code mentions."""
        self._waiting.extend((name, depth) for name in self._mentions(text))
        self._want_tags(text, depth)

    def _want_tags(self, text: str, depth: int) -> None:
        for word, name in _TAG.findall(without_comments(text)):
            tag = self.pick(f"{word} {name}", "tag")
            if tag and not re.search(rf"\b{word}\s+{name}\s*\{{", text):
                whole = (item for item in self.index.typedefs(tag.path) if _defines(item, word, name))
                self._add_type(next(whole, tag), depth)

    def _mentions(self, text: str) -> list[str]:
        """Identifiers that can be types, macros, functions or globals; members only where a macro has their name."""
        found: dict[str, None] = {}
        for node in nodes(parse(without_comments(text)), named=False):
            if node.type in ("identifier", "type_identifier", "statement_identifier") or (
                node.type == "field_identifier" and self.pick(text_of(node), "macro")
            ):
                found[text_of(node)] = None
            elif node.type in ("preproc_arg", "ERROR"):
                found.update(dict.fromkeys(words(text_of(node))))
        return list(found)

    def _take(self, name: str, depth: int) -> None:
        allocator = _ALLOCATOR.match(name)
        replaced = self.pick(name, "macro", "global") or name.startswith("xml")
        if allocator and not self.pick(name, "function") and replaced and name not in libc.NAMES:
            self.aliases[name] = allocator[1].lower()
            return
        if name in libc.NAMES:
            return
        macro = self._macro(name)
        if macro:
            self.macros[name] = macro
            self._waiting.extend((word, depth) for word in words(macro.body))
            self._want_tags(macro.body, depth)
        elif not self._take_type(name, depth) and not self._take_function(name, depth):
            found = self.pick(name, "global")
            if found:
                self.globals[name] = found
                text = found.text if len(found.text) < _LONG else found.text.split("=")[0] + ";"
                self._waiting.extend((word, depth) for word in words(text))
                self._want_tags(text, depth)

    def _macro(self, name: str) -> Item | None:
        """The macro of this name, unless another definition is nearer or it only renames (`#define inflate z_inflate`)
        to something that is nowhere."""
        macro, other = self.pick(name, "macro"), self.pick(name, "macro", "enumerator", "typedef")
        if macro is None or macro is not other:
            return None
        body = macro.body.strip()
        if macro.nesting and re.fullmatch(r"[A-Za-z_]\w*", body) and body not in self.index.by_name:
            others = self.pick(name, "typedef", "function", "prototype", "global")
            return None if others else macro
        called = re.search(rf"\b{name}\s*\(", self.text)
        return None if macro.callable and self.pick(name, "typedef") and not called else macro

    def _take_type(self, name: str, depth: int) -> bool:
        entry = self.pick(name, "enumerator")
        if entry:
            whole = (item for item in self.index.typedefs(entry.path) if entry.text.rstrip(";") in item.text)
            self._add_type(next(whole, entry), depth)
            return True
        found = self.pick(name, "typedef")
        if found:
            self._add_type(found, depth)
        return found is not None

    def _add_type(self, item: Item, depth: int) -> None:
        if (item.kind, item.text) in self.types:
            return
        self.types[item.kind, item.text] = item
        self._want_text(item.text, depth)

    def _take_function(self, name: str, depth: int) -> bool:
        body, prototype = self.pick(name, "function"), self.pick(name, "prototype")
        if body and body.static and body.path != self.function.path and body.path not in self.near:
            body = None
        if not body and not prototype:
            return False
        used = sum(_lines(item) for item in self.functions.values())
        small = body and _lines(body) <= _CALLEE_LINES and used + _lines(body) <= _BUDGET_LINES
        if body and small and depth < self.depth and not _QUIET.search(name):
            self.functions[name] = body
            self._want_text(body.text, depth + 1)
        else:
            self.stubs[name] = stub = body or prototype  # pyright: ignore[reportArgumentType]
            assert stub is not None
            self._waiting.extend((word, depth + 1) for word in words(signature(stub)))
            self._want_tags(signature(stub), depth + 1)
        return True

    @property
    def _given(self) -> list[str]:
        return [self.text, self.caller[1]] if self.caller else [self.text]

    @property
    def start(self) -> str:
        """The name of the function that the harness calls."""
        return self.caller[0].name if self.caller else self.function.name

    @property
    def code(self) -> list[str]:
        """The texts that run: the function, its caller and the callees with bodies."""
        return [*self._given, *(item.text for item in self.functions.values())]


def agree(one: Closure, other: Closure) -> None:
    """Make both sides take the same functions with bodies, so that only the fix differs."""
    for here, there in ((one, other), (other, one)):
        for name in [name for name in here.functions if name not in there.functions and name in there.stubs]:
            here.stubs[name] = here.functions.pop(name)


def signature(item: Item) -> str:
    """The signature of a function or prototype, without a semicolon."""
    return item.body if item.kind == "function" else item.text.rstrip().rstrip(";")


def _shared(one: str, other: str) -> int:
    """How many characters two paths share from their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _key(item: Item) -> tuple[str, str, str, int]:
    return (item.kind, item.name, item.path, item.line)


def _lines(item: Item) -> int:
    return item.text.count("\n") + 1


def _defines(item: Item, word: str, name: str) -> bool:
    return re.search(rf"\b{word}\s+{name}\s*\{{", item.text) is not None
