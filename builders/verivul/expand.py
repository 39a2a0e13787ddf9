"""The model expander: a program from a slice by a language model, with a loop of checking and mending.

    python -P -m builders.verivul.expand CLONE --repository NAME --commit SHA --url URL --model MODEL \\
        --record calls.jsonl

The model writes everything around the function: types, stubs, `main` with nondeterministic inputs. The function itself,
before and after the fix, is put in by us, so that a pair differs in the fix alone, whatever the model says.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from builders.verivul import answers, calls, esbmc, fixes, profiles
from builders.verivul.answers import AnswerError
from builders.verivul.assumptions import Setup
from builders.verivul.calls import Call, Endpoint, Live, Recorded
from builders.verivul.certify import Certifier
from builders.verivul.closer import Closed
from builders.verivul.command import tool
from builders.verivul.commits import Fix
from builders.verivul.ctypes import SPELLING
from builders.verivul.facts import Facts
from builders.verivul.fixes import Change, Result
from builders.verivul.git import MissingError, Repository
from builders.verivul.outcome import Attempt, Budget, Pair
from builders.verivul.program import Owner, Program, Writer, input_function
from builders.verivul.repair import errors
from builders.verivul.replay import compiles

CALLS = 5
"""Calls for a function."""

_UNWIND = 10
_RULES = f"""You write small C programs for the bounded model checker ESBMC. You get a C function with a vulnerability,
and its repaired version. Write ONE self-contained C file around it: the standard headers it needs, the types, macros,
globals and callees it needs (short stubs will do), and a `main` that makes the inputs and calls the function once.
Put the line {answers.MARK} alone where the function's definition goes; do not write the function itself.
Inputs come from __VERIFIER_nondet_int(), _uint(), _char(), _uchar(), _short(), _ushort(), _long(), _ulong(), _bool();
do not declare these. Limit them with __ESBMC_assume(condition). Buffers are small (at most 8 elements), loops short.
With the vulnerable function, ESBMC must find the vulnerability inside the function. With the repaired one, nothing may
be violated, and the function must still be reached. Do not use files, processes, signals or inline assembly.
Answer with one block of C code."""


def expand(
    trees: fixes.Trees, fix: Fix, change: Change, endpoint: Endpoint, *, budget: int = CALLS, cache: Path | None = None
) -> tuple[Pair | None, list[Attempt]]:
    """Ask for a program, check it, give the messages back, until it certifies or the budget is used up."""
    profile = profiles.chosen(fix.cwe, trees.commit.message + trees.diff)[0]
    certifier = Certifier(change.scope, Budget(10 * budget), cache)
    messages = [{"role": "system", "content": _RULES}, {"role": "user", "content": _question(change)}]
    subject = f"{fix.name}/{change.before.name}"
    for number in range(budget):
        call = endpoint.ask(subject, messages)
        if call.failure:
            certifier.attempts.append(_failed(change, number, f"model_{call.failure}", "no answer"))
            if call.failure != "malformed":
                break
            continue
        try:
            code = answers.context(call.answer)
        except AnswerError as error:
            certifier.attempts.append(_failed(change, number, error.reason, str(error)))
            messages += _again(call, str(error))
            continue
        pair, complaint = _check(certifier, change, code, number, profile)
        if pair:
            return pair, certifier.attempts
        messages += _again(call, complaint)
    return None, certifier.attempts


def _question(change: Change) -> str:
    before, after = (re.sub(r"\n\s*\n+", "\n", text) for text in change.slices)
    return f"Vulnerable:\n```c\n{before}\n```\nRepaired:\n```c\n{after}\n```"


def _again(call: Call, complaint: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": call.answer[:20_000]},
            {"role": "user", "content": f"That does not do: {complaint}\nWrite the whole file again."}]  # fmt: skip


def _failed(change: Change, number: int, reason: str, message: str) -> Attempt:
    return Attempt(change.before.name, "model", 0, number, "", "", "", reason, message[:200])


def _check(certifier: Certifier, change: Change, code: str, number: int, profile: str) -> tuple[Pair | None, str]:
    """(the certified pair or None, what to tell the model)."""
    sides = [
        _complete(answers.fill(code, item.name, text, item.path, item.line))
        for item, text in zip((change.before, change.after), change.slices, strict=True)
    ]
    for program in sides:
        found = errors(esbmc.run(program.text, ["--parse-tree-only", "--sv-comp"], seconds=10).output)
        fault = found[0][1] if found else compiles(program)
        if fault:
            where = f" in the line: {program.line(found[0][0])}" if found else ""
            certifier.attempts.append(_failed(change, number, "does_not_parse", fault))
            return None, f"it does not compile: {fault}{where}"
    closed = Closed(sides[0], sides[1], (), 0, 0, Facts())
    before = len(certifier.attempts)
    pair = certifier.once(closed, Setup(), _UNWIND, number, "model", profile)
    attempt = replace(certifier.attempts[-1], assumptions=tuple(_assumed(code)))
    certifier.attempts[before:] = [attempt]
    if pair:
        return replace(pair, assumptions=attempt.assumptions), ""
    return None, _COMPLAINTS.get(attempt.outcome, "ESBMC says {outcome}: {message}").format(
        outcome=attempt.outcome, message=attempt.message
    )


_COMPLAINTS = {
    "not_violated": "ESBMC finds no violation with the vulnerable function: let the inputs reach it.",
    "both_violated": "ESBMC finds the same violation with the repaired function: {message}. Make valid inputs.",
    "twin_not_safe": "with the repaired function something is violated: {message}",
    "vacuous": "the repaired function is not reached at the place of the violation: the assumptions rule it out.",
    "violation_in_harness": "the violation is in your code, not in the function.",
    "timeout": "ESBMC runs out of time: make buffers and loops smaller.",
    "bound_too_small": f"a loop runs more than {_UNWIND} times: make it shorter.",
}


def _assumed(code: str) -> list[str]:
    return sorted(set(re.findall(r"__ESBMC_assume\s*\((.*)\)\s*;", code)))


def _complete(program: Program) -> Program:
    """The program with the input functions in front."""
    asked = [name for name in SPELLING if re.search(rf"\binput_{name}\(", program.text)]
    lines = [f"extern {SPELLING[name]} __VERIFIER_nondet_{name}(void);" for name in asked]
    lines += ["extern void __ESBMC_assume(_Bool);"]
    lines += [input_function(name) for name in asked]
    out = Writer()
    out.add(Owner("prelude"), "\n".join(lines))
    text = program.text.split("\n")
    for number, (start, owner) in enumerate(program.parts):
        end = program.parts[number + 1][0] if number + 1 < len(program.parts) else len(text)
        out.add(owner, "\n".join(text[start - 1 : end - 1]))
    made = out.program()
    return replace(made, lines=(0,) * len(lines) + program.lines)


def replayed(repository: Repository, fix: Fix, recorded: str, *, cache: Path | None = None) -> list[Result]:
    """The model's programs for a fix, from recorded calls; none where nothing was asked about it."""
    known = calls.read(recorded)
    mine = {call.subject.partition("/")[2] for call in known.values() if call.subject.startswith(f"{fix.name}/")}
    return [_result(repository, fix, Recorded(known), mine, cache)] if mine else []


