"""What the libraries of a process that builds are told: threads that change no sums, memory that is given back."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

ENVIRONMENT = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
) | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Of workers: what the libraries of linear algebra and Arrow read when they load. Arrow's own pool keeps tens of MB for
each of its threads; the C library gives back what is let go."""


def one_blas_thread() -> AbstractContextManager[object]:
    """Sums in BLAS depend on its number of threads: workers have one, and so has this process while it works."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    return threadpool_limits(1, user_api="blas")
