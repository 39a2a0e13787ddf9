"""Buckets: files that are replaced in place, without commits; their bytes are in the Xet store. All are private."""

from __future__ import annotations

import json
from typing import Any

from loophub.server import Answer, Request, route
from loophub.storage import file_answer, token_answer
from loophub.store import RefusalError
from loophub.xet import XetFile

API = r"/api/buckets/([^/]+/[^/]+)"
DATE = "2026-01-01T00:00:00.000Z"


def _bucket(request: Request, name: str) -> dict[str, str]:
    """The bucket, for those who may write to it."""
    if name not in request.store.buckets:
        raise RefusalError(404 if request.account else 401, "Bucket not found", "RepoNotFound")
    request.store.check_writer(name, request.account)
    return request.store.buckets[name]


def _file(request: Request, xet_hash: str) -> XetFile:
    found = request.hub.xet.find(xet_hash) if request.hub.xet else None
    if found is None:
        raise RefusalError(422, f"no file {xet_hash} was uploaded")
    return found


def _item(request: Request, path: str, xet_hash: str) -> dict[str, Any]:
    size = _file(request, xet_hash).size
    return {"type": "file", "path": path, "size": size, "xetHash": xet_hash, "mtime": DATE, "uploadedAt": DATE}


@route("GET", API)
def info(request: Request, name: str) -> Answer:
    files = _bucket(request, name)
    size = sum(_file(request, xet_hash).size for xet_hash in files.values())
    return Answer({"id": name, "private": True, "createdAt": DATE, "size": size, "totalFiles": len(files)})


@route("GET", API + r"/tree")
@route("GET", API + r"/tree/(.+)")
def tree(request: Request, name: str, prefix: str = "") -> Answer:
    """What starts with the prefix, as on the Hub: `logs` also finds `logs_old/x`."""
    deep = request.one("recursive").lower() in ("true", "1")
    items: dict[str, dict[str, Any]] = {}
    for path, xet_hash in sorted(_bucket(request, name).items()):
        if not path.startswith(prefix):
            continue
        below = path.removeprefix(prefix).lstrip("/")
        if deep or "/" not in below:
            items[path] = _item(request, path, xet_hash)
        else:
            folder = path[: len(path) - len(below)] + below.partition("/")[0]
            items[folder] = {"type": "directory", "path": folder, "uploadedAt": DATE}
    return Answer(list(items.values()))


@route("POST", API + r"/paths-info")
def paths_info(request: Request, name: str) -> Answer:
    files = _bucket(request, name)
    return Answer([_item(request, path, files[path]) for path in request.json()["paths"] if path in files])


@route("POST", API + r"/batch")
def batch(request: Request, name: str) -> Answer:
    files = _bucket(request, name)
    for operation in [json.loads(line) for line in request.body().splitlines() if line.strip()]:
        if operation["type"] == "addFile":
            files[operation["path"]] = _file(request, operation["xetHash"]).hash
        elif operation["type"] == "deleteFile":
            files.pop(operation["path"], None)
        else:
            raise RefusalError(400, f"unknown operation {operation['type']}")
    return Answer({"success": True, "failed": []})


@route("GET", API + r"/xet-(?:read|write)-token")
def token(request: Request, name: str) -> Answer:
    _bucket(request, name)
    return token_answer(request)


@route("GET", r"/buckets/([^/]+/[^/]+)/resolve/(.+)")
def resolve(request: Request, name: str, path: str) -> Answer:
    files = _bucket(request, name)
    if path not in files or request.hub.xet is None:
        raise RefusalError(404, "Entry not found", "EntryNotFound")
    found = _file(request, files[path])
    url = f"{request.hub.endpoint}/api/buckets/{name}/xet-read-token"
    headers = {"X-Xet-Hash": found.hash, "X-Linked-Size": str(found.size), "Link": f'<{url}>; rel="xet-auth"'}
    if request.command == "HEAD":
        return Answer(b"", headers=headers)
    restored = request.hub.xet.restore(found, request.store.parts / f"{found.hash}.restored")
    return file_answer(request, restored, headers)
