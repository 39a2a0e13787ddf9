"""Python programs: pairs of the sample, with the line that Python itself gives, and programs that are never run."""

from __future__ import annotations

import polars as pl
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from builders.verivul import child, python_programs, python_subset, verify
from builders.verivul.python_programs import PythonPair
from builders.verivul.python_subset import NotAllowedError
from goldsmith import main
from schemas import DatasetFolder, GoldsmithError


def test_pairs_of_the_sample(sample):
    pairs = {pair.name: pair for pair in python_programs.read((sample / "python_pairs.toml").read_text())}
    found = python_programs.check(pairs["share"])
    assert (found.outcome, found.raised, found.line) == ("certified", "ZeroDivisionError", 2)
    assert found.before.verdict == "violated"
    assert found.after
    assert found.after.verdict == "safe"


def test_replay_raises_only_with_the_inputs_that_do():
    program = "n: int = nondet_int()\nresult: int = 10 // n\n"
    assert python_programs.replay(program, ["0"]) == ("ZeroDivisionError", 2)
    assert python_programs.replay(program, ["1"]) == ("", 0)


PAIR = "[[pair]]\nname = 'x'\ncwe = 369\nbefore = 'n = 1'\nafter = 'n = 2'\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[pair]]\nname = 'x'\n", r"pair 1 > after\] cannot be read \(it is missing"),
        ("[[pair]\n", "cannot be read"),
        (PAIR.replace("'x'", "5"), r"pair 1 > name\] cannot be read \(5 is no text"),
        (PAIR + PAIR.replace("'x'", "'y'").replace("'n = 1'", "3"), r"pair 2 > before\] cannot be read \(3 is no text"),
        (PAIR.replace("369", "true"), r"pair 1 > cwe\] cannot be read \(True is no whole number"),
        (PAIR.replace("[[pair]]", "[pair]"), r"pair\] cannot be read \(it is no list\): begin each pair"),
        ("pair = [1]", r"pair 1\] cannot be read \(it is no table"),
        (PAIR + "more = 1\n", r"pair 1 > more\] cannot be read \(it is not known"),
        (PAIR.replace("'x'", "'a b/c'"), r"pair 1 > name\] 'a b/c' is no name"),
        (PAIR + PAIR, "x\\] names two pairs"),
    ],
)
def test_a_broken_list_is_one_line(text, said):
    with pytest.raises(GoldsmithError, match=said) as caught:
        python_programs.read(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "program",
    [
        'print("hello", file=open("/tmp/pwned", "w"))',
        "import os",
        "from os import system",
        '__import__("os")',
        'getattr(1, "real")',
        'eval("1")',
        'exec("1")',
        'f = eval\nf("1")',
        'def f() -> None:\n    pass\nf = eval\nf("1")',
        "x = ().__class__.__base__.__subclasses__()",
        'x = f"{().__class__}"',
        'x = "{0.__class__}".format(1)',
        "x = [n for n in [1]].gi_frame",
        "x = (n for n in [1])",
        "x = [].append",
        "try:\n    x = 1 // 0\nexcept Exception as error:\n    x = error.with_traceback",
        "x = __builtins__",
        "__ESBMC_assume = 1",
        "def _f() -> int:\n    return 1",
        "def f(_a: int) -> int:\n    return 1",
        "class A:\n    pass",
        "@print\ndef f() -> None:\n    pass",
        "(lambda: 1)()",
        "[print][0]()",
        "with x:\n    pass",
        "assert breakpoint()",
        "x: eval = 1",
        "(",
        "\0",
    ],
)
def test_a_program_that_could_reach_the_machine_is_never_run(program, monkeypatch):
    def run(*_, **__):
        pytest.fail("it was run")

    monkeypatch.setattr(child, "execute", run)
    with pytest.raises(NotAllowedError):
        python_programs.replay(program, [])
    for before, after in ((program, "n = 1"), ("n = 1", program)):
        with pytest.raises(NotAllowedError, match=r"^program (before|after), "):
            python_programs.check(PythonPair("x", 369, before, after))


