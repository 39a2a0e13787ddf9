"""A real Label Studio on loopback, for tests: its own environment, SQLite, no telemetry.

The database is migrated once for each version (a minute or more) and kept beside the environment; every server starts
on a copy of it. Accounts of an administrator and three annotators are in it, with known tokens.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ADMIN_TOKEN = "0123456789abcdef0123456789abcdef01234567"
TOKENS = {f"ann_{letter}@example.org": letter * 40 for letter in "abc"}
_PATIENCE = 600

_ACCOUNTS = """
from users.models import User
from organizations.models import Organization
from rest_framework.authtoken.models import Token
organization = Organization.objects.first()
for email, key in TOKENS.items():
    user = User.objects.filter(email=email).first() or User.objects.create_user(email=email, password="Local-1", username=email)
    organization.add_user(user)
    user.active_organization = organization
    user.save()
    Token.objects.filter(user=user).delete()
    Token.objects.create(user=user, key=key)
print("accounts are made")
"""  # noqa: E501 (a line of another program)


def executable() -> Path | None:
    """GOLDSMITH_LABEL_STUDIO, or what `make label-studio` has made; None where there is neither."""
    named = os.environ.get("GOLDSMITH_LABEL_STUDIO")
    path = Path(named) if named else ROOT / ".venv-label-studio" / "bin" / "label-studio"
    return path if path.is_file() else None


def _environment(data: Path, port: int) -> Mapping[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")},
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "LABEL_STUDIO_HOST": f"http://127.0.0.1:{port}",
        "LABEL_STUDIO_USERNAME": "admin@example.org",
        "LABEL_STUDIO_PASSWORD": "Local-only-1",
        "LABEL_STUDIO_USER_TOKEN": ADMIN_TOKEN,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "COLLECT_ANALYTICS": "false",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "LATEST_VERSION_CHECK": "false",
        "FEATURE_FLAGS_OFFLINE": "true",
        "DEBUG": "false",
        "LOG_LEVEL": "WARNING",
    }


def seed(program: Path) -> Path:
    """The data folder of a migrated, empty server of this version; made if it is not there."""
    venv = program.resolve().parent.parent
    version = next(path.name.split("-")[1] for path in venv.glob("lib/*/site-packages/label_studio-*.dist-info"))
    made = venv / f"goldsmith-seed-{version.removesuffix('.dist')}"
    if made.is_dir():
        return made
    partial = made.with_name(f"{made.name}.{os.getpid()}.partial")
    partial.mkdir()
    try:
        with _running(program, partial):
            pass
        accounts = f"exec({('TOKENS = ' + repr(TOKENS) + _ACCOUNTS)!r}, globals())\n"
        command = [str(program), "shell", "--data-dir", str(partial)]
        done = subprocess.run(
            command, input=accounts, env=_environment(partial, 0), capture_output=True, text=True, timeout=_PATIENCE
        )
        if "accounts are made" not in done.stdout:
            raise RuntimeError(f"the accounts could not be made: {done.stdout[-500:]} {done.stderr[-2000:]}")
        partial.rename(made)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return made


@contextmanager
def running(program: Path, room: Path) -> Iterator[str]:
    """The address of a server on a fresh copy of the seed, in the empty folder `room`; it ends with the block."""
    shutil.copytree(seed(program), room, dirs_exist_ok=True)
    with _running(program, room) as url:
        yield url


@contextmanager
def _running(program: Path, data: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(program), "start", "--no-browser", "--internal-host", "127.0.0.1", "-p", str(port)]
    log = data / "server.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [*command, "--data-dir", str(data)],
            env=_environment(data, port),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}", log)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                if json.loads(answer.read())["status"] == "UP":
                    return
        except (urllib.error.URLError, OSError, ValueError):
            time.sleep(0.5)
    raise RuntimeError(f"Label Studio does not start: {log.read_text(errors='replace')[-2000:]}")
