"""Where a pinned file's bytes are found: the cache, then the mirrors, then its URL; all are checked against the pin.

Not its business: what is pinned (`builders.sources`) and what is in the files.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from builders.address import is_address, open_address, reason
from schemas import GoldsmithError

if TYPE_CHECKING:
    from builders.pins import Source

_CHUNK = 1 << 20
_TIMEOUT_S = 60
_ATTEMPTS = 3
_WEB = ("http://", "https://")
_SCHEMES = ("http", "https", "s3", "gs", "hf")
_LFS = b"version https://git-lfs"
_PORT = re.compile(r"\d{1,5}(/|$)")


@dataclass(frozen=True)
class Found:
    """A file with its checksum and its size in bytes."""

    path: Path
    sha256: str
    size: int


def sum_file(path: Path) -> Found:
    """Hash a file."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Found(path, digest, file.tell())


def sum_folder(path: Path) -> Found:
    """Hash a folder: the sha256 over a line `<sha256>  <relative path>` for each file, sorted by path.

    Files and folders whose names start with a dot do not count; the size is that of all files.
    """
    digest, size = hashlib.sha256(), 0
    files = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    for name in sorted(file.as_posix() for file in files if not any(part.startswith(".") for part in file.parts)):
        found = sum_file(path / name)
        digest.update(f"{found.sha256}  {name}\n".encode("utf-8", "surrogateescape"))
        size += found.size
    return Found(path, digest.hexdigest(), size)


def mirror_path(where: str, url: str) -> str:
    """The place of a URL in a mirror: `host/path`, percent signs decoded.

    Raises:
        GoldsmithError: the URL is none that can be fetched, or would lead out of the mirror.
    """
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise GoldsmithError(f"[{where} > url] {url!r} is no address of a file: use one of {', '.join(_SCHEMES)}")
    query = "?" + unquote(parts.query).replace("/", "%2F") if parts.query else ""
    segments = [parts.netloc.rpartition("@")[2], *unquote(parts.path).lstrip("/").split("/")]
    segments[-1] += query
    if any(segment in ("", ".", "..") or "\\" in segment or "\0" in segment for segment in segments):
        raise GoldsmithError(f"[{where} > url] {url!r} has a path that leads astray: give the plain address of a file")
    return "/".join(segments)


def split_mirrors(text: str) -> list[str]:
    """Split `GOLDSMITH_MIRRORS` at the path separator, leaving the colons of URLs (scheme and port) alone."""
    mirrors: list[str] = []
    for piece in text.split(os.pathsep):
        last = mirrors[-1] if mirrors else ""
        after_scheme = piece.startswith("//") and re.fullmatch(r"[a-z][a-z0-9+.-]+", last)
        after_host = _PORT.match(piece) and re.fullmatch(r"[a-z][a-z0-9+.-]+://[^/]+", last)
        if after_scheme or after_host:
            mirrors[-1] = f"{last}:{piece}"
        else:
            mirrors.append(piece)
    return [mirror for mirror in mirrors if mirror]


def default_cache() -> Path:
    """`GOLDSMITH_CACHE`, else `goldsmith` in the user's cache folder."""
    if named := os.environ.get("GOLDSMITH_CACHE"):
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "goldsmith"


def by_hand(source: Source) -> GoldsmithError:
    """What to tell a person who has to fetch a source."""
    how = " ".join(source.manual.split()).rstrip(".")
    if source.git:
        how = how or f"git clone --mirror {source.url} CLONE"
    return GoldsmithError(f"[{source.name}] is fetched by hand: {how}; then pass --source {source.name}=PATH")


