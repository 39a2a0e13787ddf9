"""Who is flagged: exact chances of a false alarm, and rates over many seeds against what those chances allow.

No seed is chosen: all of range(SEEDS) are run, and a count leaves what its stated chance allows once in 100,000 times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy import stats

from quality.annotation.count import count
from quality.annotation.flags import flags, guesses, misread
from quality.annotation.judgements import Judgement
from quality.annotation.people import people
from quality.annotation.work import Item, Plan
from schemas import Audit, Show

SEEDS, ITEMS, ALPHA, RARE = 40, 80, 0.001, 1e-5
LABELS = ("bug", "feature", "question")
CHOICE = Audit("topic", "?", "choice", "t", "", (Show("s"),), labels=LABELS)
PAIR = Audit("better", "?", "pair", "t", "", (Show("a"), Show("b")))
WORDS = Audit("words", "?", "transcription", "t", "", (Show("s", "audio"),))

Say = Callable[[np.random.Generator, str, int, bool], str]
"""What a person says: dice, the true label, the place in their sheet, and whether the second is shown as A."""


def erring(share: float) -> Say:
    """Right but for a share of errors, each to another label."""

    def say(rng: np.random.Generator, truth: str, place: int, swapped: bool) -> str:
        return str(rng.choice([label for label in LABELS if label != truth])) if rng.random() < share else truth

    return say


def guess(rng: np.random.Generator, truth: str, place: int, swapped: bool) -> str:
    return str(rng.choice(LABELS))


def tire(rng: np.random.Generator, truth: str, place: int, swapped: bool) -> str:
    return erring(0.6 if place >= ITEMS / 2 else 0.03)(rng, truth, place, swapped)


def swap(rng: np.random.Generator, truth: str, place: int, swapped: bool) -> str:
    said = erring(0.03)(rng, truth, place, swapped)
    return {"bug": "feature", "feature": "bug"}.get(said, said)


def left(rng: np.random.Generator, truth: str, place: int, swapped: bool) -> str:
    return "second" if swapped else "first"


def judged(seed: int, people_say: Mapping[str, Say], audit: Audit = CHOICE) -> tuple[set[tuple[str, str]], int]:
    """Who is flagged with what, and how many labels are not the truth, of an audit drawn with this seed."""
    rng = np.random.default_rng(seed)
    truths = [str(label) for label in rng.choice(audit.votes, ITEMS)]
    items = [
        Item(f"{seed}-{i}", f"i{i}", "all", "sample", {"label": truth}, ["x"] * len(audit.shows), list(people_say))
        for i, truth in enumerate(truths)
    ]
    plan = Plan("judged", audit, "seed", str(seed), {name: name for name in people_say}, {}, [], items)
    answers = [
        Judgement(
            name, item.key, {"label": say(rng, item.answer["label"], place, item.swapped(name))}, f"{place:04d}", 5.0
        )
        for name, say in people_say.items()
        for place, item in enumerate(plan.sheet(name))
        if item.answer
    ]
    votes = count(plan, answers)
    found = flags(votes.con, people(votes.con))
    votes.con.close()
    wrong = sum(votes.said[item.key][0] != truth for item, truth in zip(items, truths, strict=True))
    return {(flag.person, flag.code) for flag in found}, wrong


def rates(people_say: Mapping[str, Say], audit: Audit = CHOICE) -> tuple[Counter[tuple[str, str]], int]:
    """Over all seeds: how often each was flagged with what, and how many labels were wrong."""
    counted: Counter[tuple[str, str]] = Counter()
    wrong = 0
    for seed in range(SEEDS):
        found, errors = judged(seed, people_say, audit)
        counted.update(found)
        wrong += errors
    return counted, wrong


def at_most(runs: int, chance: float) -> int:
    return int(stats.binom.ppf(1 - RARE, runs, chance))


def at_least(runs: int, chance: float) -> int:
    return int(stats.binom.ppf(RARE, runs, chance))


# --- exact


@pytest.mark.parametrize("by_chance", [0.2, 1 / 3, 0.5, 0.9])
@pytest.mark.parametrize("total", [20, 54, 120, 400])
def test_poor_is_said_of_others_at_most_once_in_a_thousand(total: int, by_chance: float) -> None:
    """The exact chance, over all outcomes, for one whose kappa is just 0.4; and it falls with every better kappa."""
    flagged = [guesses(same, total, by_chance) for same in range(total + 1)]
    assert flagged == sorted(flagged, reverse=True)
    for kappa in (0.4, 0.5, 0.8):
        likely = stats.binom.pmf(np.arange(total + 1), total, by_chance + kappa * (1 - by_chance))
        assert likely[flagged].sum() <= ALPHA * (1 + 1e-9)
    assert not any(guesses(same, 19, by_chance) for same in range(20))


def test_the_exact_power_against_one_who_guesses() -> None:
    """Three labels: 80 answers nearly always tell, 54 mostly."""

    def power(total: int) -> float:
        return sum(stats.binom.pmf(k, total, 1 / 3) for k in range(total + 1) if guesses(k, total, 1 / 3))

    assert [round(power(total), 3) for total in (54, 80, 120)] == [0.767, 0.946, 0.997]


# --- rates over all seeds


def test_careful_people_are_left_alone() -> None:
    """Three people an audit: each code may be wrong about one in a thousand."""
    counted, wrong = rates({"a": erring(0.03), "b": erring(0.05), "c": erring(0.1)})
    for code, flagged in Counter(code for _, code in counted.elements()).items():
        assert flagged <= at_most(3 * SEEDS, ALPHA), code
    # A label is wrong only where two of three are: the chance of that, and of one of two that disagree.
    assert wrong <= at_most(SEEDS * ITEMS, 0.03 * 0.05 + 0.03 * 0.1 + 0.05 * 0.1)


def test_a_spammer_is_found_and_does_not_spoil_the_labels() -> None:
    counted, wrong = rates({"a": erring(0.03), "b": erring(0.03), "c": guess})
    power = sum(stats.binom.pmf(k, ITEMS, 1 / 3) for k in range(ITEMS + 1) if guesses(k, ITEMS, 1 / 3))
    assert counted["c", "guessing"] >= at_least(SEEDS, power)
    assert sum(n for (who, _), n in counted.items() if who != "c") <= at_most(2 * 4 * SEEDS, ALPHA)
    assert wrong <= at_most(SEEDS * ITEMS, 1 - 0.97**2)  # only where one of the two careful ones is


def test_a_drifting_annotator_is_found() -> None:
    """From 3 % to 60 % errors in the second half; z of so many wrong ones there is beyond 3.29 from ten on."""
    counted, _ = rates({"a": erring(0.03), "b": erring(0.03), "c": tire})
    power = 1 - stats.binom.cdf(13, ITEMS // 2, 0.6)  # and up to three in the first half
    assert counted["c", "drift"] >= at_least(SEEDS, power * stats.binom.cdf(3, ITEMS // 2, 0.03 * 2))
    assert sum(n for (who, _), n in counted.items() if who != "c") <= at_most(2 * 4 * SEEDS, ALPHA)


def test_a_swapped_map_of_labels_is_always_found() -> None:
    counted, wrong = rates({"a": erring(0.03), "b": erring(0.03), "c": swap})
    assert counted["c", "swapped_labels"] == SEEDS
    assert counted["c", "guessing"] == 0
    assert sum(n for (who, _), n in counted.items() if who != "c") <= at_most(2 * 4 * SEEDS, ALPHA)
    assert wrong <= at_most(SEEDS * ITEMS, 1 - 0.97**2)


def test_one_who_always_takes_the_left_is_always_found_and_nobody_else() -> None:
    def careful(rng: np.random.Generator, truth: str, place: int, swapped: bool) -> str:
        return truth

    counted, _ = rates({"a": careful, "b": careful, "c": left}, PAIR)
    assert counted["c", "one_side"] == SEEDS
    assert sum(n for (_, code), n in counted.items() if code == "one_side") - SEEDS <= at_most(2 * SEEDS, ALPHA)


@pytest.mark.parametrize(
    ("gold", "fails"),
    [
        ([], False),
        ([(0, 0)], False),
        ([(1, 0)], True),
        ([(3, 1), (3, 0)], True),
        ([(4, 2), (3, 0)], False),  # right as often as wrong: nobody is taken the other way round
        ([(100, 60)], True),  # surely below 80 %
        ([(100, 60), (5, 4), (0, 0)], False),
    ],
)
def test_gold_items_that_nobody_passes(gold: list[tuple[int, int]], fails: bool) -> None:
    assert bool(misread(WORDS, gold)) is fails
    assert not misread(CHOICE, gold)  # its labels are learnt from gold items, exchanged or not
