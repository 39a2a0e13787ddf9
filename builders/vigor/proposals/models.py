"""Learned proposers and scorers behind the same interfaces, through transformers (goldsmith[vigor-models]).

CLIPSeg gives a mask for a word, Grounding DINO boxes for a word, SAM a mask for a box. Their own scores are no
verification: Grounding DINO is sure of things that are not there, so what they propose is voted on like anything else.
Nothing is downloaded here: a model and its processor are given, loaded by whoever runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from builders.vigor.forms import Concept
from builders.vigor.masks import Box, from_array, from_box
from builders.vigor.proposals import Proposal, Scene


class ClipSeg:
    """Proposes a mask for each wanted concept: CLIPSeg's map above a threshold."""

    def __init__(
        self, model: Any, processor: Any, wanted: Sequence[Concept], version: str, threshold: float = 0.4
    ) -> None:
        """`wanted`: what to look for. `version`: the checkpoint and its revision."""
        self._model = model.eval()
        self._processor = processor
        self._wanted = tuple(wanted)
        self._threshold = threshold
        self.method = f"clipseg/{version}"

    def maps(self, pixels: np.ndarray, words: Sequence[str]) -> np.ndarray:
        """float32 (words, height, width) between 0 and 1."""
        import torch  # pyright: ignore[reportMissingImports]

        height, width = pixels.shape[:2]
        inputs = self._processor(text=list(words), images=[pixels] * len(words), padding=True, return_tensors="pt")
        with torch.inference_mode():
            logits = self._model(**inputs).logits
        logits = logits.reshape(len(words), 1, *logits.shape[-2:])
        fine = torch.nn.functional.interpolate(logits, (height, width), mode="bilinear", align_corners=False)
        return torch.sigmoid(fine[:, 0]).float().numpy()

    def propose(self, scene: Scene) -> Sequence[Proposal]:
        found = []
        for concept, values in zip(self._wanted, self.maps(scene.pixels, [c.lemma for c in self._wanted]), strict=True):
            inside = values >= self._threshold
            if inside.any():
                found.append(Proposal(concept, from_array(inside), float(values[inside].mean()), self.method))
        return found


class GroundingDino:
    """Proposes a mask for each wanted concept: boxes of Grounding DINO, and in each the mask that SAM gives."""

    def __init__(
        self,
        model: Any,
        processor: Any,
        wanted: Sequence[Concept],
        version: str,
        sam: Sam | None = None,
        threshold: float = 0.3,
    ) -> None:
        self._model = model.eval()
        self._processor = processor
        self._wanted = tuple(wanted)
        self._sam = sam
        self._threshold = threshold
        self.method = f"grounding-dino/{version}" + (f"+{sam.method}" if sam else "")

    def boxes(self, pixels: np.ndarray, word: str) -> list[tuple[Box, float]]:
        """Boxes in pixels with the detector's score, the best first."""
        import torch  # pyright: ignore[reportMissingImports]

        height, width = pixels.shape[:2]
        inputs = self._processor(images=pixels, text=f"{word}.", return_tensors="pt")
        with torch.inference_mode():
            outputs = self._model(**inputs)
        scores = torch.sigmoid(outputs.logits[0]).max(-1).values.numpy()
        found = []
        for place in np.argsort(-scores, kind="stable"):
            if scores[place] >= self._threshold:
                x, y, wide, high = outputs.pred_boxes[0][place].numpy() * np.array([width, height, width, height])
                found.append(
                    ((float(x - wide / 2), float(y - high / 2), float(wide), float(high)), float(scores[place]))
                )
        return found

    def propose(self, scene: Scene) -> Sequence[Proposal]:
        found = []
        height, width = scene.pixels.shape[:2]
        for concept in self._wanted:
            for box, score in self.boxes(scene.pixels, concept.lemma):
                mask = from_array(self._sam.mask(scene.pixels, box)) if self._sam else from_box(box, height, width)
                if mask.area:
                    found.append(Proposal(concept, mask, score, self.method, facts={"box": [round(v, 1) for v in box]}))
        return found


class Sam:
    """The mask of what is in a box."""

    def __init__(self, model: Any, processor: Any, version: str) -> None:
        self._model = model.eval()
        self._processor = processor
        self.method = f"sam/{version}"

    def mask(self, pixels: np.ndarray, box: Box) -> np.ndarray:
        """bool (height, width): of SAM's three masks the one that it trusts most."""
        import torch  # pyright: ignore[reportMissingImports]

        x, y, width, height = box
        corners = [[[x, y, x + width, y + height]]]
        inputs = self._processor(pixels, input_boxes=corners, return_tensors="pt")
        with torch.inference_mode():
            outputs = self._model(**{name: value for name, value in inputs.items() if not name.endswith("sizes")})
        sizes = (inputs["original_sizes"], inputs["reshaped_input_sizes"])
        masks = self._processor.image_processor.post_process_masks(outputs.pred_masks, *sizes)[0][0]
        return masks[int(outputs.iou_scores[0, 0].argmax())].numpy().astype(bool)


class ClipSegScorer:
    """A scorer for `verify.contrast`: how much of the region CLIPSeg gives to each word, shared out between them."""

    def __init__(self, model: ClipSeg) -> None:
        self._model = model

    def scores(self, crop: np.ndarray, inside: np.ndarray, lemmas: Sequence[str]) -> np.ndarray:
        values = self._model.maps(crop, lemmas)[:, inside].mean(1)
        return values / (values.sum() + 1e-9)
