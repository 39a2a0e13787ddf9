"""`assays.toml`, read and checked: the viruses, studies, references and assays of ViroGym.

Adding an assay is adding an entry there. Not its business: what the tables hold (`readers`) and the proteins
(`references`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from builders.virogym.schema import ASSAYS, PHENOTYPES
from schemas import GoldsmithError

READERS = ("dmsvep", "dms_tools2", "evcouplings", "mavedb", "proteingym")

Made = TypeVar("Made")


@dataclass(frozen=True)
class Virus:
    """A virus: species, family and NCBI taxonomy id."""

    species: str
    family: str
    ncbi_taxid: int


@dataclass(frozen=True)
class Study:
    """A publication: its citation and, where there is one, its DOI. Assays of one study share it."""

    citation: str
    doi: str | None = None


@dataclass(frozen=True)
class ReferenceEntry:
    """Where a mutated protein comes from and how its positions are numbered.

    Attributes:
        source: a FASTA file or, for `alphabet = "proteingym"`, ProteinGym's reference table.
        record: the first word of the FASTA header or the DMS_id; may be left out where there is one record.
        alphabet: `protein`, `codon` (translated) or `proteingym` (column `target_seq`).
        molecule: which part of which protein it is, in words.
        background: the library's fixed changes, in the source's positions (`T330N`, `H69del`, `R214_D215insEPE`).
        span: first and last position kept, in the source's positions.
        start_offset: what to add to a position to count from the start of the whole protein.
        numbering: name of the field's numbering.
        map: a table with the field's site of each position; without one the sites are the source's positions.
        map_columns: the names of its columns `reference`, `sequential` (position in the reference) or else `position`
            (in the source's protein, before the span) and, where it has them, `wt` and `region`.
        aligned_to, aligned_record: the numbering's own protein, to align with.
    """

    source: str
    molecule: str
    numbering: str
    record: str | None = None
    alphabet: str = "protein"
    background: list[str] = field(default_factory=list)
    span: list[int] | None = None
    start_offset: int = 0
    map: str | None = None
    map_columns: dict[str, str] = field(
        default_factory=lambda: {"sequential": "sequential_site", "reference": "reference_site", "region": "region"}
    )
    aligned_to: str | None = None
    aligned_record: str | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The sources that make it, without repetition."""
        return tuple(dict.fromkeys(name for name in (self.source, self.map, self.aligned_to) if name))


@dataclass(frozen=True)
class AssayEntry:
    """One assay.

    Attributes:
        reader: which module of `readers` reads the table.
        sites: `reference` (the field's numbering) or `sequential` (positions in the reference).
        columns: what the reader calls a column -> the table's name for it; see the reader.
        replicates: columns with one replicate each.
        filters: column -> value or values of the rows that are the assay's (other rows are another assay's), or
            `{min = x}` / `{max = x}` (other rows are rejected as `filtered`).
        identity: what a row whose mutant is the wild type is: `wt` (put there as zero) or `syn` (measured).
        target: the target of interest in a MaveDB score set with several.
        transform: `log2_wt`: the score is log2 of the value over the wild type's at that site.
        published: how many substitutions others count in it.
        bin_cutoff: the score from which `bin` is 1; left out, the median of the substitutions.
    """

    source: str
    reader: str
    virus: str
    study: str
    reference: str
    strain: str
    protein: str
    phenotype: str
    readout: str
    unit: str
    direction: int
    columns: dict[str, str]
    uniprot: str | None = None
    sites: str = "reference"
    library: str = "saturation"
    aggregation: str = "none"
    n_components: int | None = None
    replicates: list[str] = field(default_factory=list)
    filters: dict[str, Any] = field(default_factory=dict)
    identity: str = "wt"
    target: str | None = None
    transform: str | None = None
    wt_value: float | None = None
    published: int | None = None
    bin_cutoff: float | None = None


@dataclass(frozen=True)
class Registry:
    """All entries, by id."""

    viruses: Mapping[str, Virus]
    studies: Mapping[str, Study]
    references: Mapping[str, ReferenceEntry]
    assays: Mapping[str, AssayEntry]


def read_registry(path: Path) -> Registry:
    """Read an `assays.toml`.

    Raises:
        GoldsmithError: it is absent or no TOML, or the first fault, by entry and key.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GoldsmithError(f"[{path}] is absent: write the assays there, as the README says") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[{path}] is no TOML ({error}): correct it") from None
    groups = {"viruses": Virus, "studies": Study, "references": ReferenceEntry, "assays": AssayEntry}
    for name in content:
        if name not in groups:
            raise GoldsmithError(f"[{path.name} > {name}] is unknown: the tables are {', '.join(groups)}")
    made = {
        group: {
            name: entry(kind, f"{path.name} > {group} > {name}", form) for name, form in content.get(group, {}).items()
        }
        for group, kind in groups.items()
    }
    registry = Registry(**made)
    for name, reference in registry.references.items():
        _check_reference(f"{path.name} > references > {name}", reference)
    for name, assay in registry.assays.items():
        _check_assay(f"{path.name} > assays > {name}", assay, registry)
    _check_twice(path.name, registry)
    return registry


def entry(kind: type[Made], where: str, form: Any) -> Made:
    """Make a dataclass of a TOML table; also turns a shard's parameters back into an entry.

    Raises:
        GoldsmithError: a key is unknown, missing or of another type.
    """
    if not isinstance(form, Mapping):
        raise GoldsmithError(f"[{where}] is no table: write its keys below [{where.split(' > ', 1)[-1]}]")
    known = {item.name: item for item in fields(kind)}  # type: ignore[arg-type]
    for key in form:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"the keys are {', '.join(known)}"
            raise GoldsmithError(f"[{where} > {key}] is unknown: {hint}")
    for key, item in known.items():
        if key not in form and item.default is MISSING and item.default_factory is MISSING:
            raise GoldsmithError(f"[{where} > {key}] is missing: add it")
    types = _types(kind)
    for key, value in form.items():
        if not _fits(value, types[key]):
            raise GoldsmithError(f"[{where} > {key}] is {value!r}: it must be of type {_name(types[key])}")
    return kind(**form)


_types = cache(get_type_hints)


def form(made: Any) -> dict[str, Any]:
    """The entry as plain JSON values, which `entry` reads back."""
    return asdict(made)


def _fits(value: Any, kind: Any) -> bool:
    if get_origin(kind) is UnionType:
        return any(_fits(value, option) for option in get_args(kind))
    if get_origin(kind) is list:
        return isinstance(value, list) and all(_fits(item, get_args(kind)[0]) for item in value)
    if get_origin(kind) is dict:
        return isinstance(value, dict) and all(_fits(item, get_args(kind)[1]) for item in value.values())
    if kind is Any:
        return True
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is kind


def _name(kind: Any) -> str:
    """The type's name for people."""
    if get_origin(kind) is UnionType:
        return _name(next(option for option in get_args(kind) if option is not type(None)))
    if get_origin(kind) is list:
        return f"list of {_name(get_args(kind)[0])}"
    names = {str: "text", int: "integer", float: "number"}
    return "table" if get_origin(kind) is dict else names.get(kind, "any")


def _one_of(where: str, key: str, value: Any, allowed: Any) -> None:
    if value not in allowed:
        raise GoldsmithError(f"[{where} > {key}] is {value!r}: it must be one of {', '.join(map(str, allowed))}")


def _check_reference(where: str, reference: ReferenceEntry) -> None:
    _one_of(where, "alphabet", reference.alphabet, ("protein", "codon", "proteingym"))
    if reference.span is not None and (len(reference.span) != 2 or not 1 <= reference.span[0] <= reference.span[1]):
        raise GoldsmithError(f"[{where} > span] is {reference.span}: write [first, last], counted from 1")
    given = set(reference.map_columns)
    if reference.map and not ("reference" in given and given & {"sequential", "position"}):
        raise GoldsmithError(
            f"[{where} > map_columns] lacks a column: give `reference` and `sequential` (or `position`)"
        )


def _check_assay(where: str, assay: AssayEntry, registry: Registry) -> None:
    _one_of(where, "reader", assay.reader, READERS)
    for key, group in (("virus", "viruses"), ("study", "studies"), ("reference", "references")):
        known = getattr(registry, group)
        if getattr(assay, key) not in known:
            raise GoldsmithError(
                f"[{where} > {key}] names {getattr(assay, key)}, which is not among the {group}: "
                f"add [{group}.{getattr(assay, key)}] or use one of {', '.join(known)}"
            )
    _one_of(where, "phenotype", assay.phenotype, PHENOTYPES)
    for key, column in (
        ("unit", "score_unit"),
        ("direction", "direction"),
        ("library", "library_design"),
        ("aggregation", "aggregation"),
    ):
        _one_of(where, key, getattr(assay, key), ASSAYS.column(column).allowed or ())
    _one_of(where, "sites", assay.sites, ("reference", "sequential"))
    _one_of(where, "identity", assay.identity, ("wt", "syn"))
    _one_of(where, "transform", assay.transform, (None, "log2_wt"))
    escape = assay.phenotype.endswith("_escape")
    if escape != (assay.direction == 0):
        raise GoldsmithError(
            f"[{where} > direction] is {assay.direction} for {assay.phenotype}: escape has 0, all others 1 or -1"
        )


def _check_twice(file: str, registry: Registry) -> None:
    """The same column of the same rows is one assay: twice it would count twice in every average."""
    seen: dict[str, str] = {}
    for name, assay in registry.assays.items():
        key = repr((assay.source, sorted(assay.columns.items()), sorted(assay.filters.items()), assay.target))
        if key in seen:
            raise GoldsmithError(
                f"[{file} > assays > {name}] reads the same column and rows as {seen[key]}: remove one"
            )
        seen[key] = name
