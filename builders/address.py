"""Addresses that fsspec knows (`s3://`, `gs://`, `hf://`, `file://`): their file systems, and what they say in failure.

Not its business: what is read there (`builders.fetch`, `builders.bring`) and what is written (`builders.copy_out`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas import GoldsmithError
from schemas.address import shown

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_EXTRAS = {"s3": "goldsmith[s3]", "gs": "gcsfs", "gcs": "gcsfs", "abfs": "adlfs", "az": "adlfs"}


def is_address(place: str) -> bool:
    """Whether a place is an address and no path."""
    return "://" in place


def open_address(address: str) -> tuple[AbstractFileSystem, str]:
    """The file system of an address and the path in it, without a slash at its end. Nothing is asked yet.

    Raises:
        GoldsmithError: no file system is known for it, or its package is not installed.
    """
    from fsspec import url_to_fs  # Most builds name no address, and it takes its time to load.

    scheme = address.partition("://")[0]
    try:
        files, root = url_to_fs(address, use_listings_cache=False)
    except ImportError as error:
        package = _EXTRAS.get(scheme)
        cure = f"pip install '{package}'" if package else "install that package"
        raise GoldsmithError(f"[{shown(address)}] {reason(error)}: {cure}") from None
    except ValueError as error:
        raise GoldsmithError(
            f"[{shown(address)}] is no address that can be read ({reason(error)}): write it as s3://BUCKET/x"
        ) from None
    return files, str(root).rstrip("/")


def reason(error: BaseException) -> str:
    """What an error says, in one line."""
    return shown(" ".join(str(error).split())) or type(error).__name__


def unusable(address: str, error: BaseException, more: str = "") -> GoldsmithError:
    """What to tell a person when a file system fails: each of the many has errors of its own."""
    return GoldsmithError(
        f"[{shown(address)}] cannot be used ({reason(error)}): check the address, your credentials and your rights "
        f"there{more}"
    )