class Fetcher:
    """Finds pinned files.

    Args:
        mirrors: folders or URLs, laid out as host/path; those of `GOLDSMITH_MIRRORS` come after them.
        cache: where fetched files are kept by checksum.
        offline: whether a source's own URL is never asked.
    """

    def __init__(self, mirrors: Sequence[str], cache: Path | None, *, offline: bool) -> None:
        self.mirrors = [*mirrors, *split_mirrors(os.environ.get("GOLDSMITH_MIRRORS", ""))]
        self.cache = cache or default_cache()
        self.offline = offline

    def find(self, source: Source, progress: Callable[[int], None] | None = None) -> Found:
        """The source's file, checked.

        Raises:
            GoldsmithError: it cannot be had, or a place has other bytes under its name.
        """
        if source.sha256 is not None:
            cached = self._cached(source.sha256)
            if cached is not None:
                return cached
            if source.url is not None:
                for mirror in self.mirrors:
                    if found := self._from_mirror(source, mirror, progress):
                        return found
        if source.manual:
            raise by_hand(source)
        url = cast(str, source.url)
        if self.offline:
            raise GoldsmithError(f"[{source.name}] is in no cache or mirror: give --mirror DIR with it, or fetch {url}")
        return self._from_url(source, url, progress)

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
                raise GoldsmithError(f"[{mirror}] is no folder: --mirror takes a folder or a URL laid out as host/path")
            path = Path(mirror) / place
            if not path.is_file():
                return None
            found = sum_file(path)
            with open(path, "rb") as file:
                _check(source, found.sha256, found.size, file.read(len(_LFS)), str(path))
            return found
        address = f"{mirror.rstrip('/')}/{place}"
        try:
            with _open(address) as stream:
                return self._keep(source, stream, address, progress)
        except FileNotFoundError:
            self._refuse_absent(mirror)
            return None
        except (OSError, ValueError) as error:
            raise _unreachable(source, address, error) from None

    def _refuse_absent(self, mirror: str) -> None:
        """Refuse a mirror that is not there, as a bucket whose name is mistyped; a web server cannot be asked."""
        if mirror.startswith(_WEB):
            return
        files, root = open_address(mirror)
        if not files.exists(root):
            raise GoldsmithError(f"[{mirror}] holds nothing: --mirror takes a folder or a URL laid out as host/path")

    def _from_url(self, source: Source, url: str, progress: Callable[[int], None] | None) -> Found:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with _open(url) as stream:
                    return self._keep(source, stream, url, progress)
            except FileNotFoundError as error:
                said = f" ({reason(error)})" if reason(error) != url else ""
                raise GoldsmithError(
                    f"[{source.name}] is no longer at {url}{said}: give --mirror DIR with a copy, or "
                    f"--source {source.name}=PATH"
                ) from None
            except (TimeoutError, ConnectionResetError, urllib.error.ContentTooShortError) as error:
                if attempt == _ATTEMPTS:  # A line that broke off is worth another try; no line at all is not.
                    raise _unreachable(source, url, error) from None
            except (OSError, ValueError) as error:
                raise _unreachable(source, url, error) from None
        raise AssertionError("unreachable")

    def _keep(self, source: Source, stream: BinaryIO, place: str, progress: Callable[[int], None] | None) -> Found:
        """Copy a stream into the cache, checked before it gets its name; stops as soon as it is longer than pinned."""
        target = self._place(cast(str, source.sha256))
        digest, size, start = hashlib.sha256(), 0, b""
        temporary = None
        try:
            temporary = self._temporary(target)
            with open(temporary, "wb") as file:
                while chunk := _read(stream):
                    start = start or chunk[: len(_LFS)]
                    size += len(chunk)
                    if source.size is not None and size > source.size:
                        raise GoldsmithError(
                            f"[{source.name}] {place} is longer than the pinned {source.size} bytes: "
                            "it is another file; find the pinned one and give --mirror DIR with it"
                        )
                    digest.update(chunk)
                    file.write(chunk)
                    if progress is not None:
                        progress(len(chunk))
                file.flush()
                os.fsync(file.fileno())
            _check(source, digest.hexdigest(), size, start, place)
            temporary.replace(target)
        except _LineError as error:
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


class _LineError(Exception):
    """The far side failed while a file came in, as opposed to the disk that it is written to."""

    def __init__(self, cause: OSError) -> None:
        self.cause = cause


def _read(stream: BinaryIO) -> bytes:
    try:
        return stream.read(_CHUNK)
    except http.client.HTTPException as error:
        raise _LineError(ConnectionResetError(f"the connection broke off: {error!r}")) from None
    except OSError as error:
        raise _LineError(error) from None
    except Exception as error:  # Each of the many file systems has errors of its own.
        raise _LineError(OSError(reason(error))) from error


def _open(address: str) -> BinaryIO:
    """Open a URL for reading; FileNotFoundError where there is no such file, another OSError where it fails."""
    if not address.startswith(_WEB):
        files, path = open_address(address)
        try:
            return cast(BinaryIO, files.open(path, "rb"))
        except OSError:
            raise
        except Exception as error:
            raise OSError(reason(error)) from error
    request = urllib.request.Request(  # noqa: S310 (http or https: see above)
        address, headers={"User-Agent": "goldsmith", "Accept-Encoding": "identity"}
    )
    try:
        return cast(BinaryIO, urllib.request.urlopen(request, timeout=_TIMEOUT_S))  # noqa: S310
    except urllib.error.HTTPError as error:
        if error.code in (404, 410):
            raise FileNotFoundError(address) from None
        raise


def _check(source: Source, sha256: str, size: int, start: bytes, place: str) -> None:
    if sha256 == source.sha256:
        return
    if start.startswith(_LFS):
        raise GoldsmithError(
            f"[{source.name}] {place} is a Git LFS pointer, not the file: run `git lfs pull` there, "
            "or give another mirror"
        )
    raise GoldsmithError(
        f"[{source.name}] {place} has sha256 {sha256} ({size} bytes), sources.toml says {source.sha256} "
        f"({source.size} bytes): find the pinned file, or build from yours with --source {source.name}=PATH"
    )


def _unreachable(source: Source, address: str, error: Exception) -> GoldsmithError:
    said = " ".join(str(getattr(error, "reason", None) or reason(error)).split())
    cure = "the network" if address.startswith(_WEB) else "the network, your credentials and your rights there"
    return GoldsmithError(
        f"[{source.name}] cannot fetch {address} ({said}): check {cure}, or give --mirror DIR with the file"
    )
