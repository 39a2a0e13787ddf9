"""A made dataset folder of the sketch probes, tiny vision-language models of each family, and attention with a plant.

The drawings are blocks in places that chance chooses anew for each drawing, so that a part's name says nothing of where
it is. The models are random; their tokenizers spell bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from builders.sketch import masks, prompts
from builders.sketch.probing.model import Model, Prompt
from builders.sketch.probing.outputs import Maps
from builders.sketch.render import CANVAS
from builders.sketch.schema import SKETCH
from schemas import DatasetFolder

PARTS = ("eye", "leg", "wing")
CATEGORIES = {"ant": "calibration", "bee": "calibration", "cat": "report", "dog": "report"}
GRID = 6
BLOCK = CANVAS // GRID


def blocks(rng: np.random.Generator) -> list[np.ndarray]:
    """Three masks: a block of two by two cells each, with paper between its lines, none over another."""
    places = rng.permutation(9)[:3]
    found = []
    for place in places:
        mask = np.zeros((CANVAS, CANVAS), bool)
        y, x = (place // 3) * 2 * BLOCK, (place % 3) * 2 * BLOCK
        mask[y : y + 2 * BLOCK, x : x + 2 * BLOCK] = True
        mask &= (np.arange(CANVAS) % 14 < 8)[:, None]
        found.append(mask)
    return found


def dataset(path: Path, drawings: int = 6, categories: Mapping[str, str] = CATEGORIES, seed: int = 0) -> DatasetFolder:
    """A folder with `drawings` of each category, their parts and prompts, and people who draw parts by the alphabet."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[dict[str, Any]]] = {table.name: [] for table in SKETCH.tables}
    for category, split in categories.items():
        for number in range(drawings):
            name = f"made/{category}/{number}"
            parts = blocks(rng)
            rows["sketches"].append(
                {"sketch_id": name, "source": "made", "category": category, "drawer": f"{category}{number}",
                 "split": split, "image": {"bytes": png(np.logical_or.reduce(parts)), "path": None}}
            )  # fmt: skip
            for index, (part, mask) in enumerate(zip(PARTS, parts, strict=True)):
                rows["parts"].append(
                    {"sketch_id": name, "part_index": index, "part": part, "category": category, "split": split,
                     "box": masks.box(mask), "mask": masks.encode(mask), "mask_area": int(mask.sum()),
                     "ink_area": int(mask.sum())}
                )  # fmt: skip
            named, seeded = list(enumerate(PARTS)), prompts.seed_of(name)
            asked = prompts.of_sketch("made", category, name, named, seeded, kind="object", order=PARTS)
            rows["prompts"] += [{**row, "split": split} for row in asked]
        rows["prompts"] += [{**row, "split": split} for row in prompts.of_category("made", category, PARTS, 1)]
        rows["orders"] += [pair(category, a, b, 40, 36, split) for a, b in (PARTS[:2], PARTS[1:], PARTS[::2])]
        rows["order_summaries"].append(
            {"source": "made", "category": category, "split": split, "kemeny": list(PARTS), "resolved": True,
             "human_tau": 0.8}
        )  # fmt: skip
    return write(path, rows)


def pair(category: str, a: str, b: str, n: int, first: int, split: str = "report") -> dict[str, Any]:
    """A row of `orders`."""
    return {"source": "made", "category": category, "part_a": a, "part_b": b, "split": split, "n": n,
            "n_a_first": first, "counted": n >= 30}  # fmt: skip


