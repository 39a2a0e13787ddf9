"""Makes the sample again: synthetic speech in eight Indic languages, drawn pictures, and one of each planted defect.

    python -P -m builders.vaani.sample.make_sample

needs espeak-ng and the extra `vaani`. Nobody's voice, name or number is in it: voices are espeak-ng's, the letters in
file names are made up, and the Aadhaar number was never issued (it starts with 2341 2341). What is planted where is
said in `plan`; the tests hold the checks against it.
"""

from __future__ import annotations

import io
import random
import subprocess
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import PIL.Image
import PIL.ImageDraw
import scipy.signal
import soundfile
import soxr

from builders.vaani.file_names import pseudonym, read_salt
from builders.vaani.sample.plan import CLIPS, PICTURES, Clip

RATE = 16000


def speak(clip: Clip) -> np.ndarray:
    """The clip's words, spoken: float32 at 16 kHz over a noise floor of -66 dBFS, as a room has one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        command = ["espeak-ng", "-v", clip.voice, "-s", str(clip.speed), "-p", str(clip.pitch), "-w", str(path)]
        subprocess.run([*command, clip.spoken], check=True)  # noqa: S603
        samples, rate = soundfile.read(path, dtype="float32")
    speech = np.asarray(soxr.resample(samples, rate, RATE), np.float32)
    speech = np.trim_zeros(np.round(speech, 5)) * np.float32(0.35 / np.abs(speech).max())
    noise = np.random.default_rng(zlib.crc32(clip.key.encode())).normal(0, 5e-4, len(speech) + RATE // 2)
    noise[RATE // 4 : RATE // 4 + len(speech)] += speech
    return noise.astype(np.float32)


def spoil(samples: np.ndarray, defect: str) -> np.ndarray:
    """The samples with a defect of the sound, by its name in the plan."""
    random_numbers = np.random.default_rng(7)
    match defect:
        case "short":
            return samples[RATE // 2 : RATE // 2 + int(0.3 * RATE)]
        case "little_speech":
            return np.concatenate([samples[RATE // 2 : RATE // 2 + int(0.4 * RATE)], samples[: RATE // 5]])
        case "silence":
            hush = random_numbers.normal(0, 5e-4, int(9 * RATE)).astype(np.float32)
            return np.concatenate([hush, samples])
        case "soft":
            return samples * np.float32(0.004)
        case "clipped":
            return np.clip(samples * 8, -1, 32767 / 32768)
        case "clipped_then_softer":
            return np.clip(samples * 8, -1, 1) * np.float32(0.5)
        case "offset":
            return samples + np.float32(0.08)
        case "some_offset":
            return samples + np.float32(0.02)
        case "dropouts":
            spoilt = samples.copy()
            for place in (0.6, 0.9, 1.3):
                spoilt[int(place * RATE) : int((place + 0.05) * RATE)] = 0
            return spoilt
        case "noise":
            return samples + random_numbers.normal(0, 0.06, len(samples)).astype(np.float32)
        case "narrow":
            return np.asarray(soxr.resample(soxr.resample(samples, RATE, 8000), 8000, RATE), np.float32)
        case "reverberated":
            tail = random_numbers.normal(size=RATE // 4) * np.exp(-np.arange(RATE // 4) / 700) * 0.2
            tail[0] = 1
            return scipy.signal.fftconvolve(samples, tail)[: len(samples)].astype(np.float32)
    return samples


TAGS = {"artist": "A. Recorder", "comment": "ask nobody@example.org"}


def encode(samples: np.ndarray, form: str, tags: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """FLAC, WAV, MP3 or Opus, with tags; the same bytes every time."""
    formats = {
        "flac": ("FLAC", "PCM_16"),
        "wav": ("WAV", "PCM_16"),
        "mp3": ("MP3", "MPEG_LAYER_III"),
        "opus": ("OGG", "OPUS"),
    }
    container, subtype = formats[form]
    file = io.BytesIO()
    if subtype == "PCM_16":  # Rounded here: libsndfile rounds differently for FLAC and WAV.
        samples = np.clip(np.rint(samples * 32768), -32768, 32767).astype(np.int16)
    with soundfile.SoundFile(file, "w", RATE, 1, format=container, subtype=subtype) as sound:
        for name, text in tags.items():
            setattr(sound, name, text)
        sound.write(samples)
    return with_serial(file.getvalue(), 1) if form == "opus" else file.getvalue()


def with_serial(ogg: bytes, serial: int) -> bytes:
    """An Ogg file with a fixed stream serial number, which libogg draws at random, and the pages' checksums mended."""
    pages, place = bytearray(), 0
    while place < len(ogg):
        segments = ogg[place + 26]
        size = 27 + segments + sum(ogg[place + 27 : place + 27 + segments])
        page = bytearray(ogg[place : place + size])
        page[14:18] = serial.to_bytes(4, "little")
        page[22:26] = b"\0\0\0\0"
        page[22:26] = ogg_checksum(page).to_bytes(4, "little")
        pages += page
        place += size
    return bytes(pages)


