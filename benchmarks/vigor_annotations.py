"""Memory and time of a large annotation file: one in COCO's form, made here, seven annotations a picture.

    python benchmarks/vigor_annotations.py [--mb 300] [-o FOLDER]

Prints the peak resident memory of a process (VmHWM: Linux alone) that imports the readers, opens the file, as planning
and each worker do once, and makes the claims of one shard; beside it what `json.loads` of the file takes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

PER_PICTURE, CATEGORIES, BYTES_PER_PICTURE = 7, 80, 4010


def images(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        name = f"{number:012}.jpg"
        url = f"http://images.cocodataset.org/train2017/{name}"
        size = {"height": 427, "width": 640}
        yield {"license": 4, "file_name": name, "coco_url": url, **size, "date_captured": "2013-11-14", "id": number}


def said(count: int) -> Iterator[dict[str, Any]]:
    """In no order of pictures, as in COCO's own file; polygons of 12 to 39 points."""
    chance = random.Random(1)
    order = [number for number in range(count) for _ in range(PER_PICTURE)]
    chance.shuffle(order)
    for number, image in enumerate(order):
        x, y = chance.randrange(40, 400), chance.randrange(40, 250)
        points = ((x + chance.random() * 150, y + chance.random() * 120) for _ in range(chance.randrange(12, 40)))
        polygon = [round(value, 2) for value in chain.from_iterable(points)]
        ids = {"image_id": image, "category_id": 1 + number % CATEGORIES, "id": number}
        yield {"segmentation": [polygon], "area": 702.1, "iscrowd": 0, **ids, "bbox": [x, y, 150, 120]}


def write(path: Path, pictures: int) -> None:
    """The file, an item at a time."""
    categories = (
        {"supercategory": "thing", "id": 1 + number, "name": f"thing {number}"} for number in range(CATEGORIES)
    )
    lists = {"images": images(pictures), "annotations": said(pictures), "categories": categories}
    with open(path, "w", encoding="utf-8") as file:
        for place, (key, items) in enumerate(lists.items()):
            file.write(f'{", " if place else "{"}"{key}": [')
            for index, item in enumerate(items):
                file.write((", " if index else "") + json.dumps(item))
            file.write("]")
        file.write("}")


def measure(step: str, folder: Path) -> None:
    """Do one step in this process and print what it took."""
    from memory_scale import peak

    from builders.vigor.builder import PICTURES
    from builders.vigor.readers import open_source

    began = time.monotonic()
    if step == "json.loads":
        json.loads((folder / "instances.json").read_bytes())
    elif step != "imports":
        reader = open_source("coco", folder)
        pictures = reader.pictures()
        if step == "shard":
            began = time.monotonic()
            for picture in pictures[len(pictures) // 2 :][:PICTURES]:
                list(reader.claims(picture))
    print(f"{step:12} {time.monotonic() - began:8.1f} s {peak('self'):8.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=300)
    parser.add_argument("-o", "--out", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        measure(chosen.one[0], Path(chosen.one[1]))
        return
    with tempfile.TemporaryDirectory(dir=chosen.out) as room:
        path = Path(room) / "instances.json"
        write(path, chosen.mb * 1_000_000 // BYTES_PER_PICTURE)
        print(f"{path.stat().st_size / 1e6:.0f} MB of JSON", flush=True)
        for step in ("imports", "json.loads", "open", "shard"):
            subprocess.run([sys.executable, __file__, "--one", step, room], check=True)


if __name__ == "__main__":
    main()
