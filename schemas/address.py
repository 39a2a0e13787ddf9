"""Keys and addresses: an address with a key in it is refused, none is printed, and none is sent to another host.

Not its business: what is read and written at an address (`builders`, `quality`, `releases`).
"""

from __future__ import annotations

import http.client
import re
import urllib.error
import urllib.request
from typing import IO, Any
from urllib.parse import urlsplit

from schemas.errors import GoldsmithError

_USER = re.compile(
    r"https?://[^/?#]*@"  # Of the web, where also a name alone may be a token.
    r"|://[^/?#:@]*:(?!:|\d+(?:/|$))[^@]*@",  # Elsewhere `user:password@`; a password may hold a slash.
    re.IGNORECASE,
)
_SIGNED = re.compile(
    r"[?&;](?:x-amz-[\w-]+|x-goog-[\w-]+|awsaccesskeyid|googleaccessid|signature|sig|(?:[\w-]*[_-])?token|auth"
    r"|api[_-]?key|key|secret|password)=",
    re.IGNORECASE,
)
_QUERY = re.compile(r"(://[^\s?'\"]*)\?[^\s'\"]*")


def refuse_key(where: str, address: str, *, signed: bool = False) -> str:
    """The address, if there is no key in it. The error does not repeat it.

    Args:
        where: what gives the address, as `--mirror`.
        signed: whether it may be signed for a time (`X-Amz-Signature=...`): where it is read once and not written down.

    Raises:
        GoldsmithError: it has a user's name and password, or a token, or is signed.
    """
    scheme = address.partition("://")[0].rpartition("::")[2]
    if _USER.search(address):
        raise GoldsmithError(
            f"[{where} > {scheme}://...] has a user or a password in it: leave them out, keys belong in the "
            "environment or in the files that the store's own tools read"
        )
    if not signed and "://" in address and _SIGNED.search(address):
        raise GoldsmithError(
            f"[{where} > {shown(address)}] is signed, or has a key in its query: give the plain address of the place"
        )
    return address


def shown(text: str) -> str:
    """A text as it may be printed: of the addresses in it, what follows a `?` is left out, for that may be a key."""
    return _QUERY.sub(r"\1?...", text)


class _WithinOrigin(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        here, there = _origin(req.full_url), _origin(newurl)
        if here != there:
            raise GoldsmithError(
                f"[{here}] sends its callers on to {there}, where your key is not taken: give the address that answers"
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_WithinOrigin)


def open_within_origin(request: urllib.request.Request, timeout: float) -> Any:
    """`urllib.request.urlopen` for requests that carry a key.

    The standard one sends a request's `Authorization` along to wherever it is redirected.

    Raises:
        GoldsmithError: the server redirects to another scheme, host or port, or there is a key in the address.
        URLError: there is no answer, as of `urlopen`; also where the address cannot be one.
    """
    refuse_key("address", request.full_url, signed=True)
    try:
        return _OPENER.open(request, timeout=timeout)
    except http.client.HTTPException as error:
        raise urllib.error.URLError(f"{type(error).__name__}: {error}") from None


def _origin(address: str) -> str:
    parts = urlsplit(address)
    try:
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        port = None
    plain = {"http": 80, "https": 443}.get(parts.scheme) == port
    return f"{parts.scheme}://{parts.hostname}{'' if plain or port is None else f':{port}'}"
