"""Faults: which request fails, how, and how often."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass
class Fault:
    """A fault for requests whose method and path match.

    Attributes:
        method, path: of the request; `path` is a regular expression that is searched for.
        times: how many requests are hit; the first `skip` that match are spared.
        status, headers, body: answer this instead of doing anything.
        cut_after: reset the connection after so many bytes of the request's body.
        lose_answer: do it, then reset the connection instead of answering.
        corrupt: store the bytes with one bit flipped, and say that all is well.
        truncate: send so many bytes of the answer, then reset.
        delay: seconds to wait first.
        before: called before the request is handled, with the hub.
    """

    method: str
    path: str
    times: int = 1
    skip: int = 0
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    cut_after: int | None = None
    lose_answer: bool = False
    corrupt: bool = False
    truncate: int | None = None
    delay: float = 0.0
    before: Callable[[object], None] | None = None
    hits: int = 0


FOREVER = 10**9


class Faults:
    """The faults in force, in order: the first that matches hits."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def set(self, *faults: Fault) -> None:
        """These, and no others."""
        with self._lock:
            self._faults = list(faults)

    def hit(self, method: str, path: str) -> Fault | None:
        """The fault that this request suffers."""
        with self._lock:
            for fault in self._faults:
                if fault.method != method or not re.search(fault.path, path) or fault.hits >= fault.times:
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                fault.hits += 1
                return fault
        return None
