"""The YAML head of README.md: what the Hub and `load_dataset` read, made from the files.

Which words and forms the Hub takes is in `schemas.hub`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from cards.datasheet import FILE, Datasheet
from cards.fill import languages, licences
from schemas import DatasetFolder
from schemas.hub_files import HubFile, dataset_info
from schemas.hub_words import hub_licence, size_category
from schemas.hub_words import languages as hub_languages


def metadata(
    folder: DatasetFolder, sheet: Datasheet, files: Mapping[str, Mapping[str, list[HubFile]]]
) -> dict[str, Any]:
    """The YAML as plain values, empty keys left out; the first table is the default config."""
    schema, card = folder.schema, sheet.card
    # A split without rows would make `load_dataset` refuse the whole table.
    full = {
        table: {split: shards for split, shards in splits.items() if any(file.rows for file in shards)}
        for table, splits in files.items()
    }
    tags = languages(folder, sheet)
    subtags = list(dict.fromkeys(tag.split("-")[0].lower() for tag in tags))
    if card.language:  # Tags of the data: some have no code in the Hub's list, and only `language_bcp47` names them.
        subtags = [subtag for subtag in subtags if subtag in hub_languages()]
    rows = sum(file.rows for splits in files.values() for shards in splits.values() for file in shards)
    first = next((table for table, splits in full.items() if splits), None)
    made: dict[str, Any] = {
        "pretty_name": card.pretty_name or schema.title,
        **_licences(folder, sheet),
        "language": subtags,
        "language_bcp47": list(tags) if any(tag not in subtags for tag in tags) else [],
        "task_categories": list(schema.tasks),
        "tags": list(schema.tags),
        "size_categories": [size_category(rows)],
        "annotations_creators": list(card.annotations_creators),
        "language_creators": list(card.language_creators),
        "multilinguality": list(card.multilinguality),
        "source_datasets": list(card.source_datasets),
        "configs": [
            {
                "config_name": table,
                **({"default": True} if table == first else {}),
                "data_files": [{"split": split, "path": f"data/{table}/{split}-*.parquet"} for split in splits],
            }
            for table, splits in full.items()
            if splits
        ],
        "dataset_info": [dataset_info(table, list(splits.items())) for table, splits in full.items() if splits],
    }
    return {key: value for key, value in made.items() if value}


def _licences(folder: DatasetFolder, sheet: Datasheet) -> dict[str, Any]:
    """`license` and, where one is none that the Hub knows, `license_name` and `license_link`."""
    ids = sorted({hub_licence(licence) or "other" for licence in licences(folder, sheet)})
    named = {"license_name": sheet.card.license_name, "license_link": sheet.card.license_link}
    return {
        "license": ids[0] if len(ids) == 1 else ids,
        **(named if "other" in ids else {}),
    }


def problems(folder: DatasetFolder, sheet: Datasheet) -> list[str]:
    """What people must still say before the YAML is whole."""
    unknown = [licence for licence in licences(folder, sheet) if hub_licence(licence) is None]
    if not unknown or (sheet.card.license_name and sheet.card.license_link):
        return []
    some = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3} more" if len(unknown) > 3 else "")
    return [f"[{FILE} > card] licences that the Hub does not know ({some}): give license_name and license_link"]


def front_matter(made: Mapping[str, Any]) -> str:
    """The YAML head with its lines `---`: plain YAML, keys in order, never folded."""
    text = yaml.safe_dump(dict(made), sort_keys=False, allow_unicode=True, width=2**16)
    return f"---\n{text}---\n"