def png(ink: np.ndarray) -> bytes:
    """A rendering."""
    file = io.BytesIO()
    Image.fromarray(np.where(ink, 0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def write(path: Path, rows: Mapping[str, Sequence[dict[str, Any]]]) -> DatasetFolder:
    """A dataset folder with some columns of each table: those that its rows have."""
    files = []
    for table in SKETCH.tables:
        for split in table.splits:
            some = [row for row in rows.get(table.name, ()) if row["split"] == split]
            if some:
                schema = pa.schema([table.arrow.field(name) for name in table.names if name in some[0]])
                file = path / "data" / table.name / f"{split}-00000-of-00001.parquet"
                file.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(pa.Table.from_pylist([{k: r[k] for k in schema.names} for r in some], schema), file)
                files.append({"table": table.name, "sha256": f"{table.name}{split}"})
    build = {"format": 1, "dataset": "sketch", "version": "1", "schema": SKETCH.to_json(), "files": files}
    build |= {"sources": [], "accounting": []}
    (path / "build.json").write_text(json.dumps(build))
    return DatasetFolder(path)


def save(family: str, path: Path, seed: int = 0, layers: int = 4, **options: Any) -> Path:
    """A tiny random model of a family with its processor, saved as on the Hub."""
    import torch

    torch.manual_seed(seed)
    model, processor = {"llava": _llava, "llava_next": _llava_next, "qwen2_vl": _qwen}[family](layers, **options)
    spread(model)
    model.save_pretrained(path)
    for part in processor:
        part.save_pretrained(path)
    return path


def spread(model: Any) -> Any:
    """Queries and keys that are not near nothing: heads then look at different things, as trained ones do."""
    for layer in model.model.language_model.layers:
        for name in ("q_proj", "k_proj"):
            getattr(layer.self_attn, name).weight.data *= 12
    return model


def renew(model: Any, seed: int) -> Any:
    """A model of the same configuration with other random weights, as transformers draws them."""
    import torch

    torch.manual_seed(seed)
    return spread(type(model)(model.config)).eval()


def _tokenizer(special: list[str]) -> Any:
    import tokenizers
    import transformers

    names = ["<pad>", "<s>", "</s>", *special, *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={name: n for n, name in enumerate(names)}, merges=[]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    tokens = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "additional_special_tokens": special}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, **tokens)


def _llama(vocabulary: int, layers: int) -> Any:
    import transformers

    return transformers.LlamaConfig(
        vocab_size=vocabulary, hidden_size=64, intermediate_size=64, num_hidden_layers=layers, num_attention_heads=8,
        num_key_value_heads=4, max_position_embeddings=2048, bos_token_id=1, eos_token_id=2, pad_token_id=0,
    )  # fmt: skip


def _clip(side: int) -> Any:
    import transformers

    return transformers.CLIPVisionConfig(
        hidden_size=32, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=side,
        patch_size=14, projection_dim=32,
    )  # fmt: skip


def _llava(layers: int, strategy: str = "default") -> tuple[Any, list[Any]]:
    import transformers

    tokenizer = _tokenizer(["<image>"])
    side = GRID * 14
    size = {"height": side, "width": side}
    images = transformers.CLIPImageProcessor(size={"shortest_edge": side}, crop_size=size)
    more = {"patch_size": 14, "vision_feature_select_strategy": strategy, "num_additional_image_tokens": 1}
    processor = transformers.LlavaProcessor(images, tokenizer, **more)
    config = transformers.LlavaConfig(
        vision_config=_clip(side), text_config=_llama(len(tokenizer), layers), vision_feature_layer=-1,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"), vision_feature_select_strategy=strategy,
    )  # fmt: skip
    return transformers.LlavaForConditionalGeneration(config), [processor]


def _llava_next(layers: int) -> tuple[Any, list[Any]]:
    import transformers

    tokenizer = _tokenizer(["<image>"])
    pins = [[56, 112], [112, 56], [112, 112]]
    size = {"height": 56, "width": 56}
    images = transformers.LlavaNextImageProcessor(size={"shortest_edge": 56}, crop_size=size, image_grid_pinpoints=pins)
    more = {"patch_size": 14, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}
    processor = transformers.LlavaNextProcessor(images, tokenizer, **more)
    config = transformers.LlavaNextConfig(
        vision_config=_clip(56), text_config=_llama(len(tokenizer), layers), vision_feature_layer=-1,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"), vision_feature_select_strategy="default",
        image_grid_pinpoints=pins,
    )  # fmt: skip
    return transformers.LlavaNextForConditionalGeneration(config), [processor]


def _qwen(layers: int) -> tuple[Any, list[Any]]:
    import transformers

    special = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"]
    tokenizer = _tokenizer(special)
    start, end, image, video = (tokenizer.convert_tokens_to_ids(name) for name in special)
    text = {
        "vocab_size": len(tokenizer), "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": layers,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 2048, "bos_token_id": 1,
        "eos_token_id": 2, "pad_token_id": 0, "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
    }  # fmt: skip
    vision = {
        "depth": 2, "embed_dim": 32, "hidden_size": 64, "num_heads": 4, "patch_size": 14, "spatial_merge_size": 2,
        "temporal_patch_size": 2, "in_channels": 3, "mlp_ratio": 2,
    }  # fmt: skip
    config = transformers.Qwen2VLConfig(
        text_config=text, vision_config=vision, image_token_id=image, video_token_id=video,
        vision_start_token_id=start, vision_end_token_id=end,
    )  # fmt: skip
    images = transformers.Qwen2VLImageProcessor(min_pixels=28 * 28 * 9, max_pixels=28 * 28 * 16)
    return transformers.Qwen2VLForConditionalGeneration(config), [tokenizer, images]


class Planted(Model):
    """A model of which some heads attend, with `share` of their attention, to the part that is asked for.

    The last row of the weights of these heads is overwritten inside transformers' attention function, registered as
    `eager`; what the layer gives on is computed from it. Without `plant` the function is the true one.
    """

    plant: Mapping[tuple[int, int], float] = {}
    truth: Mapping[str, np.ndarray] = {}

    def maps(self, prompts: Sequence[Prompt], inputs: Mapping[str, Any]) -> Maps:
        from builders.sketch.probing.families import layout

        rows = []
        for row, prompt in enumerate(prompts):
            where = layout(self._model.config, inputs, row)
            rows.append((where.tokens, self.truth[prompt.id].ravel()[where.cells]))
        with planted(self.plant, rows):
            return super().maps(prompts, inputs)


@contextmanager
def planted(heads: Mapping[tuple[int, int], float], rows: Sequence[tuple[np.ndarray, np.ndarray]]) -> Iterator[None]:
    """Overwrite attention: of each head the share, of each sequence (token positions, values)."""
    import torch
    from transformers import AttentionInterface
    from transformers.models.clip import modeling_clip
    from transformers.models.llama import modeling_llama

    def attend(module: Any, query: Any, key: Any, value: Any, mask: Any, scaling: float, **more: Any) -> Any:
        if not hasattr(module, "num_key_value_groups"):
            return modeling_clip.eager_attention_forward(module, query, key, value, mask, scaling, **more)
        out, weights = modeling_llama.eager_attention_forward(module, query, key, value, mask, scaling, **more)
        mine = {head: share for (layer, head), share in heads.items() if layer == module.layer_idx}
        for head, share in mine.items():
            for row, (tokens, values) in enumerate(rows):
                weights[row, head, -1] *= 1 - share
                weights[row, head, -1, tokens] += torch.as_tensor(share * values / values.sum(), dtype=weights.dtype)
        if mine:
            full = modeling_llama.repeat_kv(value, module.num_key_value_groups)
            out = (weights @ full).transpose(1, 2).contiguous()
        return out, weights

    with torch.inference_mode():
        AttentionInterface.register("eager", attend)
        try:
            yield
        finally:
            AttentionInterface._global_mapping.pop("eager")


def lit_cells(folder: DatasetFolder) -> dict[str, np.ndarray]:
    """By spatial prompt, the cells of the part that is asked for, [GRID, GRID] of 0 and 1."""
    found = {}
    parts = {}
    for path in folder.all_shards("parts"):
        for row in pq.read_table(path, columns=["sketch_id", "part", "mask"]).to_pylist():
            parts[row["sketch_id"], row["part"]] = masks.decode(row["mask"], CANVAS, CANVAS)
    for path in folder.all_shards("prompts"):
        for row in pq.read_table(path, columns=["prompt_id", "kind", "sketch_id", "part"]).to_pylist():
            if row["kind"] == "spatial":
                mask = parts[row["sketch_id"], row["part"]]
                cells = mask.reshape(GRID, BLOCK, GRID, BLOCK).sum((1, 3))
                found[row["prompt_id"]] = (cells > 0).astype(float)
    return found
