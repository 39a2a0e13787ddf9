"""WebSpatialBench: a small, balanced draw of questions, the same for the same seed, and tasks for people to check it.

So many of each type and answer, from as many scenes as there are. Output: `bench.jsonl` (ids, texts, options, answers),
`images/`, and `tasks.jsonl` for a check by people who do not see the answer.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.webspatial.score import questions
from schemas import DatasetFolder, GoldsmithError


def draw(asked: list[dict[str, Any]], per_type: int, seed: int = 0) -> list[dict[str, Any]]:
    """About `per_type` questions of each type, every place of the answer equally often, scenes in turn.

    Raises:
        GoldsmithError: `per_type` is too small to hold every answer once.
    """
    by_type: dict[tuple[str, int], dict[int, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for q in asked:
        by_type[q["type"], len(q["options"])][q["options"].index(q["answer"])].append(q)
    wide = defaultdict(int)
    for kind, _ in by_type:
        wide[kind] += 1
    out: list[dict[str, Any]] = []
    used: dict[str, int] = defaultdict(int)
    for (kind, size), by_place in sorted(by_type.items()):
        each = per_type // wide[kind] // size
        if each == 0:
            raise GoldsmithError(f"[bench > {kind}] {per_type} a type is too few for {size} answers: ask for more")
        n = min(each, *(len(some) for some in by_place.values())) if len(by_place) == size else 0
        for _, some in sorted(by_place.items()):
            left = sorted(some, key=lambda q: hashlib.sha256(f"{seed}/{q['question_id']}".encode()).hexdigest())
            for _ in range(n):
                q = min(left, key=lambda q: used[q["scene_id"]])
                left.remove(q)
                used[q["scene_id"]] += 1
                out.append(q)
    return sorted(out, key=lambda q: q["question_id"])


def write(folder: Path, out: Path, per_type: int = 24, seed: int = 0) -> int:
    """Draw a bench from a dataset folder into `out`, with the pictures that its questions show. Returns its size."""
    chosen = {q["question_id"]: q for q in draw(questions(folder), per_type, seed)}
    (out / "images").mkdir(parents=True, exist_ok=True)
    for path in sorted((DatasetFolder(folder).path / "data" / "questions").glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(256, columns=["question_id", "image"]):
            for row in batch.to_pylist():
                if row["question_id"] in chosen:
                    (out / "images" / f"{row['question_id']}.png").write_bytes(row["image"]["bytes"])
    lines, tasks = [], []
    for key, q in chosen.items():
        shown = {"question_id": key, "image": f"images/{key}.png", "text": q["text"], "options": q["options"]}
        lines.append({**shown, "type": q["type"], "scene_id": q["scene_id"], "answer": q["answer"]})
        tasks.append({**shown, "options": [*q["options"], "cannot be said"]})
    for name, rows in (("bench.jsonl", lines), ("tasks.jsonl", tasks)):
        content = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
        (out / name).write_text(content, encoding="utf-8")
    return len(lines)
