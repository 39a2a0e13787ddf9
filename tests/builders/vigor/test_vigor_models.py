"""Adapters of learned models, with tiny random weights: shapes, sizes and determinism, not quality."""

from __future__ import annotations

import types

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs goldsmith[vigor-models]")
transformers = pytest.importorskip("transformers", reason="needs goldsmith[vigor-models]")
pytest.importorskip("rlemasklib", reason="needs goldsmith[vigor]")

from builders.vigor.forms import Concept  # noqa: E402
from builders.vigor.proposals import Scene  # noqa: E402
from builders.vigor.proposals.models import ClipSeg, ClipSegScorer, GroundingDino, Sam  # noqa: E402

DOG, CAT = Concept("object", "dog"), Concept("object", "cat")
PIXELS = np.random.default_rng(0).integers(0, 255, (48, 64, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def clipseg():
    torch.manual_seed(0)
    config = transformers.CLIPSegConfig(
        text_config={
            "vocab_size": 64,
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "max_position_embeddings": 8,
        },
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 3,
            "num_attention_heads": 2,
            "image_size": 32,
            "patch_size": 8,
        },
        projection_dim=16,
        reduce_dim=8,
        extract_layers=[0, 1, 2],
        decoder_num_attention_heads=2,
        decoder_intermediate_size=16,
    )

    def processor(text, images, **_):
        ids = torch.tensor([[sum(map(ord, word)) % 60 + 1, 62] for word in text])
        tensors = torch.stack([torch.tensor(image[:32, :32]).permute(2, 0, 1) / 255.0 for image in images])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": tensors}

    return ClipSeg(transformers.CLIPSegForImageSegmentation(config), processor, [DOG, CAT], "tiny", threshold=0.0)


def test_clipseg_proposes_masks_of_the_pictures_size(clipseg):
    found = clipseg.propose(Scene(PIXELS))
    assert [each.concept for each in found] == [DOG, CAT]
    assert all((each.mask.height, each.mask.width) == (48, 64) for each in found)
    assert clipseg.propose(Scene(PIXELS)) == found
    assert found[0].method == "clipseg/tiny"
    scores = ClipSegScorer(clipseg).scores(PIXELS, np.ones((48, 64), bool), ["dog", "cat", "car"])
    assert scores.shape == (3,)
    assert scores.sum() == pytest.approx(1, abs=1e-4)


@pytest.fixture(scope="module")
def sam():
    torch.manual_seed(0)
    vision = {
        "hidden_size": 16,
        "output_channels": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": 64,
        "patch_size": 16,
        "window_size": 2,
        "global_attn_indexes": [],
        "mlp_dim": 16,
        "num_pos_feats": 4,
    }
    prompt = {"hidden_size": 8, "image_size": 64, "patch_size": 16, "mask_input_channels": 4}
    decoder = {
        "hidden_size": 8,
        "mlp_dim": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "iou_head_hidden_dim": 8,
        "attention_downsample_rate": 1,
    }
    config = transformers.SamConfig(vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=decoder)
    images = transformers.SamImageProcessor(size={"longest_edge": 64}, pad_size={"height": 64, "width": 64})
    return Sam(transformers.SamModel(config), transformers.SamProcessor(images), "tiny")


def test_sam_gives_a_mask_of_the_pictures_size(sam):
    mask = sam.mask(PIXELS, (10, 10, 20, 20))
    assert mask.shape == (48, 64)
    assert mask.dtype == bool


def test_grounding_dinos_boxes_are_in_pixels(sam):
    class Detector:
        def eval(self):
            return self

        def __call__(self, **_):
            boxes = torch.tensor([[[0.5, 0.5, 0.25, 0.5], [0.1, 0.1, 0.1, 0.1]]])
            return types.SimpleNamespace(logits=torch.tensor([[[3.0, -9], [-9, -9]]]), pred_boxes=boxes)

    found = GroundingDino(Detector(), lambda **_: {}, [DOG], "tiny").propose(Scene(PIXELS))
    assert [each.mask.box for each in found] == [(24, 12, 16, 24)]
    assert found[0].score == pytest.approx(0.9526, abs=1e-3)
    both = GroundingDino(Detector(), lambda **_: {}, [DOG], "tiny", sam)
    assert both.method == "grounding-dino/tiny+sam/tiny"
    assert all(each.mask.height == 48 for each in both.propose(Scene(PIXELS)))


def test_a_real_grounding_dino_has_the_outputs_that_the_adapter_reads():
    """The class is there and its output names are those used above; building one needs a backbone's configuration."""
    fields = transformers.models.grounding_dino.modeling_grounding_dino.GroundingDinoObjectDetectionOutput
    assert {"logits", "pred_boxes"} <= set(fields.__dataclass_fields__)
