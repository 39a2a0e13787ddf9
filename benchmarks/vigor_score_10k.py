"""How long it takes to score 10,000 concepts: 640 x 480 pictures, 24 x 24 heat maps, five concepts an answer.

    python benchmarks/vigor_score_10k.py

Target: under a minute on two cores.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from builders.vigor.masks import from_polygons
from builders.vigor.schema import CONCEPTS, GROUNDINGS, IMAGES, VIGOR
from builders.vigor.scoring.score import score
from builders.vigor.tables import batch
from schemas import DatasetFolder

PICTURES, PER_PICTURE, HEIGHT, WIDTH, GRID = 2000, 5, 480, 640, 24


def main() -> None:
    """Make the dataset and the predictions, then time the scoring."""
    with tempfile.TemporaryDirectory() as room:
        folder, predictions = _make(Path(room))
        began, cpu = time.perf_counter(), time.process_time()
        report = score(DatasetFolder(folder), predictions)
        took, used = time.perf_counter() - began, time.process_time() - cpu
        print(report.text())
        print(f"\n{PICTURES * PER_PICTURE:,} concepts: {took:.1f} s, {used:.1f} s of processor time")
        if report.levels[-1].concepts != PICTURES * PER_PICTURE:
            raise SystemExit("not all concepts were scored")


def _make(room: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    names = [f"object/thing {index}" for index in range(PER_PICTURE)]
    concepts = [
        {
            **dict.fromkeys(CONCEPTS.names),
            "concept_id": name,
            "level": "object",
            "lemma": name[7:],
            "synonyms": [],
            "sources": [],
        }
        for name in names
    ]
    images, groundings = [], []
    with open(room / "predictions.jsonl", "w", encoding="utf-8") as file:
        for number in range(PICTURES):
            image = f"made:{number}"
            images.append(
                {
                    **dict.fromkeys(IMAGES.names),
                    "image_id": image,
                    "source": "made",
                    "file_name": "",
                    "width": WIDTH,
                    "height": HEIGHT,
                    "licence": "CC0-1.0",
                    "pixels_allowed": True,
                }
            )
            evidence = []
            for name in names:
                angles = np.sort(rng.uniform(0, 2 * np.pi, 30))
                radius = rng.uniform(20, 150) * rng.uniform(0.7, 1, 30)
                x, y = rng.uniform(100, 540), rng.uniform(100, 380)
                ring = np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], 1).ravel().tolist()
                mask = from_polygons([ring], HEIGHT, WIDTH)
                groundings.append(
                    {
                        **dict.fromkeys(GROUNDINGS.names),
                        "grounding_id": f"{image}:{name}",
                        "image_id": image,
                        "concept_id": name,
                        "level": "object",
                        "truth": "present",
                        "origin": "reused",
                        "status": "reused",
                        "source": "made",
                        "origin_ids": [],
                        "counts": mask.counts,
                        "height": HEIGHT,
                        "width": WIDTH,
                        "area": mask.area,
                        "crowd": False,
                        "exhaustive": True,
                    }
                )
                heat = rng.random((GRID, GRID)).round(4)
                heat[min(GRID - 1, int(y / HEIGHT * GRID)), min(GRID - 1, int(x / WIDTH * GRID))] += rng.random()
                evidence.append({"concept_id": name, "heat": heat.tolist()})
            file.write(json.dumps({"image_id": image, "evidence": evidence}) + "\n")
    for table, rows in ((IMAGES, images), (CONCEPTS, concepts), (GROUNDINGS, groundings)):
        path = room / "data" / table.name / "test-00000-of-00001.parquet"
        path.parent.mkdir(parents=True)
        with pq.ParquetWriter(path, table.arrow) as writer:
            writer.write_batch(batch(table, rows))
    build = {
        "format": 1,
        "dataset": "vigor",
        "version": "1",
        "schema": VIGOR.to_json(),
        "files": [],
        "sources": [],
        "accounting": [],
    }
    (room / "build.json").write_text(json.dumps(build))
    return room, room / "predictions.jsonl"


if __name__ == "__main__":
    main()
