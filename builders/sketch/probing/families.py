"""Where a family of models puts the picture in its sequence: token positions, and the cell of the grid that each is of.

The canonical rendering is square and no family crops it, so the grid is the picture cut into rows and columns. LLaVA
has one grid; its CLS token (strategy `full`) is no cell. LLaVA-NeXT has a base grid and a finer one with a newline
token at the end of each row; newlines are no cells, and the finer cells are added to the base cell that they lie in.
Qwen2-VL merges 2 x 2 patches: a picture of t, h, w patches has t * h * w / 4 tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from schemas import GoldsmithError


@dataclass(frozen=True)
class Family:
    """A family of models that the probe can run.

    Attributes:
        model_class: of transformers.
        picture: the text that stands for the picture before it is expanded.
        plain: a dialogue for models without a chat template; `{0}` is the picture and the question.
        token: the placeholder that stands once for each picture token.
    """

    name: str
    model_class: str
    picture: str
    plain: str
    token: str


FAMILIES = {
    "llava": Family("llava", "LlavaForConditionalGeneration", "<image>\n", "USER: {0} ASSISTANT:", "<image>"),
    "llava_next": Family(
        "llava_next", "LlavaNextForConditionalGeneration", "<image>\n", "USER: {0} ASSISTANT:", "<image>"
    ),
    "qwen2_vl": Family(
        "qwen2_vl",
        "Qwen2VLForConditionalGeneration",
        "<|vision_start|><|image_pad|><|vision_end|>",
        "USER: {0} ASSISTANT:",
        "<|image_pad|>",
    ),
}
"""By the `model_type` of the model's configuration."""


@dataclass(frozen=True)
class Layout:
    """The picture of one sequence.

    Attributes:
        tokens: [n], positions in the sequence.
        cells: [n], row * columns + column of each; several tokens may be of one cell.
    """

    rows: int
    columns: int
    tokens: np.ndarray
    cells: np.ndarray


def layout(config: Any, inputs: Mapping[str, Any], row: int) -> Layout:
    """The layout of sequence `row` of a batch, from a model's configuration and its inputs.

    Raises:
        GoldsmithError: the number of picture tokens is not what the family makes of such a picture.
    """
    positions = (inputs["input_ids"][row] == config.image_token_id).nonzero().flatten().cpu().numpy()
    if config.model_type == "qwen2_vl":
        return _merged(config, inputs["image_grid_thw"][row].tolist(), positions)
    side = config.vision_config.image_size // config.vision_config.patch_size
    if config.model_type == "llava":
        return _one_grid(config, side, positions)
    return _two_grids(config, side, inputs["image_sizes"][row].tolist(), positions)


def _one_grid(config: Any, side: int, positions: np.ndarray) -> Layout:
    if len(positions) == side * side + 1 and config.vision_feature_select_strategy == "full":
        positions = positions[1:]
    _must(len(positions) == side * side, f"{len(positions)} picture tokens for a grid of {side} x {side}")
    return Layout(side, side, positions, np.arange(side * side))


def _two_grids(config: Any, side: int, size: list[int], positions: np.ndarray) -> Layout:
    import torch  # pyright: ignore[reportMissingImports]
    from transformers.models.llava_next import modeling_llava_next as llava_next  # pyright: ignore[reportMissingImports]

    high, wide = llava_next.get_anyres_image_grid_shape(
        size, config.image_grid_pinpoints, config.vision_config.image_size
    )
    rows, columns = llava_next.unpad_image(torch.empty(1, high * side, wide * side), size).shape[1:]
    base = side * side
    expected = base + rows * (columns + 1)
    _must(
        len(positions) == expected, f"{len(positions)} picture tokens for {side} x {side} and {rows} x ({columns} + 1)"
    )
    fine = positions[base:].reshape(rows, columns + 1)[:, :columns]
    cell = (np.arange(rows) * side // rows)[:, None] * side + np.arange(columns) * side // columns
    tokens = np.concatenate([positions[:base], fine.ravel()])
    return Layout(side, side, tokens, np.concatenate([np.arange(base), cell.ravel()]))


def _merged(config: Any, grid: list[int], positions: np.ndarray) -> Layout:
    merge = config.vision_config.spatial_merge_size
    time, rows, columns = grid[0], grid[1] // merge, grid[2] // merge
    _must(
        len(positions) == time * rows * columns,
        f"{len(positions)} picture tokens for {time} x {rows} x {columns} merged patches",
    )
    return Layout(rows, columns, positions, np.tile(np.arange(rows * columns), time))


def _must(holds: bool, what: str) -> None:
    if not holds:
        raise GoldsmithError(f"[model > picture tokens] {what}: its processor is of another model, give both from one")
