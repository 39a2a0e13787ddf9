"""Where there is speech: frame energies, and webrtcvad as a second opinion.

The energy detector sees every clip. webrtcvad, which costs as much as all other measures together, is asked only where
the energy detector found so little speech that a check would reject the clip for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import soxr
import webrtcvad

FRAME_S = 0.02
_BELOW_LOUD_DB = 30.0
_FLOOR_DBFS = -55.0
_MODE = 2
_RATES = (8000, 16000, 32000, 48000)
SECOND_OPINION_S = 1.0
SECOND_OPINION_SILENCE = 0.7


@dataclass(frozen=True)
class Activity:
    """Speech by frame energy. `lead_s` and `trail_s` are the silences before and after it; `first` and `last`
    (exclusive) its frames."""

    active_s: float
    silence_share: float
    lead_s: float
    trail_s: float
    first: int
    last: int

    @property
    def doubtful(self) -> bool:
        """Whether so little was found that a second opinion is worth its time."""
        return self.active_s < SECOND_OPINION_S or self.silence_share > SECOND_OPINION_SILENCE


def by_energy(energies_db: np.ndarray, loud_db: float) -> Activity:
    """Frames louder than 30 dB below the 95th percentile (`loud_db`), and than -55 dBFS.

    Args:
        energies_db: dBFS of consecutive 20 ms frames, shape (frames,).
    """
    active = np.flatnonzero(energies_db > max(loud_db - _BELOW_LOUD_DB, _FLOOR_DBFS))
    count = len(energies_db)
    if not active.size:
        return Activity(0.0, 1.0, count * FRAME_S, count * FRAME_S, 0, 0)
    first, last = int(active[0]), int(active[-1]) + 1
    return Activity(
        active.size * FRAME_S, 1 - active.size / count, first * FRAME_S, (count - last) * FRAME_S, first, last
    )


def by_webrtc(samples: np.ndarray, rate: int) -> float:
    """Seconds of speech that webrtcvad (mode 2, 30 ms frames) hears in float32 samples of full scale 1."""
    if rate not in _RATES:
        samples, rate = soxr.resample(samples, rate, 16000), 16000
    data = np.clip(samples * 32767, -32768, 32767).astype("<i2").tobytes()
    size = rate * 30 // 1000 * 2
    detector = webrtcvad.Vad(_MODE)
    return 0.03 * sum(
        detector.is_speech(data[place : place + size], rate) for place in range(0, len(data) - size + 1, size)
    )
