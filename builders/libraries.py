"""What the libraries of a process that builds are told: threads and instructions that change no sums, memory that is
given back."""

from __future__ import annotations

from typing import Any

_AVX512 = "X86_V4"

ENVIRONMENT = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
) | {"ARROW_DEFAULT_MEMORY_POOL": "system", "NPY_DISABLE_CPU_FEATURES": _AVX512}
"""Of workers: what the libraries of linear algebra, Arrow and NumPy (see `schemas`) read when they load. Arrow's own
pool keeps tens of MB for each of its threads; the C library gives back what is let go."""


def numpy_is_told() -> bool:
    """Whether NumPy computes in this process as in workers: not where it was loaded before it could be told."""
    import numpy as np

    extensions: Any = np.show_config(mode="dicts")
    return _AVX512 not in extensions.get("SIMD Extensions", {}).get("found", ())
