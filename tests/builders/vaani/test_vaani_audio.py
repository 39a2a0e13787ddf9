"""Each measure sees its own defect and not the clean twin; decoding says why it fails."""

from __future__ import annotations

import io
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import scipy.signal
import soundfile
import soxr

from builders.vaani import snr
from builders.vaani.audio import Measures, Meter, pcm_digest
from builders.vaani.decode import UnusableError, container, decode, fits, right_extension
from builders.vaani.fingerprint import distance, fingerprint
from builders.vaani.vad import by_webrtc

RATE = 16000


def encoded(samples: np.ndarray, form: str = "WAV", subtype: str = "PCM_16", rate: int = RATE) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=form, subtype=subtype)
    return file.getvalue()


def measured(samples: np.ndarray, rate: int = RATE, **how: str) -> Measures:
    return Meter().measure(decode(encoded(np.asarray(samples, np.float32), rate=rate, **how)))


def test_a_clean_clip_has_nothing_against_it(speech) -> None:
    found = measured(speech)
    assert found.clip_share == found.flat_top_samples == found.zero_runs == found.missing_s == 0
    assert abs(found.dc_offset) < 1e-3
    assert found.duration_s == pytest.approx(len(speech) / RATE)
    assert found.active_s > 1
    assert found.silence_share < 0.6
    assert found.bandwidth_hz is not None
    assert found.bandwidth_hz > 5000
    assert found.snr_percentile_db is not None
    assert found.snr_percentile_db > 20
    assert found.vad_active_s is None
    assert found.snr_doubts == (["short_speech"] if found.active_s < 1.5 else [])


def test_level_and_peak_follow_the_gain(speech) -> None:
    loud, soft = measured(speech), measured(speech * 0.1)
    assert loud.level_dbfs - soft.level_dbfs == pytest.approx(20, abs=0.1)
    assert loud.peak_dbfs - soft.peak_dbfs == pytest.approx(20, abs=0.1)
    assert loud.peak_dbfs == pytest.approx(20 * math.log10(np.abs(speech).max()), abs=0.05)


def test_clipping_is_seen_also_when_it_was_turned_down(speech) -> None:
    clipped = np.clip(speech * 10, -1, 32767 / 32768)
    assert measured(clipped).clip_share > 0.01
    softer = measured(clipped * 0.5)
    assert softer.clip_share == 0
    assert softer.flat_top_samples > 100
    assert measured(speech * 0.5).flat_top_samples == 0


def test_an_offset_is_measured_and_disturbs_nothing_else(speech) -> None:
    clean, shifted = measured(speech), measured(speech + 0.05)
    assert shifted.dc_offset == pytest.approx(0.05 + clean.dc_offset, abs=1e-3)
    assert shifted.snr_wada_db == pytest.approx(clean.snr_wada_db, abs=1)
    assert shifted.level_dbfs == pytest.approx(clean.level_dbfs, abs=0.1)
    assert shifted.active_s == clean.active_s


def test_dropouts_inside_count_and_silence_at_the_ends_does_not(speech) -> None:
    broken = speech.copy()
    broken[8000:8800] = 0
    broken[12000:12400] = 0
    found = measured(broken)
    assert found.zero_runs == 2
    assert found.zero_run_max_ms == pytest.approx(50, abs=1)
    padded = measured(np.concatenate([np.zeros(4000), speech, np.zeros(4000)]))
    assert padded.zero_runs == 0
    assert padded.zero_share > 0.1
    assert "digital_silence" in padded.snr_doubts


def test_an_upsampled_telephone_is_narrow(speech) -> None:
    narrow = soxr.resample(soxr.resample(speech, RATE, 8000), 8000, RATE)
    found = measured(narrow)
    assert found.bandwidth_hz is not None
    assert found.bandwidth_hz < 4200
    assert found.high_band_db is not None
    assert found.high_band_db < -60


