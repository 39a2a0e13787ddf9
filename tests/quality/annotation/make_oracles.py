"""Makes golden/oracles.json: what reference libraries say of random votes with missing answers.

They are never installed with this toolkit: krippendorff is GPL, crowd-kit needs transformers, irrCAC pins an old scipy.
So this runs by hand, in environments of their own, and tests compare with the file:

    python -m venv /tmp/oracle && /tmp/oracle/bin/pip install krippendorff scikit-learn crowd-kit
    python -m venv /tmp/irr && /tmp/irr/bin/pip install irrCAC
    /tmp/oracle/bin/python tests/quality/annotation/make_oracles.py
    /tmp/irr/bin/python tests/quality/annotation/make_oracles.py --ac1
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

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


def oracle(answers: np.ndarray) -> dict[str, Any]:
    import krippendorff
    import pandas as pd
    from crowdkit.aggregation import DawidSkene
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
    fitted = DawidSkene(n_iter=300, tol=1e-9)
    fitted.fit(pd.DataFrame(rows, columns=["task", "worker", "label"]))
    return {
        "answers": [[None if np.isnan(one) else int(one) for one in line] for line in answers],
        "alpha": {
            level: krippendorff.alpha(answers, level_of_measurement=level)
            for level in ("nominal", "ordinal", "interval")
        },
        "kappa": kappas,
        "dawid_skene": {task: float(row.max()) for task, row in fitted.probas_.iterrows()},
        "dawid_skene_label": {task: int(row.idxmax()) for task, row in fitted.probas_.iterrows()},
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
