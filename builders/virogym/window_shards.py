"""The shards of emergence: the label rules, and a window with its candidates (`windows`, `emergence`).

How counts become rows and labels is said in `emergence`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from builders.api import Batch, Read, Reject, Shard
from builders.virogym import codons, emergence, references, registry
from builders.virogym.references import Reference
from builders.virogym.registry import ReferenceEntry, Virus
from builders.virogym.schema_emergence import EMERGENCE, LABEL_RULES, WINDOWS
from builders.virogym.task_rows import batch, origin
from builders.virogym.tasks import LabelRule, Window
from builders.virogym.variants import to_batch

if TYPE_CHECKING:
    from builders.sources import Sources


def build_rules(shard: Shard) -> Iterator[Batch | Reject | Read]:
    rules = shard.parameters["rules"]
    rows = [
        {
            "label_rule": name,
            "meaning": form["meaning"],
            "citation": form["citation"],
            "definition": json.dumps({key: form[key] for key in ("any_of", "denominator", "absent", "fold_digits")}),
        }
        for name, form in rules.items()
    ]
    yield batch(LABEL_RULES, rows, shard.inputs[0], [f"tasks.toml > label_rules > {name}" for name in rules])


def build_window(shard: Shard, sources: Sources) -> Iterator[Batch | Reject | Read]:
    """The `windows` row and the candidates of a window: those that the source counts, then the others."""
    where = f"virogym > {shard.parameters['id']}"
    window = registry.entry(Window, where, shard.parameters["window"])
    rules = {name: registry.entry(LabelRule, name, form) for name, form in shard.parameters["rules"].items()}
    reference, root = (_reference(name, shard, sources) for name in (window.reference, window.root))
    text = sources.text(window.source)
    genomes = sources.text(window.genomes) if window.genomes else None
    counts = emergence.read_counts(text, genomes, window, root, f"{where} > {window.source}")
    triplets = codons.root_codons(sources.text(window.codons), window.gene, root.sequence, where)
    of_root = {site: (root.sequence[at - 1], triplets[at - 1]) for site, at in root.positions("reference").items()}
    own = codons.reference_codons(reference.sequence, reference.sites, of_root, window.reference_codons, where)
    found = emergence.counted(emergence.candidates(window, reference, root, own), counts, window)
    rest = emergence.left_over(found, counts)
    rows = emergence.labelled(found, window, rules, counts).with_columns(
        window_id=pl.lit(shard.parameters["id"]), reference_id=pl.lit(window.reference), source=pl.lit(window.source)
    )
    dropped = Counter(rest["reason"].to_list())
    about = _window_row(shard, window, sources, counts, rows.height, dropped)
    yield batch(WINDOWS, [about], window.source, ["line 1"])
    listed, other = rows.filter("observed_T"), rows.filter(~pl.col("observed_T"))
    places = [f"line {line}" for line in listed["line"].to_list()]
    yield Batch("emergence", "test", to_batch(listed, EMERGENCE), window.source, places)
    source = shard.parameters["references"][window.reference]["source"]
    places = [f"position {position}" for position in other["position"].to_list()]
    yield Batch("emergence", "test", to_batch(other, EMERGENCE), source, places)
    for line, mutation, reason in rest.select("line", "mutation", "reason").iter_rows():
        yield Reject("emergence", reason, _MESSAGES[reason], window.source, f"line {line}", mutation or "")
    yield Read(window.source, "emergence", counts.rows.height)


_MESSAGES = {
    "bad_count": "a count is no whole number",
    "unreadable_mutation": "it is no change of one residue",
    "unknown_residue": "the new residue is none of the 20",
    "unknown_site": "the root has no such site",
    "wrong_residue": "the root has another residue at the site",
    "no_change": "the new residue is the old one",
    "repeated_mutation": "the change is listed twice",
    "not_counted": "the source is declared to count no deletions",
    "no_candidate": "the reference has the change already, lacks the site, or the site is masked",
}


def _reference(name: str, shard: Shard, sources: Sources) -> Reference:
    entry = registry.entry(ReferenceEntry, name, shard.parameters["references"][name])
    return references.load(name, entry, sources)


def _window_row(
    shard: Shard, window: Window, sources: Sources, counts: emergence.Counts, n: int, dropped: Mapping[str, int]
) -> dict[str, Any]:
    virus = registry.entry(Virus, shard.name, shard.parameters["virus"])
    return {
        "window_id": shard.parameters["id"],
        "virus_species": virus.species,
        "ncbi_taxid": virus.ncbi_taxid,
        "protein": window.protein,
        "reference_id": window.reference,
        "root_id": window.root,
        "start_T": window.T[0],
        "end_T": window.T[1],
        "start_T1": window.T1[0],
        "end_T1": window.T1[1],
        "data_cutoff": window.data_cutoff,
        "n_seq_T": counts.genomes[0],
        "n_seq_T1": counts.genomes[1],
        "n_seq_kind": "at_least" if counts.at_least else "genomes",
        "n_counts_T": counts.total[0],
        "n_counts_T1": counts.total[1],
        "label_rule": window.label_rule,
        "listed_from": window.listed_from,
        **origin(shard, window.source, sources),
        "n_candidates": n,
        "n_rows_in": counts.rows.height,
        "n_dropped_by_reason": json.dumps({reason: n for reason, n in sorted(dropped.items()) if n}),
    }
