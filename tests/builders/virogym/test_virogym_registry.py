"""assays.toml: what is wrong in it is said in one line with entry and key."""

from __future__ import annotations

import pytest

from builders.pins import read_sources_toml
from builders.virogym import registry
from builders.virogym.builder import BUILDER
from builders.virogym.tasks_toml import read_tasks
from schemas import GoldsmithError

GOOD = """
[viruses.V]
species = "v"
family = "f"
ncbi_taxid = 1
[studies.S]
citation = "c"
[references.R]
source = "fasta"
molecule = "m"
numbering = "n"
[assays.A]
source = "table"
reader = "dmsvep"
virus = "V"
study = "S"
reference = "R"
strain = "s"
protein = "p"
phenotype = "cell_entry"
readout = "r"
unit = "log2"
direction = 1
columns = { score = "effect" }
"""


def read(tmp_path, text):
    (tmp_path / "assays.toml").write_text(text)
    return registry.read_registry(tmp_path / "assays.toml")


def test_an_entry_is_read_with_its_defaults(tmp_path):
    assay = read(tmp_path, GOOD).assays["A"]
    assert (assay.sites, assay.identity, assay.library, assay.filters) == ("reference", "wt", "saturation", {})
    assert registry.entry(registry.AssayEntry, "A", registry.form(assay)) == assay


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('phenotype = "cell_entry"', 'phenotype = "entry"', "assays > A > phenotype] is 'entry': it must be one of"),
        ('reader = "dmsvep"', 'reader = "dms"', "assays > A > reader] is 'dms': it must be one of"),
        ('readout = "r"', 'read_out = "r"', "assays > A > read_out] is unknown: did you mean `readout`?"),
        ("direction = 1\n", "", "assays > A > direction] is missing: add it"),
        ("direction = 1\n", 'direction = "1"\n', "assays > A > direction] is '1': it must be of type integer"),
        ("direction = 1\n", "direction = 0\n", "assays > A > direction] is 0 for cell_entry"),
        ("direction = 1\n", "direction = 2\n", "assays > A > direction] is 2: it must be one of -1, 0, 1"),
        ('virus = "V"', 'virus = "W"', "assays > A > virus] names W, which is not among the viruses"),
        ('reference = "R"', 'reference = "Q"', "assays > A > reference] names Q, which is not among the references"),
        ('columns = { score = "effect" }', "columns = { score = 1 }", "assays > A > columns] is {'score': 1}"),
        ('numbering = "n"', 'numbering = "n"\nspan = [5, 2]', "references > R > span] is [5, 2]"),
        ('numbering = "n"', 'numbering = "n"\nalphabet = "dna"', "references > R > alphabet] is 'dna'"),
        ('numbering = "n"', 'numbering = "n"\nmap = "m"\nmap_columns = { reference = "r" }', "R > map_columns] lacks"),
        ("[viruses.V]", "[virus.V]", "[assays.toml > virus] is unknown: the tables are"),
        ("[viruses.V]", "[viruses.V", "is no TOML"),
    ],
)
def test_a_fault_is_named(tmp_path, old, new, said):
    assert old in GOOD
    with pytest.raises(GoldsmithError) as error:
        read(tmp_path, GOOD.replace(old, new))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_one_column_is_one_assay(tmp_path):
    again = GOOD[GOOD.index("[assays.A]") :].replace("[assays.A]", "[assays.B]")
    with pytest.raises(GoldsmithError, match=r"assays > B\] reads the same column and rows as A"):
        read(tmp_path, GOOD + again)
    read(tmp_path, GOOD + again.replace('"effect"', '"latent"'))


def test_an_absent_file_is_said(tmp_path):
    with pytest.raises(GoldsmithError, match="is absent"):
        registry.read_registry(tmp_path / "assays.toml")


@pytest.mark.parametrize("folder", [BUILDER.folder, BUILDER.folder / "sample"])
def test_registered_entries_name_pinned_sources(folder):
    sources = read_sources_toml(folder / "sources.toml")
    known = registry.read_registry(folder / "assays.toml")
    tasks = read_tasks(folder / "tasks.toml", known)
    others = [*tasks.titres.values(), *tasks.windows.values()]
    named = {assay.source for assay in known.assays.values()} | {name for task in others for name in task.inputs}
    named |= {name for reference in known.references.values() for name in reference.inputs}
    named |= {strains.source for strains in tasks.strains.values() if strains.source}
    assert named <= set(sources)
    circulated = {name for window in tasks.windows.values() for name in (window.reference, window.root)}
    assert {assay.reference for assay in known.assays.values()} | circulated == set(known.references)
    studies = {assay.study for assay in known.assays.values()} | {task.study for task in others}
    assert studies == set(known.studies)
    assert {task.strains for task in tasks.titres.values()} == set(tasks.strains)


def test_what_has_no_licence_may_not_be_passed_on():
    """The repositories without a licence file; and what GISAID gave, and what a user fetches by hand."""
    sources = read_sources_toml(BUILDER.folder / "sources.toml")
    without = {name for name, source in sources.items() if source.licence == "NONE"}
    assert {name.split("_")[0] for name in without} == {"rabv", "zikv", "drive", "hi"}
    kept = {name for name, source in sources.items() if not source.redistribute}
    assert kept == without | {"gisaid_months", "hi_h3n2_sequences", "drive_proteins"}
    assert all("GISAID" not in source.licence for name, source in sources.items() if name not in kept)
