"""Predictions: read from a file, and each compared with what the dataset says of its program."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.json_lines import json_object
from schemas import GoldsmithError

LABELS = ("vulnerable", "safe")
_HITS = (1, 3, 5)

Prediction = Mapping[str, Any]
"""An object of the file: see `score`."""


def read(path: Path) -> tuple[dict[str, Prediction], int]:
    """(predictions by program, number of lines that cannot be read); of two for a program the last counts.

    Raises:
        GoldsmithError: there is no such file.
    """
    if not path.is_file():
        raise GoldsmithError(f"[{path}] is no file: give the predictions as JSON lines")
    found, unreadable = {}, 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json_object(line) if line.strip() else None
        except ValueError:
            entry = {}
        if entry and isinstance(entry.get("program_id"), str) and entry.get("label") in LABELS:
            found[entry["program_id"]] = entry
        elif entry is not None:
            unreadable += 1
    return found, unreadable


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
    claims = [claim for claim in answer.get("claims") or () if isinstance(claim, dict)]
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
    lines = answer.get("lines")
    return [line for line in lines if isinstance(line, int)] if isinstance(lines, list) else []


def hit(answer: Prediction, wanted: Sequence[int], count: int) -> float:
    """1 where one of the first `count` lines of an answer is wanted, else 0."""
    return float(not set(wanted).isdisjoint(_lines(answer)[:count]))
