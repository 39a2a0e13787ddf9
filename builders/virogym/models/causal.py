"""Likelihood of a whole sequence under a causal model: log p(variant) - log p(wild type), natural logarithm.

The tokenizer makes the tokens, with a token for the beginning where it has one; without one the first token has no
probability and is not counted. Where a protein is longer than the model reads, variant and wild type are cut to the
same window around the changes. Tokens may be of several residues, so likelihoods are of sequences, not of tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from builders.virogym.baselines.substitutions import changes
from builders.virogym.models.masked import window
from builders.virogym.schema import AMINO_ACIDS
from schemas import GoldsmithError

Floats = npt.NDArray[np.float64]


@dataclass
class CausalModel:
    """A causal language model with a tokenizer that reads amino acids as text.

    Attributes:
        model: a transformers model with a causal head, in evaluation mode.
        tokenizer: its tokenizer.
        limit: how many residues it reads at once.
        batch: sequences at once.
    """

    model: Any
    tokenizer: Any
    limit: int
    batch: int = 8

    def score(self, sequence: str, mutants: pl.Series, note: Callable[[int, int], None] | None = None) -> Floats:
        """Log-likelihood of each substitution less that of the wild type in the same window, shape (n,).

        Args:
            note: called with the variants done and all variants.

        Raises:
            GoldsmithError: changes of one variant are farther apart than the model reads.
        """
        pairs = self._texts(sequence, mutants)
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        # Texts of like length in one batch need little padding; the order of the result is the caller's.
        texts.sort(key=len)
        known: dict[str, float] = {}
        for i in range(0, len(texts), self.batch):
            some = texts[i : i + self.batch]
            known.update(zip(some, self.log_likelihood(some).tolist(), strict=True))
            if note:
                note(min(i + self.batch, len(texts)), len(texts))
        return np.array([known[changed] - known[wild] for changed, wild in pairs])

    def _texts(self, sequence: str, mutants: pl.Series) -> list[tuple[str, str]]:
        """Variant and wild type of each mutant, in its window."""
        texts = []
        for parts in changes(mutants).partition_by("row", maintain_order=True):
            positions = parts["position"].to_list()
            first, last = min(positions), max(positions)
            start, end = window((first + last) // 2, len(sequence), self.limit)
            if not start < first or not last <= end:
                raise GoldsmithError(
                    f"[model > {mutants[parts['row'][0]]}] has changes {last - first} residues apart, the model reads "
                    f"{self.limit}: leave this assay out"
                )
            changed = list(sequence[start:end])
            for position, letter in zip(positions, parts["mt"].to_list(), strict=True):
                changed[position - 1 - start] = AMINO_ACIDS[letter]
            texts.append(("".join(changed), sequence[start:end]))
        return texts

    def log_likelihood(self, texts: list[str]) -> Floats:
        """log p of each text, shape (n,); texts may differ in length."""
        import torch  # pyright: ignore[reportMissingImports]

        rows = [self.tokens(text) for text in texts]
        width = max(map(len, rows))
        tokens = torch.zeros((len(rows), width), dtype=torch.long)
        mask = torch.zeros_like(tokens)
        for i, row in enumerate(rows):
            tokens[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = 1
        tokens, mask = tokens.to(self.model.device), mask.to(self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=tokens, attention_mask=mask).logits[:, :-1]
        found = torch.log_softmax(logits.double(), dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
        return (found * mask[:, 1:]).sum(dim=1).cpu().numpy()

    def tokens(self, text: str) -> list[int]:
        """The ids of a text, after the token for the beginning where the tokenizer has one."""
        ids = list(self.tokenizer(text)["input_ids"])
        if self.tokenizer.unk_token_id is not None and self.tokenizer.unk_token_id in ids:
            raise GoldsmithError("[model] its tokenizer does not know some amino acid: give a model of proteins")
        first = self.tokenizer.bos_token_id
        return [first, *ids] if first is not None and ids[:1] != [first] else ids
