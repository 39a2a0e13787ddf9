"""Words inside sound files and pictures: found in every container, by name, and never a reason to stop."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import PIL.Image
import PIL.PngImagePlugin
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.vaani import images, tags
from builders.vaani.decode import container

FORMS = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "aiff": ("AIFF", "PCM_16"),
}
NOISE = np.random.default_rng(0).normal(0, 0.1, 8000).astype(np.float32)


def encoded(form: str, **words: str) -> bytes:
    kind, subtype = FORMS[form]
    file = io.BytesIO()
    with soundfile.SoundFile(file, "w", 16000, 1, format=kind, subtype=subtype) as sound:
        for name, text in words.items():
            setattr(sound, name, text)
        sound.write(NOISE)
    return file.getvalue()


def found(data: bytes) -> dict[str, str]:
    return tags.read(data, container(data))


@pytest.mark.parametrize("form", FORMS)
def test_words_of_people_are_found_and_those_of_machines_are_not(form: str) -> None:
    assert found(encoded(form)) == {}
    assert found(encoded(form, software="a recorder 1.0", date="2026-11-30")) == {}
    name = "author" if form == "aiff" else "artist"
    assert found(encoded(form, artist="Ravi", comment="call 9876543210")) == {
        name: "Ravi",
        "comment": "call 9876543210",
    }


def chunk(name: bytes, content: bytes) -> bytes:
    return name + len(content).to_bytes(4, "little") + content + b"\0" * (len(content) & 1)


def wav(*chunks: bytes) -> bytes:
    body = encoded("wav")[12:] + b"".join(chunks)
    return b"RIFF" + (4 + len(body)).to_bytes(4, "little") + b"WAVE" + body


def test_what_recorders_put_into_wav_files() -> None:
    id3 = b"ID3\x03\0\0\0\0\0\x1e" + b"TPE1" + (5).to_bytes(4, "big") + b"\0\0" + b"\0Ravi" + b"\0" * 15
    assert found(wav(chunk(b"id3 ", id3))) == {"artist": "Ravi"}
    bext = b"".join(text.ljust(size, b"\0") for text, size in ((b"market", 256), (b"Ravi", 32), (b"", 314)))
    assert found(wav(chunk(b"bext", bext))) == {"comment": "market", "encoded_by": "Ravi"}
    assert found(wav(chunk(b"iXML", b"<NOTE>Ravi</NOTE>"), chunk(b"JUNK", b"\0" * 9))) == {"chunk ixml": ""}
    info = b"INFO" + chunk(b"IART", b"Ravi\0") + chunk(b"ICMS", b"Asha\0") + chunk(b"ISFT", b"Lavf\0")
    assert found(wav(chunk(b"LIST", info))) == {"artist": "Ravi", "icms": "Asha"}


def test_what_is_in_flac_files() -> None:
    plain = encoded("flac")
    size = int.from_bytes(plain[5:8], "big")
    streaminfo, rest = bytes([plain[4] & 0x7F]) + plain[5 : 8 + size], plain[8 + size :]
    for kind, name in ((2, "application"), (6, "picture")):
        assert found(b"fLaC" + streaminfo + bytes([kind]) + (4).to_bytes(3, "big") + b"ravi" + rest) == {name: ""}
    twice = b"".join(len(text).to_bytes(4, "little") + text for text in (b"ARTIST=Ravi", b"artist=Asha"))
    comments = (0).to_bytes(4, "little") + (2).to_bytes(4, "little") + twice
    block = bytes([4]) + len(comments).to_bytes(3, "big") + comments
    assert found(b"fLaC" + streaminfo + block + rest) == {"artist": "Ravi Asha"}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(FORMS)), st.data())
def test_no_damage_stops_the_reading(form: str, data) -> None:
    whole = bytearray(_tagged(form))
    for place in data.draw(st.lists(st.integers(0, min(400, len(whole) - 1)), max_size=6)):
        whole[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(whole)))
    assert all(isinstance(name, str) for name in found(bytes(whole[:cut])))


_KEPT: dict[str, bytes] = {}


def _tagged(form: str) -> bytes:
    return _KEPT.setdefault(form, encoded(form, artist="Ravi", comment="c"))


def picture(save: Callable[[PIL.Image.Image, io.BytesIO], None]) -> list[str]:
    file = io.BytesIO()
    save(PIL.Image.new("RGB", (16, 16), (200, 10, 10)), file)
    return images.measure(file.getvalue())["tags"]


def test_words_in_pictures() -> None:
    exif = PIL.Image.Exif()
    exif[0x013B] = "Ravi"
    exif[0x010F] = "a maker of cameras"
    exif.get_ifd(0x8769)[0xA430] = "Asha"
    assert picture(lambda image, file: image.save(file, "JPEG", exif=exif)) == ["artist", "cameraownername"]
    assert picture(lambda image, file: image.save(file, "JPEG", comment=b"Ravi's shop")) == ["comment"]
    assert picture(lambda image, file: image.save(file, "JPEG", xmp=b"<x:xmpmeta/>")) == ["xmp"]
    text = PIL.PngImagePlugin.PngInfo()
    text.add_text("Author", "Ravi")
    text.add_text("Software", "a scanner")
    assert picture(lambda image, file: image.save(file, "PNG", pnginfo=text)) == ["author"]
    for form in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"):
        assert picture(lambda image, file, form=form: image.save(file, form)) == []