def ogg_checksum(page: bytes | bytearray) -> int:
    """Ogg's CRC-32 (polynomial 04c11db7, not reflected, no final inversion)."""
    checksum = 0
    for byte in page:
        checksum ^= byte << 24
        for _ in range(8):
            checksum = (checksum << 1 ^ (0x04C11DB7 if checksum & 0x80000000 else 0)) & 0xFFFFFFFF
    return checksum


def draw(name: str, number: int) -> PIL.Image.Image:
    """A picture of houses and trees under a sun, another for each number."""
    chance = random.Random(number)  # noqa: S311 (a drawing)
    image = PIL.Image.new("RGB", (320, 240), (chance.randrange(120, 200), 200, 240))
    pen = PIL.ImageDraw.Draw(image)
    ground = chance.randrange(130, 190)
    pen.rectangle((0, ground, 320, 240), fill=(chance.randrange(60, 160), 150, 60))
    sun = chance.randrange(30, 260)
    pen.ellipse((sun, 15, sun + 40, 55), fill=(250, 220, 60))
    for _ in range(chance.randrange(1, 4)):
        left, width = chance.randrange(0, 230), chance.randrange(40, 90)
        top = ground - chance.randrange(30, 80)
        pen.rectangle((left, top, left + width, ground + 10), fill=(chance.randrange(120, 230), 110, 80))
        pen.polygon([(left - 6, top), (left + width / 2, top - 35), (left + width + 6, top)], fill=(140, 50, 40))
    for _ in range(chance.randrange(1, 5)):
        x = chance.randrange(10, 300)
        pen.rectangle((x, ground - 40, x + 8, ground + 20), fill=(110, 70, 40))
        pen.ellipse((x - 22, ground - 85, x + 30, ground - 30), fill=(40, chance.randrange(90, 150), 50))
    pen.text((5, 225), name, fill=(30, 30, 30))
    return image


def picture(name: str, number: int, defect: str) -> bytes:
    """An encoded picture."""
    image, file = draw("" if defect == "copy" else name, number), io.BytesIO()
    if defect == "place":
        exif = PIL.Image.Exif()
        exif.get_ifd(0x8825).update({1: "N", 2: (12.0, 52.0, 0.0), 3: "E", 4: (74.0, 50.0, 0.0)})
        image.save(file, "JPEG", quality=70, exif=exif)
    elif defect == "words":
        exif = PIL.Image.Exif()
        exif[0x013B] = "A. Painter"
        image.save(file, "JPEG", quality=70, exif=exif)
    else:
        image.save(file, "JPEG", quality=55 if defect == "copy" else 70)
    data = file.getvalue()
    return data[: len(data) // 2] if defect == "truncated" else data


def main(folder: Path) -> None:
    """Write the collection into `folder`."""
    for part in ("audio", "images"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    header = list(CLIPS[0].columns(0.0))
    lines = ["\t".join(header)]
    made: dict[str, np.ndarray] = {}
    for clip in CLIPS:
        samples = made[clip.key] = made[clip.copy_of] if clip.copy_of else speak(clip)
        samples = spoil(samples, clip.defect)
        columns = clip.columns(len(samples) / RATE)
        line = "\t".join(columns.values())
        lines.append(line + "\tone more" if clip.defect == "ragged" else line)
        data = encode(samples, clip.form, TAGS if clip.defect == "tags" else {})
        data = {"empty": b"", "text": b"this is no sound\n", "cut": data[: len(data) * 2 // 3]}.get(clip.defect, data)
        if clip.defect not in ("missing", "again"):
            (folder / columns["file"]).write_bytes(data)
    (folder / "audio" / "stray.flac").write_bytes(encode(made[CLIPS[0].key][: RATE // 2], "flac"))
    (folder / "clips.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    themes = ["image_id\tpath\ttheme"]
    for number, (name, defect) in enumerate(PICTURES.items()):
        (folder / "images" / f"{name}.jpg").write_bytes(picture(name, 0 if defect == "copy" else number, defect))
        themes.append(f"{name}\timages/{name}.jpg\tvillage")
    (folder / "images.tsv").write_text("\n".join(themes) + "\n", encoding="utf-8")
    write_hypotheses(folder.parent, {line.split("\t")[0]: clip for clip, line in zip(CLIPS, lines[1:], strict=True)})


def write_hypotheses(folder: Path, clips: dict[str, Clip]) -> None:
    """What a recogniser might have heard: the transcripts of good clips, but in one place another's."""
    salt = read_salt((folder / "salt.txt").read_bytes())
    good = [(path, clip) for path, clip in clips.items() if clip.key < "1017"]
    lines = ["utterance_id\ttext"]
    for index, (path, clip) in enumerate(good):
        heard = good[index - 1][1].spoken if clip.key == "1004" else clip.spoken
        lines.append(f"{pseudonym('utt', path.rpartition('.')[0], salt)}\t{heard}")
    (folder / "hypotheses.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(__file__).parent / "recordings")
