"""A page to look at: every scene with the boxes and ids of its objects, its events in time, its questions with
traces."""

from __future__ import annotations

import base64
import html
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from schemas import DatasetFolder, GoldsmithError

_STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:1100px;padding:0 1rem;color:#1b1b1b}
section{border-top:1px solid #ccc;padding:1rem 0}h2{font-size:1.05rem;margin:.2rem
0}.p{position:relative;display:inline-block}
.p img{display:block;max-width:100%}.p svg{position:absolute;inset:0;width:100%;height:100%}
rect{fill:none;stroke:#e0007a;stroke-width:1.5}text{font:11px
sans-serif;fill:#fff;paint-order:stroke;stroke:#000;stroke-width:3px}
figure{display:inline-block;margin:.5rem 1rem .5rem 0;vertical-align:top;max-width:330px}figure img{width:320px}
code{font-size:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}.t rect{fill:#3572b0;stroke:none}.t .i{fill:#d03030}
.t text{fill:#222;stroke:none}small{color:#555}b{font-weight:600}"""


def write(folder: Path, out: Path, scenes: int = 60, a_scene: int = 4) -> int:
    """Write the gallery of a dataset folder to `out` (one HTML file). Returns how many scenes it shows.

    Raises:
        GoldsmithError: the folder holds no scenes.
    """
    data = DatasetFolder(folder).path / "data"
    objects, events, asked = (_grouped(data / name) for name in ("objects", "events", "questions"))
    parts = []
    shown = 0
    for path in sorted((data / "scenes").glob("*.parquet")):
        columns = ["scene_id", "source", "page", "engine", "engine_version", "licence", "kind", "width", "height",
                   "screenshot", "meshes_compared", "meshes_agree", "why_not"]  # fmt: skip
        for batch in pq.ParquetFile(path).iter_batches(16, columns=columns):
            for row in batch.to_pylist():
                if shown < scenes:
                    key = row["scene_id"]
                    parts.append(
                        _scene(
                            row,
                            objects[key],
                            events[key],
                            asked[key][:: max(1, len(asked[key]) // a_scene)][:a_scene],
                            len(asked[key]),
                        )
                    )
                    shown += 1
    if not shown:
        raise GoldsmithError(f"[{folder}] holds no scenes: build webspatial first")
    page = f"<!doctype html><meta charset=utf-8><title>WebSpatial</title><style>{_STYLE}</style><h1>WebSpatial</h1>"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page + "".join(parts), encoding="utf-8")
    return shown


def _grouped(folder: Path) -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(folder.glob("*.parquet")):
        for row in pq.read_table(path).to_pylist():
            out[row["scene_id"]].append(row)
    return out


def _picture(content: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def _scene(row: dict[str, Any], objects: list, events: list, asked: list, total: int) -> str:
    boxes = []
    for o in objects:
        if o["can_ask"]:
            x0, y0, x1, y1 = o["box"]
            name = " ".join(w for w in (str(o["object_id"]), o["colour"], o["shape"]) if w)
            boxes.append(f'<rect x="{x0}" y="{y0}" width="{x1 - x0}" height="{y1 - y0}"/>')
            boxes.append(f'<text x="{x0 + 2}" y="{max(11, y0 - 3)}">{html.escape(name)}</text>')
    facts = f"{row['engine']} {row['engine_version'] or ''}, {row['kind']}, {row['licence']}; "
    facts += f"graph and pixels agree for {row['meshes_agree']} of {row['meshes_compared']} meshes; {total} questions"
    if row["why_not"]:
        facts += f"; not asked: {row['why_not']}"
    return (
        f"<section><h2>{html.escape(row['source'])} / {html.escape(row['page'])}</h2>"
        f"<small>{html.escape(facts)}</small>"
        f'<br><span class=p><img src="{_picture(row["screenshot"]["bytes"])}" width="{row["width"]}">'
        f'<svg viewBox="0 0 {row["width"]} {row["height"]}">{"".join(boxes)}</svg></span>'
        f"{_time_line(events)}<div>{''.join(_question(q) for q in asked)}</div></section>"
    )


def _time_line(events: list[dict[str, Any]]) -> str:
    """Inputs in red, changes in blue, frames to the right."""
    if not events:
        return ""
    last = max(e["end"] for e in events) + 1
    height = 16 * len(events[:30]) + 6
    rows = []
    for k, e in enumerate(events[:30]):
        x, width = 500 * e["start"] / last, max(4, 500 * (e["end"] - e["start"]) / last)
        name = f"{e['type']} {(e['path'] or '').rpartition('/')[2]}"
        if not e["is_input"]:
            name += " (because of the input)" if e["caused"] else ""
        mark = "i" if e["is_input"] else ""
        rows.append(f'<rect class="{mark}" x="{x:.0f}" y="{k * 16 + 3}" width="{width:.0f}" height="11"/>')
        rows.append(f'<text x="{x + width + 4:.0f}" y="{k * 16 + 13}">{html.escape(name)}</text>')
    return f'<br><svg class=t width="900" height="{height}">{"".join(rows)}</svg>'


def _question(q: dict[str, Any]) -> str:
    trace = json.loads(q["trace"]) if isinstance(q["trace"], str) else q["trace"]
    calls = "\n".join(f"{t['tool']}({json.dumps(t['args'])}) = {t['result']}" for t in trace)
    options = " / ".join(f"<b>{html.escape(o)}</b>" if o == q["answer"] else html.escape(o) for o in q["options"])
    margin = "" if q["margin"] is None else f", holds for {q['margin']:g} degrees of camera turn"
    return (
        f'<figure><img src="{_picture(q["image"]["bytes"])}"><figcaption>{html.escape(q["text"])}<br>{options}<br>'
        f"<small>{q['type']}{margin}</small><br><code>{html.escape(calls)}</code></figcaption></figure>"
    )
