"""The tables of ViroGym's deep mutational scans, column by column, and the whole dataset.

`variants` holds what was measured and no sequence: a sequence is the reference with the edits applied, and a second
copy could disagree with the first. `proteingym` is that second copy, made for readers of ProteinGym's columns.
The tables of the other tasks are in `schema_titres` and `schema_emergence`.
"""

from builders.virogym.residues import AMINO_ACIDS
from builders.virogym.schema_emergence import EMERGENCE_TABLES
from builders.virogym.schema_titres import TITRE_TABLES
from schemas import Bool, Column, Dataset, Float, Int, Json, List, Table, Text

PHENOTYPES = (
    "antibody_escape",
    "sera_escape",
    "binding",
    "cell_entry",
    "expression",
    "stability",
    "viral_growth",
)

KINDS = ("sub", "multi", "del", "ins", "stop", "syn", "wt")

SPLITS = ("test",)
"""A benchmark: every row is in `test`; the folds for supervised models are columns."""

_EDIT = r"[A-Z]\d+([A-Z*]|del|delins[A-Z]+|_[A-Z]\d+(del|ins[A-Z]+|delins[A-Z]+))"

VARIANTS = Table(
    "variants",
    "One measured variant of one assay.",
    (
        Column("assay_id", Text(), "The assay that measured it.", references="assays.assay_id"),
        Column(
            "variant_id",
            Text(),
            "sha1 of the reference id and the canonical edits: the same protein has the same id in every assay of that "
            "reference.",
            pattern="[0-9a-f]{40}",
        ),
        Column(
            "mutant",
            Text(),
            "The edits on the reference, numbered from 1, sorted and joined by `:` (`A12V`, `A12*`, `A12del`, "
            "`A12_C13insGG`, `A12delinsGG`); a wild-type row names its site (`A12A`).",
            pattern=rf"{_EDIT}(:{_EDIT})*",
        ),
        Column("n_mut", Int(32), "How many edits; 0 for a wild-type or synonymous row.", minimum=0),
        Column("kind", Text(), "What kind of change it is.", allowed=KINDS),
        Column("hgvs_pro", Text(), "The same in HGVS protein notation, on the reference."),
        Column(
            "ref_site", List(Text()), "The sites in the numbering of the assay's field, as text (`31`, `16a`, `-2`)."
        ),
        Column(
            "score",
            Float(),
            "The measured value with the assay's direction applied: higher is fitter (or more escape, where the "
            "assay's direction is 0).",
        ),
        Column("score_raw", Float(), "The value as the source gives it."),
        Column("score_sd", Float(), "Standard deviation over replicates, where the source gives it.", nullable=True),
        Column("n_obs", Float(), "Mean number of observations (`times_seen`).", nullable=True, minimum=0),
        Column(
            "n_rep", Int(32), "Number of replicates, selections or models behind the value.", nullable=True, minimum=0
        ),
        Column("replicates", List(Float()), "The value of each replicate, where the source gives them.", nullable=True),
        Column(
            "bin",
            Int(8),
            "1 where the score reaches the assay's cut-off, else 0; for substitutions.",
            nullable=True,
            allowed=(0, 1),
        ),
        Column(
            "split_random",
            Int(8),
            "Fold 0 to 4 by the variant id: stable when data is added.",
            nullable=True,
            minimum=0,
            maximum=4,
        ),
        Column(
            "split_modulo", Int(8), "Fold 0 to 4 by site modulo 5; single changes.", nullable=True, minimum=0, maximum=4
        ),
        Column(
            "split_contiguous",
            Int(8),
            "Fold 0 to 4 by five stretches of sites; single changes.",
            nullable=True,
            minimum=0,
            maximum=4,
        ),
        Column(
            "split_cluster",
            Text(),
            "The homology cluster (30 % identity) of the assay's reference: hold one out to test on unseen proteins.",
        ),
        Column("raw_row", Int(64), "The line of the source file.", minimum=1),
    ),
    key=("assay_id", "variant_id"),
    splits=SPLITS,
)

