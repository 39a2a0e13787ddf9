"""Sources: the pinned inputs of a dataset, declared in `sources.toml`, read by name.

A source is a file or a folder of the builder's own folder (`path`) or a file elsewhere (`url`, `sha256`, `size`); a
user's own (`--source`) may be a folder, too, and its checksum is one over all files in it. Where the bytes
are found, and that they are the pinned ones, is the business of `builders.fetch`; what they mean is the builder's.
`sources.toml` may come from anybody: nothing in it can name a file outside the builder's folder, the cache or a mirror.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from builders.address import is_address
from builders.bring import bring
from builders.fetch import Fetcher, by_hand
from builders.pins import Source, read_sources_toml
from builders.sums import Found, sum_file, sum_folder
from schemas import GoldsmithError
from schemas.address import refuse_key

_BOM = b"\xef\xbb\xbf"
_BOMS_OF_TWO_BYTES = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Resolved:
    """A source whose bytes are at hand and checked.

    Attributes:
        override: it is a user's own file (`--source`), not the pinned one.
        bom: the text starts with a byte order mark, which `Sources.text` takes off.
        encoding: `utf-8`, `latin-1` (not UTF-8: read byte by byte as Latin-1), `binary` (also a clone), or `folder`.
        gzip: the file is compressed; `Sources.open` gives what is in it.
    """

    path: Path
    sha256: str
    size: int
    override: bool
    bom: bool
    encoding: str
    gzip: bool


class Sources:
    """The sources of one builder. Picklable, so that a worker reads what the driver has fetched and checked.

    Attributes:
        folder: holds the `sources.toml` in use.
        sample: whether this is the bundled sample.
        redistributable_only: whether sources that may not be passed on are left out.
        used: names of the sources that have been read through this object.
    """

    def __init__(
        self,
        folder: Path,
        specs: Mapping[str, Source],
        fetcher: Fetcher,
        *,
        sample: bool = False,
        redistributable_only: bool = False,
        overrides: Mapping[str, Path | str] | None = None,
    ) -> None:
        self.folder = folder
        self.sample = sample
        self.redistributable_only = redistributable_only
        self.used: set[str] = set()
        self._specs = dict(specs)
        self._fetcher = fetcher
        self._overrides = dict(overrides or {})
        self._resolved: dict[str, Resolved] = {}
        self._sums: dict[str, Found] = {}
        self._readable: frozenset[str] | None = None
        for name, place in self._overrides.items():
            self.spec(name)
            if isinstance(place, str):
                refuse_key(f"--source {name}", place, signed=True)  # Read at once; only its bytes are recorded.

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        sample: bool = False,
        mirrors: Sequence[str] = (),
        overrides: Mapping[str, Path | str] | None = None,
        cache: Path | None = None,
        redistributable_only: bool = False,
        offline: bool = False,
    ) -> Sources:
        """Read `folder/sources.toml`, or `folder/sample/sources.toml` for the sample. Fetches nothing yet.

        Args:
            mirrors: folders or fsspec URLs, laid out as host/path; `GOLDSMITH_MIRRORS` adds to them.
            overrides: a user's own file in place of a source; a text may be an address that fsspec knows.
            cache: default `GOLDSMITH_CACHE`, then the user's cache folder.
            offline: never ask a source's own URL.

        Raises:
            GoldsmithError: there is no `sources.toml`, or it says something wrong.
        """
        folder = folder / "sample" if sample else folder
        specs = read_sources_toml(folder / "sources.toml")
        fetcher = Fetcher(mirrors, cache, offline=offline)
        return cls(
            folder, specs, fetcher, sample=sample, redistributable_only=redistributable_only, overrides=overrides
        )

    @property
    def names(self) -> list[str]:
        """All names, in the order of `sources.toml`."""
        return list(self._specs)

    def spec(self, name: str) -> Source:
        """What `sources.toml` says of a source."""
        if name not in self._specs:
            known = ", ".join(self._specs) or "none"
            raise GoldsmithError(f"[{name}] is no source of this dataset: its sources are {known}")
        return self._specs[name]

    def allows(self, *names: str) -> bool:
        """Whether a shard that reads these sources may be built: False where one may not be redistributed and only
        redistributable data are wanted."""
        return not self.redistributable_only or all(self.spec(name).redistribute for name in names)

    @property
    def left_out(self) -> list[str]:
        """The sources that are left out because they may not be redistributed, sorted."""
        return sorted(name for name in self._specs if not self.allows(name))

    def only(self, names: Iterable[str]) -> Sources:
        """The same sources, of which only `names` can be read: what a shard gets, so that its key tells the truth."""
        view = Sources.__new__(Sources)
        view.__dict__.update(self.__dict__, used=set(), _readable=frozenset(names))
        return view

    def sha256(self, name: str) -> str:
        """The checksum of the file that would be read: the pin, or that of a user's own or a bundled file."""
        spec = self.spec(name)
        if name in self._resolved:
            return self._resolved[name].sha256
        if spec.git:
            return _repository_sum(spec)
        if name in self._overrides or spec.path is not None:
            return self._own_sum(spec).sha256
        if spec.sha256 is None:
            raise by_hand(spec)
        return spec.sha256

    def resolve(self, name: str, progress: Callable[[int], None] | None = None) -> Resolved:
        """Find the bytes of a source and check them; `progress` is called with the bytes that came in.

        Raises:
            GoldsmithError: it cannot be had, or is not the pinned file.
        """
        if name not in self._resolved:
            spec = self.spec(name)
            if not self.allows(name):
                raise GoldsmithError(f"[{name}] may not be redistributed ({spec.licence}): leave it out of the plan")
            if spec.git:
                self._resolved[name] = Resolved(
                    self._clone(spec).absolute(), _repository_sum(spec), 0, False, False, "binary", False
                )
                return self._resolved[name]
            if name in self._overrides or spec.path is not None:
                found = self._own_sum(spec)
                if name not in self._overrides and spec.sha256 not in (None, found.sha256):
                    raise GoldsmithError(
                        f"[{name}] {spec.path} has sha256 {found.sha256}, sources.toml says {spec.sha256}: "
                        "restore the file or correct sources.toml"
                    )
            else:
                found = self._fetcher.find(spec, progress)
            self._resolved[name] = _resolved(name, found, spec, override=name in self._overrides)
        return self._resolved[name]

    def given(self, name: str) -> bool:
        """Whether a source is bundled, pinned, or a user's own; False for one that a person has to fetch first, which
        is how an optional source is declared."""
        spec = self.spec(name)
        if spec.git:
            return name in self._overrides or self._fetcher.clone(spec) is not None
        return name in self._overrides or spec.path is not None or spec.sha256 is not None

    def path(self, name: str) -> Path:
        """The file itself, as it was pinned (compressed if it is), or the folder."""
        if self._readable is not None and name not in self._readable:
            raise GoldsmithError(f"[{name}] is read but not declared: add it to the shard's inputs")
        self.used.add(name)
        return self.resolve(name).path

    def open(self, name: str) -> BinaryIO:
        """A source's content as a stream, gzip taken off. A truncated gzip was refused when it was resolved."""
        path = self.path(name)
        if path.is_dir():
            raise _no_folder(name, path)
        return cast(BinaryIO, gzip.open(path, "rb")) if self._resolved[name].gzip else open(path, "rb")

    def bytes(self, name: str) -> bytes:
        """A source's content, gzip taken off."""
        with self.open(name) as file:
            return file.read()

    def text(self, name: str) -> str:
        """A source's content as text, without a byte order mark; its line ends are as in the file.

        Text that is not UTF-8 is read as Latin-1, which build.json then says of the source.

        Raises:
            GoldsmithError: it is no text, or text of two bytes a character (UTF-16).
        """
        content = self.bytes(name)
        encoding = self._resolved[name].encoding
        if encoding == "binary" and (at := _first_fault(content)) >= 0:
            raise GoldsmithError(
                f"[{name}] is not UTF-8 text (byte 0x{content[at]:02x} at {at}): give the text itself, saved as UTF-8"
            )
        return content.decode("latin-1" if encoding == "latin-1" else "utf-8-sig")

    def _clone(self, spec: Source) -> Path:
        found = self._own_file(spec) if spec.name in self._overrides else self._fetcher.clone(spec)
        if found is None:
            raise by_hand(spec)
        return found

    def _own_sum(self, spec: Source) -> Found:
        if spec.name not in self._sums:
            path = self._own_file(spec)
            try:
                self._sums[spec.name] = sum_folder(path) if path.is_dir() else sum_file(path)
            except OSError as error:
                raise GoldsmithError(
                    f"[{spec.name}] {error.filename or path} cannot be read ({error.strerror}): "
                    "leave the files alone while they are read, or give others"
                ) from None
        return self._sums[spec.name]

    def _is_file(self, spec: Source) -> bool:
        """Whether a source is declared as one file: it is pinned by its checksum, or bundled as one."""
        if spec.path is not None:
            return (self.folder / spec.path).is_file()
        return spec.sha256 is not None and not spec.git

    def _own_file(self, spec: Source) -> Path:
        if spec.name in self._overrides:
            path = self._given_place(spec.name)
            if not path.exists():
                raise GoldsmithError(
                    f"[{spec.name}] {path} is no file: give an existing one to --source {spec.name}=PATH"
                )
            if path.is_dir() and self._is_file(spec):
                raise _no_folder(spec.name, path)
            return path
        path = self.folder / cast(str, spec.path)
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise GoldsmithError(
                f"[{spec.name}] path {spec.path} leads out of the folder of sources.toml: keep it inside"
            )
        if not path.exists():
            raise GoldsmithError(f"[{spec.name}] the bundled file {path} is absent: restore it or correct sources.toml")
        return path

    def _given_place(self, name: str) -> Path:
        """Where a user's own file is; what is at an address is copied into the cache, once for this object."""
        place = self._overrides[name]
        if isinstance(place, str) and is_address(place):
            place = self._overrides[name] = bring(name, place, self._fetcher.cache)
        return Path(place)


