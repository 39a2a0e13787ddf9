"""The report lets people hear and see: samples of each language, examples of each kind of finding."""

from __future__ import annotations

import io
import re

import numpy as np
import PIL.Image
import pytest
import soundfile

from builders.vaani.checks import CHECKS
from builders.vaani.spectrogram import BAND_HEIGHT, WAVE_HEIGHT, WIDTH, spectrogram
from quality import report_html, run


@pytest.fixture(scope="module")
def page(sample) -> str:
    report = run.check(sample, CHECKS)
    return report_html.write(sample, report, CHECKS).read_text(encoding="utf-8")


def test_every_kind_of_finding_can_be_heard_or_seen(page, findings) -> None:
    own = {check.name for check in CHECKS.checks}
    shown = set(re.findall(r"<h4>([A-Z]\d+\.\w+)</h4>", page))
    expected = {name for name in findings if name in own and name != "S2.claims"}
    assert expected <= shown
    assert page.count("<audio controls") > 60
    assert page.count("data:image/jpeg;base64,") == 3
    assert page.count("data:image/png;base64,") > 60


def test_each_language_can_be_heard(page) -> None:
    assert set(re.findall(r"<h4>(\w+)</h4>", page)) >= {"Hindi", "Bengali", "Tamil", "Telugu", "Kannada", "Malayalam"}


def test_the_page_says_what_the_rules_are_worth_and_by_which_thresholds(page) -> None:
    assert "R1.votes_precision" in page
    assert "min_snr_db" in page
    assert "District by language" in page


def encoded(samples: np.ndarray) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, 16000, format="WAV", subtype="PCM_16")
    return file.getvalue()


def test_a_spectrogram_shows_where_the_energy_is() -> None:
    tone = np.sin(2 * np.pi * 2000 * np.arange(16000) / 16000) * 0.5
    tone[:8000] = 0
    data = spectrogram(encoded(tone))
    assert data is not None
    image = np.asarray(PIL.Image.open(io.BytesIO(data)))
    assert image.shape == (WAVE_HEIGHT + BAND_HEIGHT, WIDTH)
    bands = image[WAVE_HEIGHT:]
    assert bands[:, WIDTH * 3 // 4].argmax() == pytest.approx(BAND_HEIGHT * 0.75, abs=2)  # 2 of 8 kHz, from below.
    assert bands[:, WIDTH // 4].max() < 30
    assert (image[:WAVE_HEIGHT, WIDTH * 3 // 4] == 0).sum() > WAVE_HEIGHT // 3


@pytest.mark.parametrize("samples", [np.zeros(1), np.zeros(100), np.full(20, 0.3)])
def test_a_spectrogram_of_next_to_nothing(samples) -> None:
    assert spectrogram(encoded(samples)) is not None
    assert spectrogram(b"nothing") is None
