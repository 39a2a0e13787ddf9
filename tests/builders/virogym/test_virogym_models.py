"""The scoring code of language models on tiny random weights, against one forward pass for each mutant."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

torch = pytest.importorskip("torch", reason="needs goldsmith[virogym-models]")
transformers = pytest.importorskip("transformers", reason="needs goldsmith[virogym-models]")

from builders.virogym.models.masked import window  # noqa: E402
from builders.virogym.models.predict import load  # noqa: E402
from builders.virogym.schema import AMINO_ACIDS  # noqa: E402
from schemas import GoldsmithError  # noqa: E402

ESM_TOKENS = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO", ".", "-", "<null_1>", "<mask>"]
"""The vocabulary of ESM-2."""

SEQUENCE = "".join(random.Random(4).choices(AMINO_ACIDS, k=23))
SINGLES = [f"{SEQUENCE[i]}{i + 1}{mt}" for i in (0, 1, 7, 21, 22) for mt in AMINO_ACIDS if mt != SEQUENCE[i]]
MULTIS = [f"{SINGLES[0]}:{SINGLES[40]}", f"{SINGLES[1]}:{SINGLES[45]}:{SINGLES[90]}"]


def make_esm(path: Path) -> Path:
    """ESM-2 in small: rotary positions, token dropout, room for 14 residues."""
    path.mkdir(exist_ok=True)
    torch.manual_seed(0)
    config = transformers.EsmConfig(
        vocab_size=len(ESM_TOKENS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=18, position_embedding_type="rotary", token_dropout=True, mask_token_id=32,
        pad_token_id=1, emb_layer_norm_before=False,
    )  # fmt: skip
    transformers.EsmForMaskedLM(config).save_pretrained(path)
    (path / "vocab.txt").write_text("\n".join(ESM_TOKENS))
    transformers.EsmTokenizer(str(path / "vocab.txt")).save_pretrained(path)
    return path


@pytest.fixture(scope="module")
def esm(tmp_path_factory):
    return make_esm(tmp_path_factory.mktemp("esm"))


@pytest.fixture(scope="module")
def gpt(tmp_path_factory):
    """A causal model with a token for each residue, one for pairs of alanines, and one for the beginning."""
    import tokenizers

    path = tmp_path_factory.mktemp("gpt")
    torch.manual_seed(1)
    vocabulary = {token: i for i, token in enumerate(["<s>", "<pad>", "<unk>", *AMINO_ACIDS, "AA"])}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocabulary, [("A", "A")], unk_token="<unk>"))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", pad_token="<pad>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(path)
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    transformers.GPT2LMHeadModel(config).save_pretrained(path)
    return path


def test_masked_marginals_are_those_of_one_masked_pass_for_each_mutant(esm):
    """Written again from the definition: one sequence at a time, the tokenizer's own ids, softmax in doubles."""
    model = transformers.EsmForMaskedLM.from_pretrained(esm).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(esm)
    expected = []
    for mutant in [*SINGLES, *MULTIS]:
        total = 0.0
        for change in mutant.split(":"):
            wt, at, mt = change[0], int(change[1:-1]) - 1, change[-1]
            start = max(0, min(at - 7, len(SEQUENCE) - 14))
            ids = tokenizer(SEQUENCE[start : start + 14], return_tensors="pt")["input_ids"]
            assert ids.shape == (1, 16)
            assert ids[0, at - start + 1] == ESM_TOKENS.index(wt)
            ids[0, at - start + 1] = ESM_TOKENS.index("<mask>")
            with torch.no_grad():
                p = torch.softmax(model(input_ids=ids).logits[0, at - start + 1].double(), -1).numpy()
            total += np.log(p[ESM_TOKENS.index(mt)]) - np.log(p[ESM_TOKENS.index(wt)])
        expected.append(total)
    for batch in (1, 4):
        found = load(str(esm), None, batch).score(SEQUENCE, pl.Series([*SINGLES, *MULTIS]))
        assert found == pytest.approx(expected, abs=1e-5)
    assert np.std(expected) > 0.01


