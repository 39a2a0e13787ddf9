"""Rows of the tables from what was certified and tried."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence
from typing import Any

from builders.verivul import esbmc, metrics, neardup, profiles
from builders.verivul.commits import Fix
from builders.verivul.fixes import Change
from builders.verivul.outcome import Attempt, Pair
from builders.verivul.program import Program
from builders.verivul.python_programs import ARGUMENTS, Checked
from builders.verivul.trace import Trace

MOST_STEPS = 400
"""Of a trace; of a longer one the last ones are kept, for they end at the violation."""


def short_id(*parts: str) -> str:
    """16 hexadecimal digits that say nothing of what they were made from."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def origin(fix: Fix, function: str) -> dict[str, Any]:
    """Where a row comes from."""
    return {"repository": fix.repository, "commit": fix.commit, "cve": list(fix.cve), "function": function}


def attempt_row(fix: Fix, number: int, attempt: Attempt, expander: str) -> dict[str, Any]:
    """A row of `attempts`."""
    return {
        "attempt_id": f"{fix.name}-{expander}-{number:03d}",
        **origin(fix, attempt.function),
        "expander": expander,
        "mode": attempt.mode,
        "setup": attempt.setup,
        "round": attempt.round,
        "profile": attempt.profile,
        "before": attempt.before,
        "after": attempt.after,
        "outcome": attempt.outcome,
        "message": attempt.message,
        "assumptions": list(attempt.assumptions),
    }


