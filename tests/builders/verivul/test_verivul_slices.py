"""Index, slicer and criterion on C as it is found."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from builders.verivul import annotations, fixes
from builders.verivul.criterion import criteria, null_checked
from builders.verivul.git import Hunks
from builders.verivul.index import Index
from builders.verivul.parse import without_comments
from builders.verivul.slicer import Function

CODE = """int f(int *p, int n, int q)
{
    int i, sum = 0;
    int other = q * 2; /* not
      relevant */
    log_it(other);
    if (n > 100)
        return -1;
    for (i = 0; i < n; i++) {
        sum += p[i];
        other++;
    }
    if (other > 3)
        other = 0;
    return sum;
}
"""


def test_a_slice_keeps_what_matters_where_it_was():
    function = Function(CODE, 1)
    text = function.render(function.slice(function.at([10])))
    lines = text.split("\n")
    assert lines[9].strip() == "sum += p[i];"
    assert "return -1" in lines[7]
    assert "other" not in text.replace("int other", "")
    assert len(lines) == len(CODE.rstrip().split("\n"))


def test_an_inserted_check_makes_the_sinks_behind_it_the_criterion():
    before = CODE.replace("return sum;", "return sum + p[n];")
    after = before.replace("    int i, sum = 0;\n", "    int i, sum = 0;\n    if (n > 8)\n        return 0;\n")
    before_side, after_side = Function(before, 1), Function(after, 1)
    old, new = criteria(before_side, after_side, Hunks((), (4, 5), (3,)))
    assert not old.changed
    assert any("p[n]" in (node.text or b"").decode() for node in old.sinks)
    assert new.changed[0].type == "if_statement"


def test_null_checks_of_a_fix():
    function = Function(
        "int f(char *a, char *b, char *c)\n{\n if (!a || b == NULL) return 0;\n if (c) return 1;\n return 2;\n}", 1
    )
    assert null_checked(tuple(function.at([3, 4]))) == {"a", "b", "c"}


def test_macros_that_hide_a_jump_are_guards():
    header = "#define CHECK(p) do { if ((p) >= end) goto trunc; } while (0)\n#define TWICE(p) CHECK(p)\n"
    code = "int f(char *p, char *end, int q)\n{\n TWICE(p);\n q++;\n return *p;\ntrunc:\n return 0;\n}\n"
    index = Index({"a.c": ("1", (header + code).encode())})
    assert {"CHECK", "TWICE"} <= index.jumps()
    plain, knowing = Function(code, 1), Function(code, 1, index.jumps())
    assert "TWICE" not in plain.render(plain.slice(plain.at([5])))
    assert "TWICE" in knowing.render(knowing.slice(knowing.at([5])))


def test_index_of_old_and_decorated_c():
    text = b"""#define API(t) __attribute__((visibility("default"))) t
#define OF(args) args
#define CALLCONV
API(int) CALLCONV one(int a) { return a; }
int two(a, b) int a; char *b; { return a; }
extern int three OF((int));
enum kind { KIND_A, KIND_B =
#if 0
 OLD,
#else
 4,
#endif
 KIND_C };
static const char table[] = { 1, 2 };
"""
    index = Index({"a.c": ("x", text)})
    assert [item.name for item in index.functions("a.c")] == ["one", "two"]
    assert index.named("three", "prototype")
    assert index.named("KIND_C", "enumerator")
    assert index.named("table", "global")[0].static


@settings(deadline=None)
@given(st.text(alphabet="ab(){}#;\n OF_x_struct{}ifelnd", max_size=200))
def test_blanking_keeps_every_offset(text):
    content = text.encode()
    found = annotations.Annotations({b"a": b""}, frozenset((b"b",)), frozenset((b"OF",)))
    blanked = annotations.blank(content, found)
    assert len(blanked) == len(content)
    assert [i for i, byte in enumerate(blanked) if byte == 10] == [i for i, byte in enumerate(content) if byte == 10]


@settings(deadline=None)
@given(st.text(alphabet="/*\"'\\\n ax", max_size=80))
def test_comments_go_and_lines_stay(text):
    assert without_comments(text).count("\n") == text.count("\n")


def test_latin1_and_broken_code_are_read(repository, fixes_by_subject):
    trees = fixes.read(repository, fixes_by_subject["size_half"].commit)
    assert [change.before.name for change in fixes.changes(trees)] == ["size_half"]
    index = Index({"a.c": ("y", b"int f(int a) { return \xe9 a @@ ; }\nint g(void) { return 1; }\n")})
    assert "g" in [item.name for item in index.functions("a.c")]


def test_a_macro_that_exports_what_it_is_given_is_no_attribute():
    header = b"#define EXPORTED(rt) extern rt\n#define OTHER __declspec(dllexport)\n"
    windows = (
        b"#define EXPORTED(rt) __declspec(dllexport) rt _stdcall\n#define ALIGNED(n) __attribute__((aligned(n)))\n"
    )
    found = annotations.find([header, windows])
    text = b"EXPORTED(struct s *) make (int n);\nint ALIGNED(8) x;\n"
    assert annotations.blank(text, found).split() == b"struct s * make (int n); int x;".split()


def test_a_type_that_a_macro_makes_comes_after_what_the_macro_mentions():
    from builders.verivul.ordering import ordered

    index = Index({"a.h": ("blob-macro-type", b"typedef struct timer { int n; } TIMER;\n"
                           b"#define INFO_VAR(size) struct { TIMER timers[4]; char text[size]; }\n")})  # fmt: skip
    macros = {"INFO_VAR": index.named("INFO_VAR", "macro")[0]}
    timer, tag = index.named("TIMER", "typedef")[0], index.named("struct timer", "tag")[0]
    types = [replace(timer, name="INFO", text="typedef INFO_VAR (16) INFO;"), timer, tag]
    texts = [unit.text for unit in ordered(types, macros)]
    last = max(at for at, text in enumerate(texts) if "timer" in text.lower() and "INFO" not in text)
    assert last < next(at for at, text in enumerate(texts) if "INFO_VAR" in text)


def test_a_function_whose_name_a_macro_makes_is_left_out():
    from types import SimpleNamespace

    before = "static int PREFIX(scan)(int *p, int n)\n{\n    return p[n];\n}\nint plain(int *p)\n{\n    return *p;\n}\n"
    after = before.replace("return p[n]", "return n < 4 ? p[n] : 0").replace("return *p", "return p ? *p : 0")
    sides = [Index({"a.c": (f"blob-prefix-{number}", text.encode())}) for number, text in enumerate((before, after))]
    trees = SimpleNamespace(before=sides[0], after=sides[1], paths=("a.c",), hunks={"a.c": Hunks((3, 7), (3, 7), ())})
    assert [change.before.name for change in fixes.changes(trees)] == ["plain"]  # pyright: ignore[reportArgumentType]
