"""Blind signal-to-noise ratios: WADA and percentiles of frame energies.

WADA (Kim and Stern, Interspeech 2008) models speech amplitudes as a Gamma distribution of shape 0.4 and noise as
Gaussian, and reads the ratio off G = ln E|x| - E ln|x|. The table below was computed from that model (a test computes
it again); none was copied. On recordings with digital silence or lossy codecs WADA is far off, so it always comes with
the reasons to doubt it, and no check rejects by it alone.
"""

from __future__ import annotations

import math

import numpy as np

_TABLE = """
    0.40943 0.40946 0.40950 0.40955 0.40964 0.40977 0.40997 0.41026 0.41068 0.41128 0.41214 0.41333 0.41496 0.41715
    0.42005 0.42382 0.42863 0.43467 0.44210 0.45110 0.46181 0.47434 0.48876 0.50512 0.52339 0.54351 0.56539 0.58889
    0.61384 0.64004 0.66730 0.69540 0.72414 0.75331 0.78273 0.81222 0.84162 0.87078 0.89960 0.92796 0.95577 0.98296
    1.00948 1.03528 1.06033 1.08460 1.10808 1.13076 1.15263 1.17371 1.19401 1.21352 1.23228 1.25029 1.26757 1.28415
    1.30004 1.31527 1.32986 1.34383 1.35721 1.37001 1.38225 1.39397 1.40517 1.41589 1.42613 1.43592 1.44529 1.45423
    1.46279 1.47096 1.47877 1.48623 1.49336 1.50017 1.50667 1.51289 1.51883 1.52450 1.52992 1.53509 1.54003 1.54476
    1.54927 1.55357 1.55769 1.56162 1.56537 1.56895 1.57237 1.57564 1.57877 1.58175 1.58460 1.58731 1.58991 1.59239
    1.59476 1.59702 1.59918 1.60125 1.60322 1.60510 1.60690 1.60861 1.61025 1.61182 1.61331 1.61474 1.61610 1.61741
    1.61865 1.61984 1.62097 1.62205 1.62309 1.62408 1.62502 1.62592 1.62678
"""
_G = np.array([float(value) for value in _TABLE.split()])
"""G at -20, -19 ... 100 dB."""

_DB = np.arange(-20.0, 101.0)
_EVERY = 4
_LOSSLESS = frozenset({"wav", "flac", "aiff", "w64", "caf", "au"})
LEAST_ACTIVE_S = 1.5
MOST_ZEROS = 0.02


def wada_db(samples: np.ndarray) -> float | None:
    """WADA-SNR in dB, -20 to 100, of samples without a DC offset; None where too few are not exactly zero.

    Every fourth sample is used: E|x| and E ln|x| need no more.
    """
    amplitudes = np.abs(samples[::_EVERY])
    sounding = amplitudes > 1e-7  # Exact zeros break the logarithm; replacing them would bias it.
    count = np.count_nonzero(sounding)
    if count < 400:
        return None
    if count < amplitudes.size:
        amplitudes = amplitudes[sounding]
    g = math.log(np.add.reduce(amplitudes) / count) - _sum_of_logs(amplitudes) / count
    return float(np.interp(g, _G, _DB))


def _sum_of_logs(values: np.ndarray) -> float:
    """The sum of the logarithms of float32 above 1e-7: logarithms of products of four, which stay above 1e-38."""
    quarter = len(values) // 4
    products = values[:quarter] * values[quarter : 2 * quarter]
    products *= values[2 * quarter : 3 * quarter]
    products *= values[3 * quarter : 4 * quarter]
    rest = np.add.reduce(np.log(values[4 * quarter :]))
    return float(np.add.reduce(np.log(products))) + float(rest)


def percentile_db(sorted_energies_db: np.ndarray) -> float:
    """The 95th less the 10th percentile of 20 ms frame energies (dB, sorted)."""
    count = len(sorted_energies_db)
    return float(sorted_energies_db[min(count - 1, int(0.95 * count))] - sorted_energies_db[int(0.10 * count)])


def doubts(container: str, active_s: float, zero_share: float, wada: float | None) -> list[str]:
    """Why the ratios may be wrong: lossy_codec, short_speech, digital_silence, saturated; empty: nothing says so."""
    found = []
    if zero_share > MOST_ZEROS:
        found.append("digital_silence")
    if container not in _LOSSLESS:
        found.append("lossy_codec")
    if wada is None or not -20 < wada < 100:
        found.append("saturated")
    if active_s < LEAST_ACTIVE_S:
        found.append("short_speech")
    return found
