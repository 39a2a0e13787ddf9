"""croissant.json: Croissant 1.1 with the RAI terms, as plain JSON made from the schema and the files.

Written by hand rather than with mlcroissant's classes, which drop keys they do not know and misspell two RAI terms.
How mlcroissant 1.1.1 reads decides the forms (tests/cards/test_croissant.py reads every type back):
media need the transform `jsonPath: bytes`; members of a struct, or of a list of structs, are subfields of the column
with a `jsonPath`; lists of pictures also need the old word `repeated`. It cannot look into structs in lists of lists:
their members are described, and read as nothing. `references` are not written, because it reads them as joins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from cards.citation import authors, bibtex, is_spdx, published
from cards.datasheet import RAI, Datasheet
from cards.fill import languages, licences, summary
from schemas import Column, DatasetFolder, Image, Label, List, Struct, Table, Type
from schemas.hub_files import HubFile
from schemas.types import Audio

CONFORMS_TO = ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"]
PARQUET = "application/x-parquet"

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The standard context of Croissant 1.1; mlcroissant warns where a key is absent."""


def document(
    folder: DatasetFolder,
    sheet: Datasheet,
    files: Mapping[str, Mapping[str, list[HubFile]]],
    sums: Mapping[str, str],
    version: str,
    rai: Mapping[str, str | list[str]],
) -> dict[str, Any]:
    """The whole document as plain values.

    Args:
        sums: sha256 of each data file by path.
        version: SemVer.
        rai: texts by the keys of `cards.datasheet.RAI`.
    """
    schema, tables = folder.schema, [table for table in folder.schema.tables if files.get(table.name)]
    splits = list(dict.fromkeys(split for table in tables for split in files[table.name]))
    made: dict[str, Any] = {
        "@context": deepcopy(CONTEXT),  # mlcroissant writes into the one it is given
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": schema.name,
        "alternateName": sheet.card.pretty_name or schema.title,
        "description": summary(folder, sheet),
        "url": address(sheet),
        "sameAs": f"https://doi.org/{sheet.citation.doi}" if sheet.citation.doi else "",
        "version": version,
        "datePublished": published(folder, sheet),
        "license": [_licence(licence) for licence in licences(folder, sheet)],
        "creator": [_creator(author) for author in authors(folder, sheet)],
        "citeAs": bibtex(folder, sheet, version),
        "keywords": list(schema.tags),
        "inLanguage": list(languages(folder, sheet)),
        "isLiveDataset": False,
        **{f"rai:{RAI[key]}": text for key, text in sorted(rai.items())},
        "distribution": [node for table in tables for node in _files(table.name, files[table.name], sums)],
        "recordSet": [_splits(splits), *(_record_set(table) for table in tables)],
    }
    return {key: value for key, value in made.items() if value not in ("", [], None)}


def address(sheet: Datasheet) -> str:
    """The page of the dataset: its homepage, its address on the Hub, or that of the citation."""
    hub = f"https://huggingface.co/datasets/{sheet.card.repository}" if sheet.card.repository else ""
    return sheet.card.homepage or hub or sheet.citation.url


def _licence(licence: str) -> str:
    return f"https://spdx.org/licenses/{licence}" if is_spdx(licence) else licence


def _creator(author: Any) -> dict[str, str]:
    made = {
        "@type": "sc:Organization" if author.name else "sc:Person",
        "name": author.full_name,
        "email": author.email,
        "url": author.orcid,
    }
    return {key: value for key, value in made.items() if value}


