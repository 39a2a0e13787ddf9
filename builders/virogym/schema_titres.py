"""The tables of the neutralisation tasks, column by column: who was measured against what, and how far it is known.

A row of `neutralisation` is a serum against a strain in one task: repeats are one row. A censored titre equals its
`limit`. Nothing here tells who gave a serum: no age, no sex, no date; birth years are taken out of serum names.
"""

from schemas import Bool, Column, Float, Int, Json, List, Table, Text

SPLITS = ("test",)

ASSAYS_OF_TITRES = ("hi", "fra", "seqneut", "pv")
"""Haemagglutination inhibition, focus reduction, sequencing-based neutralisation, pseudovirus neutralisation."""

SPANS = ("HA0", "HA1", "ectodomain")
PASSAGES = ("cell", "egg", "unstated")
CENSORS = ("left", "right", "none")

TITRE_TASKS = Table(
    "titre_tasks",
    "One table of titres: one kind of assay, of sera of one species, in one unit, on sequences of one span.",
    (
        Column("task_id", Text(), "Virus, assay and cohort.", pattern=r"\w+"),
        Column("virus_species", Text(), "The virus."),
        Column("ncbi_taxid", Int(), "NCBI taxonomy id.", minimum=1),
        Column("subtype", Text(), "The subtype, such as H3N2."),
        Column("protein", Text(), "The protein that `viruses` has the sequences of."),
        Column("assay", Text(), "The kind of assay.", allowed=ASSAYS_OF_TITRES),
        Column("species", Text(), "Whose sera they are. Human and ferret sera are never pooled."),
        Column("cohort", Text(), "Which sera, in words."),
        Column("readout_detail", Text(), "What was done, in words."),
        Column("titre_unit", Text(), "Of `titre`.", allowed=("reciprocal dilution",)),
        Column(
            "span",
            Text(),
            "The part of the protein that all sequences of the task have; missing where there are no sequences.",
            nullable=True,
            allowed=SPANS,
        ),
        Column(
            "sequences",
            Text(),
            "`required`: each strain has a sequence. `optional`: some have none, because the publisher names strains "
            "only (GISAID's sequences may not be passed on).",
            allowed=("required", "optional"),
        ),
        Column(
            "homologous_rule",
            Text(),
            "Which strain `homologous_strain_id` is: the one that each serum was raised against, or the vaccine or "
            "target strain of the task.",
            allowed=("immunogen", "target", "none"),
        ),
        Column("aggregation", Text(), "How repeats became one titre.", allowed=("source", "median")),
        Column("detection_low", Float(), "Lowest titre that the assay can tell.", nullable=True, minimum=0),
        Column("detection_high", Float(), "Highest titre that the assay can tell.", nullable=True, minimum=0),
        Column("source", Text(), "The source of the titres."),
        Column("source_sha256", Text(), "Checksum of the table.", pattern="[0-9a-f]{64}"),
        Column("licence_spdx", Text(), "Licence of the table; NONE where the publisher gives none."),
        Column("redistributable", Bool(), "Whether it may be passed on."),
        Column("doi", Text(), "The publication.", nullable=True),
        Column("citation", Text(), "The publication, in words."),
        Column("n_rows_in", Int(), "Records of the source that belong to the task.", minimum=0),
        Column("n_rows_out", Int(), "Rows in `neutralisation`.", minimum=0),
        Column("n_dropped_by_reason", Json(), "Records merged or rejected, by reason; exact copies are `copy`."),
    ),
    key=("task_id",),
    splits=SPLITS,
)

