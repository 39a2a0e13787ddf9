"""Macros that only decorate declarations (`XMLCALL`, `OF((...))`, `__attribute__`) are blanked before parsing.

They break the grammar of plain C. Every replacement has the length of what it replaces, so offsets and lines stay.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable
from dataclasses import dataclass

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)\n]*\))?((?:[^\n\\]|\\\r?\n|\\.)*)", re.M)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.M)
_DECORATION = re.compile(
    rb"^(?:\s|extern|static|inline|__inline(?:__)?|__forceinline|register|const|volatile|restrict|__restrict(?:__)?"
    rb"|noreturn|_Noreturn|__extension__|_?_stdcall|_?_cdecl|_?_fastcall|WINAPI|APIENTRY|FAR|far|near|__export"
    rb"|__attribute__\s*\(\(.*?\)\)|__declspec\s*\([^)]*\))*$",
    re.S,
)
_KEEP = (b"NULL", b"inline", b"const", b"static", b"extern", b"volatile")
_ALWAYS = frozenset(b"U_INLINE XMLCALL ATTRIBUTE_UNUSED INLINE OPJ_API OPJ_CALLCONV UNUSED _U_ NORETURN FAR".split())
_WRAPPERS = (b"OF", b"PROTO", b"P_", b"PARAMS", b"STRING", b"ARGS")
_AGGREGATE = re.compile(rb"\b(?:enum|struct|union)\b[\s\w]*\{")
_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b([^\n]*)")
_MEMBER = re.compile(rb"(\w+)\s*(?:\[[^\]]*\])?\s*(?:;|,\s*$)")


@dataclass(frozen=True)
class Annotations:
    """The decorating macros of a source tree.

    Attributes:
        plain: name -> what stands for it (`static` or nothing).
        calls: names that are blanked with their arguments.
        wrappers: names whose one argument stays and whose parentheses go.
    """

    plain: dict[bytes, bytes]
    calls: frozenset[bytes]
    wrappers: frozenset[bytes]

    @property
    def key(self) -> str:
        """Equal for equal annotations: part of a cache's key."""
        return repr((sorted(self.plain.items()), sorted(self.calls), sorted(self.wrappers)))


def find(texts: Iterable[bytes]) -> Annotations:
    """The decorating macros that these files define."""
    bodies: dict[bytes, list[bytes]] = {}
    calls, wrappers = set(), set()
    for text in texts:
        for match in _DEFINE.finditer(text):
            name, parameters = match[1], match[2]
            body = re.sub(rb"/\*.*?\*/|//[^\n]*", b"", match[3], flags=re.S).replace(b"\\\n", b" ").strip()
            if not parameters:
                bodies.setdefault(name, []).append(body)
            elif _wraps(name, parameters.strip(b"() ").split(b","), body):
                wrappers.add(name)
            elif body.startswith((b"__attribute__", b"__declspec")) and not _passes_on(parameters, body):
                calls.add(name)
    plain = {}
    for name, seen in bodies.items():
        if name in _KEEP or not all(_DECORATION.match(body) for body in seen):
            continue
        static = any(re.search(rb"\bstatic\b", body) for body in seen) and not any(b"extern" in body for body in seen)
        plain[name] = b"static" if static and len(name) >= len(b"static") else b""
    return Annotations(plain, frozenset(calls - wrappers), frozenset(wrappers))


def _passes_on(parameters: bytes, body: bytes) -> bool:
    """Whether a macro leaves an argument of its in the code, and not only inside an attribute."""
    rest = re.sub(rb"__attribute__\s*\(\(.*\)\)|__declspec\s*\([^)]*\)", b" ", body, flags=re.S)
    return any(word in rest.split() for word in re.findall(rb"\w+", parameters))