def _result(
    repository: Repository, fix: Fix, endpoint: Endpoint, functions: set[str] | None, cache: Path | None
) -> Result:
    try:
        trees = fixes.read(repository, fix.commit)
    except (MissingError, fixes.RefusedError) as error:
        return Result((), (Attempt("", "model", 0, 0, "", "", "", "commit_refused", str(error)[:200]),), (), fix.date)
    pairs, attempts, found = [], [], []
    for change in fixes.changes(trees):
        if functions is None or change.before.name in functions:
            pair, tried = expand(trees, fix, change, endpoint, cache=cache)
            pairs += [pair] if pair else []
            attempts += tried
            found.append(change)
    return Result(tuple(pairs), tuple(attempts), tuple(found), trees.commit.date)


@tool
def main(arguments: list[str] | None = None, environment: Mapping[str, str] = os.environ) -> None:
    """The command line: asks an endpoint, and records."""
    parser = argparse.ArgumentParser(prog="python -P -m builders.verivul.expand", description=__doc__)
    parser.add_argument("clone", type=Path)
    for name in ("repository", "commit", "url", "model"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=120)
    chosen = parser.parse_args(arguments)
    endpoint = Live(chosen.url, chosen.model, chosen.record, key=environment.get("OPENAI_API_KEY", ""),
                    seconds=chosen.seconds)  # fmt: skip
    with Repository(chosen.clone) as repository:
        result = _result(repository, Fix(chosen.repository, chosen.commit), endpoint, None, None)
    for attempt in result.attempts:
        sys.stdout.write(f"{attempt.function} {attempt.round} {attempt.outcome} {attempt.message}\n")


if __name__ == "__main__":
    main()
