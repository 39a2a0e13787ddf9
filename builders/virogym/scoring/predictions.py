"""The file of predictions: what it must hold, and its errors in one line.

One file is for one task, which its columns name:

* deep mutational scans: `assay_id`, `variant_id` or `mutant`, `score`; a supervised model adds `split` (`random`,
  `modulo`, `contiguous` or `cluster`): the score is then of a model that was not trained on the variant's fold;
* neutralisation: `serum_id`, `strain_id`, `score`: higher for a virus that the serum neutralises better;
* emergence: `window_id`, `mutation`, `score`: higher for a mutation that is more likely to rise.

CSV (also gzipped), TSV, Parquet or JSON lines, by the file's suffix. Every score is a finite number. A whole assay,
serum or window may be left out and is counted as such; within one that is there, every row that is scored must be.
What could be read in two ways is refused: a column that is there twice, a key that a line has twice, the columns of two
tasks.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from polars.exceptions import PolarsError

from schemas import GoldsmithError
from schemas.json_lines import json_object

SPLITS = ("random", "modulo", "contiguous", "cluster")
_GROUP = {"dms": "assay_id", "neutralisation": "serum_id", "emergence": "window_id"}
_ITEMS = {"dms": ("variant_id", "mutant"), "neutralisation": ("strain_id",), "emergence": ("mutation",)}
_READERS = ".csv, .csv.gz, .tsv, .parquet or .jsonl"


@dataclass(frozen=True)
class Predictions:
    """What a file says, before it meets the truth.

    Attributes:
        name: of the file, without folder.
        task: `dms`, `neutralisation` or `emergence`.
        keys: the columns that name a row: the group, then the item.
        rows: `keys`, `score` and, where it is there, `split`.
    """

    name: str
    task: str
    keys: tuple[str, str]
    rows: pl.DataFrame

    @property
    def supervised(self) -> bool:
        """Whether scores are for the folds of a split."""
        return "split" in self.rows.columns

    @property
    def groups(self) -> list[str]:
        """The assays, sera or windows it is about."""
        return self.rows[self.keys[0]].unique(maintain_order=True).to_list()

    @classmethod
    def read(cls, path: Path) -> Predictions:
        """Read and check a file.

        Raises:
            GoldsmithError: it is absent or no table, lacks a column, names a row twice, or a score is no finite number.
        """
        table = _table(path)
        found = [
            (task, (group, items[0]))
            for task, group in _GROUP.items()
            if group in table.columns and (items := [item for item in _ITEMS[task] if item in table.columns])
        ]
        if len(found) > 1:
            both = " and ".join("/".join(keys) for _, keys in found)
            raise GoldsmithError(f"[{path.name}] has the columns of {len(found)} tasks ({both}): write a file for each")
        if found and "score" in table.columns:
            return cls._of(path.name, *found[0], table)
        forms = "; ".join(f"{group}, {' or '.join(_ITEMS[task])}, score" for task, group in _GROUP.items())
        raise GoldsmithError(f"[{path.name}] has the columns {', '.join(table.columns)}: give {forms}")

    @classmethod
    def of(cls, name: str, task: str, rows: pl.DataFrame) -> Predictions:
        """Predictions made here, in the columns that a file would have; checked in the same way."""
        item = next(item for item in _ITEMS[task] if item in rows.columns)
        return cls._of(name, task, (_GROUP[task], item), rows)

    @classmethod
    def _of(cls, name: str, task: str, keys: tuple[str, str], table: pl.DataFrame) -> Predictions:
        with_split = task == "dms" and "split" in table.columns
        columns = [*keys, *(["split"] if with_split else [])]
        for column in (*columns, "score"):
            kind = table[column].dtype
            plain = kind.is_numeric() or kind in (pl.String, pl.Categorical, pl.Enum, pl.Null)
            if not plain:
                word = str(kind).partition("(")[0]
                raise GoldsmithError(f"[{name} > {column}] holds {word}, not plain values: write text and numbers")
        score = table["score"].cast(pl.Float64, strict=False)
        rows = table.select(*(pl.col(column).cast(pl.String) for column in columns), score=score)
        if not rows.height:
            raise GoldsmithError(f"[{name}] holds no prediction: write one row for each {keys[1]}")
        if with_split and rows["split"].null_count() == rows.height:
            rows, columns, with_split = rows.drop("split"), columns[:-1], False
        empty = rows.select(pl.any_horizontal(pl.col(column).is_null() for column in columns).arg_true().first()).item()
        if empty is not None:
            raise GoldsmithError(f"[{name} > row {empty + 1}] has no {' or '.join(columns)}: fill it")
        bad = rows.select((pl.col("score").is_null() | ~pl.col("score").is_finite()).arg_true()).to_series()
        if bad.len():
            row, value = bad[0], table["score"][bad[0]]
            what = "is empty" if value is None else f"{value!r} is no finite number"
            more = f" ({bad.len():,} rows)" if bad.len() > 1 else ""
            raise GoldsmithError(
                f"[{name} > row {row + 1} > score] {what}{more}: give every row a number, "
                f"or leave the whole {keys[0].removesuffix('_id')} out"
            )
        if with_split and not set(rows["split"].unique()) <= set(SPLITS):
            other = sorted(set(rows["split"].unique()) - set(SPLITS))[0]
            raise GoldsmithError(f"[{name} > split] {other!r} is none of {', '.join(SPLITS)}: correct it")
        _refuse_twice(name, rows, columns)
        return cls(name, task, keys, rows)


def _table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise GoldsmithError(f"[{path}] is no file: give predictions as {_READERS}")
    if not path.stat().st_size:
        raise GoldsmithError(f"[{path.name}] is empty: give predictions as {_READERS}")
    ending = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    try:
        if ending == "parquet":
            return pl.read_parquet(path, glob=False)
        if ending in ("csv", "tsv"):
            return _separated(path, "," if ending == "csv" else "\t")
        if ending in ("jsonl", "ndjson"):
            return _objects(path)
    except (PolarsError, UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        where, reason = "", str(error).strip().splitlines()[0]
        if ending in ("jsonl", "ndjson") and isinstance(error, PolarsError):
            where, reason = next(_broken_lines(path), ("", reason))
        raise GoldsmithError(f"[{path.name}{where}] cannot be read ({reason}): write it as {_READERS}") from None
    raise GoldsmithError(f"[{path.name}] has an unknown form: give {_READERS}")


def _separated(path: Path, separator: str) -> pl.DataFrame:
    """A table of text. Polars renames a second column of a name and says nothing, so the header is read as a row."""
    header = pl.read_csv(path, separator=separator, infer_schema=False, has_header=False, n_rows=1, glob=False)
    names = ["" if name is None else str(name) for name in header.row(0)]
    twice = sorted({name for name in names if names.count(name) > 1 and name})
    if twice:
        raise GoldsmithError(f"[{path.name} > {twice[0]}] is the name of {names.count(twice[0])} columns: keep one")
    return pl.read_csv(path, separator=separator, infer_schema=False, glob=False)


def _objects(path: Path) -> pl.DataFrame:
    """JSON lines. Polars takes one of two values of a key and says nothing: where a name occurs more or less often than
    its column has values, the lines are read one by one."""
    content = _content(path)
    found = pl.read_ndjson(content, infer_schema_length=10_000)
    if any(content.count(f'"{name}"'.encode()) != found[name].count() for name in found.columns):
        for where, reason in _broken_lines(path):
            raise GoldsmithError(f"[{path.name}{where}] {reason}: write one object a line")
    return found


def _content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _broken_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that are no JSON object, or have a key twice: where, and why."""
    for number, line in enumerate(_content(path).split(b"\n"), 1):
        try:
            if line.strip():
                json_object(line)
        except ValueError as error:
            yield f" > line {number}", str(error)


