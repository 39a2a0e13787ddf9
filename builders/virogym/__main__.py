"""ViroGym's own commands: baselines, protein language models and the leaderboard.

python -P -m builders.virogym baseline blosum62 -d out/virogym -o blosum62.parquet
python -P -m builders.virogym baseline site-independent -d out/virogym --alignment ZIKV_E_MR766=E.fasta -o zikv.parquet
python -P -m builders.virogym baseline hamming -d out/virogym -o hamming.parquet
python -P -m builders.virogym model facebook/esm2_t6_8M_UR50D --revision COMMIT -d out/virogym -o esm2.parquet
python -P -m builders.virogym leaderboard -d out/virogym -o leaderboard.html ESM-2=esm2.parquet zikv.parquet
"""

from __future__ import annotations

from pathlib import Path

import click
import polars as pl

from builders.virogym import baselines
from schemas import DatasetFolder, GoldsmithError
from schemas.command_line import FILE, FOLDER, Street
from schemas.files import replacing

_dataset = click.option("-d", "--dataset", type=FOLDER, default=Path("out/virogym"), show_default=True)
_out = click.option("-o", "--out", type=FILE, required=True, help="Predictions: .parquet, .csv or .jsonl.")


@click.group(cls=Street, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def main() -> None:
    """ViroGym's baselines, models and leaderboard."""


@main.command()
@click.argument("name", type=click.Choice(baselines.NAMES))
@_dataset
@_out
@click.option("--alignment", "alignments", multiple=True, metavar="REFERENCE=FASTA", help="For site-independent.")
def baseline(name: str, dataset: Path, out: Path, alignments: tuple[str, ...]) -> None:
    """Predictions of a baseline that needs no weights."""
    named = dict(_pair(text, "--alignment", "REFERENCE=FASTA") for text in alignments)
    rows = baselines.predict(name, DatasetFolder(dataset), {key: Path(path) for key, path in named.items()})
    _write(rows, dataset, out)


@main.command()
@click.argument("model")
@_dataset
@_out
@click.option("--revision", help="Commit of a model that is named by its id on the Hub.")
@click.option("--task", type=click.Choice(["dms", "emergence"]), default="dms", show_default=True)
@click.option("--assay", "assays", multiple=True, help="Only these assays or windows (default: all).")
@click.option("--batch", type=click.IntRange(1), default=8, show_default=True, help="Sequences at once.")
@click.option("--device", default="cpu", show_default=True, help="As torch names it, such as cuda.")
def model(
    model: str, dataset: Path, out: Path, revision: str | None, task: str, assays: tuple[str, ...], batch: int,
    device: str,
) -> None:  # fmt: skip
    """Predictions of a protein language model: a local folder, or an id on the Hub with --revision.

    Masked models (ESM-2) are scored by masked marginals, causal ones by the likelihood of the whole sequence.
    """
    from builders.virogym.models.predict import predict

    _write(predict(model, revision, DatasetFolder(dataset), task, assays, batch, device, note=_note), dataset, out)


@main.command()
@click.argument("predictions", nargs=-1, metavar="[NAME=]PREDICTIONS...")
@_dataset
@click.option("-o", "--out", type=FILE, required=True, help="The page.")
def leaderboard(predictions: tuple[str, ...], dataset: Path, out: Path) -> None:
    """One page with every model's scores beside the baselines. Files of one NAME are one model's."""
    from builders.virogym.scoring.leaderboard import write

    files = []
    for text in predictions:
        name, equals, path = text.rpartition("=")
        files.append((name if equals else Path(path).name.partition(".")[0], Path(path)))
    write(DatasetFolder(dataset), files, out)
    click.echo(out)


def _pair(text: str, option: str, form: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise GoldsmithError(f"[{option} {text}] has no `=`: write it as {form}")
    return name, value


def _write(rows: pl.DataFrame, dataset: Path, out: Path) -> None:
    ways = {".parquet": pl.DataFrame.write_parquet, ".csv": pl.DataFrame.write_csv, ".jsonl": pl.DataFrame.write_ndjson}
    if out.suffix not in ways:
        raise GoldsmithError(f"[{out}] has an unknown form: name it .parquet, .csv or .jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as temporary:
        ways[out.suffix](rows, temporary)
    click.echo(f"{rows.height:,} predictions in {out}; score them with `goldsmith score virogym {out} -d {dataset}`")


def _note(text: str) -> None:
    click.echo(text, err=True)


if __name__ == "__main__":
    main(prog_name="python -P -m builders.virogym")
