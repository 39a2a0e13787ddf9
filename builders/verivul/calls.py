"""Calls of a language model: asked of an OpenAI-compatible endpoint once, recorded, and replayed from the record.

The record is a file of one JSON object a line, which a dataset has as a source: a build never asks an endpoint.
"""

from __future__ import annotations

import hashlib
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from schemas import GoldsmithError
from schemas.address import open_within_origin

_LONGEST = 1 << 20

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Call:
    """A recorded call.

    Attributes:
        subject: what it is about: `<fix>/<function>`.
        key: of the request: see `request_key`.
        failure: `slow`, `unreachable` or `malformed` where there is no answer; else empty.
    """

    subject: str
    key: str
    model: str
    answer: str
    failure: str = ""


class Endpoint(Protocol):
    """Something that answers."""

    model: str

    def ask(self, subject: str, messages: Messages) -> Call: ...


def request_key(model: str, messages: Messages) -> str:
    """The sha256 of a request: the same question to the same model."""
    form = json.dumps([model, [dict(message) for message in messages]], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(form.encode()).hexdigest()


class Live:
    """An endpoint that is asked, with every call written to a file as soon as it is answered.

    Args:
        url: of the API, up to `/v1`.
        record: the file; calls that are in it already are not asked again.
        seconds: for a whole answer.
    """

    def __init__(self, url: str, model: str, record: Path, *, key: str = "", seconds: float = 120) -> None:
        if not url.startswith(("http://", "https://")):
            raise GoldsmithError(f"[{url}] is no address of an endpoint: give one such as http://127.0.0.1:8080/v1")
        self.model = model
        self._url, self._key, self._seconds, self._record = url.rstrip("/"), key, seconds, record
        self._known = read(record.read_text(encoding="utf-8")) if record.is_file() else {}

    def ask(self, subject: str, messages: Messages) -> Call:
        """The answer; a failure is an answer, too."""
        name = request_key(self.model, messages)
        if name in self._known:
            return self._known[name]
        answer, failure = self._post(messages)
        call = Call(subject, name, self.model, answer, failure)
        with open(self._record, "a", encoding="utf-8") as file:
            file.write(line(call))
        self._known[name] = call
        return call

    def _post(self, messages: Messages) -> tuple[str, str]:
        form = {"model": self.model, "messages": [dict(message) for message in messages], "temperature": 0, "seed": 0}
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        request = urllib.request.Request(  # noqa: S310 (http or https: see above)
            f"{self._url}/chat/completions", json.dumps(form).encode(), headers
        )
        end, parts = time.monotonic() + self._seconds, []
        try:
            with open_within_origin(request, self._seconds) as stream:
                while chunk := stream.read1(1 << 16):
                    parts.append(chunk)
                    if time.monotonic() > end or sum(map(len, parts)) > _LONGEST:
                        return "", "slow"
            content = json.loads(b"".join(parts))["choices"][0]["message"]["content"]
            return (content, "") if isinstance(content, str) else ("", "malformed")
        except TimeoutError:
            return "", "slow"
        except urllib.error.URLError as error:
            return "", "slow" if isinstance(error.reason, TimeoutError) else "unreachable"
        except (OSError, ValueError, KeyError, IndexError, TypeError):
            return "", "malformed"


class Recorded:
    """Answers from a record, and nothing else."""

    def __init__(self, calls: Mapping[str, Call]) -> None:
        self._calls = calls
        self.model = next((call.model for call in calls.values()), "")

    def ask(self, subject: str, messages: Messages) -> Call:
        """The recorded answer; failure `not_recorded` if this was never asked."""
        name = request_key(self.model, messages)
        return self._calls.get(name) or Call(subject, name, self.model, "", "not_recorded")


def line(call: Call) -> str:
    """A call as a line of a record."""
    return json.dumps(asdict(call), ensure_ascii=False, sort_keys=True) + "\n"


def read(text: str) -> dict[str, Call]:
    """Calls by key; the first of a key counts.

    Raises:
        GoldsmithError: a line is no call.
    """
    found: dict[str, Call] = {}
    for number, entry in enumerate(text.splitlines(), 1):
        if not entry.strip():
            continue
        try:
            call = Call(**json.loads(entry))
        except (ValueError, TypeError):
            raise GoldsmithError(f"[calls > line {number}] is no recorded call: take the line out") from None
        found.setdefault(call.key, call)
    return found