def test_programs_of_the_kind_that_esbmc_decides_are_allowed():
    python_subset.require("""
def total(values: list[int], most: int) -> int:
    found: int = 0
    for index in range(len(values)):
        if values[index] > most or not values[index]:
            continue
        found += values[index] ** 2
    while found > 100:
        found = found // 2
    try:
        assert found >= 0, f"found {found}"
    except AssertionError as error:
        raise ValueError("negative") from error
    return found if found < most else abs(most)

values: list[int] = [nondet_int(), 2]
__ESBMC_assume(values[0] > 0)
values.append(max(1, min(2, 3)))
print("total", total(values[:2], most=7), [n for n in values])
""")


def test_a_program_runs_with_its_own_builtins_alone(monkeypatch):
    monkeypatch.setattr(python_subset, "require", lambda program: None)
    for name in ("open", "eval", "__import__", "getattr", "type"):
        assert python_programs.replay(f"x = {name}\n", []) == ("NameError", 1)
    assert python_programs.replay("import os\n", []) == ("ImportError", 1)
    assert python_programs.replay("print('RAISED ValueError 7')\n", []) == ("", 0)


def test_a_program_that_eats_memory_or_time_is_stopped(monkeypatch):
    monkeypatch.setattr(python_programs, "SECONDS", 2)
    assert python_programs.replay("x = [0]\nwhile True:\n    x = x + x\n", []) == ("", 0)
    assert python_programs.replay("x = [0] * (1 << 30)\ny = 1 // 0\n", []) == ("", 0)
    assert python_programs.replay("while True:\n    pass\n", []) == ("", 0)


HELLO = """
[[pair]]
name = "hello"
cwe = 369
before = '''
print("hello", file=open("WRITTEN", "w"))
n: int = 1 // 0
'''
after = '''
print("hello", file=open("WRITTEN", "w"))
n: int = 1
'''
"""


def test_a_program_that_is_not_run_is_a_reject_and_the_others_are_built(tmp_path):
    written, own, none = (tmp_path / name for name in ("written", "own.toml", "none.toml"))
    own.write_text(HELLO.replace("WRITTEN", str(written)) + PAIR.replace("'n = 1'", "'n = 1 // 0'"), encoding="utf-8")
    none.write_text("", encoding="utf-8")
    sources = [f"--source=python={own}", f"--source=commits={none}"]
    done = CliRunner().invoke(main, ["build", "verivul", "--sample", *sources, "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert not written.exists()
    folder = DatasetFolder(tmp_path / "out")
    (reject,) = pq.read_table(folder.rejects("attempts")).to_pylist()
    assert (reject["reason"], reject["place"]) == ("python_not_allowed", "pair hello")
    assert reject["message"] == "program before, line 1: a call of open is not allowed"
    (attempt,) = pq.read_table(folder.data("attempts")).to_pylist()
    assert (attempt["attempt_id"], attempt["outcome"]) == ("python-x", "certified")
    assert len(pq.read_table(folder.data("programs"))) == 2


def test_a_broken_list_ends_a_build_with_one_line(tmp_path):
    own = tmp_path / "own.toml"
    own.write_text(PAIR.replace("[[pair]]", "[pair]"), encoding="utf-8")
    done = CliRunner().invoke(
        main, ["build", "verivul", "--sample", f"--source=python={own}", "-o", str(tmp_path / "out")]
    )
    assert done.exit_code == 2
    assert "begin each pair with [[pair]]" in done.output


def test_rows_of_others_are_verified_only_as_the_builder_runs_them(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "execute", lambda *_, **__: pytest.fail("it was run"))
    row = {
        "program_id": "a",
        "label": "safe",
        "language": "python",
        "code": "import os",
        "esbmc_args": ["--unwind", "8"],
    }
    other = {**row, "language": "c", "code": "int main(void) { return 0; }", "esbmc_args": ["--output", "out.txt"]}
    (tmp_path / "data" / "programs").mkdir(parents=True)
    pl.DataFrame([row, other]).write_parquet(tmp_path / "data" / "programs" / "test.parquet")
    assert [(one.verdict, one.agrees) for one in verify.verify(tmp_path)] == [("refused", False)] * 2