def pair_rows(
    fix: Fix,
    pair: Pair,
    original: str,
    *,
    path: str,
    date: str,
    licence: str,
    expander: str,
    renamed: bool = False,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The two rows of `programs` and the row of `pairs`.

    Args:
        original: the function as it stands in the repository before the fix.
        renamed: names and order are not those of the repository: see `rename`.
    """
    pair_id = short_id(fix.repository, fix.commit, pair.function, expander, pair.before.text, pair.after.text)
    ids = {
        label: short_id(pair_id, side.text, label)
        for label, side in (("vulnerable", pair.before), ("safe", pair.after))
    }
    cwe = list(pair.trace.violation.cwe)
    primary = profiles.primary_cwe(fix.cwe, cwe, pair.violation.comment, pair.statement) or None
    shared = {
        "pair_id": pair_id, "language": "c", "bound": _bound(pair),
        "profile": pair.profile, "esbmc_version": esbmc.version(), "solver": pair.solver,
        "assumptions": list(pair.assumptions), "repairs": list(pair.repairs), "expander": expander, "mode": pair.mode,
        "renamed": renamed,
        **origin(fix, pair.function), "path": path, "date": date, "licence": licence,
    }  # fmt: skip
    vulnerable = {
        **shared, "program_id": ids["vulnerable"], "label": "vulnerable", "basis": "violated", "code": pair.before.text,
        "esbmc_args": list(pair.found_by),
        "proof_args": [], "proof": None, "cwe": cwe, "cwe_primary": primary, "property": pair.violation.comment,
        "guard": pair.trace.violation.guard or None, "violating_line": pair.line,
        "violating_statement": pair.statement, "place": pair.place, "trace": _steps(pair.trace),
        "inputs": [{"type": step.function.removeprefix("input_"), "value": step.value} for step in pair.trace.inputs],
        "replay": pair.replay.outcome, "replay_kind": pair.replay.kind or None, "replay_line": pair.replay.line,
        **_measured(pair.before, pair.function, original, path),
    }  # fmt: skip
    safe = {
        **shared, "program_id": ids["safe"], "label": "safe", "basis": "proved" if pair.proof_arguments else "bounded",
        "code": pair.after.text, "esbmc_args": list(pair.arguments), "proof_args": list(pair.proof_arguments),
        "proof": pair.proof if pair.proof_arguments else None, "cwe": [], "cwe_primary": None, "property": None,
        "guard": None, "violating_line": None, "violating_statement": None, "place": None, "trace": [], "inputs": [],
        "replay": None, "replay_kind": None, "replay_line": None,
        **_measured(pair.after, pair.function, original, path),
    }  # fmt: skip
    row = {
        "pair_id": pair_id, "vulnerable_id": ids["vulnerable"], "safe_id": ids["safe"], **origin(fix, pair.function),
        "cwe_primary": primary, "profile": pair.profile, "replay": pair.replay.outcome, "probes": pair.reached[1],
        "probes_reached": pair.reached[0], "difference": difference(pair.before.text, pair.after.text),
        "fix_lines": fix_lines(pair.before.text, pair.after.text), "group": (fix.cve or (fix.commit,))[0],
    }  # fmt: skip
    return [vulnerable, safe], row


def python_rows(checked: Checked, licence: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows of a certified Python pair."""
    pair, example = checked.pair, checked.example
    assert example is not None
    replayed = "exact" if checked.raised else "none"
    fix = Fix("python", "", (), (pair.cwe,))
    pair_id = short_id("python", pair.name, pair.before, pair.after)
    sides = {"vulnerable": pair.before, "safe": pair.after}
    ids = {label: short_id(pair_id, code, label) for label, code in sides.items()}
    nothing = {"proof_args": [], "proof": None, "cwe": [], "cwe_primary": None, "property": None, "guard": None,
               "violating_line": None, "violating_statement": None, "place": None, "trace": [], "inputs": [],
               "replay": None, "replay_kind": None, "replay_line": None}  # fmt: skip
    found = {"cwe": list(example.violation.cwe), "cwe_primary": pair.cwe, "property": example.violation.comment,
             "guard": example.violation.guard or None, "violating_line": checked.line,
             "violating_statement": pair.before.splitlines()[checked.line - 1].strip(), "place": "program",
             "trace": _steps(example), "replay": replayed, "replay_kind": checked.raised or None,
             "replay_line": checked.line if checked.raised else 0}  # fmt: skip
    made = []
    for label, code in sides.items():
        row = {"program_id": ids[label], "pair_id": pair_id, "label": label, "code": code, "language": "python",
               "basis": "violated" if label == "vulnerable" else "bounded", "esbmc_args": list(ARGUMENTS), "bound": 8,
               "profile": "python", "esbmc_version": esbmc.version(), "solver": checked.before.solver,
               "assumptions": [], "repairs": [], "expander": "python", "mode": "whole", "renamed": False,
               **origin(fix, pair.name),
               "path": "", "date": "", "licence": licence, "origin_lines": [0] * len(code.splitlines()),
               "similarity": 1.0, "metrics": None, "program_metrics": None, **nothing}  # fmt: skip
        made.append(row | (found if label == "vulnerable" else {}))
    row = {"pair_id": pair_id, "vulnerable_id": ids["vulnerable"], "safe_id": ids["safe"], **origin(fix, pair.name),
           "cwe_primary": pair.cwe, "profile": "python", "replay": replayed, "probes": 1, "probes_reached": 1,
           "difference": difference(pair.before, pair.after), "fix_lines": fix_lines(pair.before, pair.after),
           "group": pair.name}  # fmt: skip
    return made, row


def _bound(pair: Pair) -> int:
    return int(pair.arguments[pair.arguments.index("--unwind") + 1])


def _steps(trace: Trace) -> list[dict[str, Any]]:
    kept = trace.steps[-MOST_STEPS:]
    return [
        {name: getattr(step, name) for name in ("line", "column", "function", "variable", "value")} for step in kept
    ]


def _measured(program: Program, function: str, original: str, path: str) -> dict[str, Any]:
    lines = [program.origin(line) for line in range(1, len(program.lines) + 1)]
    names = [owner.name for _, owner in program.parts if owner.kind == "callee"]
    return {
        "origin_lines": [place[1] if place and place[0] == path else 0 for place in lines],
        "similarity": neardup.containment(original, program.text),
        "metrics": metrics.measure(program.text, [function, *names]),
        "program_metrics": metrics.measure(program.text),
    }


def difference(before: str, after: str) -> str:
    """A unified diff of two programs, with three lines around."""
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), "vulnerable", "safe", lineterm=""))


def fix_lines(before: str, after: str) -> list[int]:
    """The lines of the first program that the second lacks; where it only adds, the line before."""
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    for kind, start, end, _, _ in matcher.get_opcodes():
        if kind in ("replace", "delete"):
            found.update(range(start + 1, end + 1))
        elif kind == "insert":
            found.add(max(start, 1))
    return sorted(found)


def real_row(fix: Fix, change: Change) -> dict[str, Any]:
    """A row of `metrics_reference`: a changed function before its fix."""
    details = {"repository": fix.repository, "commit": fix.commit, "path": change.before.path,
               "function": change.before.name}  # fmt: skip
    name = f"real-{fix.name}-{change.before.name}"
    return {"reference_id": name, "sample": "real", "metrics": metrics.measure(change.before.text),
            "details": details}  # fmt: skip


def baseline_rows(programs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Rows of `metrics_reference` for (name, text) of the baseline's programs."""
    return [
        {"reference_id": f"baseline-{name}", "sample": "baseline", "metrics": metrics.measure(text),
         "details": {"template": name}}
        for name, text in programs
    ]  # fmt: skip