ASSAYS = Table(
    "assays",
    "One deep mutational scan: what was measured, on what, by whom.",
    (
        Column("assay_id", Text(), "Virus, phenotype and strain.", pattern=r"\w+"),
        Column("virus_species", Text(), "The virus."),
        Column("virus_family", Text(), "Its family."),
        Column("ncbi_taxid", Int(), "NCBI taxonomy id.", minimum=1),
        Column("strain", Text(), "The strain whose protein was mutated."),
        Column("protein", Text(), "The protein."),
        Column("uniprot", Text(), "UniProt accession or entry name, where there is one.", nullable=True),
        Column("phenotype", Text(), "One of the seven readouts.", allowed=PHENOTYPES),
        Column("readout_detail", Text(), "What was done, in words."),
        Column("score_name_raw", Text(), "The source's column or condition."),
        Column("score_unit", Text(), "Of the raw value.", allowed=("log2", "ln", "log10", "linear", "ratio")),
        Column("log_base", Float(), "Base of the logarithm, where the value is one.", nullable=True),
        Column(
            "direction",
            Int(8),
            "1: raw is higher for fitter; -1: it was flipped; 0: escape, not a fitness axis.",
            allowed=(-1, 0, 1),
        ),
        Column("wt_value", Float(), "The wild type's raw value.", nullable=True),
        Column("null_value", Float(), "Median score of the stop codons, where there are any.", nullable=True),
        Column("reference_id", Text(), "The protein sequence.", references="references.reference_id"),
        Column("numbering_scheme", Text(), "Whose site numbers `ref_site` uses."),
        Column(
            "library_design", Text(), "How variants were chosen.", allowed=("saturation", "designed", "random", "multi")
        ),
        Column(
            "aggregation", Text(), "How replicates or antibodies became one value.", allowed=("none", "mean", "median")
        ),
        Column("n_components", Int(32), "How many replicates or antibodies.", nullable=True, minimum=1),
        Column("filters", Json(), "Conditions on the source's rows."),
        Column("source_repo", Text(), "Where the table was published."),
        Column("source_commit", Text(), "At which commit or version."),
        Column("source_path", Text(), "Under which path."),
        Column("source_sha256", Text(), "Checksum of the table.", pattern="[0-9a-f]{64}"),
        Column("licence_spdx", Text(), "Licence of the table; NONE where the publisher gives none."),
        Column("redistributable", Bool(), "Whether the licence allows passing it on."),
        Column("doi", Text(), "The study.", nullable=True),
        Column("citation", Text(), "How to cite it."),
        Column("n_rows_in", Int(), "Records in the source that belong to the assay.", minimum=0),
        Column("n_rows_out", Int(), "Rows in `variants`.", minimum=0),
        Column(
            "n_dropped_by_reason",
            Json(),
            "Records that became no row of their own, by reason; `merged` are those that share a row (replicates).",
        ),
        Column("bin_cutoff", Float(), "The score from which `bin` is 1.", nullable=True),
        Column("bin_method", Text(), "How the cut-off was chosen.", allowed=("median", "manual", "none")),
        Column(
            "n_published",
            Int(),
            "Substitutions that ProteinGym counts in the assay, where it has it and counts the same rows.",
            nullable=True,
            minimum=0,
        ),
    ),
    key=("assay_id",),
    splits=SPLITS,
)

REFERENCES = Table(
    "references",
    "The protein that was mutated.",
    (
        Column("reference_id", Text(), "Name of the reference.", pattern=r"[\w.-]+"),
        Column("sequence", Text(), "Amino acids, without a stop.", minimum=1, pattern=f"[{AMINO_ACIDS}]+"),
        Column("length", Int(32), "Its length.", unit="residues", minimum=1),
        Column("molecule", Text(), "Which part of which protein it is."),
        Column("start_offset", Int(32), "What to add to a position to count from the start of the whole protein."),
        Column("sha256", Text(), "Of the sequence.", pattern="[0-9a-f]{64}"),
        Column("cluster_30", Text(), "Homology cluster at 30 % identity, named after its first member."),
        Column("cluster_90", Text(), "Homology cluster at 90 % identity, named after its first member."),
        Column("source", Text(), "The source the sequence comes from."),
    ),
    key=("reference_id",),
    splits=SPLITS,
)

NUMBERING = Table(
    "numbering",
    "Which site of the field's numbering each position of a reference is.",
    (
        Column("reference_id", Text(), "The reference.", references="references.reference_id"),
        Column("sequential_site", Int(32), "Position in the reference, from 1.", minimum=1),
        Column("reference_site", Text(), "The field's number for it, as text.", pattern=r"-?\d+[a-z]?"),
        Column("reference_wt", Text(), "The residue at that position.", pattern=f"[{AMINO_ACIDS}]"),
        Column("region", Text(), "Domain or part, where the source names one.", nullable=True),
        Column(
            "aligned_site",
            Int(32),
            "The position that an alignment with the numbering's own reference gives, where that sequence is known.",
            nullable=True,
            minimum=1,
        ),
    ),
    key=("reference_id", "sequential_site"),
    splits=SPLITS,
)

PROTEINGYM = Table(
    "proteingym",
    "The substitutions, insertions and deletions in ProteinGym's columns, with the whole mutated sequence.",
    (
        Column("DMS_id", Text(), "The assay.", references="assays.assay_id"),
        # No patterns here: C13 compares ids and mutants with those of `variants`, where they are checked, and every
        # letter of a sequence with the reference and the edits.
        Column("variant_id", Text(), "The variant's id in `variants`."),
        Column("mutant", Text(), "As ProteinGym writes it; missing for insertions and deletions.", nullable=True),
        Column("mutated_sequence", Text(), "The reference with the edits applied.", minimum=1),
        Column("DMS_score", Float(), "The score, direction applied."),
        Column("DMS_score_bin", Int(8), "The bin.", nullable=True, allowed=(0, 1)),
    ),
    key=("DMS_id", "variant_id"),
    splits=SPLITS,
)

SCHEMA = Dataset(
    "virogym",
    "ViroGym: mutational scans, neutralisation and emergence of viral proteins",
    "Three tasks on proteins of eukaryotic viruses, read from the laboratories' own tables. Deep mutational scans: "
    "every variant with its measured value, its numbering, its reference and the line it came from, in seven readouts "
    "(antibody escape, sera escape, binding, cell entry, expression, stability, viral growth). Neutralisation: titres "
    "of sera against strains, with their censoring. Emergence: all changes of one residue, with their counts in two "
    "periods.",
    (VARIANTS, ASSAYS, REFERENCES, NUMBERING, PROTEINGYM, *TITRE_TABLES, *EMERGENCE_TABLES),
    tasks=("other",),
    tags=("biology", "protein", "virus", "deep-mutational-scanning", "neutralization", "fitness-prediction"),
)
