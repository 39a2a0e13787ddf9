"""Near duplicates by kind: planted copies among made rows, found by the searchers of `quality.near`.

    .venv/bin/python benchmarks/near_duplicates.py [--items 100000] [--kinds text,code,...]

Of the items, one in twenty is a copy of an earlier one by one of the transformations of its kind. Each kind runs in a
process of its own, on two cores: seconds are of adding and searching, without making the data; the peak is of the
process less what it had with the data made. Recall is by transformation; of what is found, precision is the share that
was planted.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import re
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa

from quality.near.check import LEAST, SEARCHERS

Copy = tuple[str, Callable]
STROKES = pa.list_(pa.struct([("x", pa.list_(pa.float32())), ("y", pa.list_(pa.float32()))]))
TYPES = {
    "text": pa.string(),
    "code": pa.string(),
    "protein": pa.string(),
    "image": pa.binary(),
    "audio": pa.list_(pa.int32()),
    "strokes": STROKES,
}
RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))


# Text: words by Zipf's law, so that much is common to all.
def make_text(draw: np.random.Generator) -> str:
    ranks = np.minimum(draw.zipf(1.3, draw.integers(40, 160)), 60_000)
    return " ".join(f"w{rank}" if rank > 60 else f"the{rank}" for rank in ranks)


def _words(draw: np.random.Generator, text: str) -> str:
    words = text.split()
    for place in draw.integers(0, len(words), max(1, len(words) // 30)):
        words[place] = f"new{place}"
    return " ".join(words)


def _cut(draw: np.random.Generator, text: str) -> str:
    words = text.split()
    return " ".join(words[len(words) // 7 :])


def _marks(draw: np.random.Generator, text: str) -> str:
    words = text.upper().split()
    return ", ".join(words[: len(words) // 2]) + ".\n\n" + "  ".join(words[len(words) // 2 :]) + "!"


# Code: functions of statements from a small grammar.
def make_code(draw: np.random.Generator) -> str:
    names = [
        f"{draw.choice(['buf', 'len', 'ptr', 'ctx', 'out', 'idx', 'tmp', 'src'])}{draw.integers(99)}" for _ in range(6)
    ]

    def name() -> str:
        return str(draw.choice(names))

    def expression() -> str:
        right = draw.choice([name(), str(draw.integers(999))])
        return f"{name()} {draw.choice(['+', '-', '*', '&', '>>', '<', '=='])} {right}"

    forms = (
        lambda: f"{name()} = {expression()};",
        lambda: f"if ({expression()}) {{ {name()} = {expression()}; }}",
        lambda: f"if ({expression()} && {expression()}) return {name()};",
        lambda: f"for (int i = 0; i < {name()}; i++) {{ {name()}[i] = {expression()}; }}",
        lambda: f"{name()}[{expression()}] = {name()}->{name()};",
        lambda: f"call{draw.integers(50)}({name()}, {expression()}, &{name()});",
        lambda: f"while ({expression()}) {{ {name()}--; call{draw.integers(50)}({name()}); }}",
        lambda: (
            f"switch ({name()}) {{ case {draw.integers(9)}: {name()} = {expression()}; break; default: return 0; }}"
        ),
    )
    lines = [str(forms[draw.integers(len(forms))]()) for _ in range(draw.integers(10, 40))]
    body = "\n    ".join(lines)
    return f"int f{draw.integers(10**6)}(char *{names[0]}, int {names[1]})\n{{\n    {body}\n    return {name()};\n}}\n"


def _renamed(draw: np.random.Generator, code: str) -> str:
    return re.sub(
        r"\b(buf|len|ptr|ctx|out|idx|tmp|src|call|f)(\d+)\b", lambda found: f"{found[1][::-1]}_r{found[2]}", code
    )


def _commented(draw: np.random.Generator, code: str) -> str:
    lines = code.split("\n")
    return "/* by hand:\n * again */\n" + "\n\n".join(
        f"{line.replace('    ', chr(9))} // {draw.integers(99)}" for line in lines
    )


def _statement(draw: np.random.Generator, code: str) -> str:
    lines = _renamed(draw, code).split("\n")
    lines.insert(int(draw.integers(3, len(lines) - 2)), "    assert(done == 17);")
    return "\n".join(lines)


# Proteins.
def make_protein(draw: np.random.Generator) -> str:
    return "".join(draw.choice(RESIDUES, draw.integers(80, 700)))


def _substituted(draw: np.random.Generator, protein: str) -> str:
    letters = np.array(list(protein))
    places = draw.choice(len(letters), len(letters) * 7 // 100, replace=False)
    letters[places] = draw.choice(RESIDUES, len(places))
    return "".join(letters)


def _indels(draw: np.random.Generator, protein: str) -> str:
    for _ in range(3):
        at = int(draw.integers(5, len(protein) - 5))
        protein = protein[:at] + "".join(draw.choice(RESIDUES, 2)) + protein[at + 1 :]
    return protein


def _tagged(draw: np.random.Generator, protein: str) -> str:
    return f"MHHHHHH{protein[1:]}"


# Pictures: clouds of several sizes with shapes on them, as JPEG.
def _jpeg(pixels: np.ndarray, quality: int = 88, kind: str = "JPEG") -> bytes:
    import PIL.Image

    file = io.BytesIO()
    PIL.Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(file, kind, quality=quality)
    return file.getvalue()


def _pixels(data: bytes) -> np.ndarray:
    import PIL.Image

    return np.asarray(PIL.Image.open(io.BytesIO(data)).convert("RGB")).astype(np.float32)


def make_image(draw: np.random.Generator) -> bytes:
    import PIL.Image
    import PIL.ImageDraw

    size = (int(draw.integers(180, 260)), int(draw.integers(180, 260)))
    total = np.zeros((size[1], size[0], 3), np.float32)
    for cells in (2, 4, 8, 16):
        noise = PIL.Image.fromarray(draw.integers(0, 256, (cells, cells, 3), np.uint8))
        total += np.asarray(noise.resize(size, PIL.Image.Resampling.BICUBIC)).astype(np.float32) / cells**0.7
    total = 255 * (total - total.min()) / (total.max() - total.min())
    picture = PIL.Image.fromarray(total.astype(np.uint8))
    pen = PIL.ImageDraw.Draw(picture)
    for _ in range(int(draw.integers(2, 9))):
        x, y, w, h = draw.integers(0, 150, 4)
        colour = tuple(draw.integers(0, 256, 3).tolist())
        (pen.ellipse if draw.random() < 0.5 else pen.rectangle)((x, y, x + w + 10, y + h + 10), fill=colour)
    return _jpeg(np.asarray(picture))


def _recoded(draw: np.random.Generator, data: bytes) -> bytes:
    return _jpeg(_pixels(data), quality=int(draw.integers(25, 60)), kind=str(draw.choice(["JPEG", "WEBP"])))


def _smaller(draw: np.random.Generator, data: bytes) -> bytes:
    import PIL.Image

    small = PIL.Image.fromarray(_pixels(data).astype(np.uint8)).resize((120, 100))
    return _jpeg(np.asarray(small), kind="PNG")


def _noisy(draw: np.random.Generator, data: bytes) -> bytes:
    pixels = _pixels(data)
    return _jpeg(pixels + draw.normal(0, 20, pixels.shape))


def _brighter(draw: np.random.Generator, data: bytes) -> bytes:
    return _jpeg(_pixels(data) * draw.uniform(0.7, 1.2) + draw.uniform(-15, 25))


def _cropped(draw: np.random.Generator, data: bytes) -> bytes:
    pixels = _pixels(data)
    (top, bottom), (left, right) = (draw.uniform(0, 0.1, 2) * side for side in pixels.shape[:2])
    return _jpeg(pixels[int(top) : pixels.shape[0] - int(bottom), int(left) : pixels.shape[1] - int(right)])


# Sound: fingerprints as they are measured on real clips. Bits follow each other in time as windows overlap; errors come
# in stretches (soft passages), at the rates of the codecs.
def make_audio(draw: np.random.Generator) -> list[int]:
    count = int(draw.integers(45, 260))
    level = draw.normal(size=(count + 3, 16))
    bits = level[:-3] + level[1:-2] + level[2:-1] + level[3:] > draw.normal(0, 0.3, 16)
    if draw.random() < 0.5:  # a pause of exact silence
        start = int(draw.integers(0, count))
        bits[start : start + int(draw.integers(5, 30))] = False
    return np.packbits(bits, axis=1, bitorder="little").view("<u2")[:, 0].tolist()


def _errors(mean: float) -> Callable[[np.random.Generator, list[int]], list[int]]:
    def flipped(draw: np.random.Generator, frames: list[int]) -> list[int]:
        bits = np.unpackbits(np.array(frames, "<u2").view(np.uint8).reshape(-1, 2), axis=1, bitorder="little")
        rate = np.repeat(draw.gamma(1.5, mean / 1.5, len(bits) // 8 + 1), 8)[: len(bits), None]
        return (
            np.packbits(bits ^ (draw.random(bits.shape) < np.minimum(rate, 0.5)), axis=1, bitorder="little")
            .view("<u2")[:, 0]
            .tolist()
        )

    return flipped


def _trimmed(draw: np.random.Generator, frames: list[int]) -> list[int]:
    return _errors(0.08)(draw, frames[int(draw.integers(1, 6)) : -2])


# Drawings: some lines that wander.
def make_strokes(draw: np.random.Generator) -> list[dict]:
    lines = []
    for _ in range(int(draw.integers(2, 9))):
        steps = draw.normal(0, 12, (int(draw.integers(3, 20)), 2)).cumsum(axis=0)
        places = np.cumsum(steps, axis=0) / 3 + draw.uniform(0, 255, 2)
        lines.append({"x": places[:, 0].tolist(), "y": places[:, 1].tolist()})
    return lines


def _each(lines: list[dict], change: Callable[[np.ndarray], np.ndarray]) -> list[dict]:
    changed = [change(np.array([line["x"], line["y"]])) for line in lines]
    return [{"x": x.tolist(), "y": y.tolist()} for x, y in changed]


def _jitter(draw: np.random.Generator, lines: list[dict]) -> list[dict]:
    size = max(np.ptp([v for line in lines for v in line["x"]]), np.ptp([v for line in lines for v in line["y"]]))
    return _each(lines, lambda places: places + draw.normal(0, 0.006 * size, places.shape))


def _scaled(draw: np.random.Generator, lines: list[dict]) -> list[dict]:
    return _each(lines, lambda places: np.round(places * 0.7 + 300))


def _resampled(draw: np.random.Generator, lines: list[dict]) -> list[dict]:
    def change(places: np.ndarray) -> np.ndarray:
        at = np.linspace(0, places.shape[1] - 1, places.shape[1] * 3)
        return np.stack([np.interp(at, np.arange(places.shape[1]), row) for row in places])[:, ::-1]

    return _each(lines, change)[::-1]


KINDS: dict[str, tuple[Callable, tuple[Copy, ...]]] = {
    "text": (make_text, (("1 word in 30 replaced", _words), ("a seventh cut off", _cut), ("case and marks", _marks))),
    "code": (
        make_code,
        (
            ("names changed", _renamed),
            ("comments, layout", _commented),
            ("names changed, a statement added", _statement),
        ),
    ),
    "protein": (
        make_protein,
        (("7 % substituted", _substituted), ("3 insertions of 2 for 1", _indels), ("tag at the end", _tagged)),
    ),
    "image": (
        make_image,
        (
            ("JPEG 25-60, WebP", _recoded),
            ("120 x 100, PNG", _smaller),
            ("noise of 20", _noisy),
            ("brightness, contrast", _brighter),
            ("crop, up to 10 % an edge", _cropped),
        ),
    ),
    "audio": (
        make_audio,
        (
            ("MP3 (.05)", _errors(0.05)),
            ("Opus (.15)", _errors(0.15)),
            ("noise (.15)", _errors(0.15)),
            ("trimmed (.08)", _trimmed),
        ),
    ),
    "strokes": (
        make_strokes,
        (
            ("hand trembles, .6 %", _jitter),
            ("smaller, moved, rounded", _scaled),
            ("points, order, direction", _resampled),
        ),
    ),
}


def _made(kind: str, numbers: range, seed: int) -> list:
    make, _ = KINDS[kind]
    return [make(np.random.default_rng([seed, number])) for number in numbers]


def plant(kind: str, items: int, seed: int = 7) -> tuple[pa.Array, dict[tuple[int, int], str]]:
    """Values, and (original, copy) -> transformation, shuffled."""
    copies = items // 20
    count = items - copies
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        step = 2000
        parts = [range(start, min(count, start + step)) for start in range(0, count, step)]
        values = [value for part in pool.map(_made, [kind] * len(parts), parts, [seed] * len(parts)) for value in part]
    draw = np.random.default_rng(seed)
    _, transformations = KINDS[kind]
    planted = []
    for number, original in enumerate(draw.choice(count, copies, replace=False).tolist()):
        name, change = transformations[number % len(transformations)]
        planted.append((original, len(values), name))
        values.append(change(draw, values[original]))
    place = draw.permutation(len(values))
    where = np.argsort(place)
    return (
        pa.array([values[at] for at in place], TYPES[kind]),
        {tuple(sorted((int(where[a]), int(where[b])))): name for a, b, name in planted},
    )


def _memory(name: str) -> float:
    """MB, of this process (Linux)."""
    return int(re.findall(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) / 1024


def run(kind: str, items: int) -> str:
    values, planted = plant(kind, items)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _memory("VmRSS")
    found: set[tuple[int, int]] = set()
    with tempfile.TemporaryDirectory() as folder:
        begin, cpu = time.perf_counter(), time.process_time()
        searcher = SEARCHERS[kind](kind, len(values), Path(folder), LEAST[kind])
        for start in range(0, len(values), 2048):
            part = values.slice(start, 2048)
            searcher.add(np.arange(start, start + len(part)), part)
        added = time.perf_counter() - begin
        for a, b, _ in searcher.pairs(lambda a, b: np.ones(len(a), bool)):
            found.update(zip(a.tolist(), b.tolist(), strict=True))
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    peak = _memory("VmHWM") - before
    lines = []
    for name in dict.fromkeys(planted.values()):
        of = [pair for pair, by in planted.items() if by == name]
        lines.append(f"| {kind} | {name} | {len(of):,} | {sum(pair in found for pair in of) / len(of):.4f} | | | | |")
    right = sum(pair in found for pair in planted)
    lines.append(
        f"| {kind} | **all** | {len(planted):,} | **{right / len(planted):.4f}** | {right / max(1, len(found)):.4f} "
        f"| {seconds:.1f} ({added:.1f} to add) | {cpu:.1f} | {peak:.0f} |"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    options = parser.parse_args()
    print("| kind | copies by | planted | recall | precision | seconds | CPU s | peak MB more |\n" + "|---" * 8 + "|")
    for kind in options.kinds.split(","):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            print(pool.submit(run, kind, options.items).result(), flush=True)


if __name__ == "__main__":
    main()
