"""The checks of ViroGym, C01 to C24, with their views and plots: what `goldsmith check` adds to the shared checks.

A name's number is that of the project's notes; what a check asks is said beside it, in the module of its subject:
`checks_sequence` (mutants), `checks_references` (proteins), `checks_scores` (values), `checks_origin` (folds, sources,
licences, accounting), `checks_titres` and `checks_emergence` (the tables of the other tasks).
"""

from builders.virogym.audits import RECORDS
from builders.virogym.checks_emergence import EMERGENCE_CHECKS
from builders.virogym.checks_origin import ORIGIN_CHECKS
from builders.virogym.checks_references import REFERENCE_CHECKS
from builders.virogym.checks_scores import SCORE_CHECKS
from builders.virogym.checks_sequence import SEQUENCE_CHECKS
from builders.virogym.checks_titres import TITRE_CHECKS
from builders.virogym.checks_views import VIEWS
from builders.virogym.plots import PLOTS
from builders.virogym.plots_tasks import TASK_PLOTS
from schemas import CheckSet

_ALL = SEQUENCE_CHECKS + REFERENCE_CHECKS + SCORE_CHECKS + ORIGIN_CHECKS + TITRE_CHECKS + EMERGENCE_CHECKS

CHECKS = CheckSet(
    checks=tuple(sorted(_ALL, key=lambda check: check.name[:3])),
    views=VIEWS,
    plots=PLOTS + TASK_PLOTS,
    audits=(RECORDS,),
)
"""What the builder declares."""
