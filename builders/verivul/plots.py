"""What VeriVul's report shows: yield, programs with their trace, pairs as diffs, metrics beside real code."""

from __future__ import annotations

from builders.verivul.distance_plot import DISTANCES
from schemas import Plot

_METRICS = ("loc", "decision_density", "max_nesting", "pointer_density", "subscript_density", "field_density",
            "identifier_ratio")  # fmt: skip
_VALUES = ", ".join(f"'{name}': metrics.{name}" for name in _METRICS)

_NUMBERED = """SELECT program_id, string_agg(
    CASE WHEN n = violating_line THEN '>' ELSE ' ' END || lpad(n::VARCHAR, 4, ' ') || '  ' || line, chr(10)
    ORDER BY n) AS text
FROM (SELECT program_id, violating_line, unnest(string_split(code, chr(10))) AS line,
    generate_subscripts(string_split(code, chr(10)), 1) AS n FROM programs WHERE label = 'vulnerable')
WHERE n BETWEEN violating_line - 12 AND violating_line + 5 GROUP BY program_id"""

_TRACE = """SELECT program_id, string_agg(lpad(step.line::VARCHAR, 4, ' ') || '  ' || step.variable || ' = '
    || step.value, chr(10) ORDER BY n) AS text
FROM (SELECT program_id, len(trace) AS size, unnest(trace) AS step, generate_subscripts(trace, 1) AS n FROM programs)
WHERE n > size - 16 GROUP BY program_id"""

PLOTS = (
    Plot(
        "yield", "Yield by stage and reason", "How the attempts at each repository's fixes ended; the last attempt of "
        "each function counts, a certified one wins.", "bar",
        "SELECT repository AS facet, outcome AS x, count(*) AS value FROM (SELECT repository, commit, function, "
        "coalesce(max(outcome) FILTER (outcome = 'certified'), arg_max(outcome, attempt_id)) AS outcome "
        "FROM attempts GROUP BY ALL) GROUP BY ALL ORDER BY value DESC, x",
        x_title="outcome", y_title="functions",
    ),
    Plot(
        "code_and_trace", "Violating line and trace", "The lines around the violation (marked >) and the last steps of "
        "the counterexample, each with its line.", "table",
        f"SELECT p.repository || ' ' || p.function AS program, p.property, 'CWE-' || p.cwe_primary AS cwe, "
        f"c.text AS code, "
        f"t.text AS trace, p.replay_kind AS sanitizer FROM programs p JOIN ({_NUMBERED}) c USING (program_id) "
        f"JOIN ({_TRACE}) t USING (program_id) ORDER BY program",
    ),
    Plot(
        "pairs", "Pairs as diffs", "From the vulnerable program to its safe twin: the fix and nothing else.", "table",
        "SELECT repository || ' ' || function AS pair, array_to_string(cve, ', ') AS cve, difference FROM pairs "
        "ORDER BY pair",
    ),
    Plot(
        "weaknesses", "Weaknesses", "Primary CWE of the vulnerable programs.", "bar",
        "SELECT 'CWE-' || cwe_primary AS x, count(*) AS value FROM pairs WHERE cwe_primary IS NOT NULL GROUP BY ALL "
        "ORDER BY value DESC, x", x_title="weakness", y_title="pairs",
    ),
    Plot(
        "metrics", "Structure beside real code", "Target functions of the programs, the real functions before their "
        "fix, and the template-made baseline: medians.", "table",
        f"SELECT metric, median(value) FILTER (sample = 'programs') AS programs, "
        f"median(value) FILTER (sample = 'real') AS real, median(value) FILTER (sample = 'baseline') AS baseline FROM "
        f"(SELECT sample, entry.key AS metric, entry.value AS value FROM (SELECT sample, "
        f"unnest(map_entries(pairs)) AS entry FROM (SELECT 'programs' AS sample, MAP {{{_VALUES}}} AS pairs "
        f"FROM programs UNION ALL "
        f"SELECT sample, MAP {{{_VALUES}}} FROM metrics_reference))) GROUP BY metric ORDER BY metric",
        needs=("metrics_reference",),
    ),
    DISTANCES,
    Plot(
        "lines", "Lines of code", "Of the target functions and of the code they are compared with.", "histogram",
        "SELECT 'programs' AS facet, metrics.loc AS value FROM programs UNION ALL "
        "SELECT sample, metrics.loc FROM metrics_reference", x_title="lines", needs=("metrics_reference",),
    ),
)  # fmt: skip
