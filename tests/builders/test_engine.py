"""The engine: every item gets its outcome, whatever befalls the process that works on it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from builders.engine import ATTEMPTS, Outcome, run
from schemas import GoldsmithError


def work(item, report):
    """Do to oneself what the item says."""
    if callable(report):
        report(item)
    result = None
    match item:
        case ("die", folder):
            (Path(folder) / f"attempt-{time.monotonic_ns()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        case ("exit", code):
            os._exit(code)
        case "mistake":
            raise GoldsmithError("[item] is wrong: mend it")
        case "exception":
            raise ValueError("two\nlines")
        case "full":
            raise OSError(28, "No space left on device", "a.parquet")
        case "threads":
            result = [os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")]
        case "pool":
            result = pa.default_memory_pool().backend_name
        case "pid":
            result = os.getpid()
        case _:
            result = item * 2
    return result


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_all_items_are_done(workers):
    reports = []
    outcomes = list(run(work, [1, 2, 3], workers=workers, report=reports.append))
    assert sorted(outcomes, key=lambda outcome: outcome.index) == [Outcome(0, 2), Outcome(1, 4), Outcome(2, 6)]
    assert sorted(reports) == [1, 2, 3]


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_to_do(workers):
    assert list(run(work, [], workers=workers)) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_failures_are_told_apart(workers):
    outcomes = sorted(
        run(work, ["mistake", "exception", "full", 4], workers=workers), key=lambda outcome: outcome.index
    )
    mistake, exception, full, good = outcomes
    assert (mistake.error, mistake.trace, mistake.stop) == ("[item] is wrong: mend it", "", False)
    assert exception.error is not None
    assert exception.error.startswith("ValueError: two lines (at test_engine.py line")
    assert "Traceback" in exception.trace
    assert full.error == "[a.parquet] No space left on device: make room and run it again"
    assert full.stop
    assert good == Outcome(3, 8)


def test_a_poisoned_item_is_given_up_after_its_attempts(tmp_path):
    outcomes = {outcome.index: outcome for outcome in run(work, [1, ("die", str(tmp_path)), 3, 4], workers=2)}
    assert len(list(tmp_path.iterdir())) == ATTEMPTS
    assert [outcomes[index].value for index in (0, 2, 3)] == [2, 6, 8]
    assert outcomes[1].error == f"its worker died {ATTEMPTS} times, at last by signal 9 (out of memory?)"


def test_all_items_poisoned(tmp_path):
    outcomes = list(run(work, [("exit", 3), ("exit", 3)], workers=2))
    assert [outcome.error for outcome in outcomes] == [
        f"its worker died {ATTEMPTS} times, at last with exit code 3"
    ] * 2


def test_workers_have_one_thread_for_blas_and_the_driver_is_left_alone():
    before = dict(os.environ)
    outcomes = list(run(work, ["threads", "threads"], workers=2))
    assert [outcome.value for outcome in outcomes] == [["1", "1", "1"]] * 2
    assert dict(os.environ) == before


def test_one_worker_works_here_and_more_do_not():
    assert next(run(work, ["pid"], workers=1)).value == os.getpid()
    assert os.getpid() not in {outcome.value for outcome in run(work, ["pid", "pid"], workers=2)}


def test_stopping_early_leaves_no_process(wait_for):
    outcomes = run(work, ["pid", "pid", "pid", "pid"], workers=2)
    pid = next(outcomes).value
    outcomes.close()

    def gone() -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_for(gone)


def test_what_cannot_be_sent_is_said():
    with pytest.raises(GoldsmithError, match=r"cannot be sent to other processes .*: use one worker"):
        list(run(lambda item, report: item, [1, 2], workers=2))


def test_arrow_takes_memory_from_the_c_library_in_workers():
    assert [outcome.value for outcome in run(work, ["pool", "pool"], workers=2)] == ["system", "system"]


LOGARITHMS = """
import {first}
import hashlib, os
import numpy as np
from builders.engine import run

def work(item, report):
    values = np.random.default_rng(0).random(1000).astype(np.float32)
    return hashlib.sha256(np.log10(values).tobytes()).hexdigest()

if __name__ == "__main__":
    print(*(outcome.value for workers in (1, 2) for outcome in run(work, [0, 1], workers=workers)))
"""


@pytest.mark.parametrize("first", ["builders", "goldsmith", "numpy", "pyarrow"])
def test_the_last_digits_do_not_depend_on_what_was_loaded_first(tmp_path, first):
    """NumPy with AVX-512 computes other logarithms than without; on other processors this cannot fail."""
    script = tmp_path / "logarithms.py"
    script.write_text(LOGARITHMS.format(first=first))
    kept = {name: value for name, value in os.environ.items() if name != "NPY_DISABLE_CPU_FEATURES"}
    environment = {**kept, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sums = done.stdout.split()
    assert len(sums) == 4
    assert len(set(sums)) == 1
