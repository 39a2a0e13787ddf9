"""What croissant.json must be, beyond what mlcroissant asks (it calls almost anything valid)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from cards.croissant import CONFORMS_TO
from cards.datasheet import RAI
from schemas import DatasetFolder, List, Struct, Type

PLACE = "croissant.json"


def problems(document: Mapping[str, Any], folder: DatasetFolder, sums: Mapping[str, str]) -> list[str]:
    """Where the document is wrong about the folder, breaks the specification or is refused by mlcroissant.

    Args:
        sums: sha256 of each data file by path, as they are on disk.
    """
    found = [
        *_conformity(document),
        *_identifiers(document),
        *_columns(document, folder),
        *_files(document, folder, sums),
    ]
    return [f"[{PLACE} > {line}" for line in found] or validation(document)


def validation(document: Mapping[str, Any]) -> list[str]:
    """The errors of mlcroissant, without reading data or the network."""
    import mlcroissant  # here, because it takes seconds to import

    try:
        mlcroissant.Dataset(jsonld=dict(document))
    except mlcroissant.ValidationError as error:
        lines = [line.strip("- ").strip() for line in str(error).splitlines()]
        return [f"[{PLACE}] {line}" for line in lines if line and not line.startswith("Found the following")]
    return []


def _conformity(document: Mapping[str, Any]) -> Iterator[str]:
    if document.get("conformsTo") != CONFORMS_TO:
        yield f"conformsTo] must be {CONFORMS_TO}"
    for key in document:
        if key.startswith("rai:") and key.removeprefix("rai:") not in RAI.values():
            yield f"{key}] is no term of Croissant RAI 1.0"


def _nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every node that declares an id (references have nothing but the id)."""
    if isinstance(value, Mapping):
        if "@id" in value and "@type" in value:
            yield value
        for key, inner in value.items():
            if key != "@context":
                yield from _nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _nodes(inner)


def _identifiers(document: Mapping[str, Any]) -> Iterator[str]:
    for name, count in Counter(node["@id"] for node in _nodes(document)).items():
        if count > 1:
            yield f"{name}] the id stands {count} times"


def _paths(prefix: str, kind: Type) -> Iterator[str]:
    """The ids that a column of this type needs, members of structs included."""
    yield prefix
    while isinstance(kind, List):
        kind = kind.of
    if isinstance(kind, Struct):
        for member, of in kind.fields:
            yield from _paths(f"{prefix}/{member}", of)


def _columns(document: Mapping[str, Any], folder: DatasetFolder) -> Iterator[str]:
    ids = {node["@id"] for node in _nodes(document.get("recordSet", []))}
    for table in folder.schema.tables:
        if not folder.shards(table.name):
            continue
        for column in table.columns:
            for path in _paths(f"{table.name}/{column.name}", column.type):
                if path not in ids:
                    yield f"recordSet > {path}] the column has no field"


def _files(document: Mapping[str, Any], folder: DatasetFolder, sums: Mapping[str, str]) -> Iterator[str]:
    objects = {
        node.get("contentUrl"): node
        for node in document.get("distribution", [])
        if node.get("@type") == "cr:FileObject"
    }
    for path, sha256 in sums.items():
        if path not in objects:
            yield f"distribution > {path}] is missing"
        elif objects[path].get("sha256") != sha256:
            yield f"distribution > {path}] sha256 is {objects[path].get('sha256')}, that of the file is {sha256}"
        elif objects[path].get("contentSize") != f"{(folder.path / path).stat().st_size} B":
            yield f"distribution > {path}] contentSize is {objects[path].get('contentSize')}, not that of the file"
    for path in objects.keys() - sums.keys():
        yield f"distribution > {path}] there is no such file"
