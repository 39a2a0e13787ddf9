"""Where a pinned file's bytes are found: the cache, then the mirrors, then its URL; all are checked against the pin.

Not its business: what is pinned (`builders.sources`) and what is in the files.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from builders.address import is_address, open_address, reason
from builders.mirrors import mirror_path, named_mirrors
from builders.stream import WEB, LineError, open_stream, read_chunk
from builders.sums import Found, sum_file
from schemas import GoldsmithError

if TYPE_CHECKING:
    from builders.pins import Source

_ATTEMPTS = 3
_LFS = b"version https://git-lfs"
_MIRROR = "--mirror takes a folder or a URL laid out as host/path"


def default_cache() -> Path:
    """`GOLDSMITH_CACHE`, else `goldsmith` in the user's cache folder."""
    if named := os.environ.get("GOLDSMITH_CACHE"):
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "goldsmith"


class _PlaceError(Exception):
    """A place does not give a source's bytes; the next one may.

    Attributes:
        fault: a phrase that names the place, short.
        cure: what to do if no other place has them.
    """

    def __init__(self, fault: str, cure: str) -> None:
        super().__init__(fault, cure)
        self.fault, self.cure = fault, cure


def _nowhere(source: Source, *failures: _PlaceError) -> GoldsmithError:
    """What to tell a person when no place has given a source: what failed at each, and how to mend the first."""
    faults = "; ".join(dict.fromkeys(failure.fault for failure in failures))
    cure = failures[-1 if source.manual else 0].cure  # Where a person has to fetch it, that is the last.
    return GoldsmithError(f"[{source.name}] {faults}: {cure}")


def by_hand(source: Source) -> GoldsmithError:
    """What to tell a person who has to fetch a source."""
    return _nowhere(source, _by_hand(source))


def _by_hand(source: Source) -> _PlaceError:
    how = " ".join(source.manual.split()).rstrip(".")
    if source.git:
        how = how or f"git clone --mirror {source.url} CLONE"
    return _PlaceError("is fetched by hand", f"{how}; then pass --source {source.name}=PATH")


