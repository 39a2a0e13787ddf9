"""All that is measured of a clip's samples, in one pass.

Every number here is a fact about the sound. Whether it is good enough is said in `checks`, with thresholds that a
project may change; nothing is rejected here.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.fft

from builders.vaani import snr, vad
from builders.vaani.decode import Sound
from builders.vaani.fingerprint import fingerprint

_FULL_SCALE = 0.999
_FLAT_TOP = 0.9995
_FLAT_RUN = 3
_DROPOUT_S = 0.010
_SPECTRUM_S = 0.032
_LOUDEST = 24
_LEAST_DC = 1e-4
_FIVE = np.full(5, np.float32(0.2))


@dataclass(frozen=True)
class Measures:
    """Of one clip; levels in dB relative to full scale, shares from 0 to 1.

    Attributes:
        clip_share: samples at .999 of full scale or above.
        flat_top_samples: samples in runs of 3 or more at the clip's own peak: clipping that was turned down afterwards.
        vad_active_s: webrtcvad's opinion, None where it was not asked (`vad.Activity.doubtful`).
        bandwidth_hz: the highest frequency within 60 dB of the speech band's peak; None under 0.13 s.
        high_band_db: energy at 4.2 to 7.6 kHz relative to 0.3 to 3.4 kHz; None under 15.2 kHz.
        zero_runs: runs of exact zeros of 10 ms or more strictly inside the clip.
        missing_s: how much shorter the sound is than its header says.
    """

    duration_s: float
    level_dbfs: float
    peak_dbfs: float
    clip_share: float
    flat_top_samples: int
    dc_offset: float
    active_s: float
    silence_share: float
    lead_s: float
    trail_s: float
    vad_active_s: float | None
    snr_percentile_db: float | None
    snr_wada_db: float | None
    snr_doubts: list[str]
    bandwidth_hz: float | None
    high_band_db: float | None
    zero_share: float
    zero_runs: int
    zero_run_max_ms: float
    missing_s: float
    pcm_digest: str
    fingerprint: list[int]


class Meter:
    """Measures clips one after the other in a buffer that it keeps: fresh pages cost as much as the arithmetic."""

    def __init__(self) -> None:
        self._samples = np.empty(1 << 16, np.float32)

    def measure(self, sound: Sound) -> Measures:
        """Measure a clip (at least one sample long)."""
        rate = sound.rate
        samples = self.samples(sound)
        if sound.samples is None:  # Whole numbers are compared twice as fast; unsigned, for -32768 has no opposite.
            loudness, scale = np.abs(sound.pcm[:, 0]).view(np.uint16), 1 / 32768
        else:
            loudness, scale = np.abs(samples), 1.0
        peak = float(loudness.max()) * scale
        clip_share, flat_top = _clipping(loudness, peak / scale, _FULL_SCALE / scale)
        zero_share, runs, longest = _zeros(loudness, rate)
        dc = float(np.add.reduce(samples)) / len(samples)
        if abs(dc) > _LEAST_DC:
            samples -= np.float32(dc)
        size = max(1, round(rate * vad.FRAME_S))
        energies = _energies(samples, size)
        energies_db = 10 * np.log10(np.maximum(energies, 1e-12))
        ordered = np.sort(energies_db)
        count = len(ordered)
        activity = vad.by_energy(energies_db, float(ordered[min(count - 1, int(0.95 * count))]))
        wada = snr.wada_db(samples[activity.first * size : activity.last * size]) if activity.last else None
        bandwidth, high_band = _spectrum(samples, rate)
        return Measures(
            duration_s=sound.duration_s,
            level_dbfs=10 * math.log10(max(float(np.add.reduce(energies)) / count, 1e-12)),
            peak_dbfs=20 * math.log10(max(peak, 1e-6)),
            clip_share=clip_share,
            flat_top_samples=flat_top,
            dc_offset=dc,
            active_s=activity.active_s,
            silence_share=activity.silence_share,
            lead_s=activity.lead_s,
            trail_s=activity.trail_s,
            vad_active_s=vad.by_webrtc(samples, rate) if activity.doubtful else None,
            snr_percentile_db=snr.percentile_db(ordered) if count >= 10 else None,
            snr_wada_db=wada,
            snr_doubts=snr.doubts(sound.container, activity.active_s, zero_share, wada),
            bandwidth_hz=bandwidth,
            high_band_db=high_band,
            zero_share=zero_share,
            zero_runs=runs,
            zero_run_max_ms=longest,
            missing_s=max(0, (sound.promised or 0) - len(samples)) / rate,
            pcm_digest=pcm_digest(sound),
            fingerprint=fingerprint(samples, rate),
        )

    def samples(self, sound: Sound) -> np.ndarray:
        """The samples, float32 of full scale 1, in this meter's buffer: to be changed, and gone with the next clip."""
        count = len(sound.pcm)
        if count > len(self._samples):
            self._samples = np.empty(count, np.float32)
        samples = self._samples[:count]
        if sound.samples is None:
            samples[:] = sound.pcm[:, 0]
            samples *= np.float32(1 / 32768)
        else:
            samples[:] = sound.samples
        return samples


