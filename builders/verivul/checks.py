"""What must hold in VeriVul beside the shared checks, and what its report shows."""

from __future__ import annotations

from builders.verivul.audits import AUDITS
from builders.verivul.plots import PLOTS
from schemas import Alike, Check, CheckSet, Figure

CHECKS = CheckSet(
    checks=(
        Check(
            "pair_labels", "Each pair has one vulnerable and one safe program.", "block", "pairs",
            "SELECT p.pair_id AS id, 'labels: ' || coalesce(string_agg(q.label, ', '), 'none') AS message FROM pairs p "
            "LEFT JOIN programs q USING (pair_id) GROUP BY p.pair_id "
            "HAVING count(*) <> 2 OR count(*) FILTER (q.label = 'safe') <> 1",
            needs=("programs",),
        ),
        Check(
            "label_basis", "A vulnerable program was violated, a safe one proved or bounded.", "block", "programs",
            "SELECT program_id AS id, label || ' by ' || basis AS message FROM programs "
            "WHERE (label = 'vulnerable') <> (basis = 'violated')",
        ),
        Check(
            "same_terms", "Both programs of a pair were checked for the same properties within the same bound, under "
            "the same assumptions; for the vulnerable one ESBMC may cut loops, and show more of what it finds.",
            "block", "pairs",
            "SELECT pair_id AS id FROM programs GROUP BY pair_id HAVING count(DISTINCT list_filter(esbmc_args, "
            "lambda x: x NOT IN ('--no-unwinding-assertions', '--multi-property', '--no-slice'))) > 1 "
            "OR count(DISTINCT assumptions) > 1 "
            "OR bool_or(label = 'safe' AND list_contains(esbmc_args, '--no-unwinding-assertions'))",
            needs=("programs",),
        ),
        Check(
            "violating_line", "The violating line is a line of the program and has the text that is given.", "block",
            "programs",
            "SELECT program_id AS id, violating_statement AS message FROM programs WHERE label = 'vulnerable' AND "
            "(violating_line IS NULL OR trim(string_split(code, chr(10))[violating_line], chr(9) || chr(32)) "
            "<> trim(violating_statement, chr(9) || chr(32)))",
        ),
        Check(
            "has_trace", "A vulnerable program has the counterexample that shows it.", "block", "programs",
            "SELECT program_id AS id FROM programs WHERE label = 'vulnerable' AND len(trace) = 0",
        ),
        Check(
            "safe_is_silent", "A safe program tells nothing of its twin's violation.", "block", "programs",
            "SELECT program_id AS id FROM programs WHERE label = 'safe' AND "
            "(len(cwe) > 0 OR violating_line IS NOT NULL OR len(trace) > 0)",
        ),
        Check(
            "reachable", "What was violated can be reached in the safe program.", "block", "pairs",
            "SELECT pair_id AS id FROM pairs WHERE probes_reached < 1",
        ),
        Check(
            "certified_is_attempt", "Each pair stands among the attempts as certified.", "block", "pairs",
            "SELECT pair_id AS id FROM pairs p WHERE NOT EXISTS (SELECT 1 FROM attempts a "
            "WHERE a.outcome = 'certified' AND a.repository = p.repository AND a.commit = p.commit "
            "AND a.function = p.function)",
            needs=("attempts",),
        ),
        Check(
            "no_leak_in_text", "No comment or name in a program tells its label.", "block", "programs",
            "SELECT program_id AS id, regexp_extract(code, '(?i)(CVE-[0-9]{4}-|vulnerab)') AS message FROM programs "
            "WHERE regexp_matches(code, '(?i)(CVE-[0-9]{4}-|vulnerab|\\bbad\\(|\\bgood\\()')",
            advice="Rename or leave the program out.",
        ),
        Check(
            "repeated", "No two pairs are the same programs: a fix that was made on two branches counts once.", "warn",
            "pairs",
            "SELECT pair_id AS id, 'the same as ' || first AS message FROM (SELECT p.pair_id, min(p.pair_id) OVER "
            "(PARTITION BY v.code, s.code) AS first FROM pairs p JOIN programs v ON v.program_id = p.vulnerable_id "
            "JOIN programs s ON s.program_id = p.safe_id) WHERE pair_id <> first",
            needs=("programs",), advice="Take one of the two commits out of commits.toml.",
        ),
        Alike(
            "nearly_same_program", "No program of a pair is nearly one of another pair, names and comments apart.",
            "programs", "code", "code", apart="pair_id",
            advice="Two fixes of the same function, or a fix that was taken over into another branch: group the pairs.",
        ),
        Check(
            "replay_disagrees", "A vulnerable program fails under the sanitizers, too.", "info", "programs",
            "SELECT program_id AS id, replay || ': ' || coalesce(property, '') AS message FROM programs "
            "WHERE label = 'vulnerable' AND replay NOT IN ('exact', 'searched')",
            advice="One witness less: ESBMC alone says it.",
        ),
        Figure(
            "pairs_certified", "Certified pairs.", "info", "pairs",
            "SELECT repository AS subject, count(*) AS value FROM pairs GROUP BY repository",
        ),
        Figure(
            "yield", "Share of fixes with a certified pair.", "info", "attempts",
            "SELECT repository AS subject, count(DISTINCT commit) FILTER (outcome = 'certified') "
            "/ count(DISTINCT commit) AS value FROM attempts GROUP BY repository",
        ),
        Figure(
            "memorised", "Median share of the original function's 5-grams in its programs.", "info", "programs",
            "SELECT repository AS subject, median(similarity) AS value FROM programs GROUP BY repository",
        ),
    ),
    plots=PLOTS,
    audits=AUDITS,
)  # fmt: skip
