"""What an entry of `tasks.toml` is: a list of strains, a titre task, an emergence window or a label rule.

Adding a task is adding an entry. Viruses, studies and references are those of `assays.toml` (`registry`). Not its
business: reading the file (`tasks_toml`), the tables (`readers.titres`), what is made of them (`titres`, `emergence`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
