"""What VIGOR asks of groundings that it proposed: their evidence, the audit of their level, and the back-test."""

from __future__ import annotations

from schemas import Check, Figure

_EVIDENCE = Check(
    "generated_without_evidence",
    "A generated grounding has its method, votes, reason and policy, and an accepted one its score.",
    "block",
    "groundings",
    "SELECT grounding_id AS id, 'evidence is missing' AS message FROM groundings WHERE origin = 'generated'"
    " AND (method IS NULL OR votes IS NULL OR why IS NULL OR policy IS NULL OR (status = 'accepted' AND score IS"
    " NULL))",
)
_ABSTAINED = Check(
    "undecided_counts_as_truth",
    "What was abstained from or rejected is unknown: neither positive nor negative.",
    "block",
    "groundings",
    "SELECT grounding_id AS id, status || ' but ' || truth AS message FROM groundings"
    " WHERE status IN ('abstained', 'rejected') AND truth <> 'unknown'",
)
_UNRELEASED = Check(
    "level_without_audit",
    "Generated groundings are of a level whose audit shows its target.",
    "drop",
    "groundings",
    "SELECT grounding_id AS id, format('{}: {} of {} audited are wrong, bound {:.3f}, target {}', level, errors,"
    " audited,"
    " bound, target) AS message FROM groundings JOIN levels USING (level) WHERE status = 'accepted' AND NOT released",
    needs=("levels",),
    advice="Draw a fresh sample (python -P -m builders.vigor.audit draw), judge it, and build with it.",
)
_UNRELEASED_GALLERY = Check(
    "picture_of_a_level_without_audit",
    "Overlays of accepted groundings are of a level whose audit shows its target.",
    "drop",
    "gallery",
    "SELECT grounding_id AS id, level AS message FROM gallery JOIN levels USING (level) WHERE status ="
    " 'accepted' AND NOT released",
    needs=("levels",),
)
_AUDIT_PICTURES = Check(
    "two_audited_in_one_picture",
    "An audit holds at most one item of a picture: items of a picture err together.",
    "block",
    "audits",
    "SELECT audit_id AS id, image_id || ' has another audited item' AS message FROM audits"
    " JOIN (SELECT grounding_id, image_id FROM groundings) USING (grounding_id)"
    " QUALIFY row_number() OVER (PARTITION BY audits.level, round, image_id ORDER BY audit_id) > 1",
    needs=("groundings",),
)
_AUDIT_STRAYS = Check(
    "audited_but_not_accepted",
    "An audited item is an accepted grounding of this dataset.",
    "block",
    "audits",
    "SELECT audit_id AS id, 'no accepted grounding of this level is called so' AS message FROM audits"
    " JOIN levels USING (level) ANTI JOIN (SELECT grounding_id, level FROM groundings WHERE status = 'accepted') g"
    " ON g.grounding_id = audits.grounding_id AND g.level = audits.level WHERE levels.accepted > 0",
    needs=("groundings", "levels"),
    advice="It was drawn from another build: an audit speaks only of the items it was drawn from.",
)
_BOUND = Figure(
    "audit_bound",
    "Lower bound on the precision of a level's generated groundings.",
    "warn",
    "levels",
    "SELECT level AS subject, bound AS value, target AS low, format('{} wrong of {}', errors, audited) AS message"
    " FROM levels WHERE accepted > 0",
)
_PRECISION = Figure(
    "backtest_precision",
    "Share of accepted groundings that are right where the truth was hidden.",
    "info",
    "backtests",
    "SELECT level || ', ' || method AS subject, sum(correct) / sum(accepted) AS value FROM backtests GROUP BY"
    " level, method"
    " HAVING sum(accepted) > 0 ORDER BY ALL",
)
_COVERAGE = Figure(
    "backtest_coverage",
    "Share of hidden groundings that were found and accepted.",
    "info",
    "backtests",
    "SELECT level || ', ' || method AS subject, sum(correct) / sum(truths) AS value FROM backtests GROUP BY"
    " level, method"
    " HAVING sum(truths) > 0 ORDER BY ALL",
)
_OVERLAP = Figure(
    "backtest_mean_iou",
    "Mean IoU of the proposals with the regions that were hidden.",
    "info",
    "backtests",
    "SELECT level || ', ' || method AS subject, round(sum(iou_sum) / sum(proposed), 6) AS value FROM backtests"
    " WHERE iou_sum IS NOT NULL GROUP BY level, method HAVING sum(proposed) > 0 ORDER BY ALL",
)
_SHARE = Figure(
    "generated_share",
    "Share of a level's present groundings that was generated.",
    "info",
    "levels",
    "SELECT level AS subject, generated_share AS value FROM levels",
)

GENERATED = (
    _EVIDENCE,
    _ABSTAINED,
    _UNRELEASED,
    _UNRELEASED_GALLERY,
    _AUDIT_PICTURES,
    _AUDIT_STRAYS,
    _BOUND,
    _PRECISION,
    _COVERAGE,
    _OVERLAP,
    _SHARE,
)
