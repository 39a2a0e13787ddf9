"""A picture of a sound for the report: waveform above, spectrogram below."""

from __future__ import annotations

import io

import numpy as np
import PIL.Image
import scipy.signal

from builders.vaani.audio import Meter
from builders.vaani.decode import UnusableError, decode

WIDTH, WAVE_HEIGHT, BAND_HEIGHT = 360, 48, 96
_RANGE_DB = 70.0


def spectrogram(data: bytes) -> bytes | None:
    """A PNG of `WIDTH` pixels, 0 to half the sampling rate from below, 70 dB from black to white; None for no sound."""
    try:
        sound = decode(data)
    except UnusableError:
        return None
    samples = Meter().samples(sound)
    image = np.vstack([_wave(samples), _bands(samples, sound.rate)])
    file = io.BytesIO()
    PIL.Image.fromarray(image, "L").save(file, "PNG")
    return file.getvalue()


def _wave(samples: np.ndarray) -> np.ndarray:
    """The waveform, uint8 of shape (WAVE_HEIGHT, WIDTH): white with the range of each column's samples in black."""
    columns = np.array_split(samples, WIDTH) if len(samples) >= WIDTH else [samples] * WIDTH
    low = np.array([column.min() for column in columns])
    high = np.array([column.max() for column in columns])
    rows = np.linspace(1, -1, WAVE_HEIGHT)[:, None]
    thick = 1 / WAVE_HEIGHT
    return np.where((rows >= low - thick) & (rows <= high + thick), 0, 255).astype(np.uint8)


def _bands(samples: np.ndarray, rate: int) -> np.ndarray:
    """The spectrogram, uint8 of shape (BAND_HEIGHT, WIDTH)."""
    size = min(512, max(16, len(samples)))
    padded = np.pad(samples, (0, max(0, size - len(samples))))
    _, _, power = scipy.signal.spectrogram(padded, rate, nperseg=size, noverlap=size // 2, scaling="spectrum")
    level = 10 * np.log10(power + 1e-12)
    shades = np.clip((level - level.max() + _RANGE_DB) / _RANGE_DB, 0, 1) * 255
    image = PIL.Image.fromarray(shades[::-1].astype(np.uint8), "L")
    return np.asarray(image.resize((WIDTH, BAND_HEIGHT), PIL.Image.Resampling.BILINEAR))
