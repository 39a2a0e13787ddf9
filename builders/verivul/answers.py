"""What a model's answer may hold: one C file with the mark where the function goes, and nothing that reaches outside.

An answer is material, never an instruction. It is compiled and run (under the sanitizers), so it may call only what is
on a list.
"""

from __future__ import annotations

import re

from builders.verivul import libc
from builders.verivul.parse import (
    declared_name,
    declares_function,
    field,
    names,
    nodes,
    parse,
    text_of,
    without_comments,
)
from builders.verivul.program import Owner, Program, Writer

MARK = "@FUNCTION@"
_BLOCK = re.compile(r"```(?:[cC]|h)?[ \t]*\n(.*?)```", re.S)
_HEADERS = names(
    """
    stddef.h stdlib.h stdint.h string.h limits.h stdio.h ctype.h stdbool.h float.h inttypes.h math.h assert.h
    errno.h stdarg.h sys/types.h time.h
    """
)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*(include|include_next|import|embed)\b[ \t]*(.*)$", re.M)
_FORBIDDEN = re.compile(
    r"\b(asm|__asm__|__asm|_Pragma|__attribute__|constructor|__builtin_\w+|syscall)\b|#[ \t]*pragma"
)
_REACH_OUT = frozenset(
    "fopen fclose fread fwrite fgets fgetc getc ungetc fseek ftell rewind sscanf fscanf getenv perror exit".split()  # noqa: SIM905
)
_INPUTS = tuple(
    f"__VERIFIER_nondet_{n}" for n in ("int", "uint", "char", "uchar", "short", "ushort", "long", "ulong", "bool")
)
_LONGEST = 60_000


class AnswerError(Exception):
    """An answer that is of no use; `reason` is a short code."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def context(answer: str) -> str:
    """The C file of an answer, with the mark in it, without comments.

    Raises:
        AnswerError: it is empty, has no code, or the code is not allowed.
    """
    if not answer.strip():
        raise AnswerError("model_empty", "the answer is empty")
    blocks = [block for block in _BLOCK.findall(answer) if MARK in block]
    if not blocks:
        raise AnswerError("model_refused", f"the answer has no block of C code with the line {MARK}")
    code = blocks[-1]
    if len(code) > _LONGEST:
        raise AnswerError("forbidden_code", f"the code has more than {_LONGEST} characters")
    if code.count(MARK) != 1 or not re.search(rf"^[ \t]*{MARK}[ \t]*$", code, re.M):
        raise AnswerError("model_refused", f"the line {MARK} must stand alone, once")
    code = without_comments(code)
    if MARK not in code:
        raise AnswerError("model_refused", f"the line {MARK} is in a comment")
    _check(code)
    return code


def _check(code: str) -> None:
    for word, what in _INCLUDE.findall(code):
        name = re.fullmatch(r"<([^>]+)>\s*", what)
        if word != "include" or not name or name[1] not in _HEADERS:
            raise AnswerError("forbidden_code", f"#{word} {what.strip()[:60]} is not allowed")
    if match := _FORBIDDEN.search(code):
        raise AnswerError("forbidden_code", f"{match[0]} is not allowed")
    root = parse(code.replace(MARK, ";"))
    own = {declared_name(node.child_by_field_name("declarator")) for node in root.children
           if node.type == "function_definition"}  # fmt: skip
    if "main" not in own:
        raise AnswerError("model_refused", "the code has no main")
    allowed = (libc.NAMES - _REACH_OUT) | own | set(_INPUTS) | {"__ESBMC_assume"}
    for node in nodes(root):
        if node.type == "declaration":
            for child in node.children_by_field_name("declarator"):
                name = declared_name(child) or ""
                if declares_function(child) and name.startswith("__") and name not in allowed:
                    raise AnswerError("forbidden_code", f"{name} is not allowed")
        function = field(node, "function") if node.type == "call_expression" else node
        if node.type == "call_expression" and function.type == "identifier" and text_of(function) not in allowed:
            called = text_of(function)
            if re.search(rf"^[ \t]*#[ \t]*define[ \t]+{called}\b", code, re.M) or called not in _SYSTEM:
                continue  # the function itself, a macro, or what the compiler will not find
            raise AnswerError("forbidden_code", f"{called} is not allowed")


_SYSTEM = _REACH_OUT | names(
    """
    system popen execl execle execlp execv execve execvp fork vfork clone socket connect open openat creat unlink
    remove rename rmdir mkdir chmod chown kill raise signal dlopen dlsym mmap mprotect ptrace abort _exit quick_exit
    atexit read write pread pwrite ioctl fcntl dup dup2 pipe longjmp setjmp freopen tmpfile
    """
)


def fill(code: str, function: str, text: str, path: str, line: int) -> Program:
    """The program: the code with the function in place of the mark."""
    before, _, after = code.partition(MARK)
    out = Writer()
    out.add(Owner("harness"), _named_inputs(before))
    out.add(Owner("target", function, path, line), without_comments(text))
    out.add(Owner("harness"), _named_inputs(after))
    return out.program()


def _named_inputs(code: str) -> str:
    """The code with `__VERIFIER_nondet_x()` asked through `input_x()`, so that a counterexample lists the inputs."""
    return re.sub(r"\b__VERIFIER_nondet_(\w+)\s*\(\s*\)", r"input_\1()", code)
