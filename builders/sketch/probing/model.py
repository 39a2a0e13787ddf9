"""A model as the probe uses it: prompts in, attention of the last token over the picture out, or a generated text.

Attention is read with forward hooks on the language model's layers, which keep one row and let the rest go: all weights
of a 7 B model for one prompt are 2 GB. Eager attention is the one that gives weights; transformers' own issue #33317
has models for which it is wrong in half precision, so its logits must agree with sdpa's before a head is believed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from builders.sketch.probing.families import FAMILIES, layout
from builders.sketch.probing.outputs import Maps
from schemas import GoldsmithError

LIMITS = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 5e-2}
"""Largest gap of eager logits to sdpa logits, as a share of the largest logit, by number type."""
NEW_TOKENS = 128
"""Of a generated order: some 12 parts with numbers."""


@dataclass(frozen=True)
class Prompt:
    """A question to ask. `picture`: the bytes of an image file; None for a question of words alone."""

    id: str
    question: str
    picture: bytes | None


class Model:
    """A model, its processor and what is known of both.

    Attributes:
        facts: family, class, revision, number type, layers and heads, for the summary of a run.
    """

    def __init__(self, model: Any, processor: Any, facts: Mapping[str, Any]) -> None:
        self._model, self._processor = model.eval(), processor
        self._family = FAMILIES[model.config.model_type]
        self._layers = list(model.model.language_model.layers)
        heads = model.config.text_config.num_attention_heads
        self.facts = {**facts, "layers": len(self._layers), "heads": heads}

    @classmethod
    def load(cls, name: str, revision: str | None = None, dtype: str = "float32", device: str = "cpu") -> Model:
        """A model of the Hub or of a folder, with eager attention. Its code is that of transformers, never its own.

        Raises:
            GoldsmithError: it is not there, or of another family; or torch and transformers are not installed.
        """
        try:
            import torch  # pyright: ignore[reportMissingImports]
            import transformers  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise GoldsmithError("the probe needs torch and transformers: pip install 'goldsmith[probe]'") from None
        try:
            config = transformers.AutoConfig.from_pretrained(name, revision=revision)
            family = FAMILIES.get(config.model_type)
            if family is None:
                known = ", ".join(FAMILIES)
                raise GoldsmithError(f"[{name}] is a {config.model_type} model: the probe can run {known}")
            kind = getattr(transformers, family.model_class)
            options = {"revision": revision, "dtype": getattr(torch, dtype), "attn_implementation": "eager"}
            model = kind.from_pretrained(name, **options).to(device)
            processor = _processor(transformers, name, revision, family.name)
        except (OSError, ValueError, RuntimeError, AssertionError) as error:
            reason = " ".join(str(error).split())[:200]
            raise GoldsmithError(f"[{name}] cannot be loaded ({reason}): give a model's folder or its id") from None
        facts = {
            "model": Path(name).name if Path(name).is_dir() else name,
            "revision": _revision(name, config),
            "family": family.name,
            "class": family.model_class,
            "dtype": dtype,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }
        return cls(model, processor, facts)

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, Any]:
        """The inputs of a batch, padded on the left: the last token of each sequence is that of its prompt.

        Raises:
            GoldsmithError: the chat template leaves the picture out, or the processor is of another model.
        """
        texts = [self._dialogue(prompt) for prompt in prompts]
        pictures = [_picture(prompt.picture) for prompt in prompts if prompt.picture is not None]
        if pictures and len(pictures) < len(prompts):
            raise ValueError("a batch has pictures for all of its prompts or for none")
        given = {"images": pictures} if pictures else {}
        inputs = self._processor(text=texts, padding=True, return_tensors="pt", **given)
        return {name: self._placed(value) for name, value in inputs.items()}

    def parity(self, inputs: Mapping[str, Any]) -> float:
        """The largest gap between the logits of eager and sdpa attention, as a share of the largest logit.

        Raises:
            GoldsmithError: it is above the limit of the number type (`LIMITS`), or a logit is no number.
        """
        here = inputs["attention_mask"].bool()
        found = {}
        for name in ("sdpa", "eager"):
            self._model.set_attn_implementation(name)
            with _running():
                found[name] = self._model(**inputs, use_cache=False).logits[here].float()
        gap = float((found["eager"] - found["sdpa"]).abs().max() / found["sdpa"].abs().max())
        limit = LIMITS[self.facts["dtype"]]
        if not gap <= limit:
            raise GoldsmithError(
                f"[{self.facts['model']} > {self.facts['dtype']}] eager attention is not what the model computes: its"
                f" logits are {gap:.2g} of the largest away from sdpa's, {limit:.0e} is allowed: try --dtype float32"
            )
        return gap

    def maps(self, prompts: Sequence[Prompt], inputs: Mapping[str, Any]) -> Maps:
        """Attention of the last token of each prompt over its picture, of every layer and head."""
        layouts = [layout(self._model.config, inputs, row) for row in range(len(prompts))]
        with self._last_rows() as rows, _running():
            self._model.model(**inputs, use_cache=False)
        grid = layouts[0]
        maps = np.zeros((len(prompts), len(rows), self.facts["heads"], grid.rows * grid.columns), np.float32)
        for layer, weights in rows.items():
            for row, where in enumerate(layouts):
                np.add.at(maps[row, layer].T, where.cells, weights[row][:, where.tokens].T)
        if not np.isfinite(maps).all():
            raise GoldsmithError(f"[{self.facts['model']}] attention is no number somewhere: try --dtype float32")
        maps = maps.reshape(*maps.shape[:3], grid.rows, grid.columns)
        return Maps(tuple(prompt.id for prompt in prompts), maps, maps.sum((3, 4)))

    def answers(self, inputs: Mapping[str, Any]) -> list[str]:
        """What the model says after each prompt: greedy, so the same again."""
        with _running():
            tokens = self._model.generate(**inputs, do_sample=False, max_new_tokens=NEW_TOKENS)
        start = inputs["input_ids"].shape[1]
        return self._processor.tokenizer.batch_decode(tokens[:, start:], skip_special_tokens=True)

    @contextmanager
    def _last_rows(self) -> Iterator[dict[int, np.ndarray]]:
        """Fills with [batch, heads, tokens] by layer while the model runs."""
        rows: dict[int, np.ndarray] = {}

        def keep(layer: int) -> Any:
            def hook(_module: Any, _inputs: Any, output: Any) -> None:
                rows[layer] = output[1][:, :, -1].float().cpu().numpy()

            return hook

        hooks = [each.self_attn.register_forward_hook(keep(layer)) for layer, each in enumerate(self._layers)]
        try:
            yield rows
        finally:
            for hook in hooks:
                hook.remove()

    def _dialogue(self, prompt: Prompt) -> str:
        """The text of a prompt: by the processor's chat template where it has one."""
        picture = self._family.picture if prompt.picture is not None else ""
        if not getattr(self._processor, "chat_template", None):
            return self._family.plain.format(picture + prompt.question)
        content = [{"type": "image"}] if picture else []
        turn = [{"role": "user", "content": [*content, {"type": "text", "text": prompt.question}]}]
        text = self._processor.apply_chat_template(turn, add_generation_prompt=True, tokenize=False)
        if text.count(self._family.token) != bool(picture):
            raise GoldsmithError(f"[{self.facts['model']}] its chat template does not place the picture: use its own")
        return text

    def _placed(self, value: Any) -> Any:
        moved = value.to(self._model.device)
        return moved.to(self._model.dtype) if moved.is_floating_point() else moved


