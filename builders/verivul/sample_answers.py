"""Answers that a language model could have given about the sample's `grid_set`, written by hand: one that does not
compile, and one that does. Recorded as calls, they make the sample's build replay the model expander."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from builders.verivul import calls, expand, fixes
from builders.verivul.calls import Call, Messages
from builders.verivul.commits import Fix
from builders.verivul.git import Repository

MODEL = "written by hand"

_BROKEN = """Here is the file.
```c
#include <stdlib.h>
#define GRID_SIZE 4
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
ANSWERS = (_BROKEN, _BROKEN.replace("@FUNCTION@", "static int cells[GRID_SIZE];\n@FUNCTION@"))


class _Author:
    """An endpoint that gives the answers in turn."""

    model = MODEL

    def __init__(self, texts: Sequence[str]) -> None:
        self._left, self.calls = list(texts), []

    def ask(self, subject: str, messages: Messages) -> Call:
        call = Call(subject, calls.request_key(self.model, messages), self.model, self._left.pop(0))
        self.calls.append(call)
        return call


def record(stream: Path, fix: Fix) -> str:
    """The calls about a fix of one function, as the lines of a record."""
    author = _Author(ANSWERS)
    with Repository(stream) as repository:
        trees = fixes.read(repository, fix.commit)
        (change,) = fixes.changes(trees)
        expand.expand(trees, fix, change, author, budget=len(ANSWERS))
    return "".join(map(calls.line, author.calls))
