"""The certifier on the bundled sample: what is certified, and what must not be."""

from __future__ import annotations

import pytest

from builders.api import Batch
from builders.verivul import commits, esbmc, fixes, rename, replay, rows, trace
from builders.verivul.assumptions import Setup
from builders.verivul.certify import Certifier
from builders.verivul.closer import Closed
from builders.verivul.facts import Facts
from builders.verivul.outcome import Budget, Scope
from builders.verivul.program import Owner, Program, Writer
from schemas import GoldsmithError


@pytest.fixture(scope="module")
def grid(repository, fixes_by_subject):
    return fixes.certify(repository, fixes_by_subject["grid_set"])


def test_a_fix_is_certified_with_trace_and_witness(grid):
    (pair,) = grid.pairs
    assert pair.statement.startswith("cells[")
    assert pair.before.line(pair.line) == pair.statement
    assert pair.place == "criterion"
    assert pair.replay.outcome == "exact"
    assert "out of bounds" in pair.replay.kind
    assert pair.reached[0] >= 1
    assert pair.proof in ("forward condition", "inductive step")
    origin = pair.before.origin(pair.line)
    assert origin is not None
    assert origin[0] == "src/grid.c"
    assert grid.attempts[-1].outcome == "certified"


def test_both_labels_verify_again_with_the_recorded_arguments(grid):
    (pair,) = grid.pairs
    assert esbmc.run(pair.before.text, pair.arguments, seconds=30).verdict == "violated"
    assert esbmc.run(pair.after.text, pair.arguments, seconds=30).verdict == "safe"
    assert esbmc.run(pair.after.text, pair.proof_arguments, seconds=30).proof == pair.proof


def test_renamed_and_reordered_it_certifies_again(grid):
    (pair,) = grid.pairs
    other = rename.again(pair, 5)
    assert other is not None
    assert "cells" not in other.before.text
    assert "grid_set" not in other.after.text
    assert other.before.origin(other.line) == pair.before.origin(pair.line)
    assert rename.again(pair, 5) == other


def test_a_build_can_rename_its_pairs(grid, fixes_by_subject):
    from builders.verivul import builder

    made = builder._rows(fixes_by_subject["grid_set"], grid, [], "MIT", 5)
    batches = [part for part in made if isinstance(part, Batch)]
    programs = next(part.rows.to_pylist() for part in batches if part.table == "programs")
    assert [row["renamed"] for row in programs] == [True, True]
    assert not any("cells" in row["code"] for row in programs)
    (plain, _), _ = rows.pair_rows(
        fixes_by_subject["grid_set"], grid.pairs[0], grid.changes[0].before.text, path="", date="", licence="",
        expander="closer",
    )  # fmt: skip
    assert programs[0]["similarity"] < plain["similarity"]


def test_the_seed_for_renaming_is_read_and_unknown_keys_are_not_let_pass():
    assert commits.rename_seed("rename = 5\n") == 5
    assert commits.rename_seed("") is None
    for text in ("rename = true", "renam = 5", "rename = 'x'", "fix = 3"):
        with pytest.raises(GoldsmithError, match=r"commits\.toml"):
            commits.read(text) if text.startswith("fix") else commits.rename_seed(text)


@pytest.mark.parametrize(
    ("subject", "reason"),
    [("Merge branch 'security'", "merge_commit"), ("forty parts at once", "many_files"), ("view", "language_cpp"),
     ("generated table", "generated_code"), ("a file with a strange name", "hostile_path"),
     ("a commit that is not in the repository", "commit_missing")],
)  # fmt: skip
def test_what_is_refused_says_why(repository, fixes_by_subject, subject, reason):
    result = fixes.certify(repository, fixes_by_subject[subject])
    assert [attempt.outcome for attempt in result.attempts] == [reason]
    assert not result.pairs


def test_a_planted_fix_that_changes_nothing_certifies_nothing(repository, fixes_by_subject):
    result = fixes.certify(repository, fixes_by_subject["planted"], runs=8)
    assert not result.pairs
    assert {attempt.outcome for attempt in result.attempts} <= {"both_violated", "not_violated", "out_of_budget"}


def _program(target: str, stub: str, main: str) -> Program:
    out = Writer()
    out.add(Owner("prelude"), "extern int __VERIFIER_nondet_int(void);\nextern void __ESBMC_assume(_Bool);\n"
            "static int input_int(void) { int input = __VERIFIER_nondet_int(); return input; }")  # fmt: skip
    out.add(Owner("stub", "helper"), stub)
    out.add(Owner("target", "f", "a.c", 1), target)
    out.add(Owner("harness"), main)
    return out.program()


def _certify(before: Program, after: Program) -> tuple[object, str]:
    scope = Scope("f", frozenset((2,)), frozenset((2,)), frozenset((2,)))
    certifier = Certifier(scope, Budget(20))
    pair = certifier.once(Closed(before, after, (), 0, 0, Facts()), Setup(), 4, 0, "slice", "mem")
    return pair, certifier.attempts[-1].outcome


MAIN = "int main(void) { int n = input_int(); return f(n); }"
PLAIN = "static int helper(int n) { return n; }"


def test_a_violation_that_is_only_in_a_stub_is_not_certified():
    stub = "static int helper(int n) { int t[2] = {0, 0}; return t[n]; }"
    before = _program("int f(int n) {\n return helper(n);\n}", stub, MAIN)
    after = _program("int f(int n) {\n return n < 0 || n > 1 ? 0 : helper(n);\n}", stub, MAIN)
    assert _certify(before, after) == (None, "violation_in_stub")


def test_a_violation_outside_the_slice_is_not_certified():
    before = _program("int f(int n) {\n n = n;\n int t[2] = {0, 0};\n return t[n];\n}", PLAIN, MAIN)
    after = _program("int f(int n) {\n n = n & 1;\n int t[2] = {0, 0};\n return t[n];\n}", PLAIN, MAIN)
    assert _certify(before, after) == (None, "outside_slice")


def test_a_safe_program_that_never_gets_there_is_not_certified():
    target = "int f(int n) {\n int t[2] = {0, 0}; return t[n];\n}"
    never = "int main(void) { int n = input_int(); __ESBMC_assume(n > 1 && n < 1); return f(n); }"
    assert _certify(_program(target, PLAIN, MAIN), _program(target, PLAIN, never)) == (None, "vacuous")


def test_replay_needs_the_fault_to_be_there():
    program = _program("int f(int n) {\n int t[2] = {0, 0}; return t[n];\n}", PLAIN, MAIN)
    run = esbmc.run(program.text, ["--unwind", "3", "--multi-property", "--no-slice", "--sv-comp"], seconds=20)
    example = trace.read(run.output)[0]
    assert replay.replay(program, example.inputs, leaks=False, search=False).outcome == "exact"
    harmless = _program("int f(int n) {\n int t[2] = {0, 0}; return t[n & 1];\n}", PLAIN, MAIN)
    assert replay.replay(harmless, example.inputs, leaks=False, search=False).outcome == "none"


def test_replay_sees_that_an_empty_object_is_read():
    main = "int main(void) { char *t = malloc(input_int()); return f(t); }"
    program = _program("int f(char *t) {\n return t[0];\n}", PLAIN, "#include <stdlib.h>\n" + main)
    empty, one = (trace.Step(1, 0, "input_int", "input", str(n), format(n, "032b")) for n in (0, 1))
    assert replay.replay(program, [empty], leaks=False, search=False).outcome == "exact"
    assert replay.replay(program, [one], leaks=False, search=False).outcome == "none"
