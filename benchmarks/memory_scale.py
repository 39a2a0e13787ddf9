"""Peak memory of a build as its input grows: each builder's sample, replicated, on the local engine with two workers.

The copies get names and numbers of their own, as more data of the same kind would have. Peak resident memory of the
driver and of its largest worker; flat means that the largest input takes at most 20 % more than the sample itself.
Run: python benchmarks/memory_scale.py [NAME ...] [--times 1 3 10 30] [-o FOLDER]
verivul and webspatial are not replicated: their samples are a repository's history and captures with recorded answers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WORKERS = 2
FLAT = 1.2


def virogym(sample: Path, times: int) -> None:
    """More assays, each with a file of its own; they share their references."""
    sources, assays = (sample / "sources.toml").read_text(), (sample / "assays.toml").read_text()
    heads = re.split(r"(?m)^(?=\[)", assays)
    entries = tomllib.loads(assays)["assays"]
    for copy in range(1, times):
        for head in heads:
            found = re.match(r"\[assays\.(\w+)\]", head)
            if not found or "list" in entries[found[1]]:
                continue
            source = entries[found[1]]["source"]
            file = re.search(rf'(?m)^\[{source}\]\npath = "(.*)"', sources)
            if file is None:
                continue
            (sample / f"{copy}-{file[1]}").write_bytes((sample / file[1]).read_bytes())
            with open(sample / "sources.toml", "a") as out:
                out.write(f'\n[{source}_{copy}]\npath = "{copy}-{file[1]}"\nlicence = "CC0-1.0"\n')
            more = head.replace(found[0], f"[assays.{found[1]}_{copy}]").replace(
                f'source = "{source}"', f'source = "{source}_{copy}"'
            )
            with open(sample / "assays.toml", "a") as out:
                out.write("\n" + more)


def vaani(sample: Path, times: int) -> None:
    """More clips, by the same speakers."""
    folder = sample / "recordings"
    head, *lines = (folder / "clips.tsv").read_text(encoding="utf-8").splitlines()
    more = list(lines)
    for copy in range(1, times):
        for line in lines:
            path, tab, rest = line.partition("\t")
            other = re.sub(r"_(\d{4})_(\d{4})_(\d+\.)", rf"_{copy:02}\1_{copy:02}\2_\3", path)
            if other != path and (folder / path).is_file() and not (folder / other).exists():
                os.link(folder / path, folder / other)
                more.append(other + tab + rest)
    (folder / "clips.tsv").write_text("\n".join([head, *more, ""]), encoding="utf-8")


def vigor(sample: Path, times: int) -> None:
    """More pictures of COCO, with their annotations."""
    file = sample / "coco/instances.json"
    content = json.loads(file.read_text())
    images, annotations = list(content["images"]), list(content["annotations"])
    for copy in range(1, times):
        shift = copy * 1_000_000
        for image in images:
            name = f"{copy}-{image['file_name']}"
            if (sample / "coco/pictures" / image["file_name"]).is_file():
                os.link(sample / "coco/pictures" / image["file_name"], sample / "coco/pictures" / name)
            content["images"].append({**image, "id": image["id"] + shift, "file_name": name})
        content["annotations"] += [
            {**one, "id": one["id"] + shift, "image_id": one["image_id"] + shift} for one in annotations
        ]
    file.write_text(json.dumps(content))


def sketch(sample: Path, times: int) -> None:
    """More drawings of Quick, Draw!, raw and simplified."""
    for file in sorted(sample.glob("quickdraw*/*.ndjson")):
        text = file.read_text(encoding="utf-8")
        with open(file, "a", encoding="utf-8") as out:
            for copy in range(1, times):
                out.write(re.sub(r'"key_id": ?"6(\d{3})', rf'"key_id":"{copy + 6:02}\1', text))


GROW: dict[str, Callable[[Path, int], None]] = {"sketch": sketch, "vaani": vaani, "vigor": vigor, "virogym": virogym}


def build(name: str, folder: Path, out: Path) -> None:
    """Build from a replicated sample and print what it took, as a line of JSON."""
    from builders.build import build as run
    from builders.registry import get
    from builders.sources import Sources

    result = run(get(name), Sources.load(folder, offline=True), out, workers=WORKERS, progress=False)
    driver = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    rows = sum(result.rows.values()) + sum(result.rejects.values())
    print(json.dumps({"driver": driver, "worker": worker, "shards": result.built, "rows": rows}))


def measure(name: str, times: int, room: Path) -> dict[str, float]:
    """The figures of one build, in a process of its own."""
    sample = room / "sample"
    shutil.copytree(ROOT / "builders" / name / "sample", sample)
    GROW[name](sample, times)
    command = [sys.executable, __file__, "--one", name, str(sample), str(room / "out")]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{name} x {times} failed:\n{done.stderr[-2000:]}")
    return {**json.loads(done.stdout.splitlines()[-1]), "seconds": time.monotonic() - start}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(GROW)} (default: all)")
    parser.add_argument("--times", type=int, nargs="+", default=[1, 3, 10, 30])
    parser.add_argument("-o", "--out", type=Path, help="where to work (default: a temporary folder)")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        build(chosen.one[0], Path(chosen.one[1]), Path(chosen.one[2]))
        return
    print(f"{'builder':8} {'times':>5} {'shards':>7} {'rows':>10} {'driver MB':>10} {'worker MB':>10} {'seconds':>8}")
    for name in chosen.names or GROW:
        peaks = []
        for times in chosen.times:
            with tempfile.TemporaryDirectory(dir=chosen.out) as room:
                found = measure(name, times, Path(room))
            peaks.append((found["driver"], found["worker"]))
            print(
                f"{name:8} {times:5} {found['shards']:7} {found['rows']:10,} {found['driver']:10.0f} "
                f"{found['worker']:10.0f} {found['seconds']:8.0f}",
                flush=True,
            )
        ratios = [last / first for first, last in zip(peaks[0], peaks[-1], strict=True)]
        verdict = "flat" if max(ratios) <= FLAT else "grows"
        print(f"{name:8} driver x {ratios[0]:.2f}, worker x {ratios[1]:.2f}: {verdict}", flush=True)


if __name__ == "__main__":
    main()
