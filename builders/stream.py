"""A file at an address as a stream, by the standard library or by fsspec; where it fails, that is an `OSError`.

Not its business: which address, and whether the bytes are the right ones (`builders.fetch`).
"""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import BinaryIO, cast

from builders.address import open_address, reason

WEB = ("http://", "https://")
_CHUNK = 1 << 20
_TIMEOUT_S = 60


def open_stream(address: str) -> BinaryIO:
    """Open a URL for reading; FileNotFoundError where there is no such file, another OSError where it fails."""
    if not address.startswith(WEB):
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
    except http.client.HTTPException as error:  # The address is none, or what answers is no web server.
        raise OSError(f"{type(error).__name__}: {reason(error)}") from None


class LineError(Exception):
    """The far side failed while a file came in, as opposed to the disk that it is written to."""

    def __init__(self, cause: OSError) -> None:
        self.cause = cause


def read_chunk(stream: BinaryIO) -> bytes:
    """The next bytes, none at the end.

    Raises:
        LineError: the far side failed.
    """
    try:
        return stream.read(_CHUNK)
    except http.client.HTTPException as error:
        raise LineError(ConnectionResetError(f"the connection broke off: {error!r}")) from None
    except OSError as error:
        raise LineError(error) from None
    except Exception as error:  # Each of the many file systems has errors of its own.
        raise LineError(OSError(reason(error))) from error
