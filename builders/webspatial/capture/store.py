"""Captures on disk: one folder a page, the same bytes for the same capture.

ID/capture.json.gz   page, engine, status, graph, nearby views, events (canonical JSON)
ID/canvas.png        what the page drew; ids.png: each pixel's object id (r + 256 g + 65536 b); page.png if kept
ID/frame-NNN.png     the picture at a frame of its time line
ID/turn-K.png        an object alone, turned or mirrored
rejects.jsonl        pages that gave no capture, each with its reason
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas import GoldsmithError

FORMAT = 1
RUN_ONLY = {"uuid", "captureMs", "status"}
_LOCAL = re.compile(r"https?://127\.0\.0\.1:\d+/")

REASONS = {
    "no_scene": "WebGL was used, but by no known engine: a 2D or full-screen shader page, or a closed bundle",
    "no_webgl": "the page made no WebGL context",
    "webgpu": "the page draws with WebGPU alone, where no masks can be made",
    "needs_network": "a file it needs is only on the network, which is blocked",
    "missing_file": "a file it needs is not in its folder",
    "page_error": "the page breaks by itself",
    "too_many_drawables": "more drawable objects than the cap",
    "no_camera": "the scene has no camera",
    "time_limit": "it did not end in time and was stopped",
    "memory_limit": "it took more memory than allowed and was stopped",
    "crashed": "the browser ended while it ran",
    "no_answer": "the page did not answer",
    "script_failed": "its script of inputs cannot be played",
}
"""Why a page has no capture."""


@dataclass(frozen=True)
class Capture:
    """A stored capture. `data` is the content of capture.json.gz; pictures are read when asked for."""

    id: str
    folder: Path
    data: dict[str, Any]

    def picture(self, name: str) -> bytes | None:
        """The bytes of `name`.png, None where there is none."""
        path = self.folder / f"{name}.png"
        return path.read_bytes() if path.is_file() else None


def canonical(value: Any) -> Any:
    """Without what differs between runs: uuids, times, the loopback port; empty values left out."""
    if isinstance(value, Mapping):
        return {k: canonical(v) for k, v in value.items() if k not in RUN_ONLY and v is not None}
    if isinstance(value, list):
        return [canonical(v) for v in value]
    if isinstance(value, str):
        return re.sub(r"blob:\S+", "blob:", _LOCAL.sub("/", value))
    return value


def dumps(value: Any) -> bytes:
    """Canonical JSON."""
    return json.dumps(canonical(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def png(data_url: str) -> bytes:
    """The bytes of a picture as the hooks give it, coded anew so that they depend on its pixels alone."""
    from PIL import Image

    if data_url.startswith("raw:"):
        _, width, height, data = data_url.split(":", 3)
        image = Image.frombytes("RGBA", (int(width), int(height)), base64.b64decode(data))
    else:
        image = Image.open(io.BytesIO(base64.b64decode(data_url.split(",", 1)[1])))
    return encode(image)


def encode(image: Any, level: int = 9) -> bytes:
    """A Pillow image as PNG without alpha, metadata or options that vary; `level` is zlib's."""
    out = io.BytesIO()
    image.convert("RGB").save(out, "PNG", compress_level=level)
    return out.getvalue()


def differing(first: bytes, second: bytes) -> int:
    """How many pixels of two PNG pictures differ; all, where their sizes do."""
    from PIL import Image, ImageChops

    a, b = (Image.open(io.BytesIO(content)).convert("RGB") for content in (first, second))
    if a.size != b.size:
        return max(a.width * a.height, b.width * b.height)
    channels = ImageChops.difference(a, b).split()
    most = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    return a.width * a.height - most.histogram()[0]


def write(out: Path, name: str, data: Mapping[str, Any], pictures: Mapping[str, bytes]) -> Path:
    """Store a capture under `out/name`."""
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    for key, content in pictures.items():
        (folder / f"{key}.png").write_bytes(content)
    body = dumps({"format": FORMAT, **data})
    (folder / "capture.json.gz").write_bytes(gzip.compress(body, 9, mtime=0))
    return folder


def read(folder: Path) -> Capture:
    """Read a stored capture.

    Raises:
        GoldsmithError: there is none, or it is none of this format.
    """
    path = folder / "capture.json.gz"
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
        made = data["format"], data["page"]["path"], data["graph"]["nodes"]
    except FileNotFoundError:
        raise GoldsmithError(f"[{path}] is absent: name the folder that `capture` wrote") from None
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise GoldsmithError(f"[{path}] is no capture ({error}): capture its page again") from None
    if made[0] != FORMAT:
        raise GoldsmithError(f"[{path}] is of format {made[0]}, not {FORMAT}: capture its page again")
    return Capture(folder.name, folder, data)


def names(root: Path) -> list[str]:
    """The ids of the captures under `root`, sorted."""
    return sorted(path.parent.name for path in root.glob("*/capture.json.gz"))


def some_names(root: Path) -> list[str]:
    """The same.

    Raises:
        GoldsmithError: there is neither a capture nor a page that was rejected.
    """
    found = names(root)
    if not found and not (root / "rejects.jsonl").is_file():
        raise GoldsmithError(f"[{root}] holds no captures: make some with `python -P -m builders.webspatial capture`")
    return found


def rejects(root: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, record) of the pages without a capture.

    Raises:
        GoldsmithError: a line is not what `capture` writes.
    """
    path = root / "rejects.jsonl"
    if path.is_file():
        for k, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                try:
                    record = json.loads(line)
                    texts = [record[key] for key in ("group", "path", "status", "message")]
                except (ValueError, KeyError, TypeError) as error:
                    raise GoldsmithError(f"[{path} > {k}] is no rejected page ({error}): capture again") from None
                if not all(isinstance(text, str) for text in texts):
                    raise GoldsmithError(f"[{path} > {k}] group, path, status and message must be texts: capture again")
                yield k, record


def sums(folder: Path) -> dict[str, str]:
    """sha256 of each part of a capture, to compare two: graph, events, and every picture."""
    data = read(folder).data
    parts = {key: hashlib.sha256(dumps(data.get(key))).hexdigest() for key in ("graph", "events", "nearby", "turns")}
    parts |= {path.stem: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.png"))}
    return parts
