"""ESBMC: verdicts from what it prints, and a cache that keeps them."""

from __future__ import annotations

import pytest

from builders.verivul import esbmc, profiles, trace

TABLE = """
** Results:
a.c, function f
  PASSED       [f.assertion.1]                           line   8  unwinding assertion loop 52
  FAILED       [f.heap-array-bounds-violated.1]  line  13  dereference failure: array bounds violated: heap object
/esbmc-vfs/libc/library/string.c, function strlen
  FAILED       [strlen.assertion.1]                      line  92  unwinding assertion loop 23

** 2 of 3 properties failed

VERIFICATION FAILED
"""


def test_a_table_is_read():
    run = esbmc.read(TABLE)
    assert run.verdict == "violated"
    assert [(row.name, row.line, row.library) for row in run.failed] == [("f.heap-array-bounds-violated", 13, False)]
    assert [row.function for row in run.unwinding] == ["strlen"]
    assert run.unwinding[0].library


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("VERIFICATION SUCCESSFUL\n", "safe"),
        ("VERIFICATION FAILED\nVERIFICATION UNKNOWN\n", "unknown"),
        ("VERIFICATION FAILED\nERROR: Timed out\n", "timeout"),
        ("ERROR: Out of memory\n", "memory"),
        ("ERROR: PARSING ERROR\n", "error"),
        ("", "error"),
        ("VERIFICATION SUCCESSFUL", "safe"),
    ],
)
def test_the_last_verdict_counts(text, verdict):
    assert esbmc.read(text).verdict == verdict


def test_a_counterexample_has_its_inputs_in_order():
    program = """extern int __VERIFIER_nondet_int(void);
extern void __ESBMC_assume(_Bool);
static int input_int(void) { int input = __VERIFIER_nondet_int(); return input; }
int main(void)
{
    int a = input_int(), b = input_int(), t[4];
    __ESBMC_assume(a == 7 && b >= 0);
    t[0] = 1;
    return b < 6 ? t[b] : a;
}
"""
    arguments = ["--unwind", "3", "--multi-property", "--no-slice", "--sv-comp"]
    run = esbmc.run(program, arguments, seconds=20)
    found = trace.read(run.output)
    assert run.verdict == "violated"
    assert {one.violation.line for one in found} == {9}
    assert found[0].inputs[0].value == "7"
    assert int(found[0].inputs[1].bits, 2) in (4, 5)
    assert 787 in found[0].violation.cwe
    assert esbmc.run(program.replace("b < 6", "b < 4"), arguments, seconds=20).verdict == "safe"
    assert esbmc.run(program, arguments, seconds=20).output == run.output  # the same under the same arguments


def test_the_cache_keeps_verdicts_and_no_timeouts(tmp_path):
    program = "int main(void) { int a[2]; a[0] = 1; return a[0]; }\n"
    first = esbmc.run(program, ["--sv-comp"], seconds=20, cache=tmp_path)
    assert esbmc.run(program, ["--sv-comp"], seconds=20, cache=tmp_path) == first
    assert len(list(tmp_path.rglob("*.txt"))) == 1
    broken = esbmc.run("int main(void) { return x; }\n", ["--sv-comp"], seconds=20, cache=tmp_path)
    assert broken.verdict == "error"
    assert len(list(tmp_path.rglob("*.txt"))) == 1


@pytest.mark.parametrize(
    ("line", "cwe"),
    [("if (p[POS] == Q2931) {", 125), ("x = p[4];", 125), ("p[4] = x;", 787), ("*p |= 1;", 787),
     ("while (*s != 0)", 125), ("memcpy(a, b, n);", 787), ("if (a[1] >= 2)", 125)],
)  # fmt: skip
def test_a_comparison_is_no_write(line, cwe):
    assert profiles.primary_cwe((), (122, 125, 787), "array bounds violated: heap object", line) == cwe
