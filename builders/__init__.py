"""Dataset builders: one folder a dataset, and the machinery they share.

A builder sees the whole in `plan` and one shard in `build`; see `builders.api`. Read `builders/virogym/builder.py` as
an example.
"""

import schemas  # noqa: F401 (it tells NumPy which instructions to use, before PyArrow loads it)

# isort: split
from builders.api import Batch, Builder, Read, Reject, Shard
from builders.sources import Source, Sources

__all__ = ["Batch", "Builder", "Read", "Reject", "Shard", "Source", "Sources"]
