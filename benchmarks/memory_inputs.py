"""Makes the bundled samples larger, for `memory_scale.py`: copies with names and numbers of their own, as more data of
the same kind would have. What is not copied of a sample (such as its archives) is a small part of it.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from builders.verivul import commits
from builders.verivul.make_sample import ids

ROOT = Path(__file__).resolve().parent.parent
MARKS = 1000
"""Between the numbers of one copy's commits and the next one's."""


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
    """More categories of SPG, drawings of Quick, Draw! and of Creative Birds, and scenes of FrISS and CBSC."""
    for copy in range(1, times):
        for names in sorted((ROOT / "builders/sketch/sample/spg").glob("*.txt")):
            category = f"{names.stem}{copy:02}"
            shutil.copy(names, sample / "spg" / f"{category}.txt")
            for file in names.parent.glob(f"{names.stem}*.ndjson"):
                text = re.sub(r'("key_id": ?)"(\d+)"', rf'\1"{copy:02}\2"', file.read_text(encoding="utf-8"))
                other = sample / "spg" / file.name.replace(names.stem, category)
                other.write_text(text, encoding="utf-8")
        for name in ("friss", "cbsc"):
            for file in sorted((ROOT / "builders/sketch/sample" / name).glob("sceneid-*.json")):
                scene = re.sub(r"sceneid-(\d+)", rf"sceneid-{copy:02}0\1", file.read_text(encoding="utf-8"))
                other = sample / name / file.name.replace("sceneid-", f"sceneid-{copy:02}0")
                other.write_text(scene, encoding="utf-8")
    for pattern, key in (("quickdraw*/*.ndjson", "key_id"), ("creative/doodle*.txt", "assignment_id")):
        for file in sorted(sample.glob(pattern)):
            text = file.read_text(encoding="utf-8")
            with open(file, "a", encoding="utf-8") as out:
                for copy in range(1, times):
                    out.write(re.sub(rf'("{key}": ?)"', rf'\1"{copy:02}-', text))


def webspatial(sample: Path, times: int) -> None:
    """More captures, each of a page of its own; their pictures are linked. Of every fourth capture, at any number of
    times: asking about all of them thirty times takes an hour."""
    folder = sample / "captures"
    for number, original in enumerate(sorted(folder.iterdir())):
        if number % 4:
            shutil.rmtree(original)
            continue
        content = json.loads(gzip.decompress((original / "capture.json.gz").read_bytes()))
        page = content["page"]["path"]
        for copy in range(1, times):
            other = folder / f"{original.name}-{copy:02}"
            shutil.copytree(original, other, copy_function=os.link)
            content["page"]["path"] = f"{page}&copy={copy}"
            (other / "capture.json.gz").unlink()
            (other / "capture.json.gz").write_bytes(gzip.compress(json.dumps(content).encode(), 1, mtime=0))


def verivul(sample: Path, times: int) -> None:
    """More fixes: the repository's history again, on branches and days of their own."""
    stream = (sample / "repository.stream").read_bytes()
    body = stream.removeprefix(b"feature done\n").removesuffix(b"done\n")
    copies = []
    for copy in range(1, times):

        def shifted(line: re.Match[bytes], by: int = copy * MARKS) -> bytes:
            return b"%s :%d" % (line[1], int(line[2]) + by)

        def later(line: re.Match[bytes], by: int = copy) -> bytes:
            return b"%s %d +0000" % (line[1], int(line[2]) + by)

        other = body.replace(b"commit refs/heads/main\n", b"commit refs/heads/copy%d\n" % copy)
        other = re.sub(rb"(?m)^(mark|from|merge) :(\d+)$", shifted, other)
        copies.append(re.sub(rb"(?m)^((?:author|committer) .*>) (\d+) \+0000$", later, other))
    whole = b"".join([b"feature done\n", body, *copies, b"done\n"])
    (sample / "repository.stream").write_bytes(whole)
    known = ids(whole)
    marks = {commit: mark for mark, commit in known.items()}
    listed = commits.read((sample / "commits.toml").read_text())
    more = [
        replace(fix, commit=known[marks[fix.commit] + copy * MARKS])
        for copy in range(1, times)
        for fix in listed
        if fix.commit in marks
    ]
    with open(sample / "commits.toml", "a") as out:
        out.write("".join(fix.toml() for fix in more))


GROW: dict[str, Callable[[Path, int], None]] = {
    "sketch": sketch,
    "vaani": vaani,
    "verivul": verivul,
    "vigor": vigor,
    "virogym": virogym,
    "webspatial": webspatial,
}
