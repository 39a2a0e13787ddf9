"""The shards of the other tasks, planned beside those of the deep mutational scans: which are built, in which order.

How they are built is said in `titre_shards` and `window_shards`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from builders.api import Batch, Read, Reject, Shard
from builders.virogym import emergence, registry, titre_shards, titres, window_shards
from builders.virogym.registry import Registry
from builders.virogym.tasks import StrainList, Tasks

if TYPE_CHECKING:
    from builders.sources import Sources

EXPECTED = titres.EXPECTED | emergence.EXPECTED


def usable(tasks: Tasks, known: Registry, sources: Sources) -> Tasks:
    """The tasks whose sources are at hand and may be passed on, if only such are wanted. Lists of strains whose
    sequences are not at hand have names alone."""

    def at_hand(*names: str) -> bool:
        return sources.allows(*names) and all(sources.given(name) for name in names)

    lists = {
        name: entry if entry.source is None or at_hand(entry.source) else
        StrainList(entry.subtype, passage=entry.passage, aliases=entry.aliases)
        for name, entry in tasks.strains.items()
    }  # fmt: skip
    chosen = {
        name: task
        for name, task in tasks.titres.items()
        if at_hand(*task.inputs) and (lists[task.strains].source or task.sequences == "optional")
    }
    windows = {
        name: window
        for name, window in tasks.windows.items()
        if at_hand(*window.inputs, *known.references[window.reference].inputs, *known.references[window.root].inputs)
    }
    return Tasks(lists, chosen, windows, tasks.label_rules)


def plan(tasks: Tasks, known: Registry) -> Iterator[Shard]:
    """The shards, in order: each list of strains and its titre tasks, then label rules and windows.

    Args:
        tasks: from `usable`.
    """
    for name, entry in tasks.strains.items():
        mine = {task_id: task for task_id, task in tasks.titres.items() if task.strains == name}
        if not mine:
            continue
        used = [name for task in mine.values() for name in task.inputs]
        inputs = tuple(dict.fromkeys([entry.source, *used] if entry.source else used))
        parameters = {
            "list": name,
            "entry": registry.form(entry),
            "tasks": {k: registry.form(v) for k, v in mine.items()},
        }
        yield Shard(f"strains.{name}", inputs, parameters)
        for task_id, task in mine.items():
            about = {"id": task_id, "virus": registry.form(known.viruses[task.virus])}
            about["study"] = registry.form(known.studies[task.study])
            yield Shard(f"titres.{task_id}", inputs, {**parameters, **about})
    rules = {name: registry.form(rule) for name, rule in tasks.label_rules.items()}
    for i, (window_id, window) in enumerate(tasks.windows.items()):
        if i == 0:
            yield Shard("label_rules", (window.source,), {"rules": rules})
        entries = {name: known.references[name] for name in (window.reference, window.root)}
        inputs = [*window.inputs, *(each for entry in entries.values() for each in entry.inputs)]
        parameters = {
            "id": window_id,
            "window": registry.form(window),
            "rules": rules,
            "references": {name: registry.form(entry) for name, entry in entries.items()},
            "virus": registry.form(known.viruses[window.virus]),
            "study": registry.form(known.studies[window.study]),
        }
        yield Shard(f"window.{window_id}", tuple(dict.fromkeys(inputs)), parameters)


def build(shard: Shard, sources: Sources, budget: float) -> Iterator[Batch | Reject | Read]:
    """The content of a shard that `plan` made."""
    kind = shard.name.partition(".")[0]
    if kind == "strains":
        return titre_shards.build_strains(shard, sources)
    if kind == "titres":
        return titre_shards.build_titres(shard, sources, budget)
    return window_shards.build_window(shard, sources) if kind == "window" else window_shards.build_rules(shard)
