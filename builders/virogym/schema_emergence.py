"""The tables of the emergence tasks, column by column: which changes rise from one period to the next.

A window is a reference protein and two periods, T before T1. Its candidates are complete: each position with each of
the 19 other amino acids and with its deletion. `status` tells a count of zero from a change that was not counted.
"""

from builders.virogym.residues import AMINO_ACIDS
from schemas import Bool, Column, Float, Int, Json, List, Table, Text

SPLITS = ("test",)

STATUSES = ("counted", "absent", "masked", "not_counted", "reversion")

WINDOWS = Table(
    "windows",
    "Two periods, one before the other, and the protein whose changes are the candidates.",
    (
        Column("window_id", Text(), "Virus, protein, reference and periods.", pattern=r"[\w.-]+"),
        Column("virus_species", Text(), "The virus."),
        Column("ncbi_taxid", Int(), "NCBI taxonomy id.", minimum=1),
        Column("protein", Text(), "The protein."),
        Column("reference_id", Text(), "The protein that circulated in T.", references="references.reference_id"),
        Column(
            "root_id",
            Text(),
            "The protein that the source counts changes from.",
            references="references.reference_id",
        ),
        Column("start_T", Text(), "First month of T (`2020-01`).", pattern=r"\d{4}-\d{2}"),
        Column("end_T", Text(), "Last month of T.", pattern=r"\d{4}-\d{2}"),
        Column("start_T1", Text(), "First month of T1.", pattern=r"\d{4}-\d{2}"),
        Column("end_T1", Text(), "Last month of T1.", pattern=r"\d{4}-\d{2}"),
        Column("data_cutoff", Text(), "The last day that the source covers.", pattern=r"\d{4}-\d{2}-\d{2}"),
        Column("n_seq_T", Int(), "Genomes in T.", minimum=1),
        Column("n_seq_T1", Int(), "Genomes in T1.", minimum=1),
        Column(
            "n_seq_kind",
            Text(),
            "`genomes`: the source gives their number. `at_least`: it does not, and it is the count of the most "
            "frequent change of each month, so that frequencies are at most what they say.",
            allowed=("genomes", "at_least"),
        ),
        Column("n_counts_T", Int(), "Sum of all counts of the source in T, for rules that divide by it.", minimum=0),
        Column("n_counts_T1", Int(), "The same in T1.", minimum=0),
        Column("label_rule", Text(), "The rule of `is_emergent`.", references="label_rules.label_rule"),
        Column("listed_from", Text(), "Which changes the source lists at all, in words."),
        Column("source", Text(), "The source of the counts."),
        Column("source_sha256", Text(), "Checksum of the counts.", pattern="[0-9a-f]{64}"),
        Column("licence_spdx", Text(), "Licence of the counts."),
        Column("redistributable", Bool(), "Whether they may be passed on."),
        Column("doi", Text(), "The publication.", nullable=True),
        Column("citation", Text(), "The publication, in words."),
        Column("n_candidates", Int(), "Candidates, deletions included.", minimum=1),
        Column("n_rows_in", Int(), "Records of the source.", minimum=0),
        Column("n_dropped_by_reason", Json(), "Records of the source that are no candidate, by reason."),
    ),
    key=("window_id",),
    splits=SPLITS,
)

LABEL_RULES = Table(
    "label_rules",
    "When a change counts as emergent.",
    (
        Column("label_rule", Text(), "Its name.", pattern=r"\w+"),
        Column("meaning", Text(), "The rule, in words."),
        Column("definition", Json(), "The rule as `tasks.toml` has it."),
        Column("citation", Text(), "Who uses it."),
    ),
    key=("label_rule",),
    splits=SPLITS,
)

EMERGENCE = Table(
    "emergence",
    "One candidate change of one window.",
    (
        Column("window_id", Text(), "The window.", references="windows.window_id"),
        Column("reference_id", Text(), "The window's protein.", references="references.reference_id"),
        Column(
            "mutation",
            Text(),
            "The change on the reference, numbered from 1 (`N501Y`, `N501del`).",
            pattern=rf"[{AMINO_ACIDS}]\d+([{AMINO_ACIDS}]|del)",
        ),
        Column("ref_site", Text(), "The field's number of the site, as text."),
        Column("wt", Text(), "The reference's residue.", pattern=f"[{AMINO_ACIDS}]"),
        Column("mut", Text(), "The new residue; `-` for a deletion.", pattern=f"[{AMINO_ACIDS}-]"),
        Column(
            "status",
            Text(),
            "`counted`: the source lists the change (its count may be 0). `absent`: it does not list it, though it "
            "could. `masked`: it masks the site. `not_counted`: it does not count this kind of change. `reversion`: "
            "back to the residue of the source's own reference, which has no count.",
            allowed=STATUSES,
        ),
        Column("observed_T", Bool(), "Whether the source lists the change: `status` is `counted`."),
        Column("count_T", Int(), "Genomes with the change in T; missing unless counted.", nullable=True, minimum=0),
        Column("count_T1", Int(), "Genomes with the change in T1; missing unless counted.", nullable=True, minimum=0),
        Column("n_seq_T", Int(), "Genomes in T, as in `windows`.", minimum=1),
        Column("n_seq_T1", Int(), "Genomes in T1, as in `windows`.", minimum=1),
        Column("freq_T", Float(), "count_T / n_seq_T.", nullable=True, minimum=0, maximum=1),
        Column("freq_T1", Float(), "count_T1 / n_seq_T1.", nullable=True, minimum=0, maximum=1),
        Column(
            "min_nt_dist",
            Int(8),
            "Fewest nucleotide changes from the reference's own codon to one of the new residue; missing for "
            "deletions.",
            nullable=True,
            minimum=1,
            maximum=3,
        ),
        Column("is_reversion", Bool(), "The new residue is that of `root_id` at the site, the old one is not."),
        Column(
            "is_novel",
            Bool(),
            "Counted, not seen in T and seen in T1; missing where it cannot be known.",
            nullable=True,
        ),
        Column(
            "is_emergent",
            Bool(),
            "By the window's `label_rule`; missing where it cannot be known.",
            nullable=True,
        ),
        Column("label_rule", Text(), "The rule of `is_emergent`.", references="label_rules.label_rule"),
        Column(
            "emergent_by",
            List(Text()),
            "All rules of `label_rules` by which it is emergent; missing where it cannot be known.",
            nullable=True,
        ),
        Column("source", Text(), "The source of the counts."),
        Column("data_cutoff", Text(), "The last day that the source covers.", pattern=r"\d{4}-\d{2}-\d{2}"),
    ),
    key=("window_id", "reference_id", "mutation"),
    splits=SPLITS,
)

EMERGENCE_TABLES = (EMERGENCE, WINDOWS, LABEL_RULES)
