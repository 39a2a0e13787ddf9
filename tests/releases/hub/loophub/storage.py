"""The bytes: LFS batch, upload in one or many parts, download with ranges, tokens for Xet."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
import uuid
from pathlib import Path

from loophub.server import Answer, Request, route
from loophub.store import RefusalError

DATASET = r"/datasets/([^/]+/[^/]+)"


@route("POST", DATASET + r"\.git/info/lfs/objects/batch")
def batch(request: Request, name: str) -> Answer:
    request.store.writable(name, request.account)
    objects = []
    for wanted in request.json()["objects"]:
        sha256, size = wanted["oid"], wanted["size"]
        found = {"oid": sha256, "size": size}
        if not request.store.object(sha256).exists():
            verify = {"href": f"{request.hub.endpoint}/datasets/{name}.git/info/lfs/verify", "header": {}}
            found["actions"] = {"upload": _upload_action(request, sha256, size), "verify": verify}
        objects.append(found)
    return Answer({"transfer": "basic", "objects": objects}, kind="application/vnd.git-lfs+json")


def _upload_action(request: Request, sha256: str, size: int) -> dict[str, object]:
    hub = request.hub
    url = f"{hub.storage}/_store/{sha256}"
    if hub.multipart_over is None or size <= hub.multipart_over:
        return {"href": f"{url}?X-Amz-Signature=secretsignature", "header": {}}
    count = -(-size // hub.part_bytes)
    parts = {f"{number:05d}": f"{url}/part/{number}?X-Amz-Signature=s" for number in range(1, count + 1)}
    header = {"chunk_size": str(hub.part_bytes), **parts}
    return {"href": f"{hub.endpoint}/api/complete_multipart?oid={sha256}", "header": header}


def _receive(request: Request, place: Path) -> str:
    """Write the request's body to `place`; its sha256. A fault may flip its last bit."""
    digest = hashlib.sha256()
    part = place.with_name(f"{place.name}.{uuid.uuid4().hex}")
    with open(part, "wb") as file:
        for piece in request.pieces():
            digest.update(piece)
            file.write(piece)
    if request.fault and request.fault.corrupt:
        with open(part, "r+b") as file:
            file.seek(-1, 2)
            last = file.read(1)[0]
            file.seek(-1, 2)
            file.write(bytes([last ^ 1]))
    part.replace(place)
    return digest.hexdigest()


@route("PUT", r"/_store/([0-9a-f]{64})")
def put(request: Request, sha256: str) -> Answer:
    _check_signed(request)
    arrived = request.store.parts / f"{sha256}.{uuid.uuid4().hex}"
    if _receive(request, arrived) != sha256:
        arrived.unlink()
        raise RefusalError(400, "XAmzContentSHA256Mismatch")
    arrived.replace(request.store.object(sha256))
    return Answer(b"", headers={"ETag": f'"{sha256}"'})


@route("PUT", r"/_store/([0-9a-f]{64})/part/(\d+)")
def put_part(request: Request, sha256: str, number: str) -> Answer:
    _check_signed(request)
    etag = _receive(request, request.store.parts / f"{sha256}.{number}")
    return Answer(b"", headers={"ETag": f'"{etag}"'})


def _check_signed(request: Request) -> None:
    if "Authorization" in request.headers:
        raise RefusalError(400, "the token was sent to the storage")


@route("POST", r"/api/complete_multipart")
def complete_multipart(request: Request) -> Answer:
    done = request.json()
    whole = request.store.parts / f"{done['oid']}.{uuid.uuid4().hex}"
    with open(whole, "wb") as file:
        for part in done["parts"]:
            with open(request.store.parts / f"{done['oid']}.{part['partNumber']}", "rb") as piece:
                shutil.copyfileobj(piece, file)
    whole.replace(request.store.object(done["oid"]))
    return Answer()


@route("POST", DATASET + r"\.git/info/lfs/verify")
def verify(request: Request, name: str) -> Answer:
    request.store.writable(name, request.account)
    wanted = request.json()
    held = request.store.object(wanted["oid"])
    if not held.exists() or held.stat().st_size != wanted["size"]:
        raise RefusalError(404, "object not found, or of another size")
    return Answer()


@route("GET", r"/api/datasets/([^/]+/[^/]+)/xet-(read|write)-token/([^/]+)")
def xet_token(request: Request, name: str, kind: str, _revision: str) -> Answer:
    check = request.store.writable if kind == "write" else request.store.readable
    check(name, request.account)
    return token_answer(request)


def token_answer(request: Request) -> Answer:
    """Where the Xet store is, and the token for it."""
    if request.hub.xet is None:
        raise RefusalError(404, "Xet is not enabled here")
    expires = int(time.time()) + 3600
    url = request.hub.xet.url
    headers = {"X-Xet-Cas-Url": url, "X-Xet-Access-Token": "xet", "X-Xet-Token-Expiration": str(expires)}
    return Answer({"casUrl": url, "accessToken": "xet", "exp": expires}, headers=headers)


@route("GET", DATASET + r"/resolve/([^/]+)/(.+)")
def resolve(request: Request, name: str, revision: str, path: str) -> Answer:
    repo = request.store.readable(name, request.account, content=True)
    oid = repo.resolve(revision)
    headers = {"X-Repo-Commit": oid, "Accept-Ranges": "bytes"}
    node = repo.commits[oid].tree.get(path)
    if node is None:
        raise RefusalError(404, "Entry not found", "EntryNotFound", headers)
    if node.sha256 is None:
        return file_answer(request, request.store.blobs / node.oid, {**headers, "ETag": f'"{node.oid}"'})
    headers |= {"X-Linked-Etag": f'"{node.sha256}"', "X-Linked-Size": str(node.size), "ETag": f'"{node.sha256}"'}
    if request.hub.xet and (found := request.hub.xet.find(node.sha256)):
        headers["X-Xet-Hash"] = found.hash
        headers["Link"] = f'<{request.hub.endpoint}/api/datasets/{name}/xet-read-token/{oid}>; rel="xet-auth"'
    return Answer(b"", 302, {**headers, "Location": f"{request.hub.storage}/_store/{node.sha256}?Signature=s"})


@route("GET", r"/_store/([0-9a-f]{64})")
def get(request: Request, sha256: str) -> Answer:
    _check_signed(request)
    held = request.store.object(sha256)
    if not held.exists() and request.hub.xet and (found := request.hub.xet.find(sha256)):
        held = request.hub.xet.restore(found, request.store.parts / f"{sha256}.restored")
    if not held.exists():
        raise RefusalError(404, "no such object")
    return file_answer(request, held, {"ETag": f'"{sha256}"'})


def file_answer(request: Request, path: Path, headers: dict[str, str]) -> Answer:
    """A file, or the range of it that is asked for."""
    size = path.stat().st_size
    asked = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range") or "")
    if asked is None:
        return Answer((path, 0, size), headers=headers, kind="application/octet-stream")
    first, last = asked.groups()
    start = size - int(last) if first == "" else int(first)
    end = min(int(last), size - 1) if first and last else size - 1
    if start >= size:
        raise RefusalError(416, "Range Not Satisfiable", headers={"Content-Range": f"bytes */{size}"})
    headers = {**headers, "Content-Range": f"bytes {start}-{end}/{size}"}
    return Answer((path, start, end + 1 - start), 206, headers, "application/octet-stream")
