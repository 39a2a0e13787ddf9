"""C17 to C20, for the tables `viruses`, `sera` and `neutralisation`: is a titre's limit known, and whose is it?

A row of `neutralisation` is named by serum, strain, assay and source. A censored titre equals its `limit`: all that is
known is that the true one is not above (`left`) or not below (`right`) it.
"""

from builders.virogym.schema import AMINO_ACIDS
from schemas import Check, Figure

ID = "concat_ws('/', serum_id, strain_id, assay, source)"
TASK = "source || ' ' || assay"

_PILE = f"""
WITH level AS (
    SELECT {TASK} AS task, titre, count(*) AS n,
        row_number() OVER (PARTITION BY {TASK} ORDER BY titre) AS up,
        row_number() OVER (PARTITION BY {TASK} ORDER BY titre DESC) AS down
    FROM neutralisation WHERE censor = 'none' GROUP BY source, assay, titre
), ends AS (
    SELECT task, 'lowest' AS place, arg_min(titre, up) AS titre, sum(n) FILTER (up = 1) AS n,
        sum(n) FILTER (up = 2) AS next FROM level GROUP BY task
    UNION ALL
    SELECT task, 'highest', arg_min(titre, down), sum(n) FILTER (down = 1), sum(n) FILTER (down = 2)
    FROM level GROUP BY task
)
SELECT task || ' ' || place AS subject, CASE WHEN n >= 10 THEN n / coalesce(next, 1) END AS value,
    n || ' titres are ' || titre || ' without a censoring flag' AS message
FROM ends
"""
# Real titres thin out towards their ends, on a two-fold series too; more than twice the neighbour's is a hidden limit.

_NAMES = """
SELECT strain_id AS id, CASE
    WHEN canonical_name IS NULL OR canonical_name <> trim(canonical_name) THEN 'no name, or blanks around it'
    WHEN regexp_matches(canonical_name, '/0[0-9]+/') THEN 'a number with leading zeros'
    WHEN regexp_matches(canonical_name, '_H[0-9]+N[0-9]+') THEN 'a subtype in the name'
    WHEN regexp_matches(canonical_name, '_(EPI_?ISL_?[0-9]+|[A-Z]{2}[0-9]{6})') THEN 'an accession in the name'
    WHEN regexp_matches(lower(canonical_name), '[-_](egg|cell)$') THEN 'the passage in the name'
    ELSE n || ' strains have this name and passage' END || ': ' || coalesce(canonical_name, 'null') AS message
FROM (SELECT *, count(*) OVER (PARTITION BY canonical_name, passage, span) AS n FROM viruses)
WHERE n > 1 OR canonical_name IS NULL OR canonical_name <> trim(canonical_name)
    OR regexp_matches(canonical_name, '/0[0-9]+/|_H[0-9]+N[0-9]+|_(EPI_?ISL_?[0-9]+|[A-Z]{2}[0-9]{6})')
    OR regexp_matches(lower(canonical_name), '[-_](egg|cell)$')
"""

_LOG2 = f"""
WITH home AS (
    SELECT serum_id, strain_id AS homologous_strain_id, assay, source, max(log2_titre) AS home_titre
    FROM neutralisation GROUP BY ALL
)
SELECT {ID} AS id, CASE WHEN abs(log2_titre - log2(titre)) > 1e-6
    THEN format('log2_titre is {{}}, titre is {{}}', log2_titre, titre)
    ELSE format('log2_drop is {{}}, not {{}}', log2_drop, home_titre - log2_titre) END AS message
FROM neutralisation LEFT JOIN home USING (serum_id, homologous_strain_id, assay, source)
WHERE abs(log2_titre - log2(titre)) > 1e-6 OR abs(log2_drop - (home_titre - log2_titre)) > 1e-6
"""

