"""Writing the four documents of a dataset folder, and finding where they and the data disagree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cards import citation, compare, croissant, croissant_gate, hub_yaml, render
from cards.datasheet import FILE, RAI_LISTS, Datasheet
from cards.fill import filled
from cards.queries import Figures
from cards.text import plain
from cards.views import table_files
from schemas import DatasetFolder, GoldsmithError
from schemas.files import replace_text, sha256_file
from schemas.hub import card_problems, read_card
from schemas.hub_files import HubFile

NAMES = ("README.md", "DATASHEET.md", "croissant.json", "CITATION.cff")


@dataclass(frozen=True)
class Documents:
    """The documents as the data have them now; texts are marked (see `cards.text`)."""

    material: render.Material
    files: list[HubFile]
    sums: Mapping[str, str]
    metadata: Mapping[str, Any]
    readme: str
    datasheet: str
    croissant: Mapping[str, Any]
    citation: Mapping[str, Any]

    @classmethod
    def make(
        cls,
        folder: DatasetFolder,
        builder_folder: Path,
        version: str | None = None,
        waived: Sequence[Mapping[str, Any]] | None = None,
    ) -> Documents:
        """Run the figures and fill the templates.

        Raises:
            GoldsmithError: the folder is no finished dataset, lacks a file, or datasheet.toml is wrong.
        """
        _refuse_missing(folder)
        by_table = table_files(folder)
        files = [file for splits in by_table.values() for shards in splits.values() for file in shards]
        sums = {file.path: sha256_file(folder.path / file.path) for file in files}
        released = version or _released(folder)
        asked = Datasheet.read(builder_folder)
        figures = Figures(folder, asked, by_table)
        sheet = filled(asked, figures)
        material = render.Material(folder, sheet, figures, released, _waived(folder, waived))
        cited = released or _unreleased(folder)
        metadata = hub_yaml.metadata(folder, sheet, by_table)
        made = croissant.document(folder, sheet, by_table, sums, cited, _rai(material))
        datasheet = render.datasheet(material)
        licences = metadata.get("license", [])
        body = render.readme_body(material, [licences] if isinstance(licences, str) else licences)
        cff = citation.citation(folder, sheet, cited)
        return cls(material, files, sums, metadata, body, datasheet, made, cff)

    def texts(self) -> dict[str, str]:
        """What is written, by file name."""
        return {
            "README.md": hub_yaml.front_matter(self.metadata) + "\n" + plain(self.readme) + "\n",
            "DATASHEET.md": plain(self.datasheet) + "\n",
            "croissant.json": json.dumps(self.croissant, indent=1, ensure_ascii=False) + "\n",
            "CITATION.cff": citation.dump(dict(self.citation)),
        }


def write(
    folder: DatasetFolder,
    builder_folder: Path,
    *,
    version: str | None = None,
    waived: Sequence[Mapping[str, Any]] | None = None,
) -> list[Path]:
    """Write README.md, DATASHEET.md, croissant.json and CITATION.cff into the dataset folder.

    The same data and datasheet.toml give the same bytes. A document that is right already is not touched.

    Args:
        builder_folder: has `datasheet.toml` (see cards/README.md); without one nothing that people know is answered.
        version: of the release that the folder becomes; by default that of its manifest, if it has one.
        waived: the waivers (check, table, reason, by, until) that release needs; by default those of its manifest.

    Returns:
        the paths of the documents.

    Raises:
        GoldsmithError: the folder is no finished dataset, or datasheet.toml is wrong.
    """
    written = []
    for name, text in Documents.make(folder, builder_folder, version, waived).texts().items():
        path = folder.path / name
        if not path.is_file() or path.read_bytes() != text.encode():
            replace_text(path, text)
        written.append(path)
    return written


def problems(folder: DatasetFolder, builder_folder: Path, *, version: str | None = None) -> list[str]:
    """Where the documents and the data disagree, and what is wrong with what they say. Nothing is written.

    Returns:
        one line a problem: stale figures with both values, parts made by hand, required questions without an answer,
        what the Hub would refuse, and breaches of Croissant and CFF. Empty if all is well.

    Raises:
        GoldsmithError: as `write`.
    """
    made = Documents.make(folder, builder_folder, version)
    material = made.material
    found = [line for name in NAMES for line in stale(folder, name, made)]
    found += [
        f"[{FILE} > answers > {key}] is required and not answered: answer it" for key in render.unanswered(material)
    ]
    unknown_licences = hub_yaml.problems(folder, material.sheet)
    refused = card_problems(made.metadata, made.files)
    found += unknown_licences
    found += [line for line in refused if not (unknown_licences and line.endswith("`license: other` needs it"))]
    found += citation.problems(material.sheet)
    found += croissant_gate.problems(made.croissant, folder, made.sums)
    if not material.version:
        found += _other_bytes(folder, made.sums)
    return found


def stale(folder: DatasetFolder, name: str, made: Documents) -> list[str]:
    """Where the document `name` on disk differs from the one that is made now."""
    path = folder.path / name
    if not path.is_file():
        return [f"[{name}] is missing: run `goldsmith card`"]
    text = path.read_text(encoding="utf-8")
    if text == made.texts()[name]:
        return []
    try:
        match name:
            case "README.md":
                metadata, body = read_card(text)
                first = text[: len(text) - len(body)].count("\n")
                lines = compare.value_problems("README.md > YAML", dict(made.metadata), metadata)
                lines += compare.text_problems(name, "\n" + made.readme, body, first)
            case "DATASHEET.md":
                lines = compare.text_problems(name, made.datasheet, text)
            case "croissant.json":
                lines = compare.value_problems(name, dict(made.croissant), json.loads(text))
            case _:
                lines = compare.value_problems(name, dict(made.citation), yaml.safe_load(text))
    except GoldsmithError as error:
        return [str(error)]
    except (ValueError, yaml.YAMLError) as error:
        return [f"[{name}] cannot be read ({' '.join(str(error).split())}): run `goldsmith card`"]
    return lines or [f"[{name}] has another layout than is made now: run `goldsmith card`"]


def _refuse_missing(folder: DatasetFolder) -> None:
    """Documents of a part would pass for documents of the whole."""
    gone = [file["path"] for file in folder.build.get("files", ()) if not (folder.path / file["path"]).is_file()]
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        raise GoldsmithError(f"[{folder.path}] {gone[0]}{more} is gone: build the dataset again")


def _other_bytes(folder: DatasetFolder, sums: Mapping[str, str]) -> list[str]:
    """Data files that are not those the report was made of. (A release drops rows after the check.)"""
    if not folder.report_json.is_file():
        return []
    checked = {file["path"]: file["sha256"] for file in folder.report.get("files", [])}
    other = [path for path, sha256 in sums.items() if checked.get(path) != sha256]
    return [f"[quality/report.json] is about other bytes of {path}: run `goldsmith check`" for path in other]


def _released(folder: DatasetFolder) -> str:
    """The version of the manifest, "" where the folder is no release."""
    if not folder.manifest_json.is_file():
        return ""
    return json.loads(folder.manifest_json.read_text(encoding="utf-8"))["version"]


def _waived(folder: DatasetFolder, given: Sequence[Mapping[str, Any]] | None) -> Sequence[Mapping[str, Any]]:
    """The waivers given, else those of the manifest."""
    if given is not None or not folder.manifest_json.is_file():
        return given or ()
    return json.loads(folder.manifest_json.read_text(encoding="utf-8")).get("checks", {}).get("waived", ())


def _unreleased(folder: DatasetFolder) -> str:
    """A SemVer for a folder that is no release: before all releases, with the builder's version."""
    builder = re.sub(r"[^0-9A-Za-z.-]", "-", str(folder.build["version"])).strip(".")
    return f"0.0.0+builder.{builder}"


def _rai(material: render.Material) -> dict[str, str | list[str]]:
    """The RAI texts: those of people, and facts where people say nothing."""
    said: dict[str, str | list[str]] = {}
    for key, value in material.sheet.rai.items():
        texts = [value] if isinstance(value, str) else list(value)
        filled = [plain(material.fill(text, f"rai > {key}")) for text in texts]
        said[key] = filled if key in RAI_LISTS else filled[0]
    missing = [
        f"{row['table_name']}.{row['column_name']}: {row['missing']} of {row['rows']}"
        for row in material.figures.rows("missing")
    ]
    facts: dict[str, str | list[str]] = {
        "data_collection_missing_data": "Missing values: " + "; ".join(missing) + "."
        if missing
        else "No value is missing.",
        "data_limitations": [
            plain(material.fill(text, "card > limitations")) for text in material.sheet.card.limitations
        ],
    }
    return {**{key: fact for key, fact in facts.items() if fact}, **said}
