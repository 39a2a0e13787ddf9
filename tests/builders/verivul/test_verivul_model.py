"""The model expander against a loopback endpoint: good, broken, empty, slow, refusing and injecting answers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from builders.verivul import answers, calls, expand, fixes
from builders.verivul.answers import AnswerError
from schemas import GoldsmithError

GOOD = """Here it is.
```c
#include <stdlib.h>
#define GRID_SIZE 4
static int cells[GRID_SIZE];
@FUNCTION@
int main(void)
{
    int row = __VERIFIER_nondet_int();
    int value = __VERIFIER_nondet_int();
    __ESBMC_assume(row < 100);
    grid_set(row, value);
    return 0;
}
```
"""
BROKEN = GOOD.replace("static int cells[GRID_SIZE];\n", "")
RULED_OUT = GOOD.replace("row < 100", "row < 2")
EMPTY = ""
REFUSING = "I cannot help with vulnerable code."
INJECTING = GOOD.replace("#include <stdlib.h>", '#include <stdlib.h>\n#include "/etc/passwd"')
RUNS_A_COMMAND = GOOD.replace("    grid_set(row", '    system("id");\n    grid_set(row')
SLOW = "slow"


@contextmanager
def endpoint(*texts: str) -> Iterator[tuple[str, list[dict]]]:
    """A server on the loopback that gives these answers in turn, and the requests that it got."""
    asked: list[dict] = []
    waiting = list(texts)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            text = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            if text == SLOW:
                time.sleep(3)
            body = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
            try:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()


@pytest.fixture
def ask(repository, fixes_by_subject, tmp_path):
    fix = fixes_by_subject["grid_set"]
    trees = fixes.read(repository, fix.commit)
    (change,) = fixes.changes(trees)

    def run(*texts: str, budget: int = 4, seconds: float = 20):
        record = tmp_path / "calls.jsonl"
        with endpoint(*texts) as (url, asked):
            live = calls.Live(url, "loopback", record, seconds=seconds)
            pair, attempts = expand.expand(trees, fix, change, live, budget=budget)
        return pair, [attempt.outcome for attempt in attempts], asked, record

    return run


def test_a_broken_answer_is_mended_by_what_the_compiler_says(ask, repository, fixes_by_subject):
    pair, outcomes, asked, record = ask(BROKEN, GOOD)
    assert outcomes == ["does_not_parse", "certified"]
    assert pair is not None
    assert pair.statement.startswith("cells[")
    assert "cells" in asked[1]["messages"][-1]["content"]
    again = expand.replayed(repository, fixes_by_subject["grid_set"], record.read_text())
    assert [attempt.outcome for attempt in again[0].attempts] == outcomes
    assert again[0].pairs == (pair,)


def test_esbmc_says_that_nothing_is_violated(ask):
    _, outcomes, asked, _ = ask(RULED_OUT, RULED_OUT, budget=2)
    assert outcomes == ["not_violated", "not_violated"]
    assert "finds no violation" in asked[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [(EMPTY, "model_empty"), (REFUSING, "model_refused"), (INJECTING, "forbidden_code"),
     (RUNS_A_COMMAND, "forbidden_code")],
)  # fmt: skip
def test_answers_of_no_use_end_within_the_budget(ask, text, outcome):
    pair, outcomes, asked, _ = ask(text, budget=3)
    assert pair is None
    assert outcomes == [outcome] * 3
    assert len(asked) == 3


def test_a_slow_endpoint_ends_it(ask):
    pair, outcomes, _, record = ask(SLOW, seconds=0.5)
    assert (pair, outcomes) == (None, ["model_slow"])
    assert calls.read(record.read_text()).popitem()[1].failure == "slow"


def test_what_was_not_recorded_is_not_asked(repository, fixes_by_subject):
    fix = fixes_by_subject["grid_set"]
    line = json.dumps({"subject": f"{fix.name}/grid_set", "key": "0" * 64, "model": "m", "answer": GOOD, "failure": ""})
    (result,) = expand.replayed(repository, fix, line)
    assert [attempt.outcome for attempt in result.attempts] == ["model_not_recorded"]
    assert expand.replayed(repository, fixes_by_subject["record_sum"], line) == []


@pytest.mark.parametrize(
    "code",
    ["__asm__(\"nop\");", "#pragma GCC poison x", "#include_next <stdlib.h>", "int main(void) { fork(); }",
     "__attribute__((constructor)) void g(void);", "int main(void) { FILE *f = fopen(\"x\", \"w\"); }"],
)  # fmt: skip
def test_code_that_reaches_out_is_refused(code):
    with pytest.raises(AnswerError):
        answers.context(f"```c\n@FUNCTION@\n{code}\nint main(void) {{ return 0; }}\n```")


def test_a_record_with_a_bad_line():
    with pytest.raises(GoldsmithError, match="line 2"):
        calls.read("\n{}\n")