TITRE_CHECKS = (
    Check(
        "C17_censoring",
        "A censored titre has its limit and equals it; an uncensored one does not.",
        "block",
        "neutralisation",
        f"""SELECT {ID} AS id, 'censor ' || coalesce(censor, 'null') || ', titre ' || titre || ', limit '
                || coalesce("limit"::VARCHAR, 'null') AS message
            FROM neutralisation WHERE censor IS NULL OR censor NOT IN ('left', 'right', 'none')
                OR (censor <> 'none' AND ("limit" IS NULL OR titre <> "limit"))""",
        advice="Read `<40` and `>5120` as censored at 40 and 5120, and the column titer_bound as the flag.",
    ),
    Figure(
        "C17_pile_up",
        "Uncensored titres at the lowest and the highest level, as a multiple of those at the level beside it.",
        "block",
        "neutralisation",
        _PILE,
        high=2.0,
        unit="times",
        advice="The values at the limit of detection have lost their flag: set censor and limit.",
    ),
    Check(
        "C17_two_fold",
        "Haemagglutination inhibition titres are 10 times a power of two.",
        "block",
        "neutralisation",
        f"""SELECT {ID} AS id, 'titre ' || titre || ' is not on the two-fold series' AS message FROM neutralisation
            WHERE assay = 'hi' AND abs(log2(titre / 10) - round(log2(titre / 10))) > 1e-6""",
        advice="A mean of repeated titres or a slip of the pen: keep the measured dilutions.",
    ),
    Check(
        "C18_once",
        "A serum is measured once against a strain in a source, or its repeats are one row.",
        "block",
        "neutralisation",
        f"""SELECT {ID} AS id, n || ' rows' || CASE WHEN low = high THEN ', all the same'
                ELSE ', titres from ' || low || ' to ' || high END AS message
            FROM (SELECT serum_id, strain_id, assay, source, count(*) AS n, min(titre) AS low, max(titre) AS high
                FROM neutralisation GROUP BY ALL HAVING count(*) > 1)""",
        advice="Drop exact copies, and put repeated measurements together with n_rep and sem.",
    ),
    Check(
        "C18_spread",
        "Titres of one serum against one strain in one kind of assay lie within four-fold.",
        "warn",
        "neutralisation",
        f"""SELECT DISTINCT {ID} AS id, format('titres from {{}} to {{}}', low, high) AS message
            FROM neutralisation JOIN (SELECT serum_id, strain_id, assay,
                    min(titre) FILTER (censor <> 'right') AS low, max(titre) FILTER (censor <> 'left') AS high
                FROM neutralisation GROUP BY ALL HAVING high >= 4 * low)
            USING (serum_id, strain_id, assay)""",
        advice="Repeats that differ so much are often two sera or two strains under one name.",
    ),
    Check(
        "C19_strain",
        "Each strain that was measured or immunised with has a row in viruses, with a sequence.",
        "block",
        "neutralisation",
        f"""SELECT {ID} AS id, CASE WHEN v.strain_id IS NULL THEN 'strain ' || n.strain_id || ' is not in viruses'
                WHEN coalesce(v.sequence, '') = '' THEN 'strain ' || n.strain_id || ' has no sequence'
                ELSE 'homologous strain ' || homologous_strain_id || ' has no sequence' END AS message
            FROM neutralisation AS n LEFT JOIN viruses AS v USING (strain_id)
            LEFT JOIN viruses AS h ON homologous_strain_id = h.strain_id
            WHERE coalesce(v.sequence, '') = ''
                OR (homologous_strain_id IS NOT NULL AND coalesce(h.sequence, '') = '')""",
        needs=("viruses",),
        advice="Names do not join between tables: add the spelling to the strain's aliases, or reject the row.",
    ),
    Check(
        "C19_sequence",
        "A strain's sequence is made of the 20 amino acids.",
        "block",
        "viruses",
        f"""SELECT strain_id AS id, 'it holds ' || translate(sequence, '{AMINO_ACIDS}', '') AS message FROM viruses
            WHERE translate(sequence, '{AMINO_ACIDS}', '') <> ''""",
        advice="X and gaps are no residues: take another record of the strain.",
    ),
    Check(
        "C19_name",
        "A strain's canonical name is normal: no leading zeros, subtype, accession or passage, and it is used once.",
        "block",
        "viruses",
        _NAMES,
        advice="Put the other spellings into aliases, and the passage into its own column.",
    ),
    Figure(
        "C19_span",
        "How many spans (HA0, HA1, ectodomain) the sequences of a task have.",
        "block",
        "neutralisation",
        f"SELECT {TASK} AS subject, count(DISTINCT span) AS value FROM neutralisation JOIN viruses USING (strain_id) "
        "GROUP BY source, assay",
        high=1,
        unit="spans",
        needs=("viruses",),
        advice="Cut all sequences of a task to the same span: else their distance measures the length.",
    ),
    Check(
        "C20_log2",
        "log2_titre is the logarithm of titre, and log2_drop what it is below the homologous one.",
        "block",
        "neutralisation",
        _LOG2,
        advice="One of them is in another unit, or relative to another strain.",
    ),
    Figure(
        "C20_unit",
        "The highest titre of a task: reciprocal dilutions go above 20, their logarithms do not.",
        "block",
        "neutralisation",
        f"SELECT {TASK} AS subject, CASE WHEN count(*) >= 20 THEN max(titre) END AS value FROM neutralisation "
        "GROUP BY source, assay",
        low=20,
        unit="reciprocal dilution",
        advice="The source gives logarithms: undo them, so that all titres have one unit.",
    ),
)
"""The checks of this module, in their order."""
