"""What the tools of this dataset share on the command line: a user's mistake is one line and exit code 2."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec

from schemas import GoldsmithError

P = ParamSpec("P")


def tool(main: Callable[P, None]) -> Callable[P, None]:
    """The function with errors of its users shown as `goldsmith` shows them."""

    @functools.wraps(main)
    def run(*arguments: P.args, **named: P.kwargs) -> None:
        try:
            main(*arguments, **named)
        except GoldsmithError as error:
            sys.stderr.write(f"goldsmith: {error}\n")
            sys.exit(2)

    return run
