"""Predictions: read from a file, and each compared with what the dataset says of its program."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas import GoldsmithError
from schemas.json_lines import json_lines

LABELS = ("vulnerable", "safe")
_HITS = (1, 3, 5)

Prediction = Mapping[str, Any]
"""An object of the file: see `score`."""


def read(path: Path, known: Collection[str]) -> dict[str, Prediction]:
    """Predictions by program; `known` are the programs' ids. One whose label is none of `LABELS` is empty: wrong.

    Raises:
        GoldsmithError: there is no such file, it has no prediction, or a line is no object of that form, is of no
            known program or of one that it has already: nobody knows which answer was meant.
    """
    found: dict[str, Prediction] = {}
    lines: dict[str, int] = {}
    for number, entry in json_lines(path):
        where, program = f"{path.name} > line {number}", entry.get("program_id")
        for name in ("program_id", "label"):
            if name not in entry:
                raise GoldsmithError(f"[{where}] has no {name}: write program_id and label (null where there is none)")
        if not isinstance(program, str) or program not in known:
            raise GoldsmithError(
                f"[{where} > program_id] {program!r} is no program of this dataset: name its folder by -d"
            )
        if program in lines:
            raise GoldsmithError(f"[{where}] {program} is that of line {lines[program]} again: keep one prediction")
        for name, (has_form, form) in _FORMS.items():
            if entry.get(name) is not None and not has_form(entry[name]):
                raise GoldsmithError(f"[{where} > {name}] {str(entry[name])[:40]!r} is no {form}: correct it")
        lines[program] = number
        found[program] = entry if entry["label"] in LABELS else {}
    if not found:
        raise GoldsmithError(f"[{path.name}] has no prediction: write one JSON object a line")
    return found


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return _is_whole(value) or isinstance(value, float)


_FORMS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "score": (_is_number, "number"),
    "cwe": (lambda value: _number(value) is not None, "weakness such as 125 or CWE-125"),
    "lines": (
        lambda value: isinstance(value, list) and all(_is_whole(line) for line in value),
        "list of line numbers",
    ),
    "claims": (
        lambda value: isinstance(value, list) and all(isinstance(claim, dict) for claim in value),
        "list of objects of line, variable and value",
    ),
}
"""What may stand beside a label: whether it has the form, and the form."""


def pair_outcome(vulnerable: Prediction, safe: Prediction) -> str:
    """Both right, both called vulnerable, both called benign, both reversed; without an answer, the worst: reversed."""
    first = vulnerable.get("label", "safe") == "vulnerable"
    second = safe.get("label", "vulnerable") == "vulnerable"
    return {(True, False): "P-C", (True, True): "P-V", (False, False): "P-B", (False, True): "P-R"}[first, second]


def of_vulnerable(row: Mapping[str, Any], answer: Prediction) -> dict[str, float]:
    """Scores of an answer to a vulnerable program beside its label, by name."""
    found = {}
    if row["cwe_primary"] is not None:
        guess = _number(answer.get("cwe"))
        found["CWE exact"] = float(guess == row["cwe_primary"])
        found["CWE candidate"] = float(guess is not None and guess in {*row["cwe"], row["cwe_primary"]})
    for count in _HITS:
        found[f"line hit@{count}"] = hit(answer, [row["violating_line"]], count)
    lines = _lines(answer)
    place = lines.index(row["violating_line"]) + 1 if row["violating_line"] in lines else None
    found["line MRR"] = 1 / place if place else 0.0
    claims = answer.get("claims") or ()
    true = [claim for claim in claims if holds(claim, row)]
    found["claims true"] = len(true) / len(claims) if claims else 0.0
    steps = {step["line"] for step in row["trace"] if step["line"]} | {row["violating_line"]}
    named = {_number(claim.get("line")) for claim in true} & steps
    found["trace covered"] = len(named) / len(steps) if steps else 0.0
    return found


def holds(claim: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether a claim (a line, a variable, a value: what is given of them) is a step of the trace or its violation."""
    line, variable, value = _number(claim.get("line")), claim.get("variable"), claim.get("value")
    if line is None and variable is None:
        return False
    if variable is None and value is None and line == row["violating_line"]:
        return True
    return any(
        (line is None or step["line"] == line)
        and (variable is None or step["variable"] == variable)
        and (value is None or _same(step["value"], value))
        for step in row["trace"]
    )


def _same(one: str, other: object) -> bool:
    return _plain(one) == _plain(str(other))


def _plain(text: str) -> str:
    text = text.strip().rstrip("uUlLfF") if re.match(r"\s*-?[\d.]", text) else text.strip()
    try:
        return repr(float(int(text, 0)) if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)", text) else float(text))
    except ValueError:
        return text.lower()


def _number(value: object) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    match = re.search(r"\d+", str(value))
    return int(match[0]) if match else None


def _lines(answer: Prediction) -> list[int]:
    return answer.get("lines") or []


def hit(answer: Prediction, wanted: Sequence[int], count: int) -> float:
    """1 where one of the first `count` lines of an answer is wanted, else 0."""
    return float(not set(wanted).isdisjoint(_lines(answer)[:count]))
