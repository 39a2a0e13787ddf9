"""A folder served from loopback, and library files of npm packages in place of the two big CDNs.

Not its business: which requests a page may make (`page`).
"""

from __future__ import annotations

import http.server
import json
import mimetypes
import re
import shutil
import subprocess
import tarfile
import threading
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.rooms import Room

MIME = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".cjs": "text/javascript",
    ".ts": "text/javascript",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".htm": "text/html; charset=utf-8",
    ".css": "text/css",
    ".glb": "model/gltf-binary",
    ".gltf": "model/gltf+json",
    ".wasm": "application/wasm",
    ".bin": "application/octet-stream",
    ".hdr": "application/octet-stream",
}
CDN = re.compile(
    r"^https?://(?:cdn\.jsdelivr\.net/npm|fastly\.jsdelivr\.net/npm|unpkg\.com)/((?:@[^/]+/)?[^@/]+)(?:@([^/]+))?(/.*)?$"
)

NAME = re.compile(r"(@[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*", re.ASCII)
VERSION = re.compile(r"[\w^~+][\w.^~+-]*", re.ASCII)


def mime(path: Path) -> str:
    """The content type of a file, by its suffix."""
    return MIME.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"


class FolderServer:
    """Serves `root` at `base` (127.0.0.1, any free port); `extra` maps URL prefixes to further folders. Read only."""

    def __init__(self, root: Path, extra: Mapping[str, Path] | None = None, isolate: bool = False) -> None:
        folders = [(prefix, Path(folder).resolve()) for prefix, folder in (extra or {}).items()]
        folders.append(("/", Path(root).resolve()))

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                file = _file(folders, urllib.parse.unquote(urllib.parse.urlsplit(self.path).path))
                body = file.read_bytes() if file else b"not found"
                self.send_response(200 if file else 404)
                self.send_header("content-type", mime(file) if file else "text/plain")
                self.send_header("content-length", str(len(body)))
                self.send_header("access-control-allow-origin", "*")
                self.send_header("cache-control", "no-store")
                if isolate:
                    self.send_header("cross-origin-opener-policy", "same-origin")
                    self.send_header("cross-origin-embedder-policy", "require-corp")
                self.end_headers()
                try:
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: a page's requests are kept by `page`."""

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self._server.server_port}/"

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()


def _file(folders: list[tuple[str, Path]], path: str) -> Path | None:
    for prefix, folder in folders:
        if path.startswith(prefix):
            file = (folder / path[len(prefix) :].lstrip("/")).resolve()
            file = file / "index.html" if file.is_dir() else file
            return file if file.is_relative_to(folder) and file.is_file() else None
    return None


class Packages:
    """Files of npm packages of exact versions, fetched by npm itself and kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._absent: set[str] = set()
        self._lock = threading.Lock()

    def file_of(self, url: str) -> Path | None:
        """The file that a jsdelivr or unpkg URL names, from the package itself; None where it cannot be had."""
        match = CDN.match(url)
        if match is None:
            return None
        name, version, path = match[1], match[2] or "latest", (match[3] or "/").split("?")[0]
        folder = self.package(name, version)
        if folder is None:
            return None
        if path == "/":
            path = _entry(json.loads((folder / "package.json").read_text(encoding="utf-8")))
        for candidate in (folder / path.lstrip("/"), folder / (path.lstrip("/") + ".js")):
            file = candidate.resolve()
            if file.is_file() and file.is_relative_to(folder.resolve()):
                return file
        return None

    def package(self, name: str, version: str) -> Path | None:
        """The folder of a package, fetched with `npm pack` if it is not there yet; None where npm cannot.

        Both come from a page: what is no plain name and version of a registry is never shown to npm.
        """
        if not (NAME.fullmatch(name) and VERSION.fullmatch(version)):
            return None
        key = f"{name}@{version}"
        folder = self.folder / key.replace("/", "+")
        with self._lock:
            if (folder / "package.json").is_file():
                return folder
            if key in self._absent or not self._fetched(key, folder):
                self._absent.add(key)
                return None
        return folder

    def _fetched(self, key: str, folder: Path) -> bool:
        """Whether the package is now in `folder`, whole: it is unpacked beside it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with Room("part", self.folder) as part:
            command = ["npm", "pack", "--silent", "--ignore-scripts", "--", key]
            try:
                done = subprocess.run(command, cwd=part, capture_output=True, text=True, timeout=120)  # noqa: S603  (npm, by name)
                archive, unpacked = Path(part, (done.stdout.split() or ["none"])[-1]), Path(part, "unpacked")
                if done.returncode or not archive.is_file():
                    return False
                unpacked.mkdir()
                with tarfile.open(archive) as packed:
                    for member in packed.getmembers():
                        member.name = member.name.partition("/")[2]
                        if member.name:
                            packed.extract(member, unpacked, filter="data")
            except (FileNotFoundError, subprocess.TimeoutExpired, tarfile.TarError, EOFError):
                return False
            shutil.rmtree(folder, ignore_errors=True)
            unpacked.rename(folder)
        return True


def _entry(package: dict[str, Any]) -> str:
    browser = package.get("browser")
    for value in (package.get("jsdelivr"), package.get("unpkg"), browser, package.get("main")):
        if isinstance(value, str):
            return "/" + value.removeprefix("./")
    return "/index.js"