def _files(table: str, splits: Mapping[str, list[HubFile]], sums: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """A FileObject for each shard, and the FileSet through which they are read."""
    for shards in splits.values():
        for file in shards:
            yield {
                "@type": "cr:FileObject",
                "@id": file.path,
                "name": file.path.rsplit("/", 1)[-1],
                "contentUrl": file.path,
                "contentSize": f"{file.size} B",
                "encodingFormat": PARQUET,
                "sha256": sums[file.path],
            }
    yield {
        "@type": "cr:FileSet",
        "@id": f"data/{table}",
        "name": f"data/{table}",
        "description": f"The files of the table {table}.",
        "encodingFormat": PARQUET,
        "includes": f"data/{table}/*.parquet",
    }


def _splits(splits: list[str]) -> dict[str, Any]:
    """The splits as a record set, as the specification asks. A table's name has no `-`, so the id is free."""
    name = {"@type": "cr:Field", "@id": "dataset-splits/name", "name": "name", "dataType": "sc:Text"}
    return {
        "@type": "cr:RecordSet",
        "@id": "dataset-splits",
        "name": "dataset-splits",
        "description": "The splits that the files belong to.",
        "dataType": "cr:Split",
        "key": {"@id": "dataset-splits/name"},
        "field": [name],
        "data": [{"dataset-splits/name": split} for split in splits],
    }


def _record_set(table: Table) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": [_split_field(table), *(_column_field(table.name, column) for column in table.columns)],
    }


def split_name(table: Table) -> str:
    """The name of the field that says in which split a row is; no column has it."""
    name = "split"
    while name in table.names:
        name += "_of_file"
    return name


def _split_field(table: Table) -> dict[str, Any]:
    name = split_name(table)
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{name}",
        "name": name,
        "description": "The split, from the file's name.",
        "dataType": "sc:Text",
        "source": {
            "fileSet": {"@id": f"data/{table.name}"},
            "extract": {"fileProperty": "fullpath"},
            "transform": {"regex": r"^(?:.*/)?(\w+)-\d{5}-of-\d{5}\.parquet$"},
        },
    }


def _column_field(table: str, column: Column) -> dict[str, Any]:
    facts = [column.meaning.strip()]
    if column.unit:
        facts.append(f"Unit: {column.unit}.")
    if isinstance(column.type, Label):
        facts.append("Classes: " + ", ".join(f"{index} = {name}" for index, name in enumerate(column.type.names)) + ".")
    if column.references:
        facts.append(f"Refers to {column.references}.")
    source = {"fileSet": {"@id": f"data/{table}"}, "extract": {"column": column.name}}
    return _field(f"{table}/{column.name}", column.name, " ".join(facts), column.type, source)


def _field(
    id_: str,
    name: str,
    description: str,
    kind: Type,
    source: Mapping[str, Any],
    steps: tuple[str, ...] = (),
    lists: int = 0,
) -> dict[str, Any]:
    """A field and its subfields.

    Args:
        source: where the column is.
        steps: JSON paths that lead from the column to the values, a new one after each list on the way.
        lists: how many lists are on the way. mlcroissant cannot step into a struct behind two of them; such a field
            gets no source, and is read as nothing.
    """
    depth, inner = 0, kind
    while isinstance(inner, List):
        depth, inner = depth + 1, inner.of
    lists += depth
    made: dict[str, Any] = {"@type": "cr:Field", "@id": id_, "name": name, "description": description}
    if depth:
        made |= {"isArray": True, "arrayShape": ",".join(["-1"] * depth)}
    if isinstance(inner, Struct):
        members = source if lists < 2 else {}
        made["subField"] = [
            _field(
                f"{id_}/{member}", member, f"{member} of {name}", of, members, _step(steps, member, depth > 0), lists
            )
            for member, of in inner.fields
        ]
        return made
    made["dataType"] = inner.croissant
    if isinstance(inner, Image | Audio):
        steps = _step(steps, "bytes", depth > 0)
        source = source if lists < 2 else {}
        if lists:
            made["repeated"] = True
    if source:
        made["source"] = {**source, **({"transform": [{"jsonPath": step} for step in steps]} if steps else {})}
    return made


def _step(steps: tuple[str, ...], member: str, listed: bool) -> tuple[str, ...]:
    """The steps to a member of a struct: in the same path, or in a new one where the struct is in a list."""
    name = member if re.fullmatch(r"[A-Za-z_]\w*", member) else f"'{member}'"
    if listed or not steps:
        return (*steps, name)
    return (*steps[:-1], f"{steps[-1]}.{name}")
