"""Masked marginals: how much less likely a masked model finds the new residue than the old, where the site is masked.

Each site is masked once in the wild-type sequence, so a protein costs as many passes as it has changed sites, whatever
the number of variants; a variant of several changes gets the sum (Meier et al. 2021, doi:10.1101/2021.07.09.450648).
A protein longer than the model reads is cut to the window around the site (`window`), as ProteinGym does for ESM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from builders.virogym.baselines.substitutions import changes, summed
from builders.virogym.schema import AMINO_ACIDS
from schemas import GoldsmithError

Floats = npt.NDArray[np.float64]


def window(position: int, length: int, limit: int) -> tuple[int, int]:
    """The stretch of at most `limit` residues with `position` (from 1) in its middle, as far as the ends allow.

    Returns:
        Start and end, counted from 0, the end not included.
    """
    start = min(max(position - 1 - limit // 2, 0), max(length - limit, 0))
    return start, min(start + limit, length)


@dataclass
class MaskedModel:
    """A masked language model whose vocabulary has a token for each residue, such as ESM-2.

    Attributes:
        model: a transformers model with a masked-language head, in evaluation mode.
        tokenizer: its tokenizer.
        limit: how many residues it reads at once.
        batch: sequences at once.
    """

    model: Any
    tokenizer: Any
    limit: int
    batch: int = 8

    def __post_init__(self) -> None:
        self.letters = [self.tokenizer.convert_tokens_to_ids(letter) for letter in AMINO_ACIDS]
        if None in self.letters or self.tokenizer.unk_token_id in self.letters:
            raise GoldsmithError("[model] its vocabulary has no token for some amino acid: give a model of residues")
        if self.tokenizer.mask_token_id is None:
            raise GoldsmithError("[model] its tokenizer has no mask token: give a masked model, such as ESM-2")

    def score(self, sequence: str, mutants: pl.Series, note: Callable[[int, int], None] | None = None) -> Floats:
        """Masked marginals of substitutions on a sequence, natural logarithm, shape (n,); higher is more likely.

        Args:
            note: called with the sites done and all sites.
        """
        sites = changes(mutants)["position"].unique().sort().to_list()
        table = np.full((len(sequence), len(AMINO_ACIDS)), np.nan)
        done = 0
        for some in _batches(sites, self.batch):
            table[np.array(some) - 1] = self._log_odds(sequence, some)
            done += len(some)
            if note:
                note(done, len(sites))

        def single(parts: pl.DataFrame) -> Floats:
            return table[parts["position"].to_numpy() - 1, parts["mt"].to_numpy()]

        return summed(mutants, single)

    def _log_odds(self, sequence: str, sites: list[int]) -> Floats:
        """log p(residue) - log p(wild type) at each site, masked in turn, shape (sites, 20)."""
        import torch  # pyright: ignore[reportMissingImports]

        rows, places = [], []
        for site in sites:
            start, end = window(site, len(sequence), self.limit)
            ids = self.tokens(sequence[start:end])
            places.append(site - 1 - start + self.before)
            ids[places[-1]] = self.tokenizer.mask_token_id
            rows.append(ids)
        tokens = torch.tensor(rows, device=self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits
        logs = torch.log_softmax(logits[range(len(rows)), places].double(), dim=-1)[:, self.letters].cpu().numpy()
        wild = [AMINO_ACIDS.index(sequence[site - 1]) for site in sites]
        return logs - logs[range(len(sites)), wild][:, None]

    @property
    def before(self) -> int:
        """Special tokens before the first residue."""
        return int(self._first is not None)

    @property
    def _first(self) -> int | None:
        return self.tokenizer.cls_token_id

    def tokens(self, residues: str) -> list[int]:
        """The ids of residues, between the tokenizer's first and last token where it has them."""
        last = self.tokenizer.eos_token_id if self.tokenizer.eos_token_id is not None else self.tokenizer.sep_token_id
        ids = [self.letters[AMINO_ACIDS.index(residue)] for residue in residues]
        return [*([self._first] if self._first is not None else []), *ids, *([last] if last is not None else [])]


def _batches(sites: list[int], size: int) -> Iterable[list[int]]:
    for i in range(0, len(sites), size):
        yield sites[i : i + size]
