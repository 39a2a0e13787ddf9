"""Views that ViroGym's checks and plots share; each mutant is taken apart once.

`edits` has one row an edit: `A12V` and the rest of the single letters by position (fast), deletions, insertions and
multi-mutants by a regular expression. An edit that cannot be read has a null `pos` or `op`.
"""

from builders.virogym.schema import AMINO_ACIDS
from builders.virogym.substitution import BLOSUM62_SQL
from schemas import View

_ASSAY_FACTS = """
WITH entered AS (SELECT DISTINCT reference_id FROM assays WHERE phenotype = 'cell_entry')
SELECT a.*, r.sequence, r.cluster_30, phenotype <> 'cell_entry' AND e.reference_id IS NOT NULL AS after_entry,
    direction <> 0 AND NOT (phenotype IN ('binding', 'stability') AND after_entry) AS fitness
FROM assays AS a LEFT JOIN entered AS e USING (reference_id) LEFT JOIN "references" AS r USING (reference_id)
"""
# `after_entry`: measured on viruses that entered cells, so it lacks the variants that do not enter.
# `fitness`: a broken protein scores low. Not so for binding and stability of viruses that had to enter first.

_EDITS = f"""
WITH short AS (
    SELECT assay_id, variant_id, kind, n_mut, score, split_modulo, split_contiguous, mutant, ref_site,
        TRY_CAST(substr(mutant, 2, length(mutant) - 2) AS INTEGER) AS pos
    FROM variants
), other AS (
    SELECT * EXCLUDE (mutant, pos), unnest(string_split(mutant, ':')) AS edit,
        generate_subscripts(string_split(mutant, ':'), 1)::INTEGER AS ordinal
    FROM short WHERE pos IS NULL
), parsed AS (
    SELECT *, regexp_extract(edit, '^([A-Z*])([0-9]+)(?:_([A-Z*])([0-9]+))?(del|ins|delins)?([A-Z*]*)$',
        ['wt', 'pos', 'wt2', 'pos2', 'op', 'mt']) AS part
    FROM other
), placed AS (
    SELECT *, ordinal + coalesce(sum((part.wt2 <> '')::INTEGER) OVER before, 0)::INTEGER AS place
    FROM parsed
    WINDOW before AS (PARTITION BY assay_id, variant_id ORDER BY ordinal ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW)
), edit AS (
    SELECT assay_id, variant_id, kind, n_mut, score, split_modulo, split_contiguous, 1 AS ordinal, 'sub' AS op,
        pos, pos AS pos2, left(mutant, 1) AS wt, NULL::VARCHAR AS wt2, right(mutant, 1) AS mt,
        ref_site[1] AS site, NULL::VARCHAR AS site2
    FROM short WHERE pos IS NOT NULL
    UNION ALL
    SELECT assay_id, variant_id, kind, n_mut, score, split_modulo, split_contiguous, ordinal,
        CASE WHEN part.op = '' AND length(part.mt) = 1 AND part.wt2 = '' THEN 'sub' ELSE nullif(part.op, '') END,
        TRY_CAST(part.pos AS INTEGER), coalesce(TRY_CAST(part.pos2 AS INTEGER), TRY_CAST(part.pos AS INTEGER)),
        part.wt, nullif(part.wt2, ''), part.mt, ref_site[place], CASE WHEN part.wt2 <> '' THEN ref_site[place + 1] END
    FROM placed
)
SELECT edit.*, reference_id, coalesce(wt = substr(sequence, pos, 1)
        AND (wt2 IS NULL OR wt2 = substr(sequence, pos2, 1)), false) AS fits,
    kind = 'sub' AND n_mut = 1 AND op = 'sub' AND isfinite(score) AND wt <> mt
        AND contains('{AMINO_ACIDS}', wt) AND contains('{AMINO_ACIDS}', mt) AS is_missense
FROM edit LEFT JOIN assay_facts USING (assay_id)
"""
# Where `op` is `sub`, wt and mt are one letter each: `contains` asks which, in a third of the time of `IN`.

_MISSENSE = "SELECT assay_id, variant_id, reference_id, pos, wt, mt, score FROM edits WHERE is_missense"

_REPEATS = """
WITH suspect AS (
    SELECT hash(assay_id, variant_id) AS key FROM variants GROUP BY key HAVING count(*) > 1
)
SELECT assay_id, variant_id, count(*) AS n, max(score) - min(score) AS spread
FROM variants WHERE hash(assay_id, variant_id) IN (FROM suspect) GROUP BY assay_id, variant_id HAVING count(*) > 1
"""
# Numbers are grouped in half the time that texts take; the few equal hashes are looked at again.

