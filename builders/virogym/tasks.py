"""`tasks.toml`, read and checked: lists of strains, titre tasks, emergence windows and label rules.

Adding a task is adding an entry. Viruses, studies and references are those of `assays.toml` (`registry`). Not its
business: what the tables hold (`readers.titres`, `counts`) and what is made of them (`titres`, `emergence`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from builders.virogym.registry import Registry, entry
from builders.virogym.schema_titres import ASSAYS_OF_TITRES, PASSAGES, SPANS
from schemas import GoldsmithError

READERS = ("seqneut", "nextstrain")
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
_BOUNDS = frozenset(
    f"{name}_{end}"
    for name in ("count_T", "count_T1", "count_until_T1", "freq_T", "freq_T1", "delta", "fold")
    for end in ("min", "max")
)


@dataclass(frozen=True)
class StrainList:
    """The strains that tasks name, with their sequences.

    Attributes:
        subtype: of strains whose name does not say it.
        source: a protein FASTA file, or None where there is none.
        span: what its sequences are; one list has one span, and so has each task.
        passage: in what they were grown, where the name does not say.
        aliases: a spelling -> the name it stands for, where no rule of spelling makes them alike.
    """

    subtype: str
    source: str | None = None
    span: str | None = None
    passage: str = "unstated"
    aliases: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TitreTask:
    """One table of titres.

    Attributes:
        strains: the list that its strains are in.
        sequences: `required` (a strain without one is a reject) or `optional`.
        columns: what the reader calls a column -> the table's name for it; see `readers.titres`.
        filters: column -> value or values of the rows that are the task's; other rows are another task's.
        coded: a value that the table writes for a limit -> the limit (`{"5" = "<10"}`).
        detection_low, detection_high: limits of the assay. Where the table marks no bounds, a titre at a limit is one.
        serum_drop: a regular expression of what is taken out of serum names, such as a birth year.
        private: the source's lines tell of donors: places in it are such that `explain` shows none.
        target: the strain to compare with; without it, each serum's immunogen, where the source gives it.
        sera, sera_columns: a table of sera and its columns `serum` and `immunogen`; nothing else of it is read.
        immunogen_pattern: finds the strain's name in that column, as the group `strain`.
    """

    source: str
    reader: str
    virus: str
    study: str
    strains: str
    assay: str
    species: str
    cohort: str
    readout: str
    protein: str = "HA"
    sequences: str = "required"
    columns: dict[str, Any] = field(default_factory=dict)
    filters: dict[str, Any] = field(default_factory=dict)
    coded: dict[str, str] = field(default_factory=dict)
    detection_low: float | None = None
    detection_high: float | None = None
    serum_drop: str | None = None
    private: bool = False
    target: str | None = None
    sera: str | None = None
    sera_columns: dict[str, str] = field(default_factory=lambda: {"serum": "serum", "immunogen": "immunogen"})
    immunogen_pattern: str = "(?P<strain>.+)"

    @property
    def inputs(self) -> tuple[str, ...]:
        """The sources of its titres and sera."""
        return (self.source, self.sera) if self.sera else (self.source,)


@dataclass(frozen=True)
class Window:
    """Two periods of a table of counts and the protein whose changes are the candidates.

    Attributes:
        source: a table with a column `mutation` (`N501Y`, `N501del`) and one of counts for each month (`2020-01`).
        reference: the candidates' protein. Its sites are positions of `root`.
        root: the protein that the source counts changes from.
        codons: root's coding sequence: a GenBank file (with `gene`) or a FASTA file with one record.
        reference_codons: site -> codon, where a change of the reference takes more than one nucleotide or could be made
            by several.
        T, T1: [first month, last month].
        data_cutoff: the last day that the source covers.
        genomes: a table `month,genomes`; without it their number is at least the most frequent change's.
        masked_sites: sites that the source masks.
        deletions: whether the source counts deletions.
        listed_from: which changes the source lists at all, in words.
    """

    source: str
    virus: str
    study: str
    protein: str
    reference: str
    root: str
    codons: str
    T: list[str]
    T1: list[str]
    data_cutoff: str
    label_rule: str
    listed_from: str
    gene: str | None = None
    reference_codons: dict[str, str] = field(default_factory=dict)
    genomes: str | None = None
    masked_sites: list[str] = field(default_factory=list)
    deletions: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """Its sources beside those of the references."""
        return tuple(dict.fromkeys(name for name in (self.source, self.codons, self.genomes) if name))


@dataclass(frozen=True)
class LabelRule:
    """When a change is emergent: where all bounds of one of `any_of` hold.

    Attributes:
        denominator: what a frequency divides by: `genomes`, or `counts` (the sum of all counts of the period).
        absent: what a change that the source does not list counts as: `zero`, or `unknown`.
        fold_digits: digits that the ratio of frequencies is rounded to.
        any_of: bounds such as `delta_min`, `fold_min`, `freq_T_max`, `count_T_min`, inclusive. `delta` is the
            difference of the frequencies, `fold` their ratio (no bound on it holds where count_T is 0), and
            `count_until_T1` the count in both periods.
    """

    meaning: str
    citation: str
    any_of: list[dict[str, float]]
    denominator: str = "genomes"
    absent: str = "unknown"
    fold_digits: int | None = None


@dataclass(frozen=True)
class Tasks:
    """All entries, by id."""

    strains: Mapping[str, StrainList] = field(default_factory=dict)
    titres: Mapping[str, TitreTask] = field(default_factory=dict)
    windows: Mapping[str, Window] = field(default_factory=dict)
    label_rules: Mapping[str, LabelRule] = field(default_factory=dict)


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
