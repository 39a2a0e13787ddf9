"""`tasks.toml`, read and checked: the first fault is said by entry and key. What an entry is, is said in `tasks`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from builders.virogym.registry import Registry, entry
from builders.virogym.schema_titres import ASSAYS_OF_TITRES, PASSAGES, SPANS
from builders.virogym.tasks import LabelRule, StrainList, Tasks, TitreTask, Window
from schemas import GoldsmithError

READERS = ("seqneut", "nextstrain")
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_BOUNDS = frozenset(
    f"{name}_{end}"
    for name in ("count_T", "count_T1", "count_until_T1", "freq_T", "freq_T1", "delta", "fold")
    for end in ("min", "max")
)


def read_tasks(path: Path, registry: Registry) -> Tasks:
    """Read a `tasks.toml`; no file is no tasks.

    Raises:
        GoldsmithError: it is no TOML, or the first fault, by entry and key.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Tasks()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GoldsmithError(f"[{path}] is no TOML ({error}): correct it") from None
    groups = {"strains": StrainList, "titres": TitreTask, "windows": Window, "label_rules": LabelRule}
    for name in content:
        if name not in groups:
            raise GoldsmithError(f"[{path.name} > {name}] is unknown: the tables are {', '.join(groups)}")
    made: dict[str, dict[str, Any]] = {
        group: {
            name: entry(kind, f"{path.name} > {group} > {name}", form) for name, form in content.get(group, {}).items()
        }
        for group, kind in groups.items()
    }
    tasks = Tasks(**made)
    for name, strains in tasks.strains.items():
        where = f"{path.name} > strains > {name}"
        _one_of(where, "span", strains.span, (None, *SPANS))
        _one_of(where, "passage", strains.passage, PASSAGES)
        if (strains.source is None) != (strains.span is None):
            raise GoldsmithError(f"[{where}] has one of `source` and `span`: sequences have both, names alone neither")
    for name, task in tasks.titres.items():
        _check_titres(f"{path.name} > titres > {name}", task, tasks, registry)
    for name, window in tasks.windows.items():
        _check_window(f"{path.name} > windows > {name}", window, tasks, registry)
    for name, rule in tasks.label_rules.items():
        _check_rule(f"{path.name} > label_rules > {name}", rule)
    _check_twice(path.name, tasks)
    return tasks


def _one_of(where: str, key: str, value: Any, allowed: Any) -> None:
    if value not in allowed:
        names = ", ".join(str(each) for each in allowed if each is not None)
        raise GoldsmithError(f"[{where} > {key}] is {value!r}: it must be one of {names}")


def _known(where: str, key: str, value: str, group: Mapping[str, Any], place: str) -> None:
    if value not in group:
        raise GoldsmithError(
            f"[{where} > {key}] names {value}, which is not in {place}: add it or use one of {', '.join(group)}"
        )


def _check_titres(where: str, task: TitreTask, tasks: Tasks, registry: Registry) -> None:
    _one_of(where, "reader", task.reader, READERS)
    _one_of(where, "assay", task.assay, ASSAYS_OF_TITRES)
    _one_of(where, "sequences", task.sequences, ("required", "optional"))
    _known(where, "virus", task.virus, registry.viruses, "assays.toml > viruses")
    _known(where, "study", task.study, registry.studies, "assays.toml > studies")
    _known(where, "strains", task.strains, tasks.strains, "tasks.toml > strains")
    if task.sequences == "required" and tasks.strains[task.strains].source is None:
        raise GoldsmithError(f"[{where} > strains] {task.strains} has no sequences: give it a source, or "
                             "write sequences = \"optional\"")  # fmt: skip
    for key in ("serum_drop", "immunogen_pattern"):
        try:
            re.compile(getattr(task, key) or "")
        except re.error as error:
            raise GoldsmithError(f"[{where} > {key}] is no regular expression ({error}): correct it") from None
    if task.sera and set(task.sera_columns) != {"serum", "immunogen"}:
        raise GoldsmithError(f"[{where} > sera_columns] must name `serum` and `immunogen`, and nothing else")


def _check_window(where: str, window: Window, tasks: Tasks, registry: Registry) -> None:
    _known(where, "virus", window.virus, registry.viruses, "assays.toml > viruses")
    _known(where, "study", window.study, registry.studies, "assays.toml > studies")
    for key in ("reference", "root"):
        _known(where, key, getattr(window, key), registry.references, "assays.toml > references")
    _known(where, "label_rule", window.label_rule, tasks.label_rules, "tasks.toml > label_rules")
    for key in ("T", "T1"):
        months = getattr(window, key)
        if len(months) != 2 or not all(map(_MONTH.fullmatch, months)) or months[0] > months[1]:
            raise GoldsmithError(f"[{where} > {key}] is {months}: write [first month, last month], as 2020-01")
    if window.T[1] >= window.T1[0]:
        raise GoldsmithError(f"[{where} > T1] starts in {window.T1[0]}, T ends in {window.T[1]}: T1 must follow T")
    if window.data_cutoff[:7] < window.T1[1]:
        raise GoldsmithError(f"[{where} > data_cutoff] {window.data_cutoff} is before the end of T1: shorten T1")


def _check_rule(where: str, rule: LabelRule) -> None:
    _one_of(where, "denominator", rule.denominator, ("genomes", "counts"))
    _one_of(where, "absent", rule.absent, ("zero", "unknown"))
    if not rule.any_of or not all(rule.any_of):
        raise GoldsmithError(f"[{where} > any_of] is {rule.any_of}: give at least one bound")
    for bound in (bound for bounds in rule.any_of for bound in bounds):
        _one_of(where, "any_of", bound, sorted(_BOUNDS))


def _check_twice(file: str, tasks: Tasks) -> None:
    """The same titres twice would count twice in every average."""
    seen: dict[str, str] = {}
    for name, task in tasks.titres.items():
        key = repr((task.source, sorted(task.columns.items()), sorted(task.filters.items())))
        if key in seen:
            raise GoldsmithError(f"[{file} > titres > {name}] reads the same rows as {seen[key]}: remove one")
        seen[key] = name
    spans: dict[str, str] = {}
    for name, window in tasks.windows.items():
        key = repr(replace(window, label_rule=""))
        if key in spans:
            raise GoldsmithError(f"[{file} > windows > {name}] is the window {spans[key]}: remove one")
        spans[key] = name
