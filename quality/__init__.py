"""Checks: whether a dataset folder holds what its schema and its people say it holds.

`run.check` is the way in; `console` and `report_html` show what it found. Nothing here changes a row: what fails is
written down in `quality/findings.parquet`, and what follows from it is the gate's business (`releases`).
"""

import schemas  # noqa: F401 - before DuckDB, which loads NumPy: schemas says which instructions it sorts with
