"""Makes golden/oracles.json: what reference libraries say of random votes with missing answers.

They are test oracles only: krippendorff is GPL, crowd-kit brings transformers, irrCAC pins an old scipy. Tests compare
with the file; `test_oracles.py` also asks the first two themselves, where they are installed. This runs by hand:

    pip install '.[dev,oracles]'
    python tests/quality/annotation/make_oracles.py
    python -m venv ../irr && ../irr/bin/pip install irrCAC
    ../irr/bin/python tests/quality/annotation/make_oracles.py --ac1

crowd-kit is made to take a fixed number of steps: its own rule ends too early, for the bound whose growth it watches
counts the shares of labels once for each vote, and falls (in 8 of the 30 cases).
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

STEPS = (7, 60)
FILE = Path(__file__).parent / "golden" / "oracles.json"


def votes(seed: int) -> np.ndarray:
    """People x items, labels from 0, NaN where there is no answer."""
    rng = np.random.default_rng(seed)
    people, items, labels = int(rng.integers(2, 7)), int(rng.integers(8, 60)), int(rng.integers(2, 6))
    truth = rng.integers(0, labels, items)
    right = rng.random((people, 1)) * 0.6 + 0.4 > rng.random((people, items))
    answers = np.where(right, truth, rng.integers(0, labels, (people, items))).astype(float)
    answers[rng.random((people, items)) < 0.3 * (seed % 3 > 0)] = np.nan
    return answers


def posterior(frame: Any, steps: int) -> dict[str, dict[str, float]]:
    """What crowd-kit says after so many steps: item -> label -> probability."""
    from crowdkit.aggregation.classification import DawidSkene

    fitted = DawidSkene(n_iter=steps, tol=-np.inf).fit(frame)
    found = fitted.probas_.round(12)
    return {str(task): {str(label): float(p) for label, p in row.items()} for task, row in found.iterrows()}


def oracle(answers: np.ndarray) -> dict[str, Any]:
    import krippendorff
    import pandas as pd
    from sklearn.metrics import cohen_kappa_score

    kappas = {}
    for a in range(len(answers)):
        for b in range(a + 1, len(answers)):
            both = ~np.isnan(answers[a]) & ~np.isnan(answers[b])
            if both.any():
                kappa = float(cohen_kappa_score(answers[a][both], answers[b][both]))
                kappas[f"{a}/{b}"] = None if np.isnan(kappa) else kappa
    rows = [
        (str(item), f"a{person}", int(answers[person, item]))
        for person, item in zip(*np.nonzero(~np.isnan(answers)), strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    return {
        "answers": [[None if np.isnan(one) else int(one) for one in line] for line in answers],
        "alpha": {
            level: krippendorff.alpha(answers, level_of_measurement=level)
            for level in ("nominal", "ordinal", "interval")
        },
        "kappa": kappas,
        "dawid_skene": {str(steps): posterior(frame, steps) for steps in STEPS},
    }


def add_ac1(cases: list[dict[str, Any]]) -> None:
    import pandas as pd
    from irrCAC.raw import CAC

    for case in cases:
        frame = pd.DataFrame(case["answers"], dtype=float).T
        case["ac1"] = float(CAC(frame, digits=12).gwet()["est"]["coefficient_value"])


def main() -> None:
    if "--ac1" in sys.argv:
        form = json.loads(FILE.read_text())
        add_ac1(form["cases"])
        form["made_with"]["irrCAC"] = version("irrCAC")
    else:
        names = ("krippendorff", "scikit-learn", "crowd-kit", "numpy")
        cases = [oracle(votes(seed)) for seed in range(30)]
        form = {"made_with": {name: version(name) for name in names}, "cases": cases}
    FILE.write_text(json.dumps(form) + "\n")


if __name__ == "__main__":
    main()
