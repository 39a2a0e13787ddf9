"""Children: what they see and may do, bounds that hold, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builders.verivul import child, esbmc, git, python_programs, replay
from builders.verivul.program import Owner, Program
from schemas.stop import stoppable

SECRETS = ("HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "GOLDSMITH_MODEL_KEY", "HOME", "PYTHONPATH")


def test_a_child_sees_no_secret(tmp_path, monkeypatch):
    for name in SECRETS:
        monkeypatch.setenv(name, "hf_0123")
    code, said = child.execute(["env"], tmp_path, seconds=5, memory=child.MEMORY)
    assert code == 0
    assert "hf_0123" not in said
    assert {line.partition("=")[0] for line in said.splitlines()} <= {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "LC_ALL"}
    assert f"TMPDIR={tmp_path}" in said


def test_git_and_sanitized_programs_see_no_secret(monkeypatch, tmp_path):
    for name in SECRETS:
        monkeypatch.setenv(name, "hf_0123")
    assert "hf_0123" not in child.environment(tmp_path).values()
    seen = []
    popen = subprocess.Popen

    def watched(*arguments, **named):
        seen.append(named.get("env"))
        return popen(*arguments, **named)

    monkeypatch.setattr(subprocess, "Popen", watched)
    esbmc.run("int main(void) { return 0; }\n", ["--sv-comp"], seconds=20)
    replay.replay(_c("int main(void) { return 0; }"), [], leaks=False, search=False)
    python_programs.replay("x: int = 1 // 0\n", [])
    stream = Path(__file__).parents[3] / "builders" / "verivul" / "sample" / "repository.stream"
    with git.Repository(stream) as repository:
        assert repository.grep("CVE")
    assert len(seen) >= 6
    assert all(env is not None and "hf_0123" not in env.values() for env in seen)


def _c(text: str) -> Program:
    return Program(text + "\n", ((1, Owner("target")),), (0,) * (text.count("\n") + 1))


def test_a_child_reads_nothing_and_writes_no_file(tmp_path):
    assert child.execute(["cat"], tmp_path, seconds=5, memory=None) == (0, "")
    code, said = child.execute(
        ["sh", "-c", "echo before; echo pwned > out; echo after"], tmp_path, seconds=5, memory=None
    )
    assert (code, said) == (-signal.SIGXFSZ, "before\n")
    assert (tmp_path / "out").read_text() == ""
    code, _ = child.execute(["sh", "-c", "echo fine > out"], tmp_path, seconds=5, memory=None, files=100)
    assert (code, (tmp_path / "out").read_text()) == (0, "fine\n")


def test_one_that_prints_without_end_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "PRINTED", 1 << 20)
    code, said = child.execute(["yes"], tmp_path, seconds=60, memory=child.MEMORY)
    assert code == -signal.SIGKILL
    assert len(said) < 2 << 20


def test_what_a_child_starts_ends_with_it(tmp_path):
    command = "sleep 600 >/dev/null 2>&1 & echo $!; exit 3"
    code, said = child.execute(["sh", "-c", command], tmp_path, seconds=5, memory=None)
    assert code == 3
    for _ in range(100):
        if not _alive(int(said)):
            break
        time.sleep(0.05)
    assert not _alive(int(said))


def test_a_signal_while_a_child_starts_ends_the_child(tmp_path, monkeypatch):
    def told() -> None:  # in the child, before its program
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(0.3)

    monkeypatch.setattr(child, "limits", lambda **_: told)
    with pytest.raises(SystemExit), stoppable(signal.SIGTERM):
        child.execute(["sleep", "600"], tmp_path, seconds=5, memory=None)
    working = [entry for entry in Path("/proc").glob("[0-9]*") if _works_in(entry, tmp_path)]
    assert working == []


def _works_in(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").readlink() == folder
    except OSError:
        return False


def test_a_stricter_limit_of_the_user_stays(tmp_path):
    script = f"""import resource
from pathlib import Path
from builders.verivul import child
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
print(child.execute(["sh", "-c", "ulimit -f"], Path({str(tmp_path)!r}), seconds=5, memory=None, files=1 << 30))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout in ("(0, '1\\n')\n", "(0, '2\\n')\n")  # blocks of 1024 or 512 bytes


def test_a_sanitized_program_cannot_take_all_memory(monkeypatch):
    eat = """extern void *malloc(unsigned long);
extern void *memset(void *, int, unsigned long);
extern int printf(const char *, ...);
int main(void)
{
    for (int i = 0; i < 100; i++) { char *p = malloc(10u << 20); if (!p) return 1; memset(p, 1, 10u << 20); }
    printf("it has a gigabyte");
    return 0;
}"""
    said, execute = [], child.execute

    def heard(*arguments, **named):
        said.append(execute(*arguments, **named))
        return said[-1]

    monkeypatch.setattr(child, "execute", heard)
    monkeypatch.setattr(replay, "_OPTIONS", replay._OPTIONS.replace("limit_mb=2048", "limit_mb=200"))
    assert replay.replay(_c(eat), [], leaks=False, search=False).outcome == "none"
    code, output = said[-1]
    assert code != 0
    assert "rss limit exhausted" in output
    assert "a gigabyte" not in output


def test_bounds_on_time_and_memory_end_a_run(tmp_path):
    spin = [sys.executable, "-c", "while True: pass"]
    code, _ = child.execute(spin, tmp_path, seconds=1, memory=None)
    assert code in (-signal.SIGXCPU, -signal.SIGKILL)
    eat = [sys.executable, "-c", "x = bytearray(1 << 30)"]
    code, output = child.execute(eat, tmp_path, seconds=10, memory=400 << 20)
    assert code != 0
    assert "MemoryError" in output


def test_an_interrupt_leaves_no_process_behind(tmp_path):
    script = f"""
import sys
from pathlib import Path
from builders.verivul import child
code = "import os, time, pathlib; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(600)"
child.execute([sys.executable, "-c", code],
              Path({str(tmp_path)!r}), seconds=100, memory=None, files=100)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", script], cwd=Path.cwd(), env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    place = tmp_path / "pid"
    for _ in range(600):
        if place.exists() and place.read_text():
            break
        time.sleep(0.1)
    pid = int(place.read_text())
    parent.send_signal(signal.SIGINT)
    parent.wait(60)
    for _ in range(100):
        if not _alive(pid):
            break
        time.sleep(0.1)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        return open(f"/proc/{pid}/stat").read().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
