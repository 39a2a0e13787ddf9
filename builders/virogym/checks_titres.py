"""C15 and C17 to C24, for the tables of neutralisation: is a titre's limit known, whose is it, and may it be passed on?

A censored titre equals its `limit`: all that is known is that the true one is not above (`left`) or not below
(`right`) it.
"""

from builders.virogym.checks_tasks import origin_checks
from builders.virogym.residues import AMINO_ACIDS
from builders.virogym.schema_titres import NEUTRALISATION, SERA, TITRE_TASKS, VIRUSES
from schemas import Check, Figure

ID = NEUTRALISATION.row_id_sql()

_MEASURED = f"""
WITH measured AS (
    SELECT {ID} AS id, task_id, assay, unnest(coalesce(replicates,
        [CASE censor WHEN 'left' THEN '<' WHEN 'right' THEN '>' ELSE '' END || titre])) AS text
    FROM neutralisation
), number AS (
    SELECT *, left(text, 1) AS sign, TRY_CAST(ltrim(text, '<>') AS DOUBLE) AS titre FROM measured
)"""

_PILE = f"""{_MEASURED}, level AS (
    SELECT task_id, titre, count(*) AS n, row_number() OVER (PARTITION BY task_id ORDER BY titre) AS up,
        row_number() OVER (PARTITION BY task_id ORDER BY titre DESC) AS down
    FROM number WHERE sign NOT IN ('<', '>') GROUP BY task_id, titre
), ends AS (
    SELECT task_id, 'lowest' AS place, arg_min(titre, up) AS titre, sum(n) FILTER (up = 1) AS n,
        sum(n) FILTER (up = 2) AS next FROM level GROUP BY task_id
    UNION ALL
    SELECT task_id, 'highest', arg_min(titre, down), sum(n) FILTER (down = 1), sum(n) FILTER (down = 2)
    FROM level GROUP BY task_id
)
SELECT task_id || ' ' || place AS subject, CASE WHEN n >= 10 THEN n / coalesce(next, 1) END AS value,
    n || ' titres are ' || titre || ' without a censoring flag' AS message
FROM ends
"""
# Real titres thin out towards their ends, on a two-fold series too; more than twice the neighbour's is a hidden limit.

_SPREAD = f"""{_MEASURED}
SELECT id, format('titres from {{}} to {{}}', low, high) AS message FROM (
    SELECT id, min(titre) FILTER (sign <> '>') AS low, max(titre) FILTER (sign <> '<') AS high FROM number GROUP BY id
) WHERE high >= 4 * low
"""

_TWO_FOLD = f"""{_MEASURED}
SELECT DISTINCT id, 'titre ' || text || ' is not on the two-fold series' AS message FROM number
WHERE assay = 'hi' AND (titre IS NULL OR abs(log2(titre / 10) - round(log2(titre / 10))) > 1e-6)
"""

_NAMES = f"""
SELECT {VIRUSES.row_id_sql()} AS id, CASE
    WHEN canonical_name IS NULL OR canonical_name <> trim(canonical_name) THEN 'no name, or blanks around it'
    WHEN regexp_matches(canonical_name, '/0[0-9]+/') THEN 'a number with leading zeros'
    WHEN regexp_matches(canonical_name, '_H[0-9]+N[0-9]+') THEN 'a subtype in the name'
    WHEN regexp_matches(canonical_name, '_(EPI_?ISL_?[0-9]+|[A-Z]{{2}}[0-9]{{6}})') THEN 'an accession in the name'
    WHEN regexp_matches(lower(canonical_name), '[-_](egg|cell)$') THEN 'the passage in the name'
    ELSE n || ' strains have this name, passage and span' END || ': ' || coalesce(canonical_name, 'null') AS message
FROM (SELECT *, count(*) OVER (PARTITION BY canonical_name, passage, reassortant, span, subtype) AS n FROM viruses)
WHERE n > 1 OR canonical_name IS NULL OR canonical_name <> trim(canonical_name)
    OR regexp_matches(canonical_name, '/0[0-9]+/|_H[0-9]+N[0-9]+|_(EPI_?ISL_?[0-9]+|[A-Z]{{2}}[0-9]{{6}})')
    OR regexp_matches(lower(canonical_name), '[-_](egg|cell)$')
"""

_LOG2 = f"""
WITH home AS (
    SELECT task_id, serum_id, strain_id AS homologous_strain_id,
        max(log2_titre) FILTER (censor = 'none') AS home_titre
    FROM neutralisation GROUP BY ALL
)
SELECT {ID} AS id, CASE WHEN abs(log2_titre - log2(titre)) > 1e-6
    THEN format('log2_titre is {{}}, titre is {{}}', log2_titre, titre)
    ELSE format('log2_drop is {{}}, not {{}}', log2_drop, home_titre - log2_titre) END AS message
FROM neutralisation LEFT JOIN home USING (task_id, serum_id, homologous_strain_id)
WHERE abs(log2_titre - log2(titre)) > 1e-6 OR (log2_drop IS NULL) <> (home_titre IS NULL)
    OR abs(log2_drop - (home_titre - log2_titre)) > 1e-6
"""

