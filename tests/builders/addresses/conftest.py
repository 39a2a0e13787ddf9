"""What tests of addresses share: the stores on the loopback, and `goldsmith` as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loophub import Account, Loophub
from s3_server import S3, executable, running

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "builders" / "vaani" / "sample"
"""Recordings of nobody. VAANI pins nothing: its sources are a user's own, a folder and files."""

VAANI = {"recordings": "recordings", "salt": "salt.txt", "claims": "claims.toml", "hypotheses": "hypotheses.tsv"}


@pytest.fixture
def sample() -> Path:
    """The folder of VAANI's sample."""
    return SAMPLE


@pytest.fixture
def vaani() -> Callable[[str], list[str]]:
    """`build vaani` with all its sources at a place that holds the sample."""
    return lambda place: ["build", "vaani", *(f"--source={name}={place}/{path}" for name, path in VAANI.items())]


@pytest.fixture
def goldsmith(tmp_path) -> Callable[..., tuple[int, str, str]]:
    """Run the command in an empty folder; its exit code, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "goldsmith", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def local(goldsmith, vaani, tmp_path, digests) -> dict[str, str]:
    """The digests of VAANI's sample, built from this disk to this disk."""
    code, _, error = goldsmith(*vaani(str(SAMPLE)), "-o", str(tmp_path / "local"))
    assert code == 0, error
    return digests(tmp_path / "local")


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3]:
    """A server that speaks S3."""
    pytest.importorskip("s3fs", reason="needs s3fs: pip install 'goldsmith[s3]'")
    program = executable()
    if program is None:
        pytest.skip("no server that speaks S3: run `make s3-server`, or set GOLDSMITH_S3_SERVER to a moto_server")
    with running(program) as server:
        yield server


@pytest.fixture
def s3(s3_server, monkeypatch) -> S3:
    """The server, known to this process and to those that it starts."""
    import s3fs

    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()  # It may know other keys.
    return s3_server


@pytest.fixture
def hub(tmp_path, monkeypatch) -> Iterator[Loophub]:
    """A Hub whose account `bot` is that of the processes that are started; this process does not know it."""
    token, stranger = "hf_WriteTokenOfTheTests0123456789abcd", "hf_StrangerTokenOfTheTests0123456789a"
    accounts = {token: Account("bot", orgs={"acme": "write"}), stranger: Account("stranger")}
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    with Loophub(tmp_path / "hub", accounts, xet=True) as running_hub:
        home = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
        for name, value in {"HF_ENDPOINT": running_hub.endpoint, "HF_TOKEN": token, **home}.items():
            monkeypatch.setenv(name, value)
        yield running_hub
