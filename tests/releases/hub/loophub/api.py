"""The Hub's API for datasets: accounts, repositories, refs, trees, commits, settings."""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from typing import Any

import yaml

from loophub.server import Answer, Request, route
from loophub.store import Commit, Node, RefusalError, Repo, large

API = r"/api/datasets/([^/]+/[^/]+)"
LARGE_NAME = re.compile(r"\.(parquet|arrow|zip|tar|gz|zst|npy|png|jpe?g|wav|flac|ogg|mp3|bin)$")
LARGE_SIZE = 10 << 20
DATE = "2026-01-01T00:00:00.000Z"


@route("GET", r"/api/whoami-v2")
def whoami(request: Request) -> Answer:
    account = request.account
    if account is None:
        raise RefusalError(401, "Invalid credentials in Authorization header")
    orgs = [{"name": name, "roleInOrg": role} for name, role in account.orgs.items()]
    token = {"displayName": "test", "role": account.role}
    return Answer({"type": "user", "name": account.name, "orgs": orgs, "auth": {"accessToken": token}})


@route("GET", API + r"/auth-check/write")
def auth_check_write(request: Request, name: str) -> Answer:
    request.store.writable(name, request.account)
    return Answer()


@route("POST", r"/api/repos/create")
def create(request: Request) -> Answer:
    wish, account = request.json(), request.account
    name = f"{wish.get('organization') or (account.name if account else '')}/{wish['name']}"
    author = request.store.check_writer(name, account).name
    url = f"{request.hub.endpoint}/datasets/{name}"
    with request.store.lock:
        if name in request.store.repos:
            return Answer({"error": "You already created this dataset repo", "url": url}, 409)
        private = wish.get("visibility") == "private" or wish.get("private") is True
        request.store.create(name, author, "private" if private else "public")
    return Answer({"url": url, "name": name, "id": name})


@route("GET", API)
@route("GET", API + r"/revision/([^/]+)")
def info(request: Request, name: str, revision: str = "main") -> Answer:
    repo = request.store.readable(name, request.account)
    oid = repo.resolve(revision)
    siblings = [{"rfilename": path} for path in sorted(repo.commits[oid].tree)]
    settings = {"private": repo.visibility == "private", "gated": repo.gated, "disabled": False}
    card = _card(request, repo.commits[oid].tree)
    dates = {"lastModified": DATE, "createdAt": DATE}
    return Answer({"id": name, "sha": oid, "siblings": siblings, "tags": [], "cardData": card, **settings, **dates})


def _card(request: Request, tree: dict[str, Node]) -> Any:
    if "README.md" not in tree:
        return {}
    text = (request.store.blobs / tree["README.md"].oid).read_text(encoding="utf-8")
    head = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    return yaml.safe_load(head[1]) if head else {}


@route("PUT", API + r"/settings")
def settings(request: Request, name: str) -> Answer:
    repo, wish = request.store.writable(name, request.account), request.json()
    repo.visibility = wish.get("visibility", repo.visibility)
    if "private" in wish:
        repo.visibility = "private" if wish["private"] else "public"
    repo.gated = wish.get("gated", repo.gated)
    return Answer()


@route("POST", r"/api/validate-yaml")
def validate_yaml(request: Request) -> Answer:
    head = re.match(r"\s*---\s*\n(.*?)\n---\s*(\n|$)", request.json()["content"], re.DOTALL)
    try:
        bad = [key for key in _keys(yaml.safe_load(head[1]) if head else {}) if "." in key or "$" in key]
        message = f'"{bad[0]}" is no key' if bad else ""
    except yaml.YAMLError as error:
        message = f"YAML: {error}"
    if message:
        return Answer({"errors": [{"message": message}], "warnings": []}, 400)
    return Answer({"errors": [], "warnings": []})


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [str(key) for key in value] + [key for inner in value.values() for key in _keys(inner)]
    return [key for inner in value for key in _keys(inner)] if isinstance(value, list) else []


@route("GET", API + r"/refs")
def refs(request: Request, name: str) -> Answer:
    repo = request.store.readable(name, request.account)
    found: dict[str, list[dict[str, str]]] = {"heads": [], "tags": []}
    for ref, oid in repo.refs.items():
        _, kind, short = ref.split("/", 2)
        found[kind].append({"name": short, "ref": ref, "targetCommit": oid})
    return Answer({"branches": found["heads"], "tags": found["tags"], "converts": []})


@route("POST", API + r"/(branch|tag)/([^/]+)")
@route("DELETE", API + r"/(branch|tag)/([^/]+)")
def ref(request: Request, name: str, kind: str, what: str) -> Answer:
    repo, wish = request.store.writable(name, request.account), request.json()
    if request.command == "POST" and kind == "tag":  # the path names the revision, the body the tag
        short, start = wish["tag"], what
    else:
        short, start = what, wish.get("startingPoint", "main")
    full = f"refs/{'heads' if kind == 'branch' else 'tags'}/{short}"
    with request.store.lock:
        if request.command == "DELETE":
            if full not in repo.refs:
                raise RefusalError(404, f"{short} not found", "RevisionNotFound")
            del repo.refs[full]
        elif full in repo.refs:
            raise RefusalError(409, f"Reference {full} already exists")
        else:
            repo.refs[full] = repo.resolve(start)
    return Answer()