_COUNTS = """
SELECT assay_id, kind, split_cluster, count(*) AS n, count(n_obs) AS n_counted, count(*) FILTER (n_obs < 2) AS n_thin,
    min(n_obs) AS least
FROM variants GROUP BY ALL
"""

_ENTRY = """
SELECT reference_id, variant_id, pos, ntile(5) OVER (PARTITION BY reference_id ORDER BY score, variant_id) AS quintile
FROM missense WHERE assay_id IN (SELECT min(assay_id) FROM assays WHERE phenotype = 'cell_entry' GROUP BY reference_id)
    AND reference_id IN (SELECT reference_id FROM assay_facts WHERE after_entry)
"""

_AFTER_ENTRY = """
SELECT a.assay_id, e.pos, quintile, count(*) AS expected, count(m.variant_id) AS measured
FROM assay_facts AS a JOIN entry AS e USING (reference_id)
LEFT JOIN missense AS m ON m.assay_id = a.assay_id AND m.variant_id = e.variant_id
WHERE a.after_entry GROUP BY ALL
"""

_LIKENESS = """
WITH matched AS (
    SELECT assay_id, score, mt, similarity FROM missense JOIN blosum62 USING (wt, mt)
    WHERE assay_id IN (SELECT assay_id FROM assay_facts WHERE fitness)
), ranked AS (
    SELECT *, (rank() OVER by_score + count(*) OVER by_score) / 2.0 AS score_rank
    FROM matched WINDOW by_score AS (PARTITION BY assay_id ORDER BY score)
), steps AS (
    SELECT assay_id, similarity, sum(count(*)) OVER steps - (count(*) - 1) / 2.0 AS similarity_rank
    FROM matched GROUP BY assay_id, similarity WINDOW steps AS (PARTITION BY assay_id ORDER BY similarity)
)
SELECT assay_id, count(*) AS n, round(corr(score_rank, similarity_rank), 12) AS rho,
    median(score) FILTER (mt = 'P') - median(score) AS proline
FROM ranked JOIN steps USING (assay_id, similarity) GROUP BY assay_id
"""
# Spearman's rho is Pearson's of mid-ranks. `count(*) OVER` an ordered window counts the rows up to and with the ties.

VIEWS = (
    View("blosum62", BLOSUM62_SQL, materialise=True),
    View("assay_facts", _ASSAY_FACTS, materialise=True, needs=("assays", "references")),
    View("edits", _EDITS, materialise=True, needs=("variants", "assay_facts")),
    View("missense", _MISSENSE, needs=("edits",)),
    View("repeats", _REPEATS, materialise=True, needs=("variants",)),
    View("counts", _COUNTS, materialise=True, needs=("variants",)),
    View("entry", _ENTRY, materialise=True, needs=("missense", "assays", "assay_facts")),
    View("measured_after_entry", _AFTER_ENTRY, materialise=True, needs=("assay_facts", "entry", "missense")),
    View("likeness", _LIKENESS, materialise=True, needs=("missense", "blosum62", "assay_facts")),
)
"""In the order they are made.

* `assay_facts`: assays, with `sequence`, `cluster_30`, `after_entry` and `fitness`;
* `edits`: assay_id, variant_id, kind, n_mut, score, split_modulo, split_contiguous, ordinal, op (`sub`, `del`, `ins`,
  `delins`), pos, pos2, wt, wt2, mt (the new residues), site, site2 (the field's own), reference_id, fits (wt and wt2
  are the reference's residues there), is_missense (see `missense`);
* `missense`: single substitutions with a score (assay_id, variant_id, reference_id, pos, wt, mt, score);
* `repeats`: variants that an assay has twice (assay_id, variant_id, n, spread of scores);
* `counts`: assay_id, kind, split_cluster, n, n_counted (with `n_obs`), n_thin (seen less than twice), least (`n_obs`);
* `entry`: reference_id, variant_id, pos, quintile in the reference's first cell entry assay (1: hardly enters);
* `measured_after_entry`: assay_id, pos, quintile, expected (substitutions of the entry assay), measured (those with a
  value here);
* `likeness`: of assays with `fitness`: assay_id, n, rho (score against BLOSUM62), proline (median score of prolines
  less that of all).
"""
