"""Words inside a sound file that are no sound: tags such as artist, title or comment, which may name people.

A clip is released byte by byte as it was recorded, so its tags are released with it. Here they are found, by name; what
they say is read for personal data and kept nowhere. WAV and FLAC, the bulk of a collection, are read here, for most of
their files have none or only the encoder's; what is rare (bext, ID3) and all other forms are read with PyAV.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib.util import find_spec

from schemas import GoldsmithError

_SOUND_CHUNKS = frozenset({"fmt", "data", "fact", "PEAK", "JUNK", "FLLR", "PAD", "ds64", "cue", "smpl", "inst"})
_AV_CHUNKS = frozenset({"bext", "id3", "ID3"})
_INFO = {"IART": "artist", "INAM": "title", "ICMT": "comment", "ICOP": "copyright", "IENG": "engineer"} | {
    "ICRD": "date",
    "ISFT": "encoder",
    "ITCH": "encoded_by",
}
_FLAC_BLOCKS = {2: "application", 5: "cuesheet", 6: "picture"}
_COMMENTS = 4
_MADE_BY_MACHINES = frozenset(
    {
        *(
            "encoder",
            "software",
            "major_brand",
            "minor_version",
            "compatible_brands",
            "handler_name",
            "vendor_id",
            "language",
        ),
        *("duration", "date", "creation_time", "time_reference", "coding_history", "umid"),
    }
)
"""Tags that writers of files put in by themselves."""


def read(data: bytes, container: str) -> dict[str, str]:
    """Name (lower case) -> text of every tag of an encoded file, but for those of the machine that wrote it.

    A picture, and a chunk or block whose content nobody here can read, are there under their names without a text.

    Args:
        container: as `decode.container` says it.

    Raises:
        GoldsmithError: PyAV, which is needed, is not installed.
    """
    readers = {"wav": _wav, "flac": _flac, "mp3": _mp3}
    found: dict[str, str] = {}
    for name, text in readers[container](data) if container in readers else _with_av(data, container):
        short = " ".join(name.lower().split())[:40]
        if short not in _MADE_BY_MACHINES:
            found[short] = f"{found.get(short, '')} {text}".strip()
    return dict(sorted(found.items()))


def _wav(data: bytes) -> Iterator[tuple[str, str]]:
    chunks = list(_chunks(data, 12))
    for name, chunk in chunks:
        if name == "LIST" and chunk[:4] == b"INFO":
            for key, text in _chunks(chunk, 4):
                if said := text.rstrip(b"\0 "):
                    yield _INFO.get(key, key), said.decode("utf-8", "replace")
        elif name not in _SOUND_CHUNKS | _AV_CHUNKS:
            yield f"chunk {name}", ""
    if any(name in _AV_CHUNKS for name, _ in chunks):
        yield from _with_av(data, "wav")


def _chunks(data: bytes, place: int) -> Iterator[tuple[str, bytes]]:
    """(name, content) of RIFF's chunks; the sound itself is not copied."""
    while place + 8 <= len(data):
        size = int.from_bytes(data[place + 4 : place + 8], "little")
        name = data[place : place + 4].decode("latin-1").strip()
        yield name, b"" if name == "data" else data[place + 8 : place + 8 + size]
        place += 8 + size + (size & 1)


def _flac(data: bytes) -> Iterator[tuple[str, str]]:
    place, last = 4, False
    while not last and place + 4 <= len(data):
        kind, last = data[place] & 0x7F, data[place] >= 0x80
        size = int.from_bytes(data[place + 1 : place + 4], "big")
        if kind in _FLAC_BLOCKS:
            yield _FLAC_BLOCKS[kind], ""
        elif kind == _COMMENTS:
            yield from _vorbis_comments(data[place + 4 : place + 4 + size])
        place += 4 + size


def _vorbis_comments(block: bytes) -> Iterator[tuple[str, str]]:
    """The comments of a Vorbis comment block: the vendor first, then NAME=text each, with lengths of four bytes."""
    place = 8 + int.from_bytes(block[:4], "little")
    while place + 4 <= len(block):
        size = int.from_bytes(block[place : place + 4], "little")
        name, _, text = block[place + 4 : place + 4 + size].decode("utf-8", "replace").partition("=")
        if text.strip():
            yield name, text
        place += 4 + size


def _mp3(data: bytes) -> Iterator[tuple[str, str]]:
    if data.startswith(b"ID3") or data[-128:-125] == b"TAG" or b"APETAGEX" in data[-160:]:
        yield from _with_av(data, "mp3")


def _with_av(data: bytes, container: str) -> Iterator[tuple[str, str]]:
    if find_spec("av") is None:
        raise GoldsmithError(f"[audio] the tags of a {container} file need PyAV: install goldsmith with `vaani`")
    import av
    import av.error

    try:
        with av.open(io.BytesIO(data), "r", metadata_errors="replace") as file:
            for stream in file.streams:
                if stream.type == "video":
                    yield "picture", ""
            for metadata in (file.metadata, *(stream.metadata for stream in file.streams)):
                yield from ((name, text) for name, text in metadata.items() if text.strip())
    except av.error.FFmpegError:  # libsndfile may read the sound all the same.
        yield "unreadable", ""
