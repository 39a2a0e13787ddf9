"""Repairs a closed program from the front end's messages, deterministically: drop, stub or invent what is missing."""

from __future__ import annotations

import re
from dataclasses import replace

from builders.verivul.assumptions import Setup
from builders.verivul.closure import Closure
from builders.verivul.program import Owner, Program

_ERROR = re.compile(r"^(\S+?):(\d+):(\d+): (?:fatal )?error: (.*)$", re.M)
_UNKNOWN = re.compile(
    r"use of undeclared identifier '(\w+)'|unknown type name '(\w+)'|call to undeclared (?:library )?function '(\w+)'"
)
_INCOMPLETE = re.compile(r"sizeof' to an incomplete type '(?:const )?((?:struct|union) \w+|\w+)")
_CLASH = re.compile(
    r"redefinition|conflicting types|incomplete type|redeclar|not a compile-time constant|initializer|expected"
    r"|no member"
    r"|previous|incompatible|invalid|macro invocation|undeclared label|#endif|#else"
)
_SET_IN_HARNESS = re.compile(r"input_\w+\(|malloc\(|keep\(|make_\d|= 0;|__ESBMC_assume|\) \+ ")
_AT_A_TIME = 12


def errors(output: str) -> list[tuple[int, str]]:
    """(line, message) of each error of the front end."""
    return [(int(line), message) for _, line, _, message in _ERROR.findall(output)]


def repair(side: Closure, program: Program, output: str, setup: Setup) -> list[str]:
    """Change the closure or the setup so that these errors go; what was done, empty if nothing helps."""
    done: list[str] = []
    found = errors(output)[:_AT_A_TIME]
    for line, message in found:
        done += _types(side, program, setup, line, message)
    for line, message in found:
        unknown = _UNKNOWN.search(message)
        done += _invent(side, program, line, unknown) if unknown else _remove(side, program, setup, line, message)
    return done


def _types(side: Closure, program: Program, setup: Setup, line: int, message: str) -> list[str]:
    """What can be learnt of a type from a message about its use."""
    lines, done = program.text.split("\n"), []
    incomplete = _INCOMPLETE.search(message)
    if incomplete and program.owner(line).kind == "harness" and incomplete[1] not in setup.opaque:
        setup.opaque.add(incomplete[1])
        done.append(f"nothing is known of {incomplete[1]}")
    declared = (
        re.match(r"\s*(?:const\s+)?(\w+)\s+\**\w+\s*[;,=]", lines[line - 1]) if "expected ';'" in message else None
    )
    if declared and side.added.get(declared[1], "").startswith("enum"):
        side.added[declared[1]] = f"typedef int {declared[1]};"
        done.append(f"{declared[1]} is taken for an int")
    member = re.search(r"no member named '(\w+)' in '(?:struct )?guessed_(\w+)'", message)
    base = re.search(
        r"member reference (?:base )?type '(?:const )?(\w+)(?: \*)?' \(aka '(?:const )?int(?: \*)?'\)", message
    )
    name = member[2] if member else base[1] if base else ""
    if name in side.added:
        known = set(side.inferred.setdefault(name, []))
        wanted = {member[1]} if member else set(re.findall(r"(?:->|\.)\s*(\w+)", lines[line - 1]))
        if wanted - known or side.added[name].startswith("typedef int"):
            side.inferred[name] = sorted(known | wanted)
            body = " ".join(f"long {one};" for one in side.inferred[name])
            pointer = "*" if "is not a pointer" in message else ""
            side.added[name] = f"typedef struct guessed_{name} {{ int unused; {body} }} {pointer}{name};"
            done.append(f"the members of {name} are guessed")
    return done


def _invent(side: Closure, program: Program, line: int, match: re.Match[str]) -> list[str]:
    """Declare a name that has no definition: as a type, a function or a constant, by how it is used."""
    name, text, here = match[1] or match[2] or match[3], program.text, program.line(line)
    owner = program.owner(line)
    if name in side.added:
        if owner.kind == "stub" and owner.name not in side.bare:
            side.bare.add(owner.name)
            return [f"{owner.name} is declared without parameters"]
        return []
    pointed = re.search(rf"\b{name}\s*\*", text) is not None
    by_value = re.search(rf"\b{name}\s+\w+\s*[;,)=\[]", text) is not None
    as_type = (
        re.search(rf"^\s*(?:static\s+|const\s+)*{name}\s*\**\s*\w+\s*[;,=\[]", here)
        or re.search(rf"[(,]\s*(?:const\s+)?{name}\s*\*\s*[,)]", here)
        or re.search(rf"\(\s*(?:const\s+)?{name}\s*\**\s*\)\s*[\w(]", here)
    )
    if match[2] or (as_type and not name.isupper()):
        whole = pointed and not by_value
        side.added[name] = (
            f"typedef struct guessed_{name} {{ int unused; }} {name};" if whole else f"typedef int {name};"
        )
        return [f"the type {name} is guessed"]
    if match[3] or re.search(rf"\b{name}\s*\(", text):
        side.added[name] = f"int {name}();"
        return [f"{name} returns any int"]
    side.added[name] = f"enum {{ {name} = {1 + sum(map(ord, name)) % 97} }};"
    return [f"the constant {name} is guessed"]


def _remove(side: Closure, program: Program, setup: Setup, line: int, message: str) -> list[str]:
    """Take out what an error stands in."""
    owner = program.owner(line)
    member = re.search(r"no member named '(\w+)'", message)
    if member and owner.kind == "harness" and _SET_IN_HARNESS.search(program.line(line)):
        if member[1] in setup.skipped:
            return []
        setup.skipped.add(member[1])
        return [f"the member {member[1]} is not set"]
    if owner.kind == "stub":
        return _simpler_stub(side, owner.name)
    if not _CLASH.search(message):
        return []
    if owner.kind == "callee" and owner.name in side.functions:
        side.stubs[owner.name] = side.functions.pop(owner.name)
        return [f"{owner.name} loses its body"]
    if owner.kind == "global" and owner.name in side.globals:
        return _plain_global(side, owner)
    if owner.kind == "type":
        return _drop_type(side, owner)
    return []


def _simpler_stub(side: Closure, name: str) -> list[str]:
    if name not in side.bare:
        side.bare.add(name)
        return [f"{name} is declared without parameters"]
    if name in side.stubs:
        del side.stubs[name]
        side.added[name] = f"int {name}();"
        return [f"{name} returns any int"]
    return []


def _plain_global(side: Closure, owner: Owner) -> list[str]:
    item = side.globals.pop(owner.name)
    text = item.text.split("=")[0].rstrip() + ";"
    if "=" in item.text and "[]" not in text:
        side.globals[owner.name] = replace(item, text=text)
    return [f"the global {owner.name} loses its value"]


def _drop_type(side: Closure, owner: Owner) -> list[str]:
    for key, item in list(side.types.items()):
        if (item.name, item.path, item.line) == (owner.name, owner.path, owner.line):
            del side.types[key]
            side.dropped.add((item.kind, item.name, item.path, item.line))
            return [f"a second definition of {owner.name} is dropped"]
    return []
