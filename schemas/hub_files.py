"""Parquet files as the Hub sees them: what their footers say, in the form of a card's `dataset_info`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq


@dataclass(frozen=True)
class HubFile:
    """A Parquet file, as its footer describes it.

    Attributes:
        path: relative to the repository, with `/`.
        size: bytes on disk.
        num_bytes: uncompressed bytes of its row groups.
        features: the `huggingface` features in JSON form; None where the file has none.
    """

    path: str
    size: int
    rows: int
    num_bytes: int
    features: Mapping[str, Any] | None

    @classmethod
    def read(cls, root: Path, path: str) -> HubFile:
        """Read the footer of `root/path`; pyarrow's errors for a file that is no Parquet pass through."""
        file = root / path
        with pq.ParquetFile(file) as parquet:
            footer = parquet.metadata
            size = sum(footer.row_group(index).total_byte_size for index in range(footer.num_row_groups))
            info = (parquet.schema_arrow.metadata or {}).get(b"huggingface")
            features = json.loads(info)["info"]["features"] if info else None
            return cls(path, file.stat().st_size, footer.num_rows, size, features)


def data_files(root: Path) -> list[HubFile]:
    """The Parquet files under `root/data`, sorted by path."""
    paths = sorted(path.relative_to(root).as_posix() for path in (root / "data").rglob("*.parquet"))
    return [HubFile.read(root, path) for path in paths]


def features_yaml(features: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Features in the form of a card's `dataset_info`, from their JSON form (`Table.features`).

    Equal to `datasets.Features.from_dict(features)._to_yaml_list()` for the types of `schemas.types`.
    """
    return [{"name": name, **_feature_yaml(feature)} for name, feature in features.items()]


def _feature_yaml(feature: Mapping[str, Any]) -> dict[str, Any]:
    match feature.get("_type"):
        case "Value":
            return {"dtype": feature["dtype"]}
        case "ClassLabel":
            return {"dtype": {"class_label": {"names": {str(i): name for i, name in enumerate(feature["names"])}}}}
        case "List":
            inner = _feature_yaml(feature["feature"])
            return {"list": inner.get("dtype", inner.get("struct", inner))}
        case str(kind):
            options = {name: value for name, value in feature.items() if name != "_type"}
            return {"dtype": {kind.lower(): options} if options else kind.lower()}
        case _:
            return {"struct": features_yaml(feature)}


def dataset_info(name: str, splits: Sequence[tuple[str, Sequence[HubFile]]]) -> dict[str, Any]:
    """The `dataset_info` entry of a config: `splits` holds (split, its files), in order."""
    features = next((file.features for _, files in splits for file in files if file.features is not None), None)
    sizes = [
        {"name": split, "num_bytes": sum(f.num_bytes for f in files), "num_examples": sum(f.rows for f in files)}
        for split, files in splits
    ]
    return {
        "config_name": name,
        **({"features": features_yaml(features)} if features is not None else {}),
        "splits": sizes,
        "download_size": sum(file.size for _, files in splits for file in files),
        "dataset_size": sum(size["num_bytes"] for size in sizes),
    }
