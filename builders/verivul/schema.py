"""The tables of VeriVul."""

from __future__ import annotations

from builders.verivul.metrics import NAMES_OF_METRICS
from schemas import Bool, Column, Dataset, Float, Int, Json, List, Struct, Table, Text

METRICS = Struct({name: Float() for name in NAMES_OF_METRICS})
STEP = Struct({"line": Int(), "column": Int(), "function": Text(), "variable": Text(), "value": Text()})
INPUT = Struct({"type": Text(), "value": Text()})

_ID = r"[0-9a-f]{16}"
_OUTCOME = "`certified`, or why not"


def _origin(*, line: bool) -> tuple[Column, ...]:
    columns = (
        Column("repository", Text(), "Name of the repository's source."),
        Column("commit", Text(), "Id of the fixing commit; empty for Python pairs, which have none."),
        Column("cve", List(Text()), "CVEs that the fix names."),
        Column("function", Text(), "The changed function."),
    )
    extra = (
        Column("path", Text(), "Its file."),
        Column("date", Text(), "Day of the commit, ISO; empty if it is not known."),
        Column("licence", Text(), "Licence of the repository."),
    )
    return columns + (extra if line else ())


PROGRAMS = Table(
    "programs",
    "Self-contained programs with a label that a model checker gave.",
    (
        Column("program_id", Text(), "Names the program; says nothing of its label.", pattern=_ID),
        Column("pair_id", Text(), "The pair that it is half of.", pattern=_ID, references="pairs.pair_id"),
        Column("label", Text(), "What ESBMC found.", allowed=("vulnerable", "safe")),
        Column("basis", Text(), "`violated`: a counterexample; `proved`: k-induction or the forward condition, for any "
               "bound; `bounded`: all loops unrolled within the bound.", allowed=("violated", "proved", "bounded")),
        Column("code", Text(), "The program, one file.", minimum=1),
        Column("language", Text(), "Of the program.", allowed=("c", "python")),
        Column("esbmc_args", List(Text()), "Arguments of ESBMC, after the file, that give the label."),
        Column("proof_args", List(Text()), "Arguments of the second proof, by k-induction; empty if it does not end."),
        Column("proof", Text(), "How the second proof ended: `forward condition` or `inductive step`.", nullable=True),
        Column("bound", Int(), "Unrollings of each loop.", minimum=1),
        Column("profile", Text(), "Properties that are checked.", allowed=("mem", "memonly", "leak", "wrap", "python")),
        Column("esbmc_version", Text(), "Version of ESBMC."),
        Column("solver", Text(), "SMT solver and its version; empty where nothing was left to solve."),
        Column("cwe", List(Int()), "Weaknesses that ESBMC gives for the violated property: candidates."),
        Column("cwe_primary", Int(), "The one of them that fits best.", nullable=True),
        Column("property", Text(), "The violated property.", nullable=True),
        Column("guard", Text(), "The expression that is false there.", nullable=True),
        Column("violating_line", Int(), "Line at which it is violated, from 1.", nullable=True, minimum=1),
        Column("violating_statement", Text(), "That line's text.", nullable=True),
        Column("place", Text(), "Where it lies: at what the fix changes or guards, in its slice, or in a callee.",
               nullable=True, allowed=("criterion", "slice", "callee", "program")),
        Column("trace", List(STEP), "The counterexample: assignments in order; line 0 is the C library's model."),
        Column("inputs", List(INPUT), "What the program reads, in order, to get there."),
        Column("replay", Text(), "Second witness, gcc's sanitizers: `exact` inputs, `searched` near them, or none.",
               nullable=True, allowed=("exact", "searched", "none", "not_built")),
        Column("replay_kind", Text(), "What the sanitizer calls it.", nullable=True),
        Column("replay_line", Int(), "Where it sees it; 0 for nowhere.", nullable=True),
        Column("assumptions", List(Text()), "Everything that the harness assumes."),
        Column("repairs", List(Text()), "What was guessed or dropped to close the fragment."),
        Column("expander", Text(), "What made the program of the fragment.", allowed=("closer", "model", "python")),
        Column("mode", Text(), "What of the function is in it; `caller`: its slice, and that of a function calling it.",
               allowed=("slice", "whole", "caller", "model")),
        Column("renamed", Bool(), "Its names and the order of its functions are not those of the repository."),
        *_origin(line=True),
        Column("origin_lines", List(Int()), "For each line of the program its line in `path`; 0 for other lines."),
        Column("similarity", Float(), "Share of the original function's token 5-grams that are in the program.",
               minimum=0, maximum=1),
        Column("metrics", METRICS, "Of the target function and its callees; none for Python.", nullable=True),
        Column("program_metrics", METRICS, "Of the whole file, with types, stubs and harness.", nullable=True),
    ),
    ("program_id",),
    splits=("test",),
)  # fmt: skip

