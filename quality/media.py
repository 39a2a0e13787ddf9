"""Sounds and images in the report: fetched from the data by row id, embedded whole, within a budget of bytes.

Nothing is decoded here; a dataset that wants a picture of a sound brings the function that draws it (`Plot.picture`).
"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from schemas import Audio, DatasetFolder, GoldsmithError, Plot, Table

BUDGET_BYTES = 4 << 20
"""How much of encoded files one plot may put into the page; what comes later is named without its medium."""

_TYPES = {".opus": "audio/ogg", ".flac": "audio/flac", ".webm": "audio/webm", ".wav": "audio/wav"}


def items(folder: DatasetFolder, plot: Plot, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The media of a plot by facet: {"shown": [{"id", "caption", "kind", "source", "picture"}]}.

    Args:
        rows: what the plot's SQL returned, in its order: `id`, `caption` and perhaps `facet`.

    Raises:
        GoldsmithError: the plot names no media column.
    """
    table, column = _column(folder, plot)
    kind = "audio" if isinstance(table.column(column).type, Audio) else "image"
    media = fetch(folder, table, column, {str(row["id"]) for row in rows})
    left = BUDGET_BYTES
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        data, path = media.get(str(row["id"]), (b"", ""))
        item = {"id": str(row["id"]), "caption": row["caption"] or "", "kind": "", "source": "", "picture": ""}
        if data and len(data) <= left:
            left -= len(data)
            picture = plot.picture(data) if plot.picture else None
            item |= {"kind": kind, "source": _data_uri(data, _type(path, kind))}
            item |= {"picture": _data_uri(picture, "image/png") if picture else ""}
        found.setdefault(str(row.get("facet") or ""), {"shown": []})["shown"].append(item)
    return found


def fetch(folder: DatasetFolder, table: Table, column: str, ids: set[str]) -> dict[str, tuple[bytes, str]]:
    """id -> (bytes, path) of a media column; only the row groups that hold a wanted row are read."""
    wanted = pa.array(sorted(ids), pa.string())
    found: dict[str, tuple[bytes, str]] = {}
    for path in folder.all_shards(table.name):
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                names = table.row_ids(file.read_row_group(group, columns=list(table.key)))
                places = np.flatnonzero(np.isin(names.to_numpy(zero_copy_only=False), wanted.to_pylist()))
                if len(places):
                    values = file.read_row_group(group, columns=[column]).column(0).take(pa.array(places)).to_pylist()
                    keys = names.take(pa.array(places)).to_pylist()
                    pairs = zip(keys, values, strict=True)
                    found |= {key: (value["bytes"], value["path"] or "") for key, value in pairs if value}
    return found


def _column(folder: DatasetFolder, plot: Plot) -> tuple[Table, str]:
    name, _, column = plot.media.partition(".")
    tables = {table.name: table for table in folder.schema.tables}
    if name not in tables or column not in tables[name].names:
        raise GoldsmithError(
            f"[plot > {plot.name}] shows {plot.media!r}, which is no column: name table.column in `media`"
        )
    return tables[name], column


def _type(path: str, kind: str) -> str:
    suffix = Path(path).suffix.lower()
    return _TYPES.get(suffix) or mimetypes.guess_type(path)[0] or f"{kind}/*"


def _data_uri(data: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
