"""Inputs of the benchmark: 552,065 variants in the real tables' own formats, made from the registered real assays.

The 23 assays are written again and again under new names, their values moved a little so that no two are the same,
until the rows that they are known to give reach the number; the last is cut. Sources, site maps and `assays.toml` are
written beside them, so that the builder reads the folder as it reads its own.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.sources import Sources
from builders.virogym import references, registry, resolve, variants
from builders.virogym.builder import BUILDER
from builders.virogym.readers import read

VARIANTS = 552_065
"""As many sequences as ViroGym's paper counts."""

LAST = "FLU_viral_growth_H1N1_WSN"
"""Every record of it becomes a row, so that it can be cut to any number."""


def make(folder: Path, mirror: str, cache: Path) -> int:
    """Write the inputs to `folder`, unless they are there. Returns the number of assays."""
    done = folder / "assays.toml"
    if done.exists():
        return len(registry.read_registry(done).assays)
    folder.mkdir(parents=True, exist_ok=True)
    sources = Sources.load(BUILDER.folder, mirrors=[mirror], cache=cache)
    known = registry.read_registry(BUILDER.folder / "assays.toml")
    pins: dict[str, str] = {}
    for reference in known.references.values():
        for name in reference.inputs:
            pins[name] = _copy(folder, name, sources.text(name))
    assays: dict[str, registry.AssayEntry] = {}
    for assay_id, entry, text in _copies(sources, known):
        pins[assay_id] = _copy(folder, assay_id, text)
        assays[assay_id] = replace(entry, source=assay_id, published=None)
    (folder / "sources.toml").write_text(
        "".join(_toml(name, {"path": path, "licence": "MIT"}) for name, path in pins.items())
    )
    groups = {"viruses": known.viruses, "studies": known.studies, "references": known.references, "assays": assays}
    tables = [
        _toml(f"{group}.{name}", registry.form(made)) for group, all_ in groups.items() for name, made in all_.items()
    ]
    done.write_text("".join(tables))
    return len(assays)


def _copies(sources: Sources, known: registry.Registry) -> Iterator[tuple[str, registry.AssayEntry, str]]:
    """(new assay id, entry, table) until all variants are there."""
    rows = {assay_id: _rows(entry, known, sources) for assay_id, entry in known.assays.items()}
    missing, turn = VARIANTS, 0
    while True:
        turn += 1
        for assay_id, entry in known.assays.items():
            name = f"{assay_id}_copy{turn}"
            if rows[assay_id] > missing:
                table = sources.text(known.assays[LAST].source).splitlines()[: missing + 1]
                yield f"{LAST}_rest", known.assays[LAST], _moved("\n".join(table) + "\n", known.assays[LAST], name)
                return
            yield name, entry, _moved(sources.text(entry.source), entry, name)
            missing -= rows[assay_id]


def _rows(entry: registry.AssayEntry, known: registry.Registry, sources: Sources) -> int:
    reference = references.load(entry.reference, known.references[entry.reference], sources)
    resolved = resolve.resolve(read(entry, sources.text(entry.source), reference, "benchmark"), reference, entry)
    return variants.merged(resolved.filter(resolved["reason"].is_null()))[0].height


def _moved(text: str, entry: registry.AssayEntry, seed: str) -> str:
    """The table with 25 % of noise on its values; zeros (wild types) stay."""
    noise = random.Random(seed)
    names = {entry.columns.get("score"), entry.columns.get("average")}
    header, *rows = csv.reader(io.StringIO(text))
    columns = [i for i, name in enumerate(header) if name in names]
    for row in rows:
        for i in columns:
            try:
                row[i] = f"{float(row[i]) * (1 + noise.gauss(0, 0.25)):.5g}"
            except ValueError:
                continue
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def _copy(folder: Path, name: str, text: str) -> str:
    (folder / f"{name}.txt").write_text(text)
    return f"{name}.txt"


def _toml(name: str, values: dict[str, Any]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in values.items() if value is not None]
    return "\n".join([f"[{name}]", *lines, "", ""])


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return json.dumps(value)