def test_noise_lowers_both_ratios(speech) -> None:
    noise = np.random.default_rng(0).normal(size=len(speech))
    power = np.mean(speech[np.abs(speech) > 0.01] ** 2)
    found = [measured(speech + noise * math.sqrt(power / 10 ** (level / 10))) for level in (20, 10, 0)]
    for name in ("snr_wada_db", "snr_percentile_db"):
        values = [getattr(one, name) for one in found]
        assert values == sorted(values, reverse=True)
    assert found[1].snr_wada_db == pytest.approx(10, abs=5)  # Synthetic speech is no Gamma distribution.


def test_silence_is_measured_and_a_second_opinion_asked(speech) -> None:
    found = measured(np.random.default_rng(0).normal(0, 3e-4, 3 * RATE))
    assert found.active_s == 0
    assert found.silence_share == 1
    assert found.lead_s == pytest.approx(3, abs=0.03)
    assert found.vad_active_s == pytest.approx(0, abs=0.1)
    assert by_webrtc(speech, RATE) > 1
    assert by_webrtc(soxr.resample(speech, RATE, 22050), 22050) > 1


def test_digital_silence_and_a_single_sample_are_measured_too() -> None:
    for samples in (np.zeros(RATE), np.zeros(1), np.full(7, 0.5)):
        found = measured(samples)
        assert all(math.isfinite(value) for value in asdict(found).values() if isinstance(value, float))


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 48000])
def test_any_rate_and_two_channels(speech, rate: int) -> None:
    samples = soxr.resample(speech, RATE, rate)
    stereo = measured(np.stack([samples, samples], 1), rate)
    assert stereo.duration_s == pytest.approx(len(speech) / RATE, abs=0.01)
    assert stereo.level_dbfs == pytest.approx(measured(speech).level_dbfs, abs=0.5)
    assert distance(stereo.fingerprint, measured(speech).fingerprint) < 0.1


def test_the_digest_is_of_the_sound_not_of_the_file(speech) -> None:
    pcm = np.rint(speech * 32768).astype(np.int16)
    digests = {pcm_digest(decode(encoded(pcm, form))) for form in ("WAV", "FLAC", "AIFF")}
    assert len(digests) == 1
    assert pcm_digest(decode(encoded(pcm, rate=8000))) not in digests
    changed = pcm.copy()
    changed[100] += 1
    assert pcm_digest(decode(encoded(changed))) not in digests


def test_the_fast_way_to_read_wav_gives_what_libsndfile_gives(speech) -> None:
    pcm = np.rint(np.stack([speech, speech[::-1]], 1) * 32768).astype(np.int16)
    fast, slow = decode(encoded(pcm)), decode(encoded(pcm, "FLAC"))
    assert (fast.pcm == slow.pcm).all()
    assert fast.samples == pytest.approx(slow.samples)
    assert (fast.rate, fast.channels, fast.promised) == (RATE, 2, len(pcm))


COPIES = {
    "mp3": lambda x: soundfile.read(io.BytesIO(encoded(x, "MP3", "MPEG_LAYER_III")), dtype="float32")[0],
    "opus": lambda x: soundfile.read(io.BytesIO(encoded(x, "OGG", "OPUS")), dtype="float32")[0],
    "noise at 15 dB": lambda x: x + np.random.default_rng(1).normal(0, np.std(x) / 10**0.75, len(x)),
    "77 ms later": lambda x: np.concatenate([np.zeros(1232), x]) * 0.3,
    "reverberated": lambda x: scipy.signal.fftconvolve(x, _echo())[: len(x)],
    "telephone": lambda x: soxr.resample(soxr.resample(x, RATE, 8000), 8000, RATE),
}


def _echo() -> np.ndarray:
    tail = np.random.default_rng(2).normal(size=4000) * np.exp(-np.arange(4000) / 700) * 0.2
    tail[0] = 1
    return tail


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_has_nearly_the_same_fingerprint(speech, name: str) -> None:
    copy = np.asarray(COPIES[name](speech), np.float32)
    assert distance(fingerprint(speech, RATE), fingerprint(copy, RATE)) <= 0.30