@route("GET", API + r"/commits/([^/]+)")
def commits(request: Request, name: str, revision: str) -> Answer:
    repo = request.store.readable(name, request.account)
    return Answer(
        [
            {"id": oid, "title": commit.title, "message": "", "date": DATE, "authors": [{"user": commit.author}]}
            for oid, commit in ((oid, repo.commits[oid]) for oid in repo.history(repo.resolve(revision)))
        ]
    )


def _item(path: str, node: Node) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "file", "oid": node.oid, "size": node.size, "path": path}
    if node.sha256:
        item["lfs"] = {"oid": node.sha256, "size": node.size, "pointerSize": 130}
    return item


@route("GET", API + r"/tree/([^/]+)")
@route("GET", API + r"/tree/([^/]+)/(.+)")
def tree(request: Request, name: str, revision: str, below: str = "") -> Answer:
    repo = request.store.readable(name, request.account)
    prefix, deep = (f"{below}/" if below else ""), request.one("recursive").lower() in ("true", "1")
    items: dict[str, dict[str, Any]] = {}
    for path, node in sorted(repo.tree(revision).items()):
        if not path.startswith(prefix):
            continue
        parts = path.removeprefix(prefix).split("/")
        for depth in range(1, len(parts) if deep else min(2, len(parts))):
            folder = prefix + "/".join(parts[:depth])
            items[folder] = {"type": "directory", "oid": "0" * 40, "size": 0, "path": folder}
        if deep or len(parts) == 1:
            items[path] = _item(path, node)
    if below and not items:
        raise RefusalError(404, f'{below} does not exist on "{revision}"', "EntryNotFound")
    found, start, size = list(items.values()), int(request.one("cursor", "0")), int(request.one("limit", "1000"))
    headers = {}
    if start + size < len(found):
        query = urllib.parse.urlencode({**{k: v[0] for k, v in request.query.items()}, "cursor": start + size})
        headers["Link"] = f'<{request.hub.endpoint}{request.route_path}?{query}>; rel="next"'
    return Answer(found[start : start + size], headers=headers)


@route("POST", API + r"/paths-info/([^/]+)")
def paths_info(request: Request, name: str, revision: str) -> Answer:
    files = request.store.readable(name, request.account).tree(revision)
    wanted = urllib.parse.parse_qs(request.body().decode()).get("paths", [])
    return Answer([_item(path, files[path]) for path in wanted if path in files])


@route("POST", API + r"/preupload/([^/]+)")
def preupload(request: Request, name: str, revision: str) -> Answer:
    files = request.store.writable(name, request.account).tree(revision)
    modes = []
    for file in request.json()["files"]:
        binary = b"\0" in base64.b64decode(file.get("sample") or "")
        is_large = bool(LARGE_NAME.search(file["path"])) or file["size"] > LARGE_SIZE or binary
        mode = {"path": file["path"], "uploadMode": "lfs" if is_large else "regular", "shouldIgnore": False}
        if node := files.get(file["path"]):
            mode["oid"] = node.sha256 or node.oid
        modes.append(mode)
    return Answer({"files": modes})


@route("POST", API + r"/commit/([^/]+)")
def commit(request: Request, name: str, revision: str) -> Answer:
    account = request.account
    header, *operations = [json.loads(line) for line in request.body().splitlines() if line.strip()]
    with request.store.lock:
        repo = request.store.writable(name, account)
        branch = f"refs/heads/{revision}"
        if branch not in repo.refs:
            raise RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        parent, value = repo.refs[branch], header["value"]
        if value.get("parentCommit") not in (None, parent):
            raise RefusalError(412, "A commit has happened since. Please refresh and try again.")
        files = dict(repo.commits[parent].tree)
        for operation in operations:
            _apply(request, repo, files, operation["key"], operation["value"])
        oid = repo.add(Commit(parent, files, value["summary"], account.name if account else ""))
        repo.refs[branch] = oid
    url = f"{request.hub.endpoint}/datasets/{name}/commit/{oid}"
    return Answer({"success": True, "commitOid": oid, "commitUrl": url, "hookOutput": ""})


def _apply(request: Request, repo: Repo, files: dict[str, Node], key: str, value: dict[str, Any]) -> None:
    path = value["path"]
    match key:
        case "file":
            files[path] = request.store.keep_blob(base64.b64decode(value["content"]))
        case "lfsFile":
            files[path] = large(value["oid"], _object_size(request, path, value["oid"]))
        case "deletedFile" if path in files:
            del files[path]
        case "deletedFile":
            raise RefusalError(404, "A file with this name doesn't exist", "EntryNotFound")
        case _:
            raise RefusalError(400, f"unknown operation {key} in {repo.name}")


def _object_size(request: Request, path: str, sha256: str) -> int:
    held = request.store.object(sha256)
    if held.exists():
        return held.stat().st_size
    if request.hub.xet and (found := request.hub.xet.find(sha256)):
        return found.size
    message = f"an LFS pointer pointed to a file that does not exist. Offending file: {path}"
    raise RefusalError(400, f"Your push was rejected because {message}")
