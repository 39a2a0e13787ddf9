"""The scorer: `goldsmith score webspatial PREDICTIONS`, by type, group and kind of scene, beside what blind rules
reach.

Predictions are JSON lines or CSV with `question_id` and `prediction`. A prediction counts as an option if, in lower
case and without articles, punctuation and blanks at the ends, it is that option, its letter (`A)`, or `B` for `object
B`), or
begins with `answer:` and one of these. Anything else is wrong, and counted as unread. Questions without one are wrong.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.webspatial.space.audit import audit
from schemas import DatasetFolder, GoldsmithError
from schemas.json_lines import json_lines


def normal(text: str) -> str:
    """A prediction or an option as it is compared."""
    low = text.strip().lower()
    low = re.sub(r"^(the )?answer( is)?\s*[:=]?\s*", "", low)
    low = re.sub(r"[\s.,;:!?()\[\]\"'*`]+", " ", low).strip()
    return re.sub(r"^(the|a|an) ", "", low)


def read_option(prediction: str, options: Sequence[str]) -> str | None:
    """The option that a prediction means; None if it means none or more than one.

    An option itself comes first; a lone letter is the object of that mark, else the option of that place.
    """
    said = normal(prediction)
    forms: dict[str, list[str]] = defaultdict(list)
    for option in options:
        forms[normal(option)].append(option)
    if said in forms:
        return forms[said][0] if len(forms[said]) == 1 else None
    marked = [option for option in options if normal(option) == f"object {said}"]
    if marked:
        return marked[0]
    place = "abcdefgh".find(said) if len(said) == 1 else -1
    return options[place] if 0 <= place < len(options) and not any(o.startswith("object ") for o in options) else None


def read_predictions(path: Path) -> dict[str, str]:
    """question_id to prediction, of a .jsonl or .csv file.

    Raises:
        GoldsmithError: it is absent, has other columns, or names a question twice.
    """
    needed = "give a .jsonl or .csv file with question_id and prediction"
    try:
        content = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, IsADirectoryError):
        raise GoldsmithError(f"[{path}] is absent: {needed}") from None
    except UnicodeDecodeError:
        raise GoldsmithError(f"[{path}] is no UTF-8 text: {needed}") from None
    out: dict[str, str] = {}
    for number, row in _rows(path, content):
        if not {"question_id", "prediction"} <= row.keys():
            raise GoldsmithError(f"[{path} > {number}] has no question_id and prediction: write both")
        name, said = row["question_id"], row["prediction"]
        if not isinstance(name, str):
            raise GoldsmithError(f"[{path} > {number}] question_id is {name!r}: it must be a text")
        if isinstance(said, bool) or not isinstance(said, str | int | float | None):
            raise GoldsmithError(f"[{path} > {number}] prediction is {said!r}: it must be a text, a number or null")
        if name in out:
            raise GoldsmithError(f"[{path} > {number}] {name} is there twice: keep one")
        out[name] = "" if said is None else str(said)
    return out


def _rows(path: Path, content: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with the lines that they end on."""
    if path.suffix.lower() == ".csv":
        reader = csv.DictReader(content.splitlines(keepends=True))
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            raise GoldsmithError(f"[{path} > {reader.line_num}] is no CSV ({error}): write a line a question") from None
        return
    yield from json_lines(path)


def questions(folder: Path) -> list[dict[str, Any]]:
    """The questions of a dataset folder or release, without pictures, with the kind of their scene."""
    data = DatasetFolder(folder).path / "data"
    kinds = {}
    for path in sorted((data / "scenes").glob("*.parquet")):
        for row in pq.read_table(path, columns=["scene_id", "kind", "engine"]).to_pylist():
            kinds[row["scene_id"]] = row
    columns = ["question_id", "scene_id", "type", "group", "style", "fold", "text", "options", "answer", "marks"]
    out = []
    for path in sorted((data / "questions").glob("*.parquet")):
        for row in pq.read_table(path, columns=columns).to_pylist():
            marks = json.loads(row["marks"]) if isinstance(row["marks"], str) else row["marks"]
            out.append({**row, "marks": marks or {}, "scene_kind": kinds[row["scene_id"]]["kind"]})
    if not out:
        raise GoldsmithError(f"[{folder}] holds no questions: build webspatial first")
    return out


