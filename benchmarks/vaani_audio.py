"""How much sound VAANI's builder decodes and measures per core, against librosa, and whether its memory stays flat.

    python benchmarks/vaani_audio.py [--hours 1,10,100] [--rounds 15]

Clips of 4.7 s (the corpus's mean) are cut from real recordings (`GOLDSMITH_SHARED`, default ../shared), at 16 kHz.
Times are CPU seconds of one process with one thread; all take their turn in each round. Hours per core-minute are of
each clip's best round, the ratio to librosa is of each clip's median, for a busy machine slows both. NumPy chooses its
instructions as librosa's users have it, not as `schemas` tells it to in a build: with NPY_DISABLE_CPU_FEATURES=X86_V4,
librosa's own sorting is faster on some processors, and the ratio was 5.0 to 5.4.
Memory is the peak of a fresh process that plans and builds a whole collection (tables, decoding, measures,
transcripts, rows). Targets: 100 h of WAV and 40 h of FLAC per core-minute, 5 times the librosa equivalent, memory flat
from 1 to 100 hours.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ[_name] = "1"

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import librosa  # noqa: E402
import numpy as np  # noqa: E402
import soundfile  # noqa: E402
import soxr  # noqa: E402

from builders.vaani import audio, snr  # noqa: E402
from builders.vaani.audio import Meter  # noqa: E402
from builders.vaani.decode import decode  # noqa: E402
from builders.vaani.vad import by_webrtc  # noqa: E402

RATE, SECONDS, CLIPS = 16000, 4.7, 60
TARGETS = {"wav": 100.0, "flac": 40.0, "over librosa": 5.0, "memory growth": 1.15}


def speech() -> list[np.ndarray]:
    """Clips of real speech, float32 at 16 kHz."""
    shared = Path(os.environ.get("GOLDSMITH_SHARED") or ROOT.parent / "shared") / "real/vaani"
    paths = sorted([*shared.glob("ljspeech/*.wav"), *shared.glob("msc_ml/story/*.wav")])
    if not paths:
        raise SystemExit(f"no recordings in {shared}: set GOLDSMITH_SHARED")
    pieces = []
    for path in paths:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
        pieces.append(soxr.resample(samples.mean(1), rate, RATE))
    whole, size = np.concatenate(pieces), int(SECONDS * RATE)
    return [whole[place : place + size] for place in np.linspace(0, len(whole) - size, CLIPS).astype(int)]


def encoded(samples: np.ndarray, form: str) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format=form, subtype="PCM_16")
    return file.getvalue()


def spent(works: dict[str, tuple[Callable[[bytes], object], list[bytes]]], rounds: int) -> dict[str, np.ndarray]:
    """CPU seconds of each work by round and clip, shape (rounds, clips); one more round is not counted."""
    found = {name: np.zeros((rounds + 1, len(clips))) for name, (_, clips) in works.items()}
    for turn in range(rounds + 1):
        for name, (work, clips) in works.items():
            for index, clip in enumerate(clips):
                start = time.process_time()
                work(clip)
                found[name][turn, index] = time.process_time() - start
    return {name: seconds[1:] for name, seconds in found.items()}


def hours_per_minute(seconds: np.ndarray) -> float:
    """Hours of sound in a CPU minute: each clip's best round, added up."""
    return seconds.shape[1] * SECONDS / 60 / float(seconds.min(0).sum())


def with_librosa(data: bytes) -> tuple[object, ...]:
    """The same measures, by librosa where it has a function for them, else by the very same numpy."""
    samples, rate = librosa.load(io.BytesIO(data), sr=None)
    size = rate // 50
    peak, offset = float(np.abs(samples).max()), float(samples.mean())
    clipping, dropouts = audio._clipping(np.abs(samples), peak, 0.999), audio._zeros(samples, rate)
    rms = librosa.feature.rms(y=samples, frame_length=size, hop_length=size, center=False)[0]
    percentiles = np.percentile(librosa.amplitude_to_db(rms, ref=1.0), [10, 95])
    active = librosa.effects.split(samples, top_db=30, frame_length=size, hop_length=size)
    _, ends = librosa.effects.trim(samples, top_db=30, frame_length=size, hop_length=size)
    spectrum = np.abs(librosa.stft(samples, n_fft=512, hop_length=512))
    bandwidth = librosa.feature.spectral_rolloff(S=spectrum, sr=rate, roll_percent=0.999).max()
    hertz, power = librosa.fft_frequencies(sr=rate, n_fft=512), (spectrum**2).mean(1)
    high_band = power[(hertz >= 4200) & (hertz < 7600)].sum() / power[(hertz >= 300) & (hertz < 3400)].sum()
    low = librosa.resample(samples, orig_sr=rate, target_sr=4000)
    mel = librosa.feature.melspectrogram(y=low, sr=4000, n_fft=1024, hop_length=256, n_mels=17, fmin=300, fmax=1900)
    bits = np.diff(np.diff(mel, axis=0), axis=1) > 0
    digest = hashlib.sha256(np.rint(samples * 32768).astype("<i2").tobytes()).hexdigest()
    wada = snr.wada_db(samples - np.float32(offset))
    return clipping, dropouts, percentiles, active, ends, bandwidth, high_band, bits, digest, wada