_SAME = f"""
WITH vector AS (
    SELECT task_id, serum_id, count(*) AS n,
        hash(list(concat_ws(' ', canonical_name, passage, reassortant, titre, censor) ORDER BY ALL)) AS digest
    FROM neutralisation JOIN viruses USING (strain_id) GROUP BY task_id, serum_id HAVING count(*) >= 10
)
SELECT {SERA.row_id_sql()} AS id, 'all ' || n || ' titres are those of ' || other AS message FROM (
    SELECT a.serum_id, a.n, min(b.serum_id) AS other FROM vector AS a JOIN vector AS b
    ON a.digest = b.digest AND a.task_id > b.task_id GROUP BY ALL)
"""

TITRE_CHECKS = (
    Check(
        "C15_titres",
        "No serum has the same titres against the same strains in two tasks.",
        "block",
        "sera",
        _SAME,
        needs=("viruses", "neutralisation"),
        advice="One measurement from two files counts twice: register one of them.",
    ),
    Check(
        "C17_censoring",
        "A censored titre has its limit and equals it; an uncensored one has none.",
        "block",
        "neutralisation",
        f"""SELECT {ID} AS id, 'censor ' || coalesce(censor, 'null') || ', titre ' || titre || ', limit '
                || coalesce("limit"::VARCHAR, 'null') AS message
            FROM neutralisation WHERE censor IS NULL OR censor NOT IN ('left', 'right', 'none')
                OR (censor <> 'none' AND ("limit" IS NULL OR titre <> "limit"))
                OR (censor = 'none' AND "limit" IS NOT NULL)""",
        advice="Read `<40` and `>5120` as censored at 40 and 5120, and the column titer_bound as the flag.",
    ),
    Check(
        "C17_detection",
        "No titre beyond what the assay can tell is taken as measured.",
        "block",
        "neutralisation",
        f"""SELECT {NEUTRALISATION.row_id_sql("n")} AS id,
                format('titre {{}} without a flag, the assay tells {{}} to {{}}', titre, detection_low, detection_high)
                    AS message
            FROM neutralisation AS n JOIN titre_tasks USING (task_id)
            WHERE censor = 'none' AND (titre < detection_low OR titre > detection_high)""",
        needs=("titre_tasks",),
        advice="A titre below the first dilution is an extrapolation: flag it, or correct the limits of the entry.",
    ),
    Figure(
        "C17_pile_up",
        "Uncensored titres at the lowest and the highest level, as a multiple of those at the level beside it.",
        "block",
        "neutralisation",
        _PILE,
        high=2.0,
        unit="times",
        advice="The values at the limit of detection have lost their flag: set detection_low and detection_high.",
    ),
    Check(
        "C17_two_fold",
        "Measured haemagglutination inhibition titres are 10 times a power of two.",
        "warn",
        "neutralisation",
        _TWO_FOLD,
        advice="A mean of repeated titres or a slip of the pen in the source.",
    ),
    Check(
        "C18_once",
        "A serum has one row for a strain in a task: repeats are put together.",
        "block",
        "neutralisation",
        f"""SELECT {ID} AS id, n || ' rows' || CASE WHEN low = high THEN ', all the same'
                ELSE ', titres from ' || low || ' to ' || high END AS message
            FROM (SELECT task_id, serum_id, strain_id, count(*) AS n, min(titre) AS low, max(titre) AS high
                FROM neutralisation GROUP BY ALL HAVING count(*) > 1)""",
        advice="Drop exact copies, and put repeated measurements together with n_rep and sem.",
    ),
    Figure(
        "C18_copies",
        "Records of a task's source that equal an earlier one in every column; they are rejects.",
        "info",
        "titre_tasks",
        """SELECT task_id AS subject, coalesce((n_dropped_by_reason::JSON::MAP(VARCHAR, BIGINT))['copy'], 0) AS value
            FROM titre_tasks""",
        unit="records",
        advice="A table that was put together from reports has some of them twice.",
    ),
    Figure(
        "C18_repeats",
        "The most measurements of one serum against one strain.",
        "info",
        "neutralisation",
        "SELECT task_id AS subject, max(n_rep) AS value FROM neutralisation GROUP BY task_id",
        unit="measurements",
    ),
    Check(
        "C18_spread",
        "Repeated titres of one serum against one strain lie within four-fold.",
        "warn",
        "neutralisation",
        _SPREAD,
        advice="Repeats that differ so much are often two sera or two strains under one name.",
    ),
    Check(
        "C19_strain",
        "Strains that were measured or compared with are in viruses, with a sequence where the task needs one.",
        "block",
        "neutralisation",
        f"""SELECT {NEUTRALISATION.row_id_sql("n")} AS id, CASE
                WHEN v.strain_id IS NULL THEN 'strain ' || n.strain_id || ' is not in viruses'
                WHEN homologous_strain_id IS NOT NULL AND h.strain_id IS NULL
                    THEN 'homologous strain ' || homologous_strain_id || ' is not in viruses'
                ELSE 'a strain has no sequence' END AS message
            FROM neutralisation AS n LEFT JOIN viruses AS v USING (strain_id)
            LEFT JOIN viruses AS h ON homologous_strain_id = h.strain_id LEFT JOIN titre_tasks AS t USING (task_id)
            WHERE v.strain_id IS NULL OR (homologous_strain_id IS NOT NULL AND h.strain_id IS NULL)
                OR (t.sequences = 'required' AND (coalesce(v.sequence, '') = ''
                    OR (homologous_strain_id IS NOT NULL AND coalesce(h.sequence, '') = '')))""",
        needs=("viruses", "titre_tasks"),
        advice="Names do not join between tables: add the spelling to the list's aliases, or reject the row.",
    ),
    Figure(
        "C19_sequenced",
        "Share of a task's strains that have a sequence.",
        "warn",
        "neutralisation",
        """SELECT task_id AS subject, count(sequence) / count(*) AS value, format('{} of {} strains have no sequence',
                count(*) - count(sequence), count(*)) AS message
            FROM (SELECT DISTINCT task_id, strain_id FROM neutralisation) JOIN viruses USING (strain_id)
            GROUP BY task_id""",
        low=1.0,
        unit="share",
        needs=("viruses",),
        advice="Models of sequences cannot be scored on the others: give the sequences with --source.",
    ),
    Check(
        "C19_sequence",
        "A strain's sequence is made of the 20 amino acids.",
        "block",
        "viruses",
        f"""SELECT {VIRUSES.row_id_sql()} AS id,
                'it holds ' || translate(sequence, '{AMINO_ACIDS}', '') AS message
            FROM viruses WHERE translate(sequence, '{AMINO_ACIDS}', '') <> ''""",
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
        """SELECT task_id AS subject, count(DISTINCT v.span) + count(DISTINCT v.span) FILTER (v.span <> t.span) AS value
            FROM neutralisation JOIN viruses AS v USING (strain_id) JOIN titre_tasks AS t USING (task_id)
            GROUP BY task_id""",
        high=1,
        unit="spans",
        needs=("viruses", "titre_tasks"),
        advice="Cut all sequences of a task to the same span: else their distance measures the length.",
    ),
    Check(
        "C20_log2",
        "log2_titre is the logarithm of titre, and log2_drop what it is below the homologous one, where that is known.",
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
        "SELECT task_id AS subject, CASE WHEN count(*) >= 20 THEN max(titre) END AS value FROM neutralisation "
        "GROUP BY task_id",
        low=20,
        unit="reciprocal dilution",
        advice="The source gives logarithms: undo them, so that all titres have one unit.",
    ),
    Check(
        "C23_donor",
        "No serum's name tells of its donor: no birth year, age, sex or date.",
        "block",
        "sera",
        f"""SELECT {SERA.row_id_sql()} AS id, 'the name may tell a birth year, an age, a sex or a date' AS message
            FROM sera WHERE regexp_matches(serum_id, '(?i)(^|[_|. -])(y|yob|born|age|aged)[_-]?[0-9]{{1,4}}([_|. -]|$)')
                OR regexp_matches(serum_id, '(?i)(^|[_|. -])(male|female|m|f)([_|. -]|$)')
                OR regexp_matches(serum_id, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}')""",
        advice="Take it out of the names with `serum_drop`.",
    ),
    *origin_checks("titre", TITRE_TASKS),
    Check(
        "C24_titre_account",
        "Records in = rows out + records merged + records dropped, for each titre task, and its rows are there.",
        "block",
        "titre_tasks",
        """WITH told AS (
                SELECT task_id, n_rows_in, n_rows_out, coalesce(list_sum(map_values(
                    n_dropped_by_reason::JSON::MAP(VARCHAR, BIGINT))), 0)::BIGINT AS dropped FROM titre_tasks
            ), present AS (
                SELECT task_id, count(*) AS n FROM neutralisation GROUP BY task_id
            )
            SELECT task_id AS id, format('{} records in, {} rows ({} in the table) and {} dropped or merged', n_rows_in,
                n_rows_out, coalesce(n, 0), dropped) AS message
            FROM told LEFT JOIN present USING (task_id)
            WHERE n_rows_in <> n_rows_out + dropped OR coalesce(n, 0) > n_rows_out""",
        needs=("neutralisation",),
        advice="Rows were lost or counted twice between the source and the table: build again, and report it.",
    ),
)
"""The checks of this module, in their order."""
