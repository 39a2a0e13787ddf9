"""Encoded sound to samples: which container it is, and its samples, or why there are none.

WAV, FLAC, MP3 and Ogg are read with libsndfile; plain 16-bit WAV, the bulk of a collection, without a copy; WebM and
MP4 with PyAV, which is an extra. What the samples say of the clip is the business of `audio`.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import cast

import numpy as np
import soundfile

from schemas import GoldsmithError

_FOREIGN = ("webm", "mp4")
_EXTENSIONS = {
    "wav": ("wav", "wave"),
    "flac": ("flac",),
    "mp3": ("mp3",),
    "ogg": ("ogg", "oga", "opus"),
    "webm": ("webm", "mka", "mkv", "weba"),
    "mp4": ("mp4", "m4a", "aac", "3gp"),
    "aiff": ("aiff", "aif"),
}


class UnusableError(Exception):
    """The bytes hold no usable sound.

    Attributes:
        reason: empty_file, not_audio, undecodable, no_samples or not_finite: a reject's code.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Sound:
    """Decoded sound.

    Attributes:
        pcm: int16 of shape (frames, channels): what the PCM digest is over. Lossy and wider formats are rounded to it.
        samples: float32 of shape (frames,), channels averaged, full scale 1; None where `pcm` is mono and exact, for
            then they are `pcm / 32768` and whoever needs them scales them into a buffer of their own.
        promised: frames the header speaks of; None where it does not.
    """

    container: str
    codec: str
    rate: int
    pcm: np.ndarray
    samples: np.ndarray | None
    promised: int | None

    @property
    def channels(self) -> int:
        """How many channels the file has."""
        return self.pcm.shape[1]

    @property
    def duration_s(self) -> float:
        """The decoded length in seconds."""
        return len(self.pcm) / self.rate


def container(data: bytes) -> str:
    """The container by its first bytes: wav, flac, mp3, ogg, webm, mp4, aiff, or `unknown`."""
    head = data[:12]
    if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE":
        return "wav"
    for magic, name in (
        (b"fLaC", "flac"),
        (b"OggS", "ogg"),
        (b"\x1aE\xdf\xa3", "webm"),
        (b"ID3", "mp3"),
        (b"FORM", "aiff"),
    ):
        if head.startswith(magic):
            return name
    if head[4:8] == b"ftyp":
        return "mp4"
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0 and head[1] & 0x06:
        return "mp3"
    return "unknown"


def fits(extension: str, kind: str) -> bool:
    """Whether a file's extension (without the dot) is one of its container's."""
    return extension.lower() in _EXTENSIONS.get(kind, ())


def right_extension(kind: str, codec: str) -> str:
    """The extension players expect: of the container, `opus` for Opus in Ogg."""
    return "opus" if (kind, codec) == ("ogg", "opus") else _EXTENSIONS.get(kind, (kind,))[0]


def decode(data: bytes) -> Sound:
    """Decode a whole file.

    Raises:
        UnusableError: there is no usable sound in it.
        GoldsmithError: PyAV, which this container needs, is not installed.
    """
    if not data:
        raise UnusableError("empty_file", "the file has no bytes")
    kind = container(data)
    sound = _plain_wav(data) if kind == "wav" else None
    if sound is None:
        sound = _with_av(data, kind) if kind in _FOREIGN else _with_soundfile(data, kind)
    if not len(sound.pcm):
        raise UnusableError("no_samples", f"{kind} file of {len(data)} bytes holds no sample")
    return sound


def _plain_wav(data: bytes) -> Sound | None:
    """The samples of a 16-bit integer WAV, in place; None for every other WAV, which libsndfile reads."""
    place, form = 12, b""
    while place + 8 <= len(data):
        name, size = data[place : place + 4], int.from_bytes(data[place + 4 : place + 8], "little")
        if name == b"fmt ":
            form = data[place + 8 : place + 8 + size]
        elif name == b"data":
            if len(form) < 16 or form[:2] != b"\x01\x00" or form[14:16] != b"\x10\x00":
                return None
            channels, rate = int.from_bytes(form[2:4], "little"), int.from_bytes(form[4:8], "little")
            if not channels or not rate or size == 0xFFFFFFFF:
                return None
            frames = min(size, len(data) - place - 8) // (2 * channels)
            pcm = np.frombuffer(data, "<i2", frames * channels, place + 8).reshape(frames, channels)
            return Sound("wav", "pcm_16", rate, pcm, None if channels == 1 else _mono(pcm), size // (2 * channels))
        place += 8 + size + (size & 1)
    return None


def _mono(pcm: np.ndarray) -> np.ndarray:
    return pcm.mean(1, dtype=np.float32) / np.float32(32768)


def _with_soundfile(data: bytes, kind: str) -> Sound:
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            kind, codec = _names(file.format, file.subtype)
            promised = file.frames if kind in ("wav", "flac", "aiff") and file.frames < 1 << 40 else None
            if file.subtype == "PCM_16":
                pcm = file.read(dtype="int16", always_2d=True)
                return Sound(kind, codec, file.samplerate, pcm, None if file.channels == 1 else _mono(pcm), promised)
            samples = file.read(dtype="float32", always_2d=True)
            return _from_float(kind, codec, file.samplerate, samples, promised)
    except soundfile.LibsndfileError as error:  # Its text also holds the buffer's address, which no build repeats.
        reason = "not_audio" if kind == "unknown" else "undecodable"
        raise UnusableError(reason, f"{kind} file of {len(data)} bytes: {error.error_string}") from None


def _names(form: str, subtype: str) -> tuple[str, str]:
    kinds = {"WAVEX": "wav", "RF64": "wav", "MPEG": "mp3", "MP3": "mp3"}
    return kinds.get(form, form.lower()), {"MPEG_LAYER_III": "mp3"}.get(subtype, subtype.lower())


def _from_float(kind: str, codec: str, rate: int, samples: np.ndarray, promised: int | None) -> Sound:
    if not np.isfinite(samples).all():
        raise UnusableError("not_finite", f"{int((~np.isfinite(samples)).sum())} samples are no numbers")
    pcm = np.clip(np.rint(samples * np.float32(32768)), -32768, 32767).astype("<i2")
    return Sound(kind, codec, rate, pcm, np.ascontiguousarray(samples.mean(1, dtype=np.float32)), promised)


def _with_av(data: bytes, kind: str) -> Sound:
    if find_spec("av") is None:
        raise GoldsmithError(f"[audio] a {kind} file needs PyAV: install goldsmith with its extra `vaani`")
    import av
    import av.error

    try:
        with av.open(io.BytesIO(data), "r") as file:
            if not file.streams.audio:
                raise UnusableError("not_audio", f"{kind} file of {len(data)} bytes has no sound in it")
            stream = file.streams.audio[0]
            resampler = av.AudioResampler(format="fltp")
            frames = cast(Iterable[av.AudioFrame], file.decode(stream))
            pieces = [piece.to_ndarray() for frame in frames for piece in resampler.resample(frame)]
            rate, codec = stream.rate, stream.codec_context.name
    except av.error.FFmpegError as error:
        raise UnusableError(
            "undecodable", f"{kind} file of {len(data)} bytes: {' '.join(str(error).split())}"
        ) from None
    if not pieces:
        raise UnusableError("no_samples", f"{kind} file of {len(data)} bytes holds no sample")
    return _from_float(kind, codec, rate, np.concatenate(pieces, 1).T, None)
