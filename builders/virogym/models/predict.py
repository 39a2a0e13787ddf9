"""From a model's name to a file of predictions: loading, and going through assays or windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from builders.virogym.models.causal import CausalModel
from builders.virogym.models.masked import MaskedModel
from builders.virogym.scoring import truth
from schemas import DatasetFolder, GoldsmithError

_SPECIAL = 2
"""Tokens that the model's length includes and that are no residue: the first and the last."""


def load(name: str, revision: str | None, batch: int = 8, device: str = "cpu") -> MaskedModel | CausalModel:
    """A model from a local folder, or from the Hub by its id and a pinned revision.

    Raises:
        GoldsmithError: torch is missing, the revision is missing, or the model cannot be loaded without running code
            of its repository.
    """
    local = Path(name).is_dir()
    if not local and not revision:
        raise GoldsmithError(
            f"[{name}] is no folder here: for a model of the Hub give --revision, so that it is pinned"
        )
    try:
        import torch  # pyright: ignore[reportMissingImports] # noqa: F401
        import transformers  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise GoldsmithError(
            "[model] torch and transformers are missing: pip install 'goldsmith[virogym-models]'"
        ) from None
    where = {"trust_remote_code": False, "local_files_only": local} | ({} if local else {"revision": revision})
    try:
        config = transformers.AutoConfig.from_pretrained(name, **where)
        masked = any(each.endswith("ForMaskedLM") for each in config.architectures or ())
        kind = transformers.AutoModelForMaskedLM if masked else transformers.AutoModelForCausalLM
        model: Any = kind.from_pretrained(name, **where)
        model.eval().to(device)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, **where)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        reason = " ".join(str(error).split())[:200]
        raise GoldsmithError(
            f"[{name}] cannot be loaded ({reason}): give a model that transformers knows itself, with its tokenizer"
        ) from None
    return (MaskedModel if masked else CausalModel)(model, tokenizer, _limit(config, masked), batch)


def _limit(config: Any, masked: bool) -> int:
    """How many residues fit. ESM's and RoBERTa's positions begin after the padding token's id."""
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or 1024
    offset = (config.pad_token_id or 0) + 1 if masked and config.model_type in ("esm", "roberta") else 0
    return int(positions) - offset - _SPECIAL


def predict(
    name: str,
    revision: str | None,
    folder: DatasetFolder,
    task: str,
    only: Sequence[str],
    batch: int,
    device: str,
    note: Callable[[str], None],
) -> pl.DataFrame:
    """Predictions of substitutions for `dms` or `emergence`, in the columns that `goldsmith score virogym` reads.

    Args:
        only: assays or windows; all where it is empty.
        note: called with a line for each assay or window that is done.
    """
    keys, rows = _rows(folder, task)
    group = keys[0]
    unknown = sorted(set(only) - set(rows[group].unique()))
    if unknown:
        raise GoldsmithError(f"[--assay {unknown[0]}] is none of the dataset's: name one of its {group}")
    if only:
        rows = rows.filter(pl.col(group).is_in(list(only)))
    model = load(name, revision, batch, device)
    parts = []
    for part in rows.partition_by("sequence", maintain_order=True):
        # Assays of one protein measure the same changes: each is scored once.
        changes = part.select("change").unique(maintain_order=True)
        changes = changes.with_columns(score=pl.Series(model.score(part["sequence"][0], changes["change"])))
        parts.append(part.join(changes, on="change", maintain_order="left").select(*keys, "score"))
        note(f"{', '.join(part[group].unique(maintain_order=True))}: {changes.height:,} substitutions of one protein")
    return pl.concat(parts)


def _rows(folder: DatasetFolder, task: str) -> tuple[tuple[str, str], pl.DataFrame]:
    """The substitutions of a task with `sequence` and `change`, and the columns that name them."""
    sequences = truth.table(folder, "references", ("reference_id", "sequence"))
    if task == "dms":
        rows = truth.table(folder, "variants", ("assay_id", "variant_id", "mutant", "kind"))
        rows = rows.filter(pl.col("kind").is_in(["sub", "multi"])).with_columns(change="mutant")
        owners = truth.table(folder, "assays", ("assay_id", "reference_id"))
        rows = rows.join(owners, on="assay_id", maintain_order="left")
        return ("assay_id", "variant_id"), rows.join(sequences, on="reference_id", maintain_order="left")
    rows = truth.table(folder, "emergence", ("window_id", "reference_id", "mutation", "mut"))
    rows = rows.filter(pl.col("mut") != "-").with_columns(change="mutation")
    return ("window_id", "mutation"), rows.join(sequences, on="reference_id", maintain_order="left")
