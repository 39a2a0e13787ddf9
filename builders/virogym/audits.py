"""What people are asked about ViroGym's rows: does a row say what the line says that it was made from?"""

from builders.virogym.schema import VARIANTS
from schemas import Audit, Show

_ROWS = f"""
WITH traced AS (
    SELECT id, min(source) AS source, string_agg(place, ', ' ORDER BY place) AS places
    FROM lineage WHERE table_name = 'variants' GROUP BY id)
SELECT
    id AS item_id,
    phenotype AS stratum,
    v.mutant || ' (' || kind || '), score ' || score || ', raw value ' || score_raw || ' ' || score_unit AS entry,
    assay_id || ': ' || a.protein || ' of ' || strain || ', ' || readout_detail AS assay,
    traced.source || ', ' || places || coalesce(': ' || url, '') AS place,
    score_raw, 'yes' AS answer
FROM traced
JOIN variants v ON id = {VARIANTS.row_id_sql("v")}
JOIN assays a USING (assay_id)
JOIN sources s ON s.name = traced.source
"""

_OTHER = f"""SELECT 'other ' || item_id AS item_id, replace(entry, 'raw value ' || score_raw, 'raw value '
        || round(2 * score_raw + 1, 4)) AS entry, assay, place, 'no' AS answer
    FROM ({_ROWS}) WHERE score_raw IS NOT NULL"""
"""Rows with another raw value than theirs."""

RECORDS = Audit(
    "records",
    "Look at the place in the source (`goldsmith explain` shows it): does the row say what is written there?",
    "choice",
    "variants",
    _ROWS,
    (Show("entry", title="The row"), Show("assay", title="Its assay"), Show("place", title="Where it came from")),
    labels=("yes", "no", "cannot tell"),
    gold_sql=_OTHER,
    golds=10,
    max_error=0.05,
    needs=("assays", "lineage", "sources"),
)