def _refuse_twice(name: str, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    twice = rows.select(pl.struct(columns).is_first_distinct().not_().arg_true()).to_series()
    if twice.len():
        what = " ".join(rows.select(columns).row(twice[0]))
        more = f" ({twice.len():,} such rows)" if twice.len() > 1 else ""
        raise GoldsmithError(f"[{name} > row {twice[0] + 1}] {what} is there twice{more}: keep one")


def matched(truth: pl.DataFrame, predictions: Predictions, rows: pl.DataFrame) -> pl.DataFrame:
    """The truth's rows of every predicted group, in their order, with `score_model`.

    Args:
        truth: the rows that are scored, with the predictions' keys.
        rows: the predictions to use, with the same keys and `score`; others than the truth's are left to the caller.

    Raises:
        GoldsmithError: a group is there in part.
    """
    group, item = predictions.keys
    mine = rows.select(group, item, score_model="score")
    wanted = truth.join(mine.select(group).unique(), on=group, how="semi", maintain_order="left")
    joined = wanted.join(mine, on=[group, item], how="left", maintain_order="left")
    missing = joined.filter(pl.col("score_model").is_null())
    if missing.height:
        first = missing.row(0, named=True)
        some = missing.filter(pl.col(group) == first[group]).height
        whole = joined.filter(pl.col(group) == first[group]).height
        word = group.removesuffix("_id")
        raise GoldsmithError(
            f"[{predictions.name} > {first[group]}] has no score for {some:,} of the {whole:,} rows that are scored, "
            f"such as {first[item]}: predict all of the {word}, or leave it out"
        )
    return joined


def refuse_unknown(predictions: Predictions, known: pl.DataFrame) -> None:
    """Fail where a prediction is for no row of the table.

    Args:
        known: all rows of the table, scored or not, with the predictions' keys.
    """
    group, item = predictions.keys
    stray = predictions.rows.join(known, on=[group, item], how="anti", maintain_order="left")
    if not stray.height:
        return
    first = stray.row(0, named=True)
    word = group.removesuffix("_id")
    more = f" ({stray.height:,} such rows)" if stray.height > 1 else ""
    if known.filter(pl.col(group) == first[group]).height:
        raise GoldsmithError(
            f"[{predictions.name} > {first[group]}] {first[item]} is no row of this {word}{more}: "
            f"name it as the dataset's {item}"
        )
    raise GoldsmithError(f"[{predictions.name}] {first[group]} is no {word} of this dataset: score the right release")
