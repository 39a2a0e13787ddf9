"""A fingerprint that survives codecs, noise, gain, resampling, small shifts and reverberation.

After Haitsma and Kalker (2002): 16 bits per frame, each the sign of a change over time of a difference between
neighbouring bands. Frames are 256 ms long and 64 ms apart, at 4 kHz; the 17 bands lie between 300 and 1,900 Hz.

Measured on 67 real and synthetic clips (share of bits that differ, median / 95th percentile): MP3 .05 / .22, Opus
.15 / .27, noise at 15 dB .15 / .30, a shift by 77 ms .09 / .12, reverberation .27 / .32; different clips .47, lowest of
2,211 pairs .34.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.fftpack
import scipy.signal
import soxr

RATE = 4000
_WINDOW = 1024
_HOP = 256
_BANDS = 17
_LOW_HZ, _HIGH_HZ = 300.0, 1900.0
_TAPS_PER_STEP = 4
LEAST_FRAMES = 12
"""Shorter fingerprints (clips under 1 s) say nothing."""

_HANN = np.hanning(_WINDOW).astype(np.float32)


def fingerprint(samples: np.ndarray, rate: int) -> list[int]:
    """One 16-bit number a frame (so 15.6 a second), empty for clips under 1 s.

    Args:
        samples: float32 of shape (frames,).
    """
    low = _decimated(samples, rate)
    count = (len(low) - _WINDOW) // _HOP + 1
    if count - 1 < LEAST_FRAMES:
        return []
    frames = np.ndarray((count, _WINDOW), np.float32, low, 0, (low.itemsize * _HOP, low.itemsize)) * _HANN
    # Real and imaginary parts lie side by side; their squares are added by the weights, which come in pairs. In place:
    # a clip's frames then stay near the processor.
    first, weights = _contrasts()
    parts = scipy.fftpack.rfft(frames, axis=1, overwrite_x=True)[:, first : first + len(weights)]
    contrast = np.square(parts, out=parts) @ weights
    bits = np.packbits(contrast[1:] > contrast[:-1], axis=1, bitorder="little")
    return bits.view("<u2")[:, 0].tolist()


def distance(one: list[int], other: list[int], most_shift: int = 4) -> float:
    """The share of bits that differ (0 to 1) at the best alignment within `most_shift` frames; 1 where too few
    overlap.
    """
    a, b = np.array(one, np.uint16), np.array(other, np.uint16)
    best = 1.0
    for shift in range(-most_shift, most_shift + 1):
        left, right = a[max(0, shift) :], b[max(0, -shift) :]
        count = min(len(left), len(right))
        if count >= LEAST_FRAMES:
            best = min(best, float(np.bitwise_count(left[:count] ^ right[:count]).sum()) / (16 * count))
    return best


def _decimated(samples: np.ndarray, rate: int) -> np.ndarray:
    """The samples at 4 kHz. Whole factors take a short polyphase filter (a matrix product), others soxr."""
    step, rest = divmod(rate, RATE)
    if rest or step < 2:
        return soxr.resample(samples, rate, RATE, quality="LQ") if rate != RATE else samples
    count = len(samples) // step
    phases = _filter(step) @ samples[: count * step].reshape(count, step).T
    length = count - _TAPS_PER_STEP + 1
    if length < 1:
        return np.zeros(0, np.float32)
    low = phases[0, :length] + phases[1, 1 : 1 + length]
    for tap in range(2, _TAPS_PER_STEP):
        low += phases[tap, tap : tap + length]
    return low


@lru_cache(maxsize=16)
def _filter(step: int) -> np.ndarray:
    """A low-pass of `_TAPS_PER_STEP` x `step` taps, as a matrix of float32 (taps per step, step)."""
    taps = scipy.signal.firwin(_TAPS_PER_STEP * step, 0.9 / step)
    return np.asarray(taps, np.float32).reshape(_TAPS_PER_STEP, step)


@lru_cache(maxsize=1)
def _contrasts() -> tuple[int, np.ndarray]:
    """The first part (as fftpack has them: the real and imaginary parts of bins in turn, of bin 0 the real one alone)
    that is in a band, and from there on the share of each part in each band less that in the next one, float32 (parts,
    bands - 1)."""
    edges = np.geomspace(_LOW_HZ, _HIGH_HZ, _BANDS + 1) * _WINDOW / RATE
    bins = np.arange(_WINDOW // 2 + 1)[:, None]
    shares = np.clip(np.minimum(edges[1:], bins + 1) - np.maximum(edges[:-1], bins), 0, 1)
    weights = np.repeat(shares[:, :-1] - shares[:, 1:], 2, axis=0)[1:].astype(np.float32)
    within = np.flatnonzero(shares.any(axis=1).repeat(2)[1:])
    return int(within[0]), np.ascontiguousarray(weights[within[0] : within[-1] + 1])