VIRUSES = Table(
    "viruses",
    "A strain of virus as it was tested: one name, one passage, one sequence.",
    (
        Column(
            "strain_id",
            Text(),
            "Name, reassortant or `egg` where it is one, and span (without a sequence: the strain list), joined by `|` "
            "(`A/Texas/50/2012|X-223A|HA0`).",
            minimum=1,
        ),
        Column("canonical_name", Text(), "The name without leading zeros, subtype, accession or passage."),
        Column("aliases", List(Text()), "The spellings of the sources."),
        Column("subtype", Text(), "The subtype, such as H3N2."),
        Column("passage", Text(), "In what it was grown, where the name or table says.", allowed=PASSAGES),
        Column("reassortant", Text(), "The reassortant, such as X-223A; these are grown in eggs.", nullable=True),
        # No pattern: C19_sequence asks which letters there are.
        Column(
            "sequence",
            Text(),
            "Amino acids of the span, without gaps; missing where no source has it.",
            nullable=True,
            minimum=1,
        ),
        Column("span", Text(), "Which part of the protein the sequence is.", nullable=True, allowed=SPANS),
        Column(
            "accession",
            Text(),
            "Accession in the source, with the changes that the construct has to it (`PV286548 A156T`).",
            nullable=True,
        ),
        Column("source", Text(), "The source of the sequence, or of the name alone."),
    ),
    key=("strain_id",),
    splits=SPLITS,
)

SERA = Table(
    "sera",
    "A serum, or a pool of sera. Nothing about the donor.",
    (
        Column("serum_id", Text(), "The task and the serum's name without what tells of the donor.", minimum=1),
        Column("task_id", Text(), "The task it is tested in.", references="titre_tasks.task_id"),
        Column("serum_name", Text(), "Its name in the source, without what tells of the donor.", minimum=1),
        Column("species", Text(), "Of the animal or person."),
        Column("cohort", Text(), "The group that the source puts it in."),
        Column(
            "immunogen_strain_id",
            Text(),
            "The strain it was raised against, where it is known and was tested.",
            nullable=True,
            references="viruses.strain_id",
        ),
        Column("immunogen_name", Text(), "The name of that strain, tested or not.", nullable=True),
        Column("source", Text(), "The source that names the serum."),
    ),
    key=("serum_id",),
    splits=SPLITS,
)

NEUTRALISATION = Table(
    "neutralisation",
    "One serum against one strain: the titre, and whether it is a limit.",
    (
        Column("task_id", Text(), "The task.", references="titre_tasks.task_id"),
        Column("serum_id", Text(), "The serum.", references="sera.serum_id"),
        Column("strain_id", Text(), "The strain.", references="viruses.strain_id"),
        Column("assay", Text(), "The kind of assay.", allowed=ASSAYS_OF_TITRES),
        Column("titre", Float(), "Reciprocal dilution; the limit where it is censored.", minimum=0),
        Column("log2_titre", Float(), "Its logarithm to base 2."),
        Column(
            "censor",
            Text(),
            "`left`: the true titre is not above the limit; `right`: not below it; `none`: measured.",
            allowed=CENSORS,
        ),
        Column("limit", Float(), "The bound of a censored titre.", nullable=True, minimum=0),
        Column("n_rep", Int(32), "Number of replicates or repeated measurements.", nullable=True, minimum=1),
        Column(
            "sem", Float(), "Standard error of the titre over them, in its unit, where known.", nullable=True, minimum=0
        ),
        Column(
            "replicates",
            List(Text()),
            "The repeated titres as the source writes them (`<40`, `80`), where it lists them.",
            nullable=True,
        ),
        Column(
            "homologous_strain_id",
            Text(),
            "The strain that `log2_drop` compares with.",
            nullable=True,
            references="viruses.strain_id",
        ),
        Column(
            "log2_drop",
            Float(),
            "log2 of the serum's titre against the homologous strain, less `log2_titre`; missing where that titre is "
            "missing or censored. Where the row is censored, it is a bound, too.",
            nullable=True,
        ),
        Column("source", Text(), "The source of the titre."),
    ),
    key=("serum_id", "strain_id"),
    splits=SPLITS,
    content=(),  # Titres of a few levels repeat. Copies are found by C15_titres and C18.
)

TITRE_TABLES = (NEUTRALISATION, TITRE_TASKS, SERA, VIRUSES)