def places(folder: Path) -> dict[tuple[str, int], tuple[float, float]]:
    """The middle of each object's pixels, as shares of the largest box seen in its scene."""
    out, width = {}, defaultdict(lambda: 1.0)
    rows = []
    for path in sorted((DatasetFolder(folder).path / "data" / "objects").glob("*.parquet")):
        rows += pq.read_table(path, columns=["scene_id", "object_id", "box"]).to_pylist()
    for row in rows:
        width[row["scene_id"]] = max(width[row["scene_id"]], row["box"][2])
    for row in rows:
        x0, y0, x1, y1 = (v / width[row["scene_id"]] for v in row["box"])
        out[row["scene_id"], row["object_id"]] = ((x0 + x1) / 2, (y0 + y1) / 2)
    return out


@dataclass(frozen=True)
class ScoreReport:
    """Accuracies, as JSON and as a table for people, and of each question (id, type, 1 if right else 0)."""

    result: Mapping[str, Any]
    items: tuple[tuple[str, str, float], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return dict(self.result)

    def text(self) -> str:
        """For people."""
        return _text(self.result)


def score(folder: DatasetFolder | Path, predictions: Path) -> ScoreReport:
    """Accuracy over all, by type, group, style and kind of scene, beside chance, majority, text-only and position.

    Raises:
        GoldsmithError: the predictions cannot be read, or one is for no question of the folder.
    """
    root = folder.path if isinstance(folder, DatasetFolder) else Path(folder)
    asked, given = questions(root), read_predictions(predictions)
    result = evaluate(asked, given, places(root))
    right = [read_option(given.get(q["question_id"], ""), q["options"]) == q["answer"] for q in asked]
    items = ((q["question_id"], q["type"], float(one)) for q, one in zip(asked, right, strict=True))
    return ScoreReport(result, tuple(items))


def evaluate(
    asked: Sequence[Mapping[str, Any]],
    predictions: Mapping[str, str],
    where: Mapping[tuple[str, int], tuple[float, float]],
) -> dict[str, Any]:
    """The scores of predictions by question id; `where` as `places` gives it."""
    unknown = sorted(set(predictions) - {q["question_id"] for q in asked})
    if unknown:
        raise GoldsmithError(f"[predictions > {unknown[0]!r}] is no question of this dataset: score the right release")
    read = {q["question_id"]: read_option(predictions.get(q["question_id"], ""), q["options"]) for q in asked}
    blind = {a.kind: a for a in audit(asked, where)}
    out: dict[str, Any] = {"questions": len(asked), "predicted": len(predictions)}
    out["unread"] = sum(read[key] is None for key in predictions)
    out["all"] = _share(asked, read)
    for name in ("type", "group", "style", "scene_kind"):
        values = sorted({q[name] for q in asked})
        out[f"by_{name}"] = {value: _share([q for q in asked if q[name] == value], read) for value in values}
    for kind, row in out["by_type"].items():
        found = blind[kind]
        row |= {"majority": found.majority, "text_only": found.text_only, "position": found.position}
    return out


def _share(some: Sequence[Mapping[str, Any]], read: Mapping[str, str | None]) -> dict[str, Any]:
    right = sum(read[q["question_id"]] == q["answer"] for q in some)
    chance = sum(1 / len(q["options"]) for q in some) / len(some)
    return {"n": len(some), "accuracy": round(right / len(some), 4), "chance": round(chance, 4)}


def _text(result: Mapping[str, Any]) -> str:
    lines = [f"{'':24} {'n':>6} {'accuracy':>9} {'chance':>7} {'majority':>9} {'text':>6} {'position':>9}"]
    rows = [("all", result["all"])]
    for name in ("by_group", "by_scene_kind", "by_style", "by_type"):
        rows += list(result[name].items())
    for name, row in rows:
        more = [row.get(key) for key in ("majority", "text_only", "position")]
        cells = " ".join(f"{'' if v is None else format(v, '.3f'):>{w}}" for v, w in zip(more, (9, 6, 9), strict=True))
        lines.append(f"{name:24} {row['n']:6} {row['accuracy']:9.3f} {row['chance']:7.3f} {cells}")
    lines.append(f"{result['predicted']} of {result['questions']} predicted, {result['unread']} could not be read")
    return "\n".join(lines)