def pcm_digest(sound: Sound) -> str:
    """sha256 (first 128 bits) over the 16-bit samples, rate and channels: the same for WAV and FLAC of one sound."""
    digest = hashlib.sha256(f"{sound.rate} {sound.channels} ".encode())
    digest.update(np.ascontiguousarray(sound.pcm).data)
    return digest.hexdigest()[:32]


def _energies(samples: np.ndarray, size: int) -> np.ndarray:
    """The mean square of each whole frame of `size` samples, or of all samples where they are fewer."""
    size = min(size, len(samples))
    framed = samples[: len(samples) // size * size].reshape(-1, size)
    return _squares(framed) / size


def _squares(framed: np.ndarray) -> np.ndarray:
    """The sum of squares of each row; as a product it takes two thirds of the time of einsum."""
    return np.matmul(framed[:, None, :], framed[:, :, None])[:, 0, 0]


def _clipping(loudness: np.ndarray, peak: float, full_scale: float) -> tuple[float, int]:
    """The share of absolute values at full scale, and the number in flat tops at the peak."""
    if peak <= 0:
        return 0.0, 0
    share = float(np.count_nonzero(loudness >= full_scale) / len(loudness)) if peak >= full_scale else 0.0
    top = peak * _FLAT_TOP
    high = loudness >= (np.uint16(math.ceil(top)) if loudness.dtype == np.uint16 else top)
    if np.count_nonzero(high) < _FLAT_RUN:
        return share, 0
    at_peak = np.flatnonzero(high)
    starts = np.flatnonzero(np.diff(at_peak, prepend=-2) != 1)
    lengths = np.diff(starts, append=len(at_peak))
    return share, int(lengths[lengths >= _FLAT_RUN].sum())


def _zeros(values: np.ndarray, rate: int) -> tuple[float, int, float]:
    """The share of exact zeros; the number of runs of 10 ms or more strictly inside, and the longest in ms."""
    count = len(values)
    zeros = count - int(np.count_nonzero(values))
    least = max(2, round(rate * _DROPOUT_S))
    spaced = values[:: max(1, least // 2)] == 0  # Of those, a run of 10 ms has two in a row.
    if zeros < least or not (spaced[1:] & spaced[:-1]).any():
        return zeros / count, 0, 0.0
    edges = np.flatnonzero(np.diff(values == 0, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    lengths = (ends - starts)[(starts > 0) & (ends < count)]
    lengths = lengths[lengths >= least]
    return zeros / count, int(lengths.size), float(lengths.max() / rate * 1e3) if lengths.size else 0.0


def _spectrum(samples: np.ndarray, rate: int) -> tuple[float | None, float | None]:
    """Bandwidth in Hz and the high band's level in dB, from the mean power spectrum of the loudest 32 ms frames."""
    size = round(rate * _SPECTRUM_S)
    count = len(samples) // size if size else 0
    if count < 4:
        return None, None
    framed = samples[: count * size].reshape(count, size)
    keep = min(_LOUDEST, count)
    loudest = np.argpartition(_squares(framed), count - keep)[-keep:]
    loudest.sort()
    frames, step_hz = framed[loudest], rate / size
    frames *= _hann(size)
    parts = np.asarray(scipy.fft.rfft(frames, axis=1, overwrite_x=True)).view(np.float32)
    squares = np.einsum("ij,ij->j", parts, parts)
    power = squares[::2] + squares[1::2]
    level = 10 * np.log10(power + 1e-14)
    smooth = np.convolve(np.concatenate([level[:1], level[:1], level, level[-1:], level[-1:]]), _FIVE, "valid")
    speech = slice(int(300 / step_hz) + 1, math.ceil(min(3400, rate / 2) / step_hz))
    if speech.start >= speech.stop:
        return None, None
    bandwidth = float(np.flatnonzero(smooth > smooth[speech].max() - 60)[-1] * step_hz)
    if rate < 15200:
        return bandwidth, None
    high = power[math.ceil(4200 / step_hz) : math.ceil(7600 / step_hz)].sum()
    low = power[math.ceil(300 / step_hz) : math.ceil(3400 / step_hz)].sum()
    return bandwidth, float(10 * np.log10((high + 1e-14) / (low + 1e-14)))


@lru_cache(maxsize=16)
def _hann(size: int) -> np.ndarray:
    return np.hanning(size).astype(np.float32)