def build_hours(hours: float) -> None:
    """Plan and build a collection of so many hours (in this process), and print what it took."""
    from builders.sources import Sources
    from builders.vaani.builder import BUILDER

    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / "recordings"
        folder.mkdir()
        for index, samples in enumerate(speech()):
            (folder / f"{index}.wav").write_bytes(encoded(samples, "WAV"))
        count = round(hours * 3600 / SECONDS)
        with open(folder / "clips.tsv", "w", encoding="utf-8") as file:
            file.write("id\tfile\twho\ttext\n")
            for index in range(count):
                file.write(f"u{index}\t{index % CLIPS}.wav\ts{index % 997}\tइस तस्वीर में एक बड़ा पेड़ {{big tree}} है।\n")
        (folder / "collection.toml").write_text(
            '[collection]\nname = "x"\nlicence = "CC0-1.0"\npersonal_names = false\ntables = ["clips.tsv"]\n'
            '[columns]\nutterance = "id"\npath = "file"\nspeaker = "who"\ntranscript = "text"\n'
            '[constants]\nlanguage = "Hindi"\n',
            encoding="utf-8",
        )
        sources = Sources.load(BUILDER.folder, overrides={"recordings": folder})
        start = time.process_time()
        rows = 0
        for shard in BUILDER.plan(sources):
            for item in BUILDER.build(shard, sources):
                rows += item.rows.num_rows if hasattr(item, "rows") and shard.name.startswith("utterances") else 0
        spent = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps({"hours": hours, "clips": rows, "peak MB": round(peak), "h/core-min": round(hours / spent * 60, 1)})
    )


def main() -> int:
    """Run all, print a line each, and tell whether the targets are met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hours", default="1,10,100")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--build", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.build:
        build_hours(given.build)
        return 0
    clips = speech()
    wav, flac = [encoded(clip, "WAV") for clip in clips], [encoded(clip, "FLAC") for clip in clips]
    meter = Meter()
    works: dict[str, tuple[Callable[[bytes], object], list[bytes]]] = {
        "wav": (lambda data: meter.measure(decode(data)), wav),
        "flac": (lambda data: meter.measure(decode(data)), flac),
        "librosa, wav": (with_librosa, wav),
        "wav decode alone": (decode, wav),
        "flac decode alone": (decode, flac),
        "webrtcvad alone": (lambda data: by_webrtc(meter.samples(decode(data)), RATE), wav),
    }
    seconds = spent(works, given.rounds)
    found = {name: hours_per_minute(rounds) for name, rounds in seconds.items()}
    asked = sum(meter.measure(decode(data)).vad_active_s is not None for data in wav)
    for name, value in found.items():
        print(f"{name:20} {value:10.1f} hours of sound per core-minute")
    print(f"second opinion of webrtcvad asked for {asked} of {len(wav)} clips")
    peaks = []
    for hours in given.hours.split(","):
        command = [sys.executable, __file__, "--build", hours]
        line = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print("whole build:", line.strip())
        peaks.append(json.loads(line)["peak MB"])
    medians = {name: float(np.median(rounds, axis=0).sum()) for name, rounds in seconds.items()}
    found |= {"over librosa": medians["librosa, wav"] / medians["wav"], "memory growth": peaks[-1] / peaks[0]}
    missed = [name for name, aim in TARGETS.items() if (found[name] > aim if "growth" in name else found[name] < aim)]
    print(f"over librosa {found['over librosa']:.1f} times, memory grows {found['memory growth']:.2f} times")
    print(f"missed: {', '.join(missed)}" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
