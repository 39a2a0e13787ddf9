"""What can go wrong between here and the Hub, in one form, and the patience to try again.

`huggingface_hub` retries some calls (uploads, listings) and not others (commits, tags, refs, settings), and its errors
come in a dozen classes. Here each becomes a `Failure` that says whether trying again can help. Only calls that are safe
to repeat go through `attempt`; those that are not (a commit, a tag) are reconciled by `releases.hub.publish`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import httpx2
from huggingface_hub import get_session
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalTokenNotFoundError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.utils import parse_ratelimit_headers

if TYPE_CHECKING:
    from schemas import GoldsmithError

Kind = Literal["transient", "token", "forbidden", "missing", "conflict", "refused"]

_T = TypeVar("_T")
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_NETWORK = (httpx2.TransportError, httpx2.StreamError, ConnectionError, TimeoutError)
TIMEOUT = httpx2.Timeout(connect=15, read=120, write=120, pool=None)
"""The client itself sets none. The Hub ends a commit after 60 seconds."""


@dataclass(frozen=True)
class Patience:
    """How long to go on.

    Attributes:
        attempts: how often a call is made before it counts as failed.
        first_wait, longest_wait: seconds between attempts; each wait is twice the last. What the Hub asks for wins.
        silence: seconds in which an upload may move no byte. Xet can be silent for minutes when its store is away.
    """

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 30.0
    silence: float = 180.0

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds to wait after attempt number `attempt` (from 1) failed."""
        return asked if asked is not None else min(self.longest_wait, self.first_wait * 2 ** (attempt - 1))


@dataclass(frozen=True)
class Failure:
    """A call that failed: what kind of failure, in which words, and how long the Hub asks to wait (seconds)."""

    kind: Kind
    reason: str
    wait: float | None = None

    def error(self, where: str) -> GoldsmithError:
        """The one line for people."""
        from schemas import GoldsmithError  # here, because the upload worker does without Arrow

        return GoldsmithError(f"[{where}] {self.reason}: {_ADVICE[self.kind]}")


_ADVICE: dict[Kind, str] = {
    "transient": "run the same command again, it goes on where it stopped",
    "token": "log in with `hf auth login`, then run the same command again",
    "forbidden": "use a token that may write there, then run the same command again",
    "missing": "check the name, and that your token may see it",
    "conflict": "run the same command again, it plans anew",
    "refused": "mend this, then run the same command again",
}


class WireError(Exception):
    """A call failed and trying again did not help or could not."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def scrub(text: str) -> str:
    """`text` in one line without what may hold a secret: tokens, and the queries of URLs (they can be signatures)."""
    text = re.sub(r"\b(hf_|api_org_|Bearer )[A-Za-z0-9._-]{6,}", r"\1***", text)
    return " ".join(re.sub(r"(https?://[^\s?'\"]+)\?[^\s'\"]+", r"\1", text).split())


def failure_of(error: BaseException, endpoint: str) -> Failure | None:
    """`error` as a failure of the wire; None if it is none (a mistake in the code, a full disk)."""
    chain = list(_chain(error))
    if any(isinstance(e, LocalTokenNotFoundError) for e in chain):
        return Failure("token", "there is no token on this machine")
    if any(isinstance(e, OfflineModeIsEnabled) for e in chain):
        return Failure("refused", "HF_HUB_OFFLINE is set")
    for e in chain:
        if isinstance(e, HfHubHTTPError):
            return _http_failure(e, endpoint)
    if any(isinstance(e, json.JSONDecodeError) for e in chain):
        return Failure("transient", "the Hub answered with a page that is no JSON")
    for e in chain:
        if isinstance(e, _NETWORK):
            return Failure("transient", f"the connection failed ({scrub(str(e)) or type(e).__name__})")
    if type(error) is ValueError:  # a card or an object that the Hub refused; the client says so in this class
        return Failure("refused", scrub(str(error))[:300])
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _http_failure(error: HfHubHTTPError, endpoint: str) -> Failure:
    response = error.response
    code = response.status_code
    said = scrub(error.server_message or response.reason_phrase or "")[:300]
    reason = f"the Hub answered {code}" + (f" ({said})" if said else "")
    if not str(response.url).startswith(endpoint.rstrip("/") + "/") and code in (400, 401, 403, 404):
        return Failure("transient", f"the storage refused a signed URL ({code}), it may have expired")
    if isinstance(error, (RepositoryNotFoundError, RevisionNotFoundError, RemoteEntryNotFoundError)):
        return Failure("missing", reason)
    if isinstance(error, GatedRepoError) or code == 403:
        return Failure("forbidden", reason)
    if code == 401:
        return Failure("token", f"the token was refused, it may have expired or been revoked (401 {said})")
    if code in (409, 412):
        return Failure("conflict", reason)
    if code in _TRANSIENT:
        return Failure("transient", reason, _asked_wait(response))
    return Failure("missing" if code == 404 else "refused", reason)


def _asked_wait(response: httpx2.Response) -> float | None:
    """The seconds that `RateLimit` or `Retry-After` ask for (a date in `Retry-After` is not read)."""
    limit = parse_ratelimit_headers(response.headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    after = response.headers.get("Retry-After", "").strip()
    return float(after) if after.isdigit() else None


def attempt(call: Callable[[], _T], endpoint: str, patience: Patience) -> _T:
    """The result of `call`, which is safe to repeat.

    Raises:
        WireError: it failed for good, or as often as patience allows.
    """
    for number in range(1, patience.attempts + 1):
        get_session().timeout = TIMEOUT
        try:
            return call()
        except Exception as error:
            failure = failure_of(error, endpoint)
            if failure is None:
                raise
            if failure.kind != "transient" or number == patience.attempts:
                raise WireError(failure) from error
            time.sleep(patience.wait(number, failure.wait))
    raise AssertionError("patience has at least one attempt")
