"""The rows that an `Alike` compares: those of a table, of another dataset's table, or of an evaluation set in a file.

Rows are numbered by split and id, so what is found does not depend on the order of files and threads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from quality import duck
from quality.connect import Session, data_files
from quality.failures import reason
from schemas import Alike, Audio, CheckSet, DatasetFolder, GoldsmithError, Image, List, Struct, Table, Text, sql
from schemas.checks import Kind
from schemas.types import Type

_BATCH_ROWS = 2048
_STRINGS: tuple[Kind, ...] = ("text", "code", "protein")
_READERS: dict[str, sql.Reader] = {
    ".parquet": "read_parquet",
    ".jsonl": "read_json_auto",
    ".json": "read_json_auto",
    ".csv": "read_csv",
}


@dataclass(frozen=True)
class Other:
    """Something to compare with.

    Attributes:
        of: the dataset, or the file without its ending: what `never_in` names.
        folder, alikes: of a dataset, and what it says is alike in it.
        file, column: of an evaluation set; without a column, its only one of text.
    """

    of: str
    folder: DatasetFolder | None = None
    alikes: tuple[Alike, ...] = ()
    file: Path | None = None
    column: str = ""

    @property
    def name(self) -> str:
        """What checks and findings call it: `exam`, or `exam:question` where the column of a file was named."""
        return f"{self.of}:{self.column}" if self.column else self.of

    @classmethod
    def of_dataset(cls, folder: DatasetFolder, checks: CheckSet) -> Other:
        """A dataset folder or a release.

        Raises:
            GoldsmithError: it declares nothing that could be compared.
        """
        alikes = tuple(check for check in checks.checks if isinstance(check, Alike))
        if not alikes:
            raise GoldsmithError(
                f"[--against {folder.path}] {folder.schema.name} declares no Alike: add one to its checks"
            )
        return cls(folder.schema.name, folder, alikes)

    @classmethod
    def of_file(cls, text: str) -> Other:
        """`FILE` or `FILE:COLUMN`.

        Raises:
            GoldsmithError: there is no such file, or it is none of a kind that can be read.
        """
        path, column = Path(text), ""
        if not path.is_file():
            name, _, column = text.rpartition(":")
            path = Path(name)
        if not path.is_file():
            raise GoldsmithError(f"[--against {text}] is not there: name a dataset folder, or a file as FILE:COLUMN")
        if path.suffix not in _READERS:
            raise GoldsmithError(f"[--against {text}] is none of {', '.join(_READERS)}: convert it")
        return cls(path.stem, file=path, column=column)


@dataclass(frozen=True)
class Rows:
    """Numbered rows of one table or file.

    Attributes:
        con: where they are.
        source: SQL with the columns id (text, or the number of a file's row), place (of the split), apart and v.
        count: how many there are.
        places: place of the split, int8 of shape (rows,).
        apart: a number for each value of the column `apart`, 0 for none: int32 of shape (rows,).
    """

    con: duckdb.DuckDBPyConnection
    source: str
    count: int
    places: np.ndarray
    apart: np.ndarray

    @classmethod
    def of(cls, con: duckdb.DuckDBPyConnection, source: str) -> Rows:
        """Number the rows of a source. An id that occurs twice, a fault of its own, stands for one row."""
        ids = f"SELECT id, place, min(apart) AS apart FROM ({source}) GROUP BY id, place"
        con.execute(
            "CREATE OR REPLACE TEMP TABLE _alike AS SELECT row_number() OVER (ORDER BY place, id) - 1 AS n, id, place, "
            f"CASE WHEN apart IS NULL THEN 0 ELSE dense_rank() OVER (ORDER BY apart) END AS apart FROM ({ids})"
        )
        found = con.execute(
            "SELECT place::TINYINT AS place, apart::INTEGER AS apart FROM _alike ORDER BY n"
        ).fetchnumpy()
        places, apart = (np.asarray(found[name]) for name in ("place", "apart"))
        return cls(con, source, len(places), places, apart)

    def values(self) -> Iterator[tuple[np.ndarray, pa.Array]]:
        """Numbers and values, in any order."""
        query = f"SELECT n, v FROM ({self.source}) AS rows JOIN _alike USING (id, place)"
        for batch in self.con.sql(query).to_arrow_reader(_BATCH_ROWS):
            yield np.from_dlpack(batch.column(0)).astype(np.int64), batch.column(1)

    def ids(self, numbers: np.ndarray) -> dict[int, str]:
        """The ids of some rows."""
        found: dict[int, str] = {}
        for start in range(0, len(numbers), 50_000):
            some = ", ".join(map(str, numbers[start : start + 50_000].tolist()))
            found.update(self.con.execute(f"SELECT n, id::VARCHAR FROM _alike WHERE n IN ({some})").fetchall())
        return found


def of_table(session: Session, alike: Alike) -> Rows:
    """The rows of the table that is checked.

    Raises:
        GoldsmithError: the column is none of the table's, or holds something else than the check says.
    """
    table = session.dataset.table(alike.table)
    for column in (alike.column, alike.apart):
        if column is not None and column not in table.names:
            raise GoldsmithError(f"[{session.dataset.name} > {alike.name}] {column} is no column: mend the check")
    if not _fits(alike.kind, table.column(alike.column).type):
        raise GoldsmithError(
            f"[{session.dataset.name} > {alike.name}] {alike.column} holds no {alike.kind}: mend the check"
        )
    place = f"list_position([{sql.literals(table.splits)}], {duck.SPLIT})"
    return Rows.of(session.con, _selected(table, alike, place, sql.name(table.name)))


def of_other(session: Session, alike: Alike, other: Other, con: duckdb.DuckDBPyConnection) -> Rows | None:
    """The rows of something to compare with, over a connection that may read it; None where it has none of the kind.

    Raises:
        GoldsmithError: a file cannot be read, or lacks the column.
    """
    if other.folder is not None:
        for theirs in other.alikes:
            if theirs.kind == alike.kind:
                return _of_dataset(other.folder, theirs, con)
        return None
    return _of_file(alike.kind, other, con)


def _of_dataset(folder: DatasetFolder, alike: Alike, con: duckdb.DuckDBPyConnection) -> Rows | None:
    paths = [folder.path / path for paths in data_files(folder, alike.table).values() for path in paths]
    if not paths:
        return None
    try:
        return Rows.of(con, _selected(folder.schema.table(alike.table), alike, "0", sql.scan(paths)))
    except duckdb.Error as error:
        raise GoldsmithError(f"[--against {folder.path}] cannot be read ({reason(error)}): build it again") from None


def _of_file(kind: Kind, other: Other, con: duckdb.DuckDBPyConnection) -> Rows | None:
    assert other.file is not None
    scan = sql.scan([other.file], _READERS[other.file.suffix])
    try:
        columns = {name: duck for name, duck, *_ in con.execute(f"DESCRIBE FROM {scan}").fetchall()}
        column = other.column or _only_text(other, columns)
        if column not in columns:
            raise GoldsmithError(f"[--against {other.file}] has no column {column}: it has {', '.join(columns)}")
        if not _fits_duck(kind, columns[column]):
            return None
        value = f"{sql.name(column)}.bytes" if kind == "image" and columns[column] != "BLOB" else sql.name(column)
        con.execute(
            f"CREATE OR REPLACE TEMP TABLE _given AS SELECT row_number() OVER () AS id, {value} AS v FROM {scan}"
        )
        return Rows.of(con, "SELECT id, 0 AS place, NULL AS apart, v FROM _given")
    except duckdb.Error as error:
        raise GoldsmithError(f"[--against {other.file}] cannot be read ({reason(error)}): mend or convert it") from None


def _only_text(other: Other, columns: dict[str, str]) -> str:
    texts = [name for name, duck in columns.items() if duck == "VARCHAR"]
    if len(texts) != 1:
        raise GoldsmithError(f"[--against {other.file}] has {len(texts)} columns of text: name one as FILE:COLUMN")
    return texts[0]


def _selected(table: Table, alike: Alike, place: str, source: str) -> str:
    value = sql.name(alike.column) + (".bytes" if alike.kind == "image" else "")
    apart = "NULL" if alike.apart is None else f"{sql.name(alike.apart)}::VARCHAR"
    return f"SELECT {duck.row_id(table)} AS id, {place} AS place, {apart} AS apart, {value} AS v FROM {source}"


def _fits(kind: Kind, column: Type) -> bool:
    if kind in _STRINGS:
        return isinstance(column, Text)
    if kind == "image":
        return isinstance(column, Image)
    of = column.of if isinstance(column, List) else None
    if kind == "strokes":
        return isinstance(of, Struct) and {"x", "y"} <= {name for name, _ in of.fields}
    return of is not None and not isinstance(of, Struct | Text | Audio | Image)


def _fits_duck(kind: Kind, duck: str) -> bool:
    if kind in _STRINGS:
        return duck == "VARCHAR"
    if kind == "image":
        return duck == "BLOB" or (duck.startswith("STRUCT(") and not duck.endswith("[]") and "bytes" in duck)
    if kind == "strokes":
        return duck.startswith("STRUCT(") and duck.endswith("[]") and " x " in f" {duck[7:]}"
    return duck.endswith(("INT[]", "INTEGER[]"))


def connection(session: Session) -> duckdb.DuckDBPyConnection:
    """A connection that reads other datasets and files, in the memory that the session has; it writes into the
    session's spill folder alone."""
    con = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    (limit,) = session.one("SELECT current_setting('memory_limit')")
    con.execute(f"SET memory_limit = {sql.literal(limit)}")
    con.execute(f"SET temp_directory = {sql.literal(str(session.spill))}")
    con.execute("SET python_enable_replacements = false")
    return con


def refuse_repeated(others: Sequence[Other]) -> None:
    """Refuse two things to compare with of one name, but for two columns of a file: checks bear it, and rows found
    would be counted twice.

    Raises:
        GoldsmithError: a name is there twice.
    """
    for first, second in combinations(others, 2):
        columns = {first.column, second.column} if first.file == second.file else set()
        if first.of == second.of and ("" in columns or len(columns) < 2):
            raise GoldsmithError(
                f"[--against {first.of}] is given twice: give it once, or each column of a file as FILE:COLUMN; check "
                "against another one of that name in another run, or rename its file"
            )


def refuse_unmatched(alikes: Sequence[Alike], others: Sequence[Other], compared: Collection[str]) -> None:
    """Refuse something to compare with that holds nothing of any kind that this dataset compares.

    Args:
        compared: the names of those that do.

    Raises:
        GoldsmithError: one does not.
    """
    kinds = ", ".join(sorted({alike.kind for alike in alikes}))
    for other in others:
        if not kinds:
            raise GoldsmithError(f"[--against {other.name}] this dataset declares no Alike: add one to its checks")
        if other.name not in compared:
            raise GoldsmithError(
                f"[--against {other.name}] holds none of what this dataset compares ({kinds}): leave it out"
            )
