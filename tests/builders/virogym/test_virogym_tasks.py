"""tasks.toml: what is wrong in it is said in one line with entry and key."""

from __future__ import annotations

import pytest

from builders.sources import Sources
from builders.virogym import registry, task_shards
from builders.virogym.builder import BUILDER
from builders.virogym.registry import ReferenceEntry, Registry, Study, Virus
from builders.virogym.tasks import LabelRule, StrainList, TitreTask, Window
from builders.virogym.tasks_toml import read_tasks
from schemas import GoldsmithError

GOOD = """
[strains.L]
source = "fasta"
span = "HA1"
subtype = "H3N2"

[titres.T]
source = "t"
reader = "seqneut"
virus = "V"
study = "S"
strains = "L"
assay = "hi"
species = "ferret"
cohort = "c"
readout = "r"

[label_rules.rule]
meaning = "m"
citation = "c"
any_of = [{ delta_min = 0.1 }]

[windows.W]
source = "c"
virus = "V"
study = "S"
protein = "X"
reference = "R"
root = "R"
codons = "g"
T = ["2020-01", "2020-12"]
T1 = ["2021-01", "2021-12"]
data_cutoff = "2021-12-31"
label_rule = "rule"
listed_from = "all"
"""
KNOWN = Registry({"V": Virus("v", "f", 1)}, {"S": Study("s")}, {"R": ReferenceEntry("p", "m", "n")}, {})


def read(tmp_path, text=GOOD):
    (tmp_path / "tasks.toml").write_text(text)
    return read_tasks(tmp_path / "tasks.toml", KNOWN)


def test_an_entry_goes_into_a_shard_and_back(tmp_path):
    tasks = read(tmp_path)
    for kind, made in ((StrainList, tasks.strains["L"]), (TitreTask, tasks.titres["T"]),
                       (Window, tasks.windows["W"]), (LabelRule, tasks.label_rules["rule"])):  # fmt: skip
        assert registry.entry(kind, "x", registry.form(made)) == made


def test_no_file_is_no_task(tmp_path):
    assert not read_tasks(tmp_path / "tasks.toml", KNOWN).titres


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[titres.T]", "[titre.T]", "[tasks.toml > titre] is unknown: the tables are strains, titres"),
        ('span = "HA1"', 'span = "HA2"', "[tasks.toml > strains > L > span] is 'HA2': it must be one of HA0, HA1"),
        ('source = "fasta"\n', "", "[tasks.toml > strains > L] has one of `source` and `span`"),
        ('source = "fasta"\nspan = "HA1"', "", "has no sequences: give it a source, or write sequences"),
        ('reader = "seqneut"', 'reader = "crick"', "reader] is 'crick': it must be one of seqneut, nextstrain"),
        ('assay = "hi"', 'assay = "HI"', "assay] is 'HI': it must be one of hi, fra, seqneut, pv"),
        ('strains = "L"', 'strains = "M"', "strains] names M, which is not in tasks.toml > strains: add it or use"),
        ('virus = "V"\nstudy = "S"\nstrains', 'virus = "W"\nstudy = "S"\nstrains', "virus] names W, which is not in"),
        ('cohort = "c"', 'cohort = "c"\nserum_drop = "_y["', "serum_drop] is no regular expression"),
        ('cohort = "c"', 'cohort = "c"\nage = "x"', "[tasks.toml > titres > T > age] is unknown"),
        ('reference = "R"', 'reference = "Q"', "reference] names Q, which is not in assays.toml > references"),
        ('label_rule = "rule"', 'label_rule = "other"', "label_rule] names other"),
        ('T = ["2020-01", "2020-12"]', 'T = ["2020-01"]', "T] is ['2020-01']: write [first month, last month]"),
        ('T = ["2020-01", "2020-12"]', 'T = ["2020-13", "2020-14"]', "write [first month, last month]"),
        ('T1 = ["2021-01"', 'T1 = ["2020-12"', "T1] starts in 2020-12, T ends in 2020-12: T1 must follow T"),
        ('"2021-12-31"', '"2021-11-30"', "data_cutoff] 2021-11-30 is before the end of T1: shorten T1"),
        ("delta_min", "delta_least", "any_of] is 'delta_least': it must be one of count_T1_max"),
        ("[{ delta_min = 0.1 }]", "[]", "any_of] is []: give at least one bound"),
    ],
)  # fmt: skip
def test_a_fault_is_named(tmp_path, old, new, message):
    assert old in GOOD
    with pytest.raises(GoldsmithError) as error:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_same_titres_twice_are_refused(tmp_path):
    twice = GOOD[GOOD.index("[titres.T]") : GOOD.index("[label_rules")].replace("titres.T", "titres.T2")
    with pytest.raises(GoldsmithError, match="titres > T2] reads the same rows as T: remove one"):
        read(tmp_path, GOOD + twice)
    with pytest.raises(GoldsmithError, match="windows > W2] is the window W: remove one"):
        read(tmp_path, GOOD + GOOD[GOOD.index("[windows.W]") :].replace("windows.W", "windows.W2"))


@pytest.mark.parametrize("folder", [BUILDER.folder, BUILDER.folder / "sample"])
def test_the_registered_tasks_are_right(folder):
    known = registry.read_registry(folder / "assays.toml")
    tasks = read_tasks(folder / "tasks.toml", known)
    assert tasks.titres
    assert tasks.windows
    assert "virogym" in tasks.label_rules


def test_a_task_is_built_where_its_source_is_at_hand(tmp_path):
    """Sources that a person fetches are optional; without the sequences, strains are names alone."""
    known = registry.read_registry(BUILDER.folder / "assays.toml")
    tasks = read_tasks(BUILDER.folder / "tasks.toml", known)
    human = {f"FLU_H3N2_seqneut_2023_{group}" for group in ("Penn", "SCH", "pools")}
    plain = task_shards.usable(tasks, known, Sources.load(BUILDER.folder, offline=True))
    assert set(plain.titres) == human | {"FLU_H1N1_seqneut_DRIVE", "FLU_H3N2_HI_NIMR"}
    assert plain.strains["H3N2_HI"].source is None
    names = ("fci_titres", "hi_h3n2_sequences", "seqneut_2026_titres", "seqneut_2026_proteins")
    given = {name: tmp_path / name for name in names}
    for path in given.values():
        path.touch()
    lone = {"seqneut_2026_titres": given["seqneut_2026_titres"]}  # titres that need sequences, without them
    assert task_shards.usable(tasks, known, Sources.load(BUILDER.folder, offline=True, overrides=lone)) == plain
    more = task_shards.usable(tasks, known, Sources.load(BUILDER.folder, offline=True, overrides=given))
    assert set(more.titres) == set(tasks.titres)
    assert more.strains["H3N2_HI"] == tasks.strains["H3N2_HI"]
    shards = {shard.name: shard for shard in task_shards.plan(more, known)}
    inputs = set(shards["titres.FLU_H1N1_H3N2_seqneut_2025_FCI"].inputs)
    assert inputs == {"seqneut_2025_proteins", "fci_titres", "fci_sera"}
    free = task_shards.usable(tasks, known, Sources.load(BUILDER.folder, offline=True, redistributable_only=True))
    assert (set(free.titres), dict(free.windows)) == (human, {})
    assert "label_rules" not in {shard.name for shard in task_shards.plan(free, known)}
