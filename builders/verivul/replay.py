"""A second witness: the counterexample's inputs, given to the program that gcc made with its sanitizers.

ESBMC's model of C and gcc's differ where C leaves things open (memory that nobody wrote); then the exact inputs may not
do it, and a search over inputs near them may: the row says which of the two it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.verivul import child
from builders.verivul.ctypes import SPELLING
from builders.verivul.program import Program
from builders.verivul.trace import Step
from schemas.rooms import Room

FLAGS = ("-std=gnu11", "-g", "-O0", "-fno-omit-frame-pointer", "-w")
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all")
_SECONDS = 20
_TRIES = 20000
_FRAME = re.compile(r"#\d+ 0x[0-9a-f]+ in (\S+) (?:\S*/)?program\.c:(\d+)")
_RUNTIME = re.compile(r"^(?:\S*/)?program\.c:(\d+):\d+: runtime error: (.*)$", re.M)
_ASAN = re.compile(r"ERROR: (?:Address|Leak)Sanitizer: (attempting \S+|[\w-]+)")
_BROKEN = re.compile(r"VIOLATED: (.*)")
_OPTIONS = (
    "exitcode=99:detect_leaks={leaks}:allocator_may_return_null=1:max_allocation_size_mb=512:symbolize=1"
    ":hard_rss_limit_mb=2048"
)

_RUNTIME_C = r"""#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sanitizer/asan_interface.h>
int target_main(void);
/* AddressSanitizer lets one byte of an empty object be read. */
void *exact_malloc(size_t size)
{
    void *made = malloc(size);
    if (made != 0 && size == 0) __asan_poison_memory_region(made, 1);
    return made;
}
static const uint64_t GIVEN[] = {%(given)s 0};
static const size_t COUNT = %(count)d;
static size_t at;
static int exact;
static uint64_t state;
static jmp_buf again;
static uint64_t any(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static uint64_t next(int bits)
{
    if (exact) {
        if (at >= COUNT) { printf("inputs used up\n"); exit(77); }
        return GIVEN[at++];
    }
    uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1, dice = any() %% 16;
    if (dice < 9 && at < COUNT) return GIVEN[at++];
    at++;
    if (dice < 13) return any() %% 9;
    if (dice == 13) return mask >> (any() %% 2);
    return dice == 14 ? any() %% 256 : any() & mask;
}
void __ESBMC_assume(_Bool holds)
{
    if (holds) return;
    if (exact) { printf("an assumption does not hold\n"); exit(78); }
    longjmp(again, 1);
}
void __ESBMC_assert(_Bool holds, const char *text)
{
    if (!holds) { fprintf(stderr, "VIOLATED: %%s\n", text); exit(99); }
}
%(inputs)s
int main(int count, char **arguments)
{
    exact = count == 1;
    if (exact) { target_main(); return 0; }
    for (long number = 1; number <= atol(arguments[1]); number++) {
        state = (uint64_t)number * 0x9E3779B97F4A7C15u | 1;
        any();
        at = 0;
        if (!setjmp(again)) target_main();
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Replay:
    """What the sanitizers say.

    Attributes:
        outcome: `exact`, `searched` (other inputs did it), `none` (it did not fail) or `not_built`.
        kind: such as `heap-buffer-overflow` or the runtime error's text.
        line: of the program, where the report points to; 0 for none.
    """

    outcome: str
    kind: str = ""
    line: int = 0

    @property
    def confirmed(self) -> bool:
        """Whether the program really fails."""
        return self.outcome in ("exact", "searched")


def compiles(program: Program) -> str:
    """Empty if `gcc -Wall -c` takes the program; else its first error."""
    with Room("gcc") as room:
        (Path(room) / "program.c").write_text(program.text, encoding="utf-8")
        command = ["gcc", "-std=gnu11", "-Wall", "-c", "program.c", "-o", "program.o"]
        code, output = _compile(command, Path(room))
    faults = re.findall(r"error: (.*)", output)
    return "" if code == 0 else (faults[0] if faults else output.strip()[-200:] or "gcc failed")


def replay(program: Program, inputs: Sequence[Step], *, leaks: bool, search: bool = True) -> Replay:
    """Run the program under AddressSanitizer and UBSan with these inputs.

    Args:
        leaks: memory that is never freed counts.
        search: try inputs near these where they do not do it.
    """
    given = [int(step.bits, 2) if step.bits else _number(step.value) for step in inputs]
    with Room("replay") as name:
        room = Path(name)
        (room / "program.c").write_text(program.text, encoding="utf-8")
        (room / "replay.c").write_text(_runtime(given), encoding="utf-8")
        build = [
            "gcc",
            *FLAGS,
            *_SANITIZERS,
            "-Dmain=target_main",
            "-Dmalloc=exact_malloc",
            "-c",
            "program.c",
            "-o",
            "program.o",
        ]
        link = ["gcc", *FLAGS, *_SANITIZERS, "replay.c", "program.o", "-lm", "-o", "replay"]
        for command in (build, link):
            code, output = _compile(command, room)
            if code != 0:
                return Replay("not_built", output.strip()[-200:])
        options = {"ASAN_OPTIONS": _OPTIONS.format(leaks=int(leaks)),
                   "UBSAN_OPTIONS": "print_stacktrace=1:exitcode=99"}  # fmt: skip
        for outcome, command in (("exact", ["./replay"]), ("searched", ["./replay", str(_TRIES)])):
            if outcome == "searched" and (leaks or not search):
                break
            # AddressSanitizer reserves terabytes of addresses; the bound on what it really takes is in its options.
            code, output = child.execute(command, room, seconds=_SECONDS, memory=None, settings=options)
            found = _report(program, output, outcome) if code != 0 else None
            if found:
                return found
    return Replay("none")


def _compile(command: Sequence[str], room: Path) -> tuple[int, str]:
    return child.execute(command, room, seconds=_SECONDS, memory=child.MEMORY, files=child.SCRATCH)


def _report(program: Program, output: str, outcome: str) -> Replay | None:
    """The report, if it is about the code of the project and not about the harness or a stub."""
    kind = _ASAN.search(output) or _BROKEN.search(output)
    runtime = _RUNTIME.search(output)
    frames = [int(line) for _, line in _FRAME.findall(output)]
    frames = ([int(runtime[1])] if runtime else []) + frames
    ours = [line for line in frames if program.owner(line).kind in ("target", "callee")]
    first = program.owner(frames[0]).kind if frames else ""
    if kind is None and runtime is None:
        return None
    if _BROKEN.search(output):
        return Replay(outcome, _BROKEN.search(output)[1], 0)  # pyright: ignore[reportOptionalSubscript]
    leak = kind is not None and kind[1].startswith("detected")
    if not ours or (first in ("harness", "stub", "prelude") and not leak):
        return None
    text = runtime[2] if runtime else kind[1] if kind else ""
    return Replay(outcome, "memory-leak" if leak else re.sub(r"0x[0-9a-f]+", "ADDRESS", text)[:120], ours[0])


def _runtime(given: Sequence[int]) -> str:
    functions = []
    for name, spelled in SPELLING.items():
        if name == "enum":
            continue
        if name in ("double", "float"):
            width, word = (64, "uint64_t") if name == "double" else (32, "uint32_t")
            body = f"{word} bits = ({word})next({width}); {spelled} value; "
            body += "memcpy(&value, &bits, sizeof value); return value;"
        else:
            width = {"char": 8, "short": 16, "int": 32, "long": 64, "bool": 1}[
                name.lstrip("u") if name != "bool" else name
            ]
            body = f"return ({spelled})next({width});"
        functions.append(f"{spelled} __VERIFIER_nondet_{name}(void) {{ {body} }}")
    numbers = "".join(f"{value % (1 << 64)}u, " for value in given)
    return _RUNTIME_C % {"given": numbers, "count": len(given), "inputs": "\n".join(functions)}


def _number(value: str) -> int:
    if value in ("TRUE", "FALSE"):
        return int(value == "TRUE")
    match = re.match(r"-?\d+", value)
    return int(match[0]) if match else 0
