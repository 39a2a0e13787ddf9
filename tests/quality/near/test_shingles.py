"""Pieces, signatures and hashes: any input is read, and what is computed in bulk equals its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from near_rows import code, text

from quality.near import hamming, minhash
from quality.near.shingles import SHINGLES, tokens, words

ANY = st.lists(st.text(max_size=200), max_size=4)


def pieces(kind: str, rows: list) -> list[set[int]]:
    make, remember, _ = SHINGLES[kind]
    flat, lengths = make(rows, remember())
    return [set(part.tolist()) for part in np.split(flat, np.cumsum(lengths)[:-1])] if rows else []


@given(ANY, st.sampled_from(sorted(SHINGLES)))
def test_any_text_is_read_and_rows_do_not_depend_on_their_neighbours(rows, kind):
    assert pieces(kind, [*rows, "end"])[:-1] == [found for row in rows for found in pieces(kind, [row])]


@given(st.text(max_size=300))
def test_tokens_hold_every_character_but_blanks(program):
    assert "".join("".join(tokens(program)).split()) == "".join(program.split())


@given(st.integers(0, 10_000), st.permutations(["count", "total", "left", "right", "item", "work"]))
def test_a_program_whose_names_were_exchanged_has_the_same_pieces(seed, names):
    program = code(seed)
    exchanged = program
    for number, name in enumerate(("count", "total", "left", "right", "item", "work")):
        exchanged = exchanged.replace(name, f"@{number}@")
    for number, name in enumerate(names):
        exchanged = exchanged.replace(f"@{number}@", f"{name}_x")
    assert pieces("code", [program]) == pieces("code", [exchanged])


def test_comments_numbers_and_strings_say_nothing_and_operators_do():
    lines = ["    total = left + 12;", '    call(total, "yes", item);', "    return total - 1;"] * 3
    program = "\n".join(lines)
    other = program.replace("12", "0x7f").replace('"yes"', "'no, \\' and so on'").replace(";", "; // note")
    assert pieces("code", [program]) == pieces("code", [other])
    assert pieces("code", [program]) != pieces("code", [program.replace("+", "*")])
    script = "def work(a, b):\n    total = a // b\n    return total + len(a) - b\n"
    assert "//" not in "".join(tokens("x = a;  // b\n")).replace("// b", "")
    assert pieces("code", [script]) == pieces("code", [script.replace("\n", "  # note\n")])
    assert pieces("code", [script]) != pieces("code", [script.replace("//", "-")])


def test_words_of_scripts_with_and_without_blanks():
    assert words("Ünïcode, WORDS—and ﬁne “print”.") == ["ünïcode", "words", "and", "fine", "print"]
    assert words("यह एक घर है।") == ["यह", "एक", "घर", "है"]
    assert words("これは家です。") == list("これは家です")


def test_signatures_agree_as_often_as_sets_do():
    one = np.arange(0, 600, dtype=np.uint32) * 7919
    other = np.arange(200, 800, dtype=np.uint32) * 7919
    signature = minhash.signatures(np.concatenate([one, other]), np.array([600, 600]), 4096)
    assert abs((signature[:, 0] == signature[:, 1]).mean() - 0.5) < 0.03
    zero, none = np.zeros(600, np.int64), np.zeros(600, np.int64)
    assert minhash.jaccard((one, zero), (other, none), 1).tolist() == [0.5]


@given(st.integers(0, 2**32))
def test_hashes_within_seven_bits_are_all_found(seed):
    draw = np.random.default_rng(seed)
    hashes = draw.integers(0, 2**63, 40, dtype=np.uint64)
    flips = np.array([sum(1 << int(bit) for bit in draw.choice(63, n, replace=False)) for n in range(10)], np.uint64)
    hashes[30:] = hashes[:10] ^ flips
    found = {(int(a), int(b)) for one, other in hamming.near(hashes, hashes) for a, b in zip(one, other, strict=True)}
    distance = np.bitwise_count(hashes[:, None] ^ hashes[None])
    assert found == {(int(a), int(b)) for a, b in zip(*np.nonzero(distance <= hamming.RADIUS), strict=True)}


def test_a_text_is_as_alike_as_its_common_pieces():
    one, other = pieces("text", [text(1), text(1) + " and more words"])
    assert len(one & other) / len(one | other) == 58 / 61