PAIRS = Table(
    "pairs",
    "A vulnerable program and its safe twin, which differ in the fix alone.",
    (
        Column("pair_id", Text(), "Names the pair.", pattern=_ID),
        Column("vulnerable_id", Text(), "Its vulnerable program.", references="programs.program_id"),
        Column("safe_id", Text(), "Its safe program.", references="programs.program_id"),
        *_origin(line=False),
        Column("cwe_primary", Int(), "Of the violation.", nullable=True),
        Column("profile", Text(), "Which properties are checked."),
        Column("replay", Text(), "Second witness of the vulnerable one.", nullable=True),
        Column("probes", Int(), "Probes against vacuity put into the safe program.", minimum=0),
        Column("probes_reached", Int(), "Those that are reachable.", minimum=1),
        Column("difference", Text(), "From the vulnerable to the safe program, as a unified diff.", minimum=1),
        Column("fix_lines", List(Int()), "Lines of the vulnerable program that the safe one lacks, or the line before "
               "what it adds."),
        Column("group", Text(), "Pairs of one group share a CVE and must stay in one split."),
    ),
    ("pair_id",),
    splits=("test",),
)  # fmt: skip

ATTEMPTS = Table(
    "attempts",
    "Every attempt to certify a fix, and what came of it.",
    (
        Column("attempt_id", Text(), "Repository, commit and number."),
        *_origin(line=False),
        Column("expander", Text(), "What made the program.", allowed=("closer", "model", "python")),
        Column("mode", Text(), "`slice`, `whole` or `model`; empty before there is a program."),
        Column("setup", Int(), "Number of the setup in the ladder."),
        Column("round", Int(), "How often its assumptions were narrowed."),
        Column("profile", Text(), "Which properties were checked; empty before there is a program."),
        Column("before", Text(), "ESBMC on the program before the fix; empty if it did not run."),
        Column("after", Text(), "ESBMC on the program after the fix; empty if it did not run."),
        Column("outcome", Text(), f"{_OUTCOME}.", minimum=1),
        Column("message", Text(), "More about it."),
        Column("assumptions", List(Text()), "What the harness assumed."),
    ),
    ("attempt_id",),
    splits=("test",),
)

REFERENCE = Table(
    "metrics_reference",
    "Code that the programs are compared with, measured the same way.",
    (
        Column("reference_id", Text(), "Names the piece of code."),
        Column("sample", Text(), "`real`: changed functions as they stand before their fix; `baseline`: small programs "
               "from templates, as earlier synthetic sets have them.", allowed=("real", "baseline")),
        Column("metrics", METRICS, "Of the function or, for the baseline, of the program's functions."),
        Column("details", Json(), "Where it is from."),
    ),
    ("reference_id",),
    splits=("test",),
)  # fmt: skip

SCHEMA = Dataset(
    "verivul",
    "VeriVul: verified vulnerable programs and their verified twins",
    "Vulnerable C programs made from CVE-fixing commits, each with the counterexample that a bounded model checker "
    "found, and each with a twin that the same checker, harness and bound find safe. Labels are results of "
    "verification, not of annotation; every program can be verified again from its row.",
    (PROGRAMS, PAIRS, ATTEMPTS, REFERENCE),
    tags=("vulnerability-detection", "formal-verification", "code", "esbmc"),
)
