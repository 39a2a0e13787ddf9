"""What VAANI's checks are: see `checks_audio` (A), `checks_text` (T, X) and `checks_labels` (M),
`checks_whole` (S, R), and `plots`.

Severities: what a corpus should not hold is a `drop` (the clip leaves the release, its record stays among the rejects),
what a person should look at a `warn`. Only what dropping rows cannot mend blocks: personal data, leaks, false claims.
"""

from __future__ import annotations

from builders.vaani.audits import AUDITS
from builders.vaani.checks_audio import AUDIO_CHECKS
from builders.vaani.checks_labels import LABELS
from builders.vaani.checks_text import TEXT_CHECKS
from builders.vaani.checks_whole import WHOLE_CHECKS, WHOLE_VIEWS
from builders.vaani.plots import PLOTS, heard
from schemas import CheckSet

_ALL = (*AUDIO_CHECKS, *TEXT_CHECKS, *LABELS, *WHOLE_CHECKS)
CHECKS = CheckSet(_ALL, WHOLE_VIEWS, (*PLOTS, *heard(_ALL)), AUDITS)
