"""What a harness assumes, and how it is narrowed: callers, names behind names, stubs."""

from __future__ import annotations

import pytest

from builders.verivul import callers, facts, fixes
from builders.verivul.assumptions import Setup
from builders.verivul.certify import Certifier
from builders.verivul.closer import Closed, Learnt, Side, close
from builders.verivul.closure import Closure
from builders.verivul.esbmc import Property
from builders.verivul.git import Hunks
from builders.verivul.index import Index
from builders.verivul.outcome import Budget
from builders.verivul.strengthen import Search, strengthen

BEFORE = """static int get(int *t, int i)
{
    return t[i];
}

int far(int *t, int n)
{
    log_it(n);
    log_it(n + 1);
    return get(t, n);
}

int use(int n, int unrelated)
{
    int t[4] = {1, 2, 3, 4};
    unrelated *= 2;
    if (n < 0 || n > 4)
        return 0;
    return get(t, n);
}
"""
AFTER = BEFORE.replace("return t[i];", "return i < 4 ? t[i] : 0;")


def _index(text):
    return Index({"a.c": ("blob" + str(hash(text)), text.encode())})


def _function(index, name):
    return next(item for item in index.functions("a.c") if item.name == name)


def test_the_caller_is_sliced_from_the_call():
    index = _index(BEFORE.replace("log_it(n);", "log_it(n);\n" * 20))
    found = callers.caller(index, _function(index, "get"), ())
    assert found is not None
    item, text = found
    assert item.name == "use"
    assert "n > 4" in text
    assert "unrelated *= 2" not in text
    assert callers.caller(index, _function(index, "use"), ()) is None


def test_a_caller_limits_what_its_callee_is_given():
    sides = []
    for text in (BEFORE, AFTER):
        index = _index(text[: text.index("int far")] + text[text.index("int use") :])
        item = _function(index, "get")
        sides.append(Side(index, item, item.text, callers.caller(index, item, ())))
    before, after = sides
    assert before.caller[0].name == "use"
    setup = Setup()
    closed = close(before, after, setup, (Learnt(), Learnt()), near=["a.c"], aborts=False)
    assert not closed.error
    change = fixes.change(before.function, after.function, Hunks((3,), (3,), ()))
    certifier = Certifier(change.scope, Budget(10))
    pair = certifier.once(closed, setup, 4, 0, "caller", "mem")
    assert pair is not None, certifier.attempts
    assert pair.statement == "return t[i];"
    assert pair.replay.outcome == "exact"


def _closed(inputs, **known):
    found = facts.Facts(**known)
    return Closed(None, None, (), 0, 0, found, inputs)  # pyright: ignore[reportArgumentType]


def _fails(comment, function="f.x", line=""):
    return [(Property("FAILED", function, function.split(".")[0], 1, comment, not line), line)]


def test_a_member_and_a_variable_of_one_name_are_narrowed_apart():
    closed = _closed({"text": "pointer", ".text": "pointer"})
    setup = Setup()
    strengthen(setup, Search(4), closed, _fails("dereference failure: NULL pointer", line="*text = p->len;"), [])
    assert setup.about["text"].nonnull
    assert ".text" not in setup.about
    setup = Setup()
    strengthen(setup, Search(4), closed, _fails("dereference failure: NULL pointer", line="*p->text = 1;"), [])
    assert setup.about[".text"].nonnull
    assert "text" not in setup.about


def test_what_a_local_variable_was_set_from_is_narrowed():
    closed = _closed({".size": "scalar", "p": "pointer"}, sources={"total": {"count"}, "count": {".size", "p"}})
    setup = Setup()
    strengthen(setup, Search(4), closed, _fails("arithmetic overflow on mul", line="x = total * 4;"), [])
    assert setup.about[".size"].span == (0, 1024)
    assert "p" not in setup.about


def test_a_library_model_narrows_what_the_function_itself_is_given():
    closed = _closed(dict.fromkeys(("a", "b"), "pointer"), arguments={"strlen": {"a"}, "strcpy": {"a", "b"}})
    setup = Setup()
    strengthen(setup, Search(4), closed, _fails("Source pointer is null", "strlen.x"), [])
    assert list(setup.about) == ["a"]
    assert setup.about["a"].nonnull


def test_loops_are_bounded_by_their_limits_before_they_are_unrolled_further():
    closed, search, setup = _closed({"n": "scalar"}), Search(4), Setup(elements=2)
    cut = _fails("unwinding assertion loop 1", line="for (i = 0; i < n; i++)")
    strengthen(setup, search, closed, [], cut)
    assert (setup.about["n"].span, search.unwind) == ((0, 2), 4)
    strengthen(setup, search, closed, [], cut)
    assert search.unwind == 10


def test_after_the_violation_went_away_one_thing_is_narrowed_at_a_time():
    closed, search = _closed({"a": "pointer", "b": "pointer"}), Search(4)
    failed = _fails("dereference failure: NULL pointer", line="*a = *b;")
    setup, earlier = Setup(), Setup()
    strengthen(setup, search, closed, failed, [])
    assert {"a", "b"} <= set(setup.about)
    search.ban(setup, earlier)
    assert not search.banned
    strengthen(earlier, search, closed, failed, [])
    assert list(earlier.about) == ["a"]
    search.ban(earlier, Setup())
    assert search.banned == {"a"}
    setup = Setup()
    strengthen(setup, search, closed, failed, [])
    assert list(setup.about) == ["b"]


@pytest.mark.parametrize(
    ("code", "name", "given"),
    [("static char *copy_strdup(void *pool, const char *text);", "copy_strdup", "strdup((void *)text)"),
     ("static void *my_malloc(void *pool, unsigned size);", "my_malloc", "malloc(size)")],
)  # fmt: skip
def test_a_projects_allocator_gets_the_argument_that_matters(code, name, given):
    from builders.verivul.harness import Harness
    from builders.verivul.stubs import stub

    index = _index(f"{code}\nvoid f(const char *t)\n{{\n    {name}(0, t);\n}}\n")
    item = _function(index, "f")
    side = Closure(index, item, item.text, ["a.c"], 0, Learnt())
    made = stub(side, name, side.stubs[name], Harness(side, side, facts.gather([side, side]), Setup()))
    assert made is not None
    assert given in made[1]


def test_a_cast_in_a_callee_says_what_the_callers_argument_is():
    index = _index(
        "struct whole { int a; int b; };\nstruct part;\nstatic int inner(struct part *q)\n{\n"
        "    struct whole *w = (struct whole *)q;\n    return w->b;\n}\n"
        "int f(struct part *p)\n{\n    return inner(p);\n}\n"
    )
    item = _function(index, "f")
    side = Closure(index, item, item.text, ["a.c"], 2, Learnt())
    found = facts.gather([side, side])
    assert "struct whole" in found.casts["p"][0].text


def test_members_that_nobody_reads_are_no_inputs():
    index = _index(
        "struct s { int used; int name; };\nint f(struct s *p, int name)\n{\n    return p->used + name;\n}\n"
    )
    item = _function(index, "f")
    side = Side(index, item, item.text)
    closed = close(side, side, Setup(), (Learnt(), Learnt()), near=["a.c"], aborts=False)
    assert ".used" in closed.inputs
    assert ".name" not in closed.inputs
    assert "name" in closed.inputs


def test_what_a_fix_compares_with_null_may_be_a_copy():
    code = "int f(struct s *p, char *q)\n{\n    char *o = p->owner;\n    q = o;\n    return !o;\n}\n"
    assert facts.behind({"o", "q", "other"}, code) == {".owner", "q", "other"}