def _no_folder(name: str, path: Path) -> GoldsmithError:
    return GoldsmithError(f"[{name}] {path} is a folder, a file is needed: give a file to --source {name}=PATH")


def _first_fault(content: bytes) -> int:
    """Where content is seen to be no text: the first byte that is zero or not UTF-8; -1 where there is none."""
    zero = content.find(0)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start if zero < 0 else min(zero, error.start)
    return zero


def _repository_sum(spec: Source) -> str:
    """The checksum of a git source: of its address, for its commits are pinned by id where they are named."""
    return hashlib.sha256(f"git {spec.url}".encode()).hexdigest()


def _resolved(name: str, found: Found, spec: Source, *, override: bool) -> Resolved:
    path = found.path.absolute()  # It may be read by a process of another working folder.
    if path.is_dir():
        return Resolved(path, found.sha256, found.size, override, False, "folder", False)
    with open(found.path, "rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    archive = (spec.url or spec.path or found.path.name).endswith((".tar.gz", ".tgz"))
    if compressed and archive:
        bom, encoding = False, "binary"
    else:
        try:
            with gzip.open(found.path, "rb") if compressed else open(found.path, "rb") as stream:
                bom, encoding = _text_facts(cast(io.BufferedIOBase, stream))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise GoldsmithError(
                f"[{name}] {found.path} is a broken or truncated gzip ({error}): fetch it again, whole"
            ) from None
    return Resolved(path, found.sha256, found.size, override, bom, encoding, compressed)


def _text_facts(stream: io.BufferedIOBase) -> tuple[bool, str]:
    """Whether the stream has a byte order mark, and its encoding; reads it to its end so that a broken one is found."""
    utf8 = codecs.getincrementaldecoder("utf-8")()
    chunk = stream.read(1 << 20)
    bom = chunk.startswith(_BOM)
    encoding = "binary" if b"\0" in chunk[:65536] or chunk.startswith(_BOMS_OF_TWO_BYTES) else "utf-8"
    while True:
        if encoding == "utf-8":
            try:
                utf8.decode(chunk, final=not chunk)
            except UnicodeDecodeError:
                encoding = "latin-1"
        if not chunk:
            return bom, encoding
        chunk = stream.read(1 << 20)
