"""Audits by people: draw a fresh sample of accepted groundings, and read back what they found.

    python -P -m builders.vigor.audit draw out/vigor --level low --n 181 --seed 7 -o audit-low

writes audits.jsonl with `correct` left open, and a picture for each item; fill it in, and build with
`--source audits=audit-low/audits.jsonl`. Draw anew, with another seed, for each round: what was tuned on shows nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builders.vigor.bounds import draw
from builders.vigor.forms import LEVELS
from schemas import DatasetFolder, GoldsmithError


def read(text: str, name: str = "audits") -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of the table `audits` from JSON lines, with their line numbers. Open items are left out.

    Raises:
        GoldsmithError: a line is no audit.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            each = json.loads(line)
            if each.get("correct") is None:
                continue
            if not isinstance(each["correct"], bool) or each["level"] not in LEVELS or each["round"] not in (1, 2, 3):
                raise ValueError("correct, level or round is none of its values")
            yield (
                number,
                {
                    "audit_id": f"{each['round']}:{each['grounding_id']}",
                    "round": each["round"],
                    "grounding_id": each["grounding_id"],
                    "level": each["level"],
                    "correct": each["correct"],
                    "auditor": str(each["auditor"]),
                    "seed": int(each["seed"]),
                },
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise GoldsmithError(
                f"[{name} > line {number}] is no audit ({error}): it needs round, grounding_id, level, correct,"
                f" auditor, seed"
            ) from None


def sample(folder: DatasetFolder, level: str, n: int, seed: int, least_score: float = 0.0) -> list[str]:
    """Ids of accepted groundings of a level, drawn at random, at most one a picture.

    Raises:
        GoldsmithError: there are fewer pictures than items wanted.
    """
    import pyarrow.parquet as pq

    items = []
    for path in folder.all_shards("groundings"):
        columns = ["grounding_id", "image_id", "level", "status", "score"]
        for row in pq.read_table(path, columns=columns).to_pylist():
            if row["level"] == level and row["status"] == "accepted" and row["score"] >= least_score:
                items.append((row["grounding_id"], row["image_id"]))
    chosen = draw(items, n, seed)
    if len(chosen) < n:
        raise GoldsmithError(
            f"[{level}] has accepted groundings in {len(chosen)} pictures only: ask for no more than that"
        )
    return chosen


def main(arguments: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -P -m builders.vigor.audit", description="Draw an audit sample.")
    parser.add_argument("command", choices=["draw"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--level", choices=LEVELS, required=True)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--round", type=int, choices=(1, 2, 3), default=1)
    parser.add_argument("--least-score", type=float, default=0.0)
    parser.add_argument("-o", "--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    folder = DatasetFolder(given.folder)
    try:
        chosen = sample(folder, given.level, given.n, given.seed, given.least_score)
    except GoldsmithError as error:
        parser.exit(2, f"{error}\n")
    given.out.mkdir(parents=True, exist_ok=True)
    shown = _overlays(folder, set(chosen))
    with open(given.out / "audits.jsonl", "w", encoding="utf-8") as file:
        for name in chosen:
            picture, caption = shown[name]
            file_name = name.replace(":", "-").replace("/", "-") + ".jpg"
            (given.out / file_name).write_bytes(picture)
            line = {
                "round": given.round,
                "grounding_id": name,
                "level": given.level,
                "correct": None,
                "auditor": "",
                "seed": given.seed,
                "picture": file_name,
                "shows": caption,
            }
            file.write(json.dumps(line) + "\n")
    print(f"{len(chosen)} items in {given.out / 'audits.jsonl'}: fill in `correct` and `auditor`")


def _overlays(folder: DatasetFolder, wanted: set[str]) -> dict[str, tuple[bytes, str]]:
    import io

    import numpy as np
    import pyarrow.parquet as pq
    from PIL import Image

    from builders.vigor.gallery import overlay
    from builders.vigor.masks import Mask

    rows = [
        row
        for path in folder.all_shards("groundings")
        for row in pq.read_table(
            path, columns=["grounding_id", "image_id", "concept_id", "counts", "height", "width"]
        ).to_pylist()
        if row["grounding_id"] in wanted
    ]
    images = {row["image_id"] for row in rows}
    pixels = {}
    for path in folder.all_shards("images"):
        for row in pq.read_table(path, columns=["image_id", "image"]).to_pylist():
            if row["image_id"] in images and row["image"]:
                pixels[row["image_id"]] = np.asarray(Image.open(io.BytesIO(row["image"]["bytes"])).convert("RGB"))
    found = {}
    for row in rows:
        mask = Mask(row["height"], row["width"], row["counts"])
        found[row["grounding_id"]] = (overlay(pixels.get(row["image_id"]), [mask], side=480), row["concept_id"])
    return found


if __name__ == "__main__":
    main()
