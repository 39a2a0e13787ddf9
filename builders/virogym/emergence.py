"""Emergence windows: all candidates of a reference, with their counts in two periods and what those make of them.

A change that the source does not list has no count: it may lie under the source's threshold, at a masked site, or be
of a kind that it does not count. Labels are rules over counts (`tasks.LabelRule`). All is done on whole columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from builders.virogym import codons
from builders.virogym.references import Reference
from builders.virogym.residues import AMINO_ACIDS
from builders.virogym.tables import read_table
from builders.virogym.tasks import LabelRule, Window
from schemas import GoldsmithError

EXPECTED = frozenset({"no_candidate", "not_counted"})
"""Reasons that are normal in tables of counts."""

_MONTH = re.compile(r"\d{4}-\d{2}")
_TOKEN = r"^([A-Z])(\d+)([A-Z]|del|-)$"  # noqa: S105  (a mutation, no secret)


@dataclass(frozen=True)
class Counts:
    """A source's counts in the two periods of a window.

    Attributes:
        rows: line, mutation (as written), site (of the root), wt, mut (`-` for a deletion), count_T, count_T1 and
            reason (why a record is no candidate's).
        genomes: in T and T1; `at_least` if they are the most frequent change's counts, month by month.
        total: sum of all counts in T and in T1.
    """

    rows: pl.DataFrame
    genomes: tuple[int, int]
    at_least: bool
    total: tuple[int, int]


def months(window: Window, period: str) -> list[str]:
    """The months of `T` or `T1`, both ends included."""
    first, last = getattr(window, period)
    year, month, made = int(first[:4]), int(first[5:]), []
    while f"{year:04d}-{month:02d}" <= last:
        made.append(f"{year:04d}-{month:02d}")
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return made


def read_counts(text: str, genomes: str | None, window: Window, root: Reference, where: str) -> Counts:
    """Read a table of counts by month.

    Args:
        genomes: a table `month,genomes`, or None.

    Raises:
        GoldsmithError: the table lacks a month, or a count is no whole number.
    """
    periods = {name: months(window, name) for name in ("T", "T1")}
    table = read_table(text, where, ("mutation", *periods["T"], *periods["T1"]))
    listed = [name for name in table.columns if _MONTH.fullmatch(name)]
    if listed and max(listed) > window.data_cutoff[:7]:
        raise GoldsmithError(
            f"[{where}] has counts of {max(listed)}, after data_cutoff {window.data_cutoff}: correct it"
        )
    used = [*periods["T"], *periods["T1"]]
    numbers = table.with_columns(pl.col(used).cast(pl.Int64, strict=False))
    bad = numbers.filter(pl.any_horizontal((pl.col(used).is_null()) | (pl.col(used) < 0)))
    parts = pl.col("mutation").str.strip_chars().str.extract_groups(_TOKEN)
    sequence = pl.DataFrame({"site": list(root.positions("reference")), "root_wt": list(root.sequence)})
    rows = numbers.select(
        "line",
        "mutation",
        site=parts.struct.field("2"),
        wt=parts.struct.field("1"),
        mut=parts.struct.field("3").replace("del", "-"),
        count_T=pl.sum_horizontal(periods["T"]),
        count_T1=pl.sum_horizontal(periods["T1"]),
    ).join(sequence, on="site", how="left", maintain_order="left")
    repeated = pl.struct("site", "mut").is_duplicated() & pl.col("site").is_not_null()
    reason = (
        pl.when(pl.col("line").is_in(bad["line"].to_list())).then(pl.lit("bad_count"))
        .when(pl.col("site").is_null()).then(pl.lit("unreadable_mutation"))
        .when(~pl.col("mut").is_in([*AMINO_ACIDS, "-"])).then(pl.lit("unknown_residue"))
        .when(pl.col("root_wt").is_null()).then(pl.lit("unknown_site"))
        .when(pl.col("root_wt") != pl.col("wt")).then(pl.lit("wrong_residue"))
        .when(pl.col("mut") == pl.col("wt")).then(pl.lit("no_change"))
        .when(repeated).then(pl.lit("repeated_mutation"))
        .when((pl.col("mut") == "-") & pl.lit(not window.deletions)).then(pl.lit("not_counted"))
    )  # fmt: skip
    rows = rows.with_columns(reason=reason).drop("root_wt")
    good = numbers.filter(~pl.col("line").is_in(bad["line"].to_list()))
    total = tuple(int(good.select(pl.sum_horizontal(names).sum()).item() or 0) for names in periods.values())
    if genomes is not None:
        known = _genomes(genomes, where, used)
        number = tuple(sum(known[month] for month in names) for names in periods.values())
    else:
        number = tuple(
            int(good.select(pl.sum_horizontal(pl.col(names).max())).item() or 0) for names in periods.values()
        )
    if min(number) < 1:
        raise GoldsmithError(f"[{where}] has no genome in one of the periods: choose others")
    return Counts(rows, (number[0], number[1]), genomes is None, (total[0], total[1]))


def _genomes(text: str, where: str, used: Iterable[str]) -> dict[str, int]:
    table = read_table(text, f"{where} > genomes", ("month", "genomes"))
    number = table["genomes"].cast(pl.Int64, strict=False).to_list()
    known = {month: n for month, n in zip(table["month"].to_list(), number, strict=True) if n is not None and n >= 0}
    missing = [month for month in used if month not in known]
    if missing:
        raise GoldsmithError(f"[{where} > genomes] has no number for {missing[0]}: add it")
    return known


def candidates(window: Window, reference: Reference, root: Reference, codon: Sequence[str]) -> pl.DataFrame:
    """Every position with each other amino acid and its deletion, in that order.

    Args:
        codon: of each position of the reference.

    Returns:
        position, ref_site, wt, mut (`-` for a deletion), mutation, min_nt_dist, root_wt, is_reversion.
    """
    of_root = dict(zip(root.positions("reference"), root.sequence, strict=True))
    sites = [site or "" for site in reference.sites]
    made = [
        (position, site, wt, mut, of_root.get(site), codons.distances(triplet).get(mut))
        for position, (site, wt, triplet) in enumerate(zip(sites, reference.sequence, codon, strict=True), 1)
        for mut in (*AMINO_ACIDS, "-")
        if mut != wt
    ]
    names = {"position": pl.Int32, "ref_site": pl.String, "wt": pl.String, "mut": pl.String, "root_wt": pl.String}
    frame = pl.DataFrame(made, {**names, "min_nt_dist": pl.Int8}, orient="row")
    end = pl.when(pl.col("mut") == "-").then(pl.lit("del")).otherwise("mut")
    return frame.with_columns(
        mutation=pl.concat_str("wt", pl.col("position").cast(pl.String), end),
        is_reversion=((pl.col("mut") == pl.col("root_wt")) & (pl.col("wt") != pl.col("root_wt"))).fill_null(False),
    )


def counted(found: pl.DataFrame, counts: Counts, window: Window) -> pl.DataFrame:
    """The candidates with `status`, counts, frequencies and the line of the source; all null unless counted."""
    usable = counts.rows.filter(pl.col("reason").is_null()).select(
        "line", "mut", "count_T", "count_T1", ref_site="site"
    )
    joined = found.join(usable, on=["ref_site", "mut"], how="left", maintain_order="left")
    masked = pl.col("ref_site").is_in(window.masked_sites)
    no_site = pl.col("root_wt").is_null() | ((pl.col("mut") == "-") & pl.lit(not window.deletions))
    status = (
        pl.when("is_reversion").then(pl.lit("reversion"))
        .when(masked).then(pl.lit("masked"))
        .when(no_site).then(pl.lit("not_counted"))
        .when(pl.col("line").is_null()).then(pl.lit("absent"))
        .otherwise(pl.lit("counted"))
    )  # fmt: skip
    joined = joined.with_columns(status=status)
    seen = pl.col("status") == "counted"
    first, second = counts.genomes
    return joined.with_columns(
        pl.when(seen).then(pl.col("count_T", "count_T1", "line")),
        observed_T=seen,
        n_seq_T=pl.lit(first, pl.Int64),
        n_seq_T1=pl.lit(second, pl.Int64),
    ).with_columns(freq_T=pl.col("count_T") / first, freq_T1=pl.col("count_T1") / second)


def left_over(rows: pl.DataFrame, counts: Counts) -> pl.DataFrame:
    """The source's records that count no candidate, with `reason`; those of changes that the reference has already, or
    of sites that it lacks or the source masks, are `no_candidate`.

    Args:
        rows: from `counted`.
    """
    used = rows["line"].drop_nulls()
    rest = counts.rows.filter(~pl.col("line").is_in(used.implode()))
    return rest.with_columns(reason=pl.col("reason").fill_null("no_candidate"))


def emergent(rows: pl.DataFrame, rule: LabelRule, counts: Counts) -> pl.Series:
    """Whether each candidate is emergent by a rule; null where its counts are not known.

    Args:
        rows: from `counted`.
    """
    first, second = counts.genomes if rule.denominator == "genomes" else counts.total
    known = pl.col("status") == "counted"
    if rule.absent == "zero":
        known = known | (pl.col("status") == "absent")
    before, after = (pl.when(known).then(pl.col(name).fill_null(0)) for name in ("count_T", "count_T1"))
    freq = {"freq_T": before / first, "freq_T1": after / second}
    ratio = freq["freq_T1"] / freq["freq_T"]
    if rule.fold_digits is not None:
        ratio = ratio.round(rule.fold_digits)
    values = {
        "count_T": before,
        "count_T1": after,
        "count_until_T1": before + after,
        **freq,
        "delta": freq["freq_T1"] - freq["freq_T"],
        "fold": pl.when(before > 0).then(ratio),
    }
    label = pl.lit(False)
    for bounds in rule.any_of:
        holds = pl.lit(True)
        for bound, limit in bounds.items():
            name, end = bound.rsplit("_", 1)
            held = values[name] >= limit if end == "min" else values[name] <= limit
            holds = holds & held.fill_null(False)
        label = label | holds
    return rows.select(pl.when(known).then(label)).to_series()


def labelled(rows: pl.DataFrame, window: Window, rules: Mapping[str, LabelRule], counts: Counts) -> pl.DataFrame:
    """The rows with `is_novel`, `is_emergent` (by the window's rule) and `emergent_by` (all rules).

    `emergent_by` is missing where no rule can tell.
    """
    labels = {name: emergent(rows, rule, counts) for name, rule in rules.items()}
    by = pl.concat_list([pl.when(pl.col(f"rule_{name}")).then(pl.lit(name)) for name in labels]).list.drop_nulls()
    told = pl.any_horizontal([pl.col(f"rule_{name}").is_not_null() for name in labels])
    made = rows.with_columns(**{f"rule_{name}": label for name, label in labels.items()})
    return made.with_columns(
        is_novel=pl.when("observed_T").then((pl.col("count_T") == 0) & (pl.col("count_T1") > 0)),
        is_emergent=pl.col(f"rule_{window.label_rule}"),
        emergent_by=pl.when(told).then(by),
        label_rule=pl.lit(window.label_rule),
        data_cutoff=pl.lit(window.data_cutoff),
    ).drop([f"rule_{name}" for name in labels])