def _wraps(name: bytes, parameters: list[bytes], body: bytes) -> bool:
    parameter = parameters[0].strip()
    if len(parameters) != 1 or not parameter or not _passes_on(parameter, body):
        return False
    rest = re.sub(rb"\b%s\b" % re.escape(parameter), b" ", body, count=1)
    rest = re.sub(rb"\b[A-Z_]*(STDCALL|CDECL|CALL|CALLCONV|API)\b", b" ", rest)
    if not _DECORATION.match(rest):
        return False
    short = len(name) <= 4 or any(word in name for word in (b"PUBLIC", b"API", b"EXPORT")) or name.endswith(_WRAPPERS)
    return bool(rest.strip()) or (name.isupper() and short)


def blank(text: bytes, annotations: Annotations) -> bytes:
    """The text with the decorating macros, and conditions inside type definitions, replaced by spaces."""
    text = _flatten_aggregates(text)
    out = bytearray(text)
    directives = [match.span() for match in _DIRECTIVE.finditer(text)]
    starts = [start for start, _ in directives]
    for match in re.finditer(rb"[A-Za-z_]\w*", text):
        name = match[0]
        known = name in annotations.plain or name in _ALWAYS
        called = name in annotations.calls or name == b"__attribute__"
        if not (known or called or name in annotations.wrappers):
            continue
        before = bisect.bisect_right(starts, match.start()) - 1
        if before >= 0 and match.start() < directives[before][1]:
            continue
        if known:
            out[match.start() : match.end()] = annotations.plain.get(name, b"").ljust(len(name))
        else:
            _blank_call(out, text, match, called=called)
    return bytes(out)


def _blank_call(out: bytearray, text: bytes, match: re.Match[bytes], *, called: bool) -> None:
    at = match.end()
    while at < len(text) and text[at : at + 1] in b" \t\n":
        at += 1
    end = _closing(text, at) if text[at : at + 1] == b"(" else None
    if end is None:
        return
    if called:
        out[match.start() : end] = bytes(10 if byte == 10 else 32 for byte in out[match.start() : end])
    elif text[at + 1 : at + 2] == b"(" or not match[0].endswith((b"OF", b"NS", b"T", b"PROTO", b"P_")):
        out[match.start() : at + 1] = b" " * (at + 1 - match.start())
        out[end - 1] = 32


def _closing(text: bytes, start: int) -> int | None:
    depth = 0
    for at in range(start, min(len(text), start + 4000)):
        depth += {40: 1, 41: -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return None


def _flatten_aggregates(text: bytes) -> bytes:
    """Take the conditional directives out of enum, struct and union bodies: `#if 0` parts go, of an `#else` what is
    new stays."""
    out, at = bytearray(text), 0
    while match := _AGGREGATE.search(text, at):
        end = _body_end(text, match.end() - 1)
        at = match.end() if end is None else end + 1
        if end is not None:
            _flatten(out, text, match.end(), end)
    return bytes(out)


def _body_end(text: bytes, start: int) -> int | None:
    depth = 0
    for at in range(start, min(len(text), start + 60000)):
        if text[at] == 123:
            depth += 1
        elif text[at] == 125:
            depth -= 1
            if depth == 0:
                return at
    return None


def _flatten(out: bytearray, text: bytes, start: int, end: int) -> None:
    stack: list[tuple[bool, bool]] = []  # (in a part that is never compiled, in an #else)
    seen, at = set(), start
    for line in text[start:end].split(b"\n"):
        condition, members = _CONDITION.match(line), _MEMBER.findall(line)
        if condition:
            if condition[1] in (b"if", b"ifdef", b"ifndef"):
                stack.append((condition[2].strip() == b"0", False))
            elif stack:
                stack.pop()
                if condition[1] != b"endif":
                    stack.append((False, True))
        repeated = bool(members) and members[-1] in seen and any(other for _, other in stack)
        if condition or any(never for never, _ in stack) or repeated:
            out[at : at + len(line)] = b" " * len(line)
        if members and stack:
            seen.add(members[-1])
        at += len(line) + 1
