"""The shards of neutralisation: a list of strains, and a titre task with its sera and titres.

How tables are read is said in `readers.titres`, how names are joined in `strains`, how rows are made in `titres`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from builders.api import Batch, Read, Reject, Shard
from builders.virogym import registry, strains, titres
from builders.virogym.readers.titres import immunogens, read
from builders.virogym.registry import Virus
from builders.virogym.schema_titres import NEUTRALISATION, SERA, TITRE_TASKS, VIRUSES
from builders.virogym.task_rows import batch, origin
from builders.virogym.tasks import StrainList, TitreTask
from builders.virogym.variants import to_batch
from schemas import GoldsmithError

if TYPE_CHECKING:
    from builders.sources import Sources


def _place(task: TitreTask, line: int) -> str:
    """Where a record is. `explain` shows lines, so the place in a table that tells of donors is no line."""
    return _hidden(line) if task.private or task.serum_drop else f"line {line}"


def _hidden(line: int) -> str:
    """A place that `explain` finds nothing at."""
    return f"record {line - 1} (may tell of a donor: not shown)"


def _records(shard: Shard, sources: Sources) -> tuple[dict[str, tuple[TitreTask, pl.DataFrame]], strains.Strains]:
    """The records of all tasks of a list, and its strains: all tasks must know a strain by one id."""
    list_id = shard.parameters["list"]
    entry = registry.entry(StrainList, list_id, shard.parameters["entry"])
    made: dict[str, tuple[TitreTask, pl.DataFrame]] = {}
    named: list[tuple[str, str, str, str]] = []
    for task_id, form in shard.parameters["tasks"].items():
        where = f"virogym > {task_id}"
        task = registry.entry(TitreTask, where, form)
        records = read(task, sources.text(task.source), entry.passage, f"{where} > {task.source}")
        made[task_id] = task, records
        first = records.filter(pl.col("reason").is_null()).unique(
            ["virus", "passage"], keep="first", maintain_order=True
        )
        named += [(virus, passage, task.source, _place(task, line))
                  for virus, passage, line in first.select("virus", "passage", "line").iter_rows()]  # fmt: skip
    text = sources.text(entry.source) if entry.source else ""
    return made, strains.library(entry, list_id, text, named)


def build_strains(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    """The `viruses` of a list, those with a sequence first."""
    entry = registry.entry(StrainList, shard.parameters["list"], shard.parameters["entry"])
    tasks, known = _records(shard, sources)
    required = all(task.sequences == "required" for task, _ in tasks.values())
    for source in dict.fromkeys(strain.source for strain in known.by_key.values()):
        mine = [strain for strain in known.by_key.values() if strain.source == source]
        mine = [strain for strain in mine if strain.sequence or not required]
        if not mine:
            continue
        rows = [_virus_row(strain, entry) for strain in mine]
        merged = [(i, place) for i, strain in enumerate(mine) for place in strain.more]
        yield batch(VIRUSES, rows, source, [strain.place for strain in mine], merged)
    if entry.source:
        for place, spelling, reason, message in known.refused:
            yield Reject("viruses", reason, message, entry.source, place, spelling)
        yield Read(entry.source, "viruses", len(strains.headers(sources.text(entry.source))))


def _virus_row(strain: strains.Strain, entry: StrainList) -> dict[str, Any]:
    return {
        "strain_id": strain.strain_id,
        "canonical_name": strain.name.name,
        "aliases": list(strain.spellings),
        "subtype": strain.name.subtype or entry.subtype,
        "passage": strain.name.passage,
        "reassortant": strain.name.reassortant,
        "sequence": strain.sequence,
        "span": strain.span,
        "accession": strain.name.accession,
        "source": strain.source,
    }


def build_titres(shard: Shard, sources: Sources, budget: float) -> Iterator[Batch | Reject | Read]:
    """The `titre_tasks` row, the `sera` and the `neutralisation` rows of a task."""
    task_id = shard.parameters["id"]
    tasks, known = _records(shard, sources)
    task, records = tasks[task_id]
    found = titres.resolved(records, task, known)
    _refuse_many(found, f"virogym > {task_id} > {task.source}", budget)
    good = found.filter(pl.col("reason").is_null())
    listed = immunogens(task, sources.text(task.sera), f"virogym > {task_id} > {task.sera}") if task.sera else None
    people, rule = titres.homologous_strains(titres.sera(good, listed), task, known)
    rows, more = titres.assemble(good)
    rows = titres.with_drop(rows, people.select("serum", "homologous_strain_id"))
    dropped = Counter(found["reason"].drop_nulls().to_list()) + Counter({"merged": len(more)})
    about = _task_row(shard, task, sources, rule, rows, found.height, dropped)
    yield batch(TITRE_TASKS, [about], task.source, [_place(task, 2)])
    serum_id = pl.concat_str(pl.lit(f"{task_id}|"), "serum")
    same = {"task_id": pl.lit(task_id), "source": pl.lit(task.source)}
    people = people.with_columns(
        serum_id=serum_id,
        serum_name="serum",
        immunogen_name="immunogen",
        species=pl.lit(task.species),
        cohort=pl.lit(task.cohort),
        **same,
    )
    for from_list, source in ((False, task.source), (True, task.sera or "")):
        mine = people.filter(pl.col("listed") == from_list).with_columns(source=pl.lit(source))
        if mine.height:
            places = [_hidden(n) if from_list else _place(task, n) for n in mine["line"].to_list()]
            yield Batch("sera", "test", to_batch(mine, SERA), source, places)
    if rows.height:
        rows = rows.with_columns(serum_id=serum_id, assay=pl.lit(task.assay), **same)
        places = [_place(task, line) for line in rows["line"].to_list()]
        merged = [(row, _place(task, line)) for row, line in more]
        yield Batch("neutralisation", "test", to_batch(rows, NEUTRALISATION), task.source, places, merged)
    for reason, message, line, *words in found.filter(pl.col("reason").is_not_null()).select(
        "reason", "message", "line", "virus", "serum", "text").iter_rows():  # fmt: skip
        # The record is put together from what was read: the source's own line may tell of a donor.
        record = ", ".join(f"{name} {word}" for name, word in zip(("virus", "serum", "titre"), words, strict=True))
        yield Reject("neutralisation", reason, message, task.source, _place(task, line), record)
    yield Read(task.source, "neutralisation", found.height)


def _refuse_many(found: pl.DataFrame, where: str, budget: float) -> None:
    """Strains that do not join are one mistake, not hundreds of bad records: the build stops and names them."""
    bad = found.filter(pl.col("reason").is_not_null() & ~pl.col("reason").is_in(list(titres.EXPECTED)))
    if bad.height <= budget * found.height:
        return
    lost = bad.filter(pl.col("reason").is_in(["no_sequence", "ambiguous_strain"]))["virus"].unique().sort().to_list()
    counts = ", ".join(f"{reason} {n:,}" for reason, n in bad["reason"].value_counts(sort=True).iter_rows())
    names, advice = "", "is it the file of another task? look at its titres and bounds"
    if lost:
        some = ", ".join(lost[:5]) + (", ..." if len(lost) > 5 else "")
        names = f"; {len(lost)} of {found['virus'].n_unique()} strains have no sequence: {some}"
        advice = "add the sequences, add spellings to `aliases`, or correct the entry"
    said = f"{bad.height:,} of {found.height:,} records cannot be used ({counts}){names}"
    raise GoldsmithError(f"[{where}] {said}: {advice}")


def _task_row(
    shard: Shard,
    task: TitreTask,
    sources: Sources,
    rule: str,
    rows: pl.DataFrame,
    n_in: int,
    dropped: Mapping[str, int],
) -> dict[str, Any]:
    virus = registry.entry(Virus, shard.name, shard.parameters["virus"])
    entry = shard.parameters["entry"]
    return {
        "task_id": shard.parameters["id"],
        "virus_species": virus.species,
        "ncbi_taxid": virus.ncbi_taxid,
        "subtype": entry["subtype"],
        "protein": task.protein,
        "assay": task.assay,
        "species": task.species,
        "cohort": task.cohort,
        "readout_detail": task.readout,
        "titre_unit": "reciprocal dilution",
        "span": entry["span"],
        "sequences": task.sequences,
        "homologous_rule": rule,
        "aggregation": "median" if dropped.get("merged") else "source",
        "detection_low": task.detection_low,
        "detection_high": task.detection_high,
        **origin(shard, task.source, sources),
        "n_rows_in": n_in,
        "n_rows_out": rows.height,
        "n_dropped_by_reason": json.dumps({reason: n for reason, n in sorted(dropped.items()) if n}),
    }
