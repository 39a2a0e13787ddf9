"""The checks on the real assays: nothing is wrong with them, and the errors of the notes' table are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from made_virogym import failed, folder, run

from builders.build import build
from builders.sources import Sources
from builders.virogym.builder import BUILDER
from builders.virogym.schema import VARIANTS
from builders.virogym.variants import to_batch
from quality.results import Measured
from schemas import DatasetFolder

pytestmark = pytest.mark.real

RABV = "RABV_cell_entry_Pasteur"
Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.fixture(scope="module")
def built(real: tuple[Sources, object], tmp_path_factory: pytest.TempPathFactory) -> DatasetFolder:
    """All registered assays as a dataset folder."""
    out = tmp_path_factory.mktemp("real") / "virogym"
    build(BUILDER, real[0], out, progress=False)
    return DatasetFolder(out)


@pytest.fixture
def rabv(built: DatasetFolder, tmp_path: Path) -> Callable[[Change], DatasetFolder]:
    """A function that writes RABV entry alone, with its rows changed."""
    tables = {
        table: pl.read_parquet(built.all_shards(table)) for table in ("variants", "assays", "references", "numbering")
    }
    assay = tables["assays"].filter(pl.col("assay_id") == RABV)
    protein = assay["reference_id"].item()

    def make(change: Change) -> DatasetFolder:
        parts = pl.col("mutant").str.extract_groups(r"^(?<wt>[A-Z])(?<pos>\d+)(?<mt>.*)$")
        rows = tables["variants"].filter(pl.col("assay_id") == RABV).with_columns(parts.alias("part")).unnest("part")
        rows = change(rows.with_columns(pl.col("pos").cast(pl.Int64)))
        rows = rows.with_columns(mutant=pl.concat_str("wt", "pos", "mt"))
        own = {
            name: tables[name].filter(pl.col("reference_id") == protein).to_dicts()
            for name in ("references", "numbering")
        }
        batch = to_batch(rows.select(VARIANTS.names), VARIANTS)
        return folder(tmp_path, {"variants": pa.Table.from_batches([batch]), "assays": assay.to_dicts(), **own})

    return make


def measured(made: DatasetFolder, *names: str) -> dict[str, Measured]:
    """Name -> the value of each figure, of the one assay in the folder."""
    return {name: result.figures[0] for name, result in run(made, *names).items() if result.figures}


def test_real_tables_fire_their_licences_and_what_is_known_of_titres(built: DatasetFolder) -> None:
    results = run(built)
    of_other_tasks = {"C17_two_fold": 1, "C18_spread": 35, "C19_sequenced": 2, "C23_titre_licence": 2}
    assert failed(results) == {
        "C23_licence": results["C23_licence"].failures, "C23_window_licence": 3, **of_other_tasks,
    }  # fmt: skip
    assays = pl.read_parquet(built.all_shards("assays"))
    unlicensed = assays.filter(pl.col("licence_spdx") == "NONE")
    assert {each for each, _ in results["C23_licence"].examples} == set(unlicensed["assay_id"])
    assert len(results["C01_wild_type"].figures) == assays.height
    assert {value.value for value in results["C01_wild_type"].figures} == {1.0}
    applied = {name[:3] for name, result in results.items() if name[0] == "C" and result.status != "not_applicable"}
    assert applied == {f"C{number:02}" for number in range(1, 25)}


def test_similarity_of_the_notes(built: DatasetFolder) -> None:
    values = {value.subject: round(value.value, 3) for value in run(built, "C07_likeness")["C07_likeness"].figures}
    assert values[RABV] == 0.317
    assert values["FLU_cell_entry_H3N2_MA22"] == 0.270
    assert values["SARS2_binding_RBD_Wuhan_Hu_1"] == 0.305
    assert values["ZIKV_viral_growth_MR766"] == 0.259


def test_missing_not_at_random(built: DatasetFolder) -> None:
    figures = run(built, "C11_missing_by_entry")["C11_missing_by_entry"].figures
    missing = {value.subject: value.value for value in figures}
    assert missing["FLU_sera_escape_H3N2_MA22 entry quintile 1"] > 0.9
    assert missing["FLU_sera_escape_H3N2_MA22 entry quintile 5"] < 0.1


def test_clean(rabv: Callable[[Change], DatasetFolder]) -> None:
    made = rabv(lambda rows: rows)
    values = measured(made, "C01_wild_type", "C06_stops", "C07_likeness", "C07_proline")
    assert {name: round(value.value, 3) for name, value in values.items()} == {
        "C01_wild_type": 1.0,
        "C06_stops": -6.612,
        "C07_likeness": 0.317,
        "C07_proline": -5.073,
    }


def test_sign_flipped(rabv: Callable[[Change], DatasetFolder]) -> None:
    made = rabv(lambda rows: rows.with_columns(score=-pl.col("score")))
    values = measured(made, "C06_stops", "C06_stops_low", "C07_likeness", "C07_proline")
    assert all(value.message for value in values.values())
    assert round(values["C06_stops"].value, 2) == 6.61
    assert round(values["C07_likeness"].value, 3) == -0.317
    assert round(values["C07_proline"].value, 2) == 5.07


def _only_missense(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(pl.col("kind") == "sub")


@pytest.mark.parametrize(
    ("change", "match", "shift"),
    [
        pytest.param(lambda rows: rows.with_columns(pos=pl.col("pos") + 18), 0.053, "shift -18,", id="offset_18"),
        pytest.param(
            lambda rows: rows.with_columns(pos=pl.col("pos") + (pl.col("pos") >= 200)),
            0.497,
            "shift -1,",
            id="from_200",
        ),
        pytest.param(lambda rows: rows.rename({"wt": "mt", "mt": "wt"}), 0.0, "", id="swapped"),
        pytest.param(lambda rows: rows.with_columns(pl.col("pos").shuffle(1)), 0.058, "", id="positions_shuffled"),
    ],
)
def test_wild_type(rabv: Callable[[Change], DatasetFolder], change: Change, match: float, shift: str) -> None:
    """The notes' figures are of the missense rows."""
    made = rabv(lambda rows: change(_only_missense(rows)))
    (value,) = run(made, "C01_wild_type")["C01_wild_type"].figures
    assert round(value.value, 3) == match if shift else value.value == pytest.approx(match, abs=0.01)
    assert "best shift" in value.message
    assert shift in value.message


