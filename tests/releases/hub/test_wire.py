"""Failures of the wire: which are worth another try, and what a person is told. No network."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from driver import ROOT
from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError, RepositoryNotFoundError
from hypothesis import given
from hypothesis import strategies as st

from releases.hub.verify import sample
from releases.hub.wire import Failure, Patience, WireError, attempt, failure_of, scrub
from releases.manifest import File

HUB = "https://hub.example"


def http(
    status: int, url: str = f"{HUB}/api/x", kind: type[HfHubHTTPError] = HfHubHTTPError, **headers: str
) -> Exception:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx2.Response(status, headers=named, request=httpx2.Request("GET", url))
    return kind("said", response=response)


def wrapped(error: Exception) -> Exception:
    """As the client's upload threads raise it."""
    outer = RuntimeError("Error while uploading")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    ("error", "kind", "wait"),
    [
        (http(500), "transient", None),
        (http(503, Retry_After="7"), "transient", 7.0),
        (http(429, RateLimit='"api";r=0;t=3'), "transient", 3.0),
        (http(429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"), "transient", None),
        (wrapped(http(502)), "transient", None),
        (http(403, "https://storage.example/x?Signature=s"), "transient", None),
        (http(403), "forbidden", None),
        (http(401), "token", None),
        (http(404, kind=RepositoryNotFoundError), "missing", None),
        (http(412), "conflict", None),
        (http(400), "refused", None),
        (httpx2.ReadError("reset"), "transient", None),
        (httpx2.ConnectTimeout(""), "transient", None),
        (ConnectionError("Xet"), "transient", None),
        (json.JSONDecodeError("x", "<html>", 0), "transient", None),
        (LocalTokenNotFoundError("none"), "token", None),
        (ValueError("LFS batch API returned errors"), "refused", None),
    ],
)
def test_kind_of_failure(error: Exception, kind: str, wait: float | None) -> None:
    failure = failure_of(error, HUB)
    assert failure is not None
    assert (failure.kind, failure.wait) == (kind, wait)
    assert "\n" not in str(failure.error("here"))


@pytest.mark.parametrize("error", [KeyError("x"), OSError(28, "No space left on device"), TypeError("x")])
def test_a_mistake_in_the_code_is_no_failure_of_the_wire(error: Exception) -> None:
    assert failure_of(error, HUB) is None
    with pytest.raises(type(error)):
        attempt(raising(error), HUB, Patience())


def raising(*errors: Exception, then: str = "done") -> Callable[[], str]:
    """A call that fails with each error in turn."""
    left = list(errors)

    def call() -> str:
        if left:
            raise left.pop(0)
        return then

    return call


def test_patience() -> None:
    quick = Patience(attempts=3, first_wait=0, longest_wait=0)
    assert attempt(raising(http(500), http(502)), HUB, quick) == "done"
    with pytest.raises(WireError, match="answered 504"):
        attempt(raising(http(500), http(502), http(504)), HUB, quick)
    with pytest.raises(WireError, match="answered 403"):
        attempt(raising(http(403), http(500)), HUB, quick)
    patience = Patience(first_wait=1, longest_wait=5)
    assert [patience.wait(n, None) for n in (1, 2, 3, 4)] == [1, 2, 4, 5]
    assert patience.wait(1, 60.0) == 60.0


@given(st.text("abcdefABC0123456789", min_size=6, max_size=40), st.text(max_size=30))
def test_scrub_takes_tokens_and_signatures(secret: str, around: str) -> None:
    token = f"hf_{secret}"
    text = scrub(f"{around} {token} https://host/path?X-Amz-Signature={secret}&a=b Bearer {secret}")
    assert token not in text
    assert "Signature" not in text
    assert f"Bearer {secret}" not in text
    assert "\n" not in text


def test_scrub_leaves_words() -> None:
    assert scrub("use hf_xet or\n https://host/a/b") == "use hf_xet or https://host/a/b"


@given(st.lists(st.integers(0, 100), max_size=20), st.integers(0, 300), st.text(max_size=5))
def test_sample(sizes: list[int], budget: int, seed: str) -> None:
    files = [File(str(n), size, "") for n, size in enumerate(sizes)]
    chosen = sample(files, seed, budget)
    assert chosen == sample(reversed(files), seed, budget)
    assert len({file.path for file in chosen}) == len(chosen) >= min(1, len(files))
    assert len(chosen) <= 1 or sum(file.bytes for file in chosen) <= budget
    if sum(sizes) <= budget:
        assert len(chosen) == len(files)


def test_upload_process_ends_when_its_stdin_does() -> None:
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "releases/hub/upload_worker.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    job = {
        "endpoint": "http://127.0.0.1:9",
        "token": "hf_x",
        "repo": "a/b",
        "branch": "b",
        "message": "m",
        "commit_files": 1,
    }
    file = {"path": "a", "local": str(Path(__file__)), "bytes": 1, "sha256": "0"}
    assert process.stdin is not None
    process.stdin.write(json.dumps({**job, "files": [file]}) + "\n")
    process.stdin.flush()
    time.sleep(0.2)
    process.stdin.close()
    assert process.wait(20) == 3


def test_failure_is_one_line_with_advice() -> None:
    line = str(Failure("transient", "the Hub answered 500").error("acme/x > commit"))
    assert line == "[acme/x > commit] the Hub answered 500: run the same command again, it goes on where it stopped"