def test_a_protein_is_cut_to_the_window_around_the_site():
    assert window(1, 10, 14) == (0, 10)
    assert window(1, 30, 14) == (0, 14)
    assert window(30, 30, 14) == (16, 30)
    assert window(15, 30, 14) == (7, 21)
    assert all(start < position <= end for position in range(1, 31) for start, end in [window(position, 30, 14)])


def test_esm_reads_1022_residues(esm):
    config = json.loads((esm / "config.json").read_text())
    assert load(str(esm), None).limit == config["max_position_embeddings"] - 4 == 14


def test_a_sequences_likelihood_is_the_sum_over_its_tokens_after_the_beginning(gpt):
    model = load(str(gpt), None, batch=3)
    plain = transformers.GPT2LMHeadModel.from_pretrained(gpt).eval()
    texts = [SEQUENCE[:9], "AAAC", "ACDEFGHIKLMN"]
    expected = []
    for text in texts:
        ids = torch.tensor([[0, *transformers.AutoTokenizer.from_pretrained(gpt)(text)["input_ids"]]])
        with torch.no_grad():
            expected.append(-float(plain(input_ids=ids, labels=ids).loss) * (ids.shape[1] - 1))
    assert model.log_likelihood(texts) == pytest.approx(expected, abs=1e-4)


def test_variants_of_a_causal_model_are_compared_with_the_wild_type_in_their_window(gpt):
    model = load(str(gpt), None, batch=4)
    near = f"{SINGLES[0]}:{SINGLES[40]}"
    found = model.score(SEQUENCE, pl.Series([SINGLES[3], SINGLES[-1], near]))
    assert model.limit == 14
    first, last = SEQUENCE[:14], SEQUENCE[9:]
    both = SINGLES[0][-1] + SEQUENCE[1:7] + SINGLES[40][-1] + SEQUENCE[8:14]
    texts = [SINGLES[3][-1] + first[1:], first, last[:-1] + SINGLES[-1][-1], last, both]
    one, wild, end, wild_end, two = (model.log_likelihood([text])[0] for text in texts)
    assert found == pytest.approx([one - wild, end - wild_end, two - wild], abs=1e-5)


def test_changes_farther_apart_than_the_model_reads_are_refused(gpt):
    with pytest.raises(GoldsmithError, match="22 residues apart, the model reads 14"):
        load(str(gpt), None).score(SEQUENCE, pl.Series([f"{SINGLES[0]}:{SINGLES[-1]}"]))


def test_a_model_of_the_hub_needs_its_revision():
    with pytest.raises(GoldsmithError, match="give --revision"):
        load("someone/some-model", None)


def test_a_model_with_its_own_code_is_refused_in_one_line(tmp_path, gpt):
    """Its code writes a file when it is run: the file must not be there."""
    for each in gpt.iterdir():
        (tmp_path / each.name).write_bytes(each.read_bytes())
    ran = tmp_path / "ran"
    (tmp_path / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    auto = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "own", "auto_map": auto}))
    with pytest.raises(GoldsmithError) as error:
        load(str(tmp_path), None)
    assert "\n" not in str(error.value)
    assert "cannot be loaded" in str(error.value)
    assert not ran.exists()


def test_a_folder_without_a_model_and_a_tokenizer_of_words_are_refused(tmp_path, gpt):
    with pytest.raises(GoldsmithError, match="cannot be loaded"):
        load(str(tmp_path), None)
    for each in gpt.iterdir():
        (tmp_path / each.name).write_bytes(each.read_bytes())
    tokenizer = json.loads((tmp_path / "tokenizer.json").read_text())
    del tokenizer["model"]["vocab"]["W"]
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(GoldsmithError, match="does not know some amino acid"):
        load(str(tmp_path), None).score("ACDEFG", pl.Series(["A1W"]))