@pytest.mark.real
def test_other_clips_have_other_fingerprints(shared_file) -> None:
    prints = []
    for path in sorted(shared_file("real/vaani/msc_ml/flac16k").glob("*.flac")):
        samples, rate = soundfile.read(path, dtype="float32")
        prints.append(fingerprint(samples, rate))
    distances = [distance(a, b) for i, a in enumerate(prints) for b in prints[:i] if a and b]
    assert len(distances) > 400
    assert min(distances) > 0.30


def test_a_short_clip_has_no_fingerprint() -> None:
    assert fingerprint(np.zeros(RATE // 2, np.float32), RATE) == []
    assert distance([], [1, 2, 3]) == 1.0


@pytest.mark.parametrize("decibel", [-10, 0, 10, 20, 40])
def test_the_table_of_wada_follows_from_its_model(decibel: int) -> None:
    """Speech drawn from a symmetric Gamma distribution of shape 0.4, noise from a Gaussian, at a known ratio."""
    chance, count = np.random.default_rng(decibel + 100), 3_000_000
    speech = chance.gamma(0.4, size=count) / math.sqrt(0.4 * 1.4)
    noise = chance.normal(0, 10 ** (-decibel / 20), count)
    assert snr.wada_db(speech + noise) == pytest.approx(decibel, abs=0.5)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty_file"),
        (b"this is no sound", "not_audio"),
        (b"RIFF\0\0\0\0WAVEfmt ", "undecodable"),
        (b"fLaC" + b"\0" * 40, "undecodable"),
        (encoded(np.zeros(0)), "no_samples"),
        (encoded(np.array([0.1, np.nan]), subtype="FLOAT"), "not_finite"),
        (b"\x1aE\xdf\xa3" + b"\0" * 60, "undecodable"),
    ],
)
def test_what_cannot_be_used_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(UnusableError) as caught:
        decode(data)
    assert caught.value.reason == reason
    assert "\n" not in str(caught.value)


def test_a_truncated_wav_is_read_as_far_as_it_goes_and_says_so(speech) -> None:
    whole = encoded(speech)
    found = Meter().measure(decode(whole[: len(whole) // 2]))
    assert found.missing_s == pytest.approx(len(speech) / RATE / 2, abs=0.01)
    with pytest.raises(UnusableError, match="flac"):
        decode(encoded(speech, "FLAC")[:5000])


def test_containers_are_told_by_their_bytes(speech) -> None:
    forms = {"WAV": "wav", "FLAC": "flac", "AIFF": "aiff"}
    assert {form: container(encoded(speech, form)) for form in forms} == forms
    assert container(encoded(speech, "OGG", "OPUS")) == "ogg"
    assert container(encoded(speech, "MP3", "MPEG_LAYER_III")) == "mp3"
    assert container(b"") == container(b"hello") == "unknown"
    assert fits("opus", "ogg")
    assert not fits("webm", "ogg")
    assert right_extension("ogg", "opus") == "opus"
    assert right_extension("ogg", "vorbis") == "ogg"


@pytest.mark.real
def test_real_files_in_five_containers(shared_file) -> None:
    folder: Path = shared_file("real/vaani")
    paths = [folder / "msc_ml/story/Vasanavikruthi-1.wav", *sorted((folder / "ljspeech").glob("LJ001-0002.*"))]
    paths += sorted((folder / "msc_ml/audio").glob("*.webm"))[:3]
    sounds = {path.name: decode(path.read_bytes()) for path in paths}
    assert {sound.container for sound in sounds.values()} >= {"wav", "flac", "mp3", "webm"}
    wav, flac = sounds["LJ001-0002.wav"], sounds["LJ001-0002.flac"]
    assert pcm_digest(wav) == pcm_digest(flac)
    assert all(sound.duration_s > 0.5 for sound in sounds.values())