class _QwenProcessor:
    """Tokens and pictures of Qwen2-VL, as Qwen2VLProcessor makes them, without the video part that needs
    torchvision.
    """

    def __init__(self, images: Any, tokenizer: Any) -> None:
        self.images, self.tokenizer = images, tokenizer
        self.chat_template = tokenizer.chat_template
        self.apply_chat_template = tokenizer.apply_chat_template

    def __call__(self, text: Sequence[str], images: Sequence[Any] = (), **options: Any) -> dict[str, Any]:
        token = FAMILIES["qwen2_vl"].token
        if not images:
            return dict(self.tokenizer(list(text), **options))
        pixels = self.images(images=list(images), return_tensors="pt")
        counts = (pixels["image_grid_thw"].prod(1) // self.images.merge_size**2).tolist()
        full = [each.replace(token, token * count) for each, count in zip(text, counts, strict=True)]
        found = self.tokenizer(full, **options)
        marks = (found["input_ids"] == self.tokenizer.convert_tokens_to_ids(token)).int()
        return {**found, **pixels, "mm_token_type_ids": marks}


def _processor(transformers: Any, name: str, revision: str | None, family: str) -> Any:
    if family == "qwen2_vl":
        images = transformers.AutoImageProcessor.from_pretrained(name, revision=revision)
        processor: Any = _QwenProcessor(images, transformers.AutoTokenizer.from_pretrained(name, revision=revision))
    else:
        processor = transformers.AutoProcessor.from_pretrained(name, revision=revision)
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor


def _picture(content: bytes) -> Any:
    from PIL import Image

    picture = Image.open(BytesIO(content)).convert("RGB")
    if picture.width != picture.height:
        raise GoldsmithError(f"[picture] is {picture.width} x {picture.height}: the probe shows square renderings")
    return picture


@contextmanager
def _running() -> Iterator[None]:
    """Without gradients; what torch cannot do becomes one line."""
    import torch  # pyright: ignore[reportMissingImports]

    try:
        with torch.inference_mode():
            yield
    except torch.OutOfMemoryError:
        raise GoldsmithError("[model] memory was short: give a smaller --batch, in another folder") from None
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise GoldsmithError(
            f"[model] cannot run the prompts ({reason}): is the processor of the same model?"
        ) from None


def _revision(name: str, config: Any) -> str:
    """The commit on the Hub; of a folder, the sha256 over its configuration and weights."""
    if not Path(name).is_dir():
        return str(getattr(config, "_commit_hash", None))
    digest = hashlib.sha256()
    for path in sorted(Path(name).iterdir()):
        if path.suffix in (".json", ".safetensors", ".bin", ".model", ".jinja"):
            digest.update(path.name.encode())
            with open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"sha256:{digest.hexdigest()}"