def test_duplicates_with_other_scores(rabv: Callable[[Change], DatasetFolder]) -> None:
    def change(rows: pl.DataFrame) -> pl.DataFrame:
        return pl.concat([rows, rows.sample(447, seed=1).with_columns(pl.col("score") + 0.3)])

    results = run(rabv(change), "C08_duplicates", "C08_duplicates_spread")
    assert results["C08_duplicates"].failures == 447
    assert results["C08_duplicates_spread"].figures[0].value == pytest.approx(0.3)


def test_scores_shuffled(rabv: Callable[[Change], DatasetFolder]) -> None:
    values = measured(rabv(lambda rows: rows.with_columns(pl.col("score").shuffle(1))), "C06_stops_low", "C07_likeness")
    assert abs(values["C07_likeness"].value) < 0.05
    assert all(value.message for value in values.values())


def test_identity_rows_among_the_substitutions(rabv: Callable[[Change], DatasetFolder]) -> None:
    """What ViroGym's own exporter does: 433 rows with the wild type's residue are counted as variants."""
    identity = pl.col("kind") == "wt"
    made = rabv(
        lambda rows: rows.with_columns(
            kind=pl.when(identity).then(pl.lit("sub")).otherwise("kind"), n_mut=pl.lit(1, pl.Int32)
        )
    )
    assert run(made, "C05_kind")["C05_kind"].failures == 433


def test_another_strain(rabv: Callable[[Change], DatasetFolder], built: DatasetFolder, tmp_path: Path) -> None:
    """BA.1's spike on the reference of KP.3.1.1: a wrong strain matches neither all nor next to nothing."""
    assays = pl.read_parquet(built.all_shards("assays"))
    variants = pl.read_parquet(built.all_shards("variants")).filter(pl.col("assay_id") == "SARS2_cell_entry_BA1")
    kp = assays.filter(pl.col("assay_id") == "SARS2_cell_entry_KP311")["reference_id"].item()
    assay = assays.filter(pl.col("assay_id") == "SARS2_cell_entry_BA1").with_columns(reference_id=pl.lit(kp))
    protein = pl.read_parquet(built.all_shards("references")).filter(pl.col("reference_id") == kp)
    batch = pa.Table.from_batches([to_batch(variants, VARIANTS)])
    made = folder(tmp_path, {"variants": batch, "assays": assay.to_dicts(), "references": protein.to_dicts()})
    (value,) = run(made, "C01_wild_type")["C01_wild_type"].figures
    assert 0.1 < value.value < 0.99


def test_unknown_letters(rabv: Callable[[Change], DatasetFolder]) -> None:
    """The source has 184 deletions of 178 proteins: one of two equal neighbours is gone, whichever it was."""
    gone = pl.col("kind") == "del"
    made = rabv(lambda rows: rows.with_columns(mt=pl.when(gone).then(pl.lit("X")).otherwise("mt")))
    assert run(made, "C04_alphabet")["C04_alphabet"].failures == 178
