"""ViroGym: deep mutational scans, neutralisation titres and emergence of viral proteins, made one benchmark.

The way of an assay: its entry in `assays.toml` (`registry`) names a table and a protein; a reader (`readers`) turns
the table into records; `resolve` finds each record's place in the protein (`references`) or says why it has none;
`variants` makes the rows. A shard is a reference with its numbering, or an assay. Titres and emergence have their
entries in `tasks.toml` and their shards in `task_shards`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from builders.api import Batch, Read, Reject, Shard
from builders.virogym import diagnose, references, registry, task_shards, variants
from builders.virogym.checks import CHECKS
from builders.virogym.readers import read
from builders.virogym.references import Reference
from builders.virogym.registry import AssayEntry, ReferenceEntry, Study, Virus
from builders.virogym.resolve import EXPECTED, resolve
from builders.virogym.schema import ASSAYS, NUMBERING, REFERENCES, SCHEMA, VARIANTS
from builders.virogym.tables import lines_of
from builders.virogym.tasks_toml import read_tasks
from schemas import DatasetFolder, GoldsmithError

if TYPE_CHECKING:
    from builders.sources import Sources

LEVELS = (0.3, 0.9)
"""Identities at which references are clustered: `cluster_30`, `cluster_90`."""


class ViroGym:
    """The builder; see `builders.api.Builder`."""

    schema = SCHEMA
    version = "1.1.0"
    folder = Path(__file__).parent
    checks = CHECKS
    expected_rejects = EXPECTED | task_shards.EXPECTED
    reject_budget = 0.005

    def plan(self, sources: Sources) -> Iterable[Shard]:
        """A shard for each reference that is used, then one for each assay, then those of the other tasks. Reads all
        references to cluster them."""
        known = registry.read_registry(sources.folder / "assays.toml")
        assays = {
            name: assay
            for name, assay in known.assays.items()
            if sources.allows(assay.source, *known.references[assay.reference].inputs)
        }
        tasks = task_shards.usable(read_tasks(sources.folder / "tasks.toml", known), known, sources)
        circulated = {name for window in tasks.windows.values() for name in (window.reference, window.root)}
        used = sorted({assay.reference for assay in assays.values()} | circulated)
        sequences = {name: references.load(name, known.references[name], sources).sequence for name in used}
        at_30, at_90 = references.clusters(sequences, LEVELS)
        for name in used:
            entry = known.references[name]
            parameters = {"id": name, "entry": registry.form(entry), "clusters": [at_30[name], at_90[name]]}
            yield Shard(f"reference.{name}", entry.inputs, parameters)
        for name, assay in assays.items():
            entry = known.references[assay.reference]
            parameters = {
                "id": name,
                "assay": registry.form(assay),
                "entry": registry.form(entry),
                "virus": registry.form(known.viruses[assay.virus]),
                "study": registry.form(known.studies[assay.study]),
                "cluster": at_30[assay.reference],
            }
            inputs = dict.fromkeys((assay.source, *(each for each in (entry.source, entry.map) if each)))
            yield Shard(f"assay.{name}", tuple(inputs), parameters)
        yield from task_shards.plan(tasks, known)

    def build(self, shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
        """The rows of a reference, an assay, a list of strains, a titre task or a window."""
        if shard.name.startswith("reference."):
            return _build_reference(shard, sources)
        if shard.name.startswith("assay."):
            return _build_assay(shard, sources, self.reject_budget)
        return task_shards.build(shard, sources, self.reject_budget)

    def score(self, folder: DatasetFolder, predictions: Path) -> Any:
        """How well a model predicts; see `scoring`. Imported by name, for it makes no rows."""
        return import_module("builders.virogym.scoring.score").score(folder, predictions)


def _build_reference(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    """The `references` row and the `numbering` of one reference."""
    name = shard.parameters["id"]
    entry = registry.entry(ReferenceEntry, name, shard.parameters["entry"])
    reference = references.load(name, entry, sources)
    row = {
        "reference_id": name,
        "sequence": reference.sequence,
        "length": len(reference.sequence),
        "molecule": entry.molecule,
        "start_offset": entry.start_offset,
        "sha256": hashlib.sha256(reference.sequence.encode()).hexdigest(),
        "cluster_30": shard.parameters["clusters"][0],
        "cluster_90": shard.parameters["clusters"][1],
        "source": entry.source,
    }
    yield Batch(
        "references",
        "test",
        pa.RecordBatch.from_pylist([row], REFERENCES.arrow),
        entry.source,
        [f"record {reference.record}"],
    )
    numbering = references.numbering_rows(reference, references.aligned_sites(reference, entry, sources))
    rows = variants.to_batch(numbering, NUMBERING)
    if entry.map is None:
        yield Batch("numbering", "test", rows, entry.source, [f"record {reference.record}"] * rows.num_rows)
        return
    index = {position: i for i, position in enumerate(numbering["sequential_site"].to_list())}
    merged = [(index[position], f"line {line}") for position, line in reference.merged]
    yield Batch("numbering", "test", rows, entry.map, _places(numbering["line"]), merged)
    lines = lines_of(sources.text(entry.map))
    for site, line, reason in reference.beyond:
        message = f"site {site} is no residue of the reference"
        yield Reject("numbering", reason, message, entry.map, f"line {line}", lines[line - 1].rstrip("\r"))
    yield Read(entry.map, "numbering", rows.num_rows + len(merged) + len(reference.beyond))


def _build_assay(shard: Shard, sources: Sources, budget: float) -> Iterator[Batch | Reject | Read]:
    """The `assays` row, the `variants` and their `proteingym` form, of one assay."""
    name, source = shard.parameters["id"], shard.parameters["assay"]["source"]
    where = f"virogym > {name}"
    assay = registry.entry(AssayEntry, where, shard.parameters["assay"])
    entry = registry.entry(ReferenceEntry, where, shard.parameters["entry"])
    reference = references.load(assay.reference, entry, sources)
    text = sources.text(source)
    resolved = resolve(read(assay, text, reference, f"{where} > {source}"), reference, assay)
    if diagnose.share_unexpected(resolved) > budget:
        others = _other_references(assay.reference, sources)
        raise GoldsmithError(f"[{where} > {source}] {diagnose.explain(resolved, reference, assay.sites, others)}")
    usable, more = variants.merged(resolved.filter(pl.col("reason").is_null()))
    rows = variants.assemble(usable, name, assay, shard.parameters["cluster"], len(reference.sequence))
    dropped = Counter(resolved["reason"].drop_nulls().to_list()) + Counter({"merged": len(more)})
    row = _assay_row(shard, assay, entry, sources, rows, resolved.height, dropped)
    yield Batch("assays", "test", pa.RecordBatch.from_pylist([row], ASSAYS.arrow), source, ["line 1"])
    if rows.height:
        merged = [(row, f"line {line}") for row, line in more]
        yield Batch("variants", "test", variants.to_batch(rows, VARIANTS), source, _places(rows["raw_row"]), merged)
        copies, lines = variants.proteingym(rows, reference.sequence)
        yield Batch("proteingym", "test", copies, source, _places(lines))
    yield from _rejects(resolved, source, text)
    yield Read(source, "variants", resolved.height)


def _rejects(resolved: pl.DataFrame, source: str, text: str) -> Iterator[Reject]:
    rejected = resolved.filter(pl.col("reason").is_not_null()).select("reason", "message", "line")
    if not rejected.height:
        return
    lines = lines_of(text)
    for reason, message, line in rejected.iter_rows():
        yield Reject("variants", reason, message or reason, source, f"line {line}", lines[line - 1].rstrip("\r"))


def _places(lines: pl.Series) -> pa.Array:
    return pl.select(pl.concat_str(pl.lit("line "), lines.cast(pl.String))).to_series().to_arrow().cast(pa.string())


def _other_references(own: str, sources: Sources) -> list[Reference]:
    """All other registered references that can be read: for a message only, so they are no inputs of the shard."""
    others = []
    known = registry.read_registry(sources.folder / "assays.toml")
    readable = sources.only(sources.names)
    for name, entry in known.references.items():
        try:
            if name != own:
                others.append(references.load(name, entry, readable))
        except GoldsmithError:
            continue
    return others


def _assay_row(
    shard: Shard,
    assay: AssayEntry,
    entry: ReferenceEntry,
    sources: Sources,
    rows: pl.DataFrame,
    n_in: int,
    dropped: Counter[str],
) -> dict[str, Any]:
    virus = registry.entry(Virus, shard.name, shard.parameters["virus"])
    study = registry.entry(Study, shard.name, shard.parameters["study"])
    spec = sources.spec(assay.source)
    repository, commit, path = _published_at(spec.url, spec.path or assay.source)
    stops: Any = rows.filter(pl.col("kind") == "stop")["score"].median()
    return {
        "assay_id": shard.parameters["id"],
        "virus_species": virus.species,
        "virus_family": virus.family,
        "ncbi_taxid": virus.ncbi_taxid,
        "strain": assay.strain,
        "protein": assay.protein,
        "uniprot": assay.uniprot,
        "phenotype": assay.phenotype,
        "readout_detail": assay.readout,
        "score_name_raw": assay.columns.get("average", assay.columns.get("score", "score")),
        "score_unit": assay.unit,
        "log_base": {"log2": 2.0, "ln": 2.718281828459045, "log10": 10.0}.get(assay.unit),
        "direction": assay.direction,
        "wt_value": assay.wt_value,
        "null_value": stops,
        "reference_id": assay.reference,
        "numbering_scheme": entry.numbering,
        "library_design": assay.library,
        "aggregation": assay.aggregation,
        "n_components": assay.n_components,
        "filters": json.dumps(assay.filters, sort_keys=True),
        "source_repo": repository,
        "source_commit": commit,
        "source_path": path,
        "source_sha256": sources.sha256(assay.source),
        "licence_spdx": spec.licence,
        "redistributable": spec.redistribute,
        "doi": study.doi,
        "citation": study.citation,
        "n_rows_in": n_in,
        "n_rows_out": rows.height,
        "n_dropped_by_reason": json.dumps({reason: n for reason, n in sorted(dropped.items()) if n}),
        "bin_cutoff": variants.bin_cutoff(rows, assay),
        "bin_method": "manual" if assay.bin_cutoff is not None else "median" if rows["bin"].count() else "none",
        "n_published": assay.published,
    }


def _published_at(url: str | None, path: str) -> tuple[str, str, str]:
    """Repository, commit and path of a file on GitHub; other addresses are given whole."""
    parts = (url or "").split("/")
    if len(parts) > 6 and parts[2] == "raw.githubusercontent.com":
        return f"https://github.com/{parts[3]}/{parts[4]}", parts[5], "/".join(parts[6:])
    return (url or "bundled with the builder", "", path)


BUILDER = ViroGym()
