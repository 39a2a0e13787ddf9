"""Rows of a table as vectors of length 1 whose inner products say how alike rows are.

An embedding is scaled to length 1 (and a vector is like its opposite). Measures (seconds, decibels, counts) have no
direction: each is taken from its median in units of its spread, and the vector is a map to random Fourier features
(Rahimi and Recht, 2007), whose inner products are near exp(-g |a - b|^2); g is such that two rows at the typical
distance have 1/e. The draw is seeded: same rows, same vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from quality import duck
from quality.connect import Session
from schemas import GoldsmithError, List, Strange, sql

_BATCH_ROWS = 16_384
_FREQUENCIES = 128
_SEED = 20_260_603
_LOOKED_AT = 512
"""Rows that the typical distance is measured on."""

_FAR = 12.0
"""Spreads from the median beyond which a value is not further out: one of 1e30 would make all others alike."""


@dataclass(frozen=True)
class Vectors:
    """The rows of one group, read anew at each pass.

    Attributes:
        session, query: SQL with the columns `id` and `v`, numbers in a list of `width`.
        measures: the columns that the numbers are of, in spreads from their medians; empty for an embedding.
        to_unit: maps float64 of shape (rows, width) to rows of length 1.
    """

    session: Session
    query: str
    width: int
    measures: tuple[str, ...]
    to_unit: Callable[[np.ndarray], np.ndarray]

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows without their ids, float64 of shape (rows, d)."""
        for batch in self.session.con.sql(f"SELECT v FROM ({self.query})").to_arrow_reader(_BATCH_ROWS):
            yield self.to_unit(np.from_dlpack(batch.column(0).flatten()).reshape(-1, self.width))

    def named(self) -> Iterator[tuple[list[str], np.ndarray, np.ndarray]]:
        """Ids, the numbers as they were read, and the rows as in `blocks`."""
        for batch in self.session.con.sql(f"SELECT id, v FROM ({self.query})").to_arrow_reader(_BATCH_ROWS):
            numbers = np.from_dlpack(batch.column(1).flatten()).reshape(-1, self.width)
            yield batch.column(0).to_pylist(), numbers, self.to_unit(numbers)


def vectors(session: Session, strange: Strange, where: str) -> Vectors | None:
    """The rows of `strange` that meet a condition; None where they have no measure that varies.

    Raises:
        GoldsmithError: a column is none of the table's.
    """
    table = session.dataset.table(strange.table)
    for column in strange.columns:
        if column not in table.names:
            raise GoldsmithError(f"[{session.dataset.name} > {strange.name}] {column} is no column: mend the check")
    head = f"SELECT {duck.row_id(table)} AS id"
    rows = f"FROM {sql.name(table.name)} WHERE {where}"
    if isinstance(table.column(strange.columns[0]).type, List):
        return _embedding(session, sql.name(strange.columns[0]), head, rows)
    scaled = {column: value for column in strange.columns if (value := _spread(session, sql.name(column), rows))}
    if not scaled:
        return None
    query = f"{head}, [{', '.join(scaled.values())}]::DOUBLE[] AS v {rows}"
    to_unit = fourier(_sample(session, query, len(scaled)))
    return Vectors(session, query, len(scaled), tuple(scaled), to_unit)


def _embedding(session: Session, value: str, head: str, rows: str) -> Vectors | None:
    usual = f"SELECT mode(len({value})), count(*) {rows} AND len({value}) > 0"
    width, count = session.one(usual)
    if not count:
        return None
    whole = f"len({value}) = {width} AND list_min([isfinite(item) FOR item IN {value}]) AND list_max({value}) <> 0"
    return Vectors(session, f"{head}, {value}::DOUBLE[] AS v {rows} AND {whole}", width, (), _scaled)


def _scaled(numbers: np.ndarray) -> np.ndarray:
    return numbers / np.maximum(np.linalg.norm(numbers, axis=1, keepdims=True), 1e-300)


def _spread(session: Session, value: str, rows: str) -> str | None:
    """A measure in spreads from its median, as SQL; None where it does not vary."""
    number = f"CASE WHEN isfinite({value}::DOUBLE) THEN {value}::DOUBLE END"
    found = "median(x), quantile_cont(x, 0.25), quantile_cont(x, 0.75), stddev_pop(x)"
    middle, low, high, deviation = session.one(f"SELECT {found} FROM (SELECT {number} AS x {rows})")
    if not deviation:
        return None
    spread = (high - low) / 1.349 or deviation  # both are the standard deviation of a normal distribution
    z = f"({number} - {sql.literal(float(middle))}) / {sql.literal(float(spread))}"
    return f"coalesce(greatest(least({z}, {_FAR}), -{_FAR}), 0)"


def _sample(session: Session, query: str, width: int) -> np.ndarray:
    """Some rows, the same ones whatever the order of the files."""
    chosen = f"SELECT v FROM ({query}) ORDER BY hash(id), id LIMIT {_LOOKED_AT}"
    return np.array([row for (row,) in session.rows(chosen)], np.float64).reshape(-1, width)


def fourier(sample: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A map of measures, shape (rows, width), to vectors of length 1, scaled by the typical distance in a sample."""
    distance = ((sample[:, None] - sample[None]) ** 2).sum(axis=2)
    typical = float(np.median(distance[np.triu_indices(len(sample), 1)])) or 1.0
    draw = np.random.default_rng(_SEED)
    frequencies = draw.standard_normal((sample.shape[1], _FREQUENCIES)) * np.sqrt(2 / typical)

    def to_unit(numbers: np.ndarray) -> np.ndarray:
        phase = numbers @ frequencies
        return np.hstack([np.cos(phase), np.sin(phase)]) / np.sqrt(_FREQUENCIES)

    return to_unit