class Fetcher:
    """Finds pinned files.

    Args:
        mirrors: folders or URLs, laid out as host/path; those of `GOLDSMITH_MIRRORS` come after them.
        cache: where fetched files are kept by checksum.
        offline: whether a source's own URL is never asked.
    """

    def __init__(self, mirrors: Sequence[str], cache: Path | None, *, offline: bool) -> None:
        self.mirrors = named_mirrors(mirrors)
        self.cache = cache or default_cache()
        self.offline = offline

    def find(self, source: Source, progress: Callable[[int], None] | None = None) -> Found:
        """The source's file, checked.

        Raises:
            GoldsmithError: no place has its bytes; what failed at each is said. A mirror that is not there at all is a
                slip, and refused before others are asked, where it is the only one.
        """
        failures: list[_PlaceError] = []
        if source.sha256 is not None:
            cached = self._cached(source.sha256)
            if cached is not None:
                return cached
            if source.url is not None:
                for mirror in self.mirrors:
                    try:
                        if found := self._from_mirror(source, mirror, progress):
                            return found
                    except _PlaceError as failure:
                        failures.append(failure)
        if self.offline and not source.manual:
            absent = _PlaceError("is in no cache or mirror", f"give --mirror DIR with it, or fetch {source.url}")
            raise _nowhere(source, *(failures or [absent]))
        try:
            return self._from_home(source, progress)
        except _PlaceError as failure:
            raise _nowhere(source, *failures, failure) from None

    def clone(self, source: Source) -> Path | None:
        """A local clone of a git source in a mirror folder: `host/path`, with or without `.git`; None for none."""
        place = mirror_path(source.name, cast(str, source.url)).removesuffix(".git")
        folders = (Path(mirror) / f"{place}{end}" for mirror in self.mirrors for end in ("", ".git"))
        return next((folder for folder in folders if folder.is_dir()), None)

    def _place(self, sha256: str) -> Path:
        return self.cache / "sha256" / sha256[:2] / sha256

    def _cached(self, sha256: str) -> Found | None:
        path = self._place(sha256)
        if not path.is_file():
            return None
        found = sum_file(path)
        if found.sha256 == sha256:
            return found
        path.unlink(missing_ok=True)  # Spoilt on the disk; it is only a copy.
        return None

    def _from_mirror(self, source: Source, mirror: str, progress: Callable[[int], None] | None) -> Found | None:
        place = mirror_path(source.name, cast(str, source.url))
        if not is_address(mirror):
            if not Path(mirror).is_dir():
                raise self._no_mirror(GoldsmithError(f"[{mirror}] is no folder: {_MIRROR}"))
            return _in_folder(source, Path(mirror) / place)
        address = f"{mirror.rstrip('/')}/{place}"
        try:
            # A bucket whose name is mistyped is seen; a web server cannot be asked whether it is there.
            files, root = (None, "") if mirror.startswith(WEB) else open_address(mirror)
        except GoldsmithError as error:
            raise self._no_mirror(error) from None
        try:
            with open_stream(address) as stream:
                return self._keep(source, stream, address, progress)
        except FileNotFoundError:
            if files and not files.exists(root):
                raise self._no_mirror(GoldsmithError(f"[{mirror}] holds nothing: {_MIRROR}")) from None
            return None
        except (OSError, ValueError) as error:
            raise _unreachable(address, error) from None

    def _no_mirror(self, error: GoldsmithError) -> Exception:
        """What to raise where a mirror cannot be one: the user's slip, but for others that may have the file."""
        fault, _, cure = str(error).rpartition(": ")
        return _PlaceError(fault, cure) if len(self.mirrors) > 1 else error

    def _from_home(self, source: Source, progress: Callable[[int], None] | None) -> Found:
        """The source's file from its own URL."""
        if source.manual:
            raise _by_hand(source)
        url = cast(str, source.url)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with open_stream(url) as stream:
                    return self._keep(source, stream, url, progress)
            except FileNotFoundError as error:
                said = f" ({reason(error)})" if str(error) != url else ""
                raise _PlaceError(
                    f"is no longer at {url}{said}", f"give --mirror DIR with a copy, or --source {source.name}=PATH"
                ) from None
            except (TimeoutError, ConnectionResetError, urllib.error.ContentTooShortError) as error:
                if attempt == _ATTEMPTS:  # A line that broke off is worth another try; no line at all is not.
                    raise _unreachable(url, error) from None
            except (OSError, ValueError) as error:
                raise _unreachable(url, error) from None
        raise AssertionError("unreachable")

    def _keep(self, source: Source, stream: BinaryIO, place: str, progress: Callable[[int], None] | None) -> Found:
        """Copy a stream into the cache, checked before it gets its name; stops as soon as it is longer than pinned."""
        target = self._place(cast(str, source.sha256))
        digest, size, start = hashlib.sha256(), 0, b""
        temporary = None
        try:
            temporary = self._temporary(target)
            with open(temporary, "wb") as file:
                while chunk := read_chunk(stream):
                    start = start or chunk[: len(_LFS)]
                    size += len(chunk)
                    if source.size is not None and size > source.size:
                        raise _PlaceError(
                            f"{place} is longer than the pinned {source.size} bytes",
                            "it is another file; find the pinned one and give --mirror DIR with it",
                        )
                    digest.update(chunk)
                    file.write(chunk)
                    if progress is not None:
                        progress(len(chunk))
                file.flush()
                os.fsync(file.fileno())
            _check(source, digest.hexdigest(), size, start, place)
            temporary.replace(target)
        except LineError as error:
            raise error.cause from None
        except OSError as error:
            raise GoldsmithError(
                f"[{self.cache}] cannot keep {source.name} ({error.strerror}): make room, or set GOLDSMITH_CACHE"
            ) from None
        finally:
            if temporary is not None:
                temporary.unlink(missing_ok=True)
        return Found(target, digest.hexdigest(), size)

    @staticmethod
    def _temporary(target: Path) -> Path:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".fetch-", dir=target.parent)
        os.close(handle)
        return Path(name)


def _in_folder(source: Source, path: Path) -> Found | None:
    """The file of a mirror that is a folder, used where it is."""
    try:
        if not path.is_file():
            return None
        found = sum_file(path)
        with open(path, "rb") as file:
            start = file.read(len(_LFS))
    except OSError as error:
        raise _PlaceError(f"{path} cannot be read ({error.strerror})", "see its rights and its disk") from None
    _check(source, found.sha256, found.size, start, str(path))
    return found


def _check(source: Source, sha256: str, size: int, start: bytes, place: str) -> None:
    if sha256 == source.sha256:
        return
    if start.startswith(_LFS):
        raise _PlaceError(
            f"{place} is a Git LFS pointer, not the file", "run `git lfs pull` there, or give another mirror"
        )
    raise _PlaceError(
        f"{place} has sha256 {sha256} ({size} bytes), sources.toml says {source.sha256} ({source.size} bytes)",
        f"find the pinned file, or build from yours with --source {source.name}=PATH",
    )


def _unreachable(address: str, error: Exception) -> _PlaceError:
    said = " ".join(str(getattr(error, "reason", None) or reason(error)).split())
    cure = "the network" if address.startswith(WEB) else "the network, your credentials and your rights there"
    return _PlaceError(f"cannot fetch {address} ({said})", f"check {cure}, or give --mirror DIR with the file")
