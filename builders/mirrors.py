"""Mirrors: folders and addresses laid out as host/path, where copies of pinned files are.

Not its business: what is fetched from them, and in which order (`builders.fetch`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from schemas import GoldsmithError
from schemas.address import refuse_key

_SCHEMES = ("http", "https", "s3", "gs", "hf")
_MIRROR = re.compile(
    r"""
    [a-z][a-z0-9+.-]+://                                    # An address,
    (?: [^/@]*@ | [^/:@]*:(?!/|\d{1,5}(?:[/:]|$))[^:@]*@ )?  # with a password, which is then refused whole,
    [^:]* (?: :\d{1,5}(?=[/:]|$)[^:]* )?                    # with a port;
    | [^:]+                                                 # or a folder.
    """,
    re.VERBOSE | re.IGNORECASE,
)


def mirror_path(where: str, url: str) -> str:
    """The place of a URL in a mirror: `host/path`, percent signs decoded.

    Raises:
        GoldsmithError: the URL is none that can be fetched, or would lead out of the mirror.
    """
    refuse_key(f"{where} > url", url)
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise GoldsmithError(f"[{where} > url] {url!r} is no address ({error}): correct it") from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise GoldsmithError(f"[{where} > url] {url!r} is no address of a file: use one of {', '.join(_SCHEMES)}")
    query = "?" + unquote(parts.query).replace("/", "%2F") if parts.query else ""
    segments = [parts.netloc.rpartition("@")[2], *unquote(parts.path).lstrip("/").split("/")]
    segments[-1] += query
    if any(segment in ("", ".", "..") or "\\" in segment or "\0" in segment for segment in segments):
        raise GoldsmithError(f"[{where} > url] {url!r} has a path that leads astray: give the plain address of a file")
    return "/".join(segments)


def split_mirrors(text: str) -> list[str]:
    """Split `GOLDSMITH_MIRRORS` at the colons that are not those of an address (scheme, password, port)."""
    return _MIRROR.findall(text)


def named_mirrors(given: Sequence[str]) -> list[str]:
    """The mirrors of `--mirror`, then those of `GOLDSMITH_MIRRORS`.

    Raises:
        GoldsmithError: the address of one has a key in it.
    """
    more = split_mirrors(os.environ.get("GOLDSMITH_MIRRORS", ""))
    return [
        *(refuse_key("--mirror", mirror) for mirror in given),
        *(refuse_key("GOLDSMITH_MIRRORS", mirror) for mirror in more),
    ]
