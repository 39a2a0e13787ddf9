"""The few calls of Label Studio's REST interface that an audit needs, on the standard library.

Its SDK is not used: it needs numpy < 2.3 and OpenCV, which do not go with this toolkit, for a dozen plain calls. The
server's answers are not trusted: `quality.annotation.sheets` checks every result.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas import GoldsmithError
from schemas.address import open_within_origin, refuse_key

TOKEN_VARIABLE = "LABEL_STUDIO_API_KEY"  # noqa: S105 (the name of a variable)
_TRIES, _PAUSE = 4, 0.5
_UPLOADED = 50
"""Files in one request; the server unpacks a request in memory."""


@dataclass(frozen=True)
class Server:
    """A Label Studio server and a token that may make projects on it.

    Attributes:
        token: a legacy token, or a personal access token (a JWT that is exchanged for a short-lived one).
        timeout: seconds without an answer.
    """

    url: str
    token: str
    timeout: float = 120

    def __post_init__(self) -> None:
        refuse_key("--url", self.url)
        if not self.url.startswith(("http://", "https://")):
            raise GoldsmithError(f"[{self.url}] is no address of a server: write it as http://host:port")
        if not self.token:
            raise GoldsmithError(f"[{self.url}] there is no token: put that of your account into {TOKEN_VARIABLE}")

    def call(
        self, method: str, path: str, body: Any = None, *, data: bytes | None = None, kind: str = "application/json"
    ) -> Any:
        """The JSON that a call answers.

        Reads are tried again when the server is busy or cannot be reached; writes are not, for a lost answer is no lost
        request (every write of this room looks first whether it was done already).

        Raises:
            GoldsmithError: the server refuses, fails or cannot be reached.
        """
        payload = data if data is not None else None if body is None else json.dumps(body).encode()
        for attempt in range(1, _TRIES + 1):
            request = urllib.request.Request(self.url.rstrip("/") + path, payload, method=method)  # noqa: S310
            request.add_header("Authorization", self._authorisation())
            request.add_header("Content-Type", kind)
            last = attempt == _TRIES or method != "GET"
            try:
                with open_within_origin(request, self.timeout) as answer:
                    text = answer.read()
                return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                if last or error.code not in (429, 500, 502, 503, 504):
                    raise GoldsmithError(_refusal(self.url, method, path, error)) from None
            except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
                if last:
                    raise _unreachable(self.url, error) from None
            except ValueError:
                raise GoldsmithError(
                    f"[{self.url}{path}] answers something else than JSON: is it Label Studio?"
                ) from None
            time.sleep(_PAUSE * attempt)
        raise AssertionError("unreachable")

    def _authorisation(self) -> str:
        if self.token.count(".") != 2:
            return f"Token {self.token}"
        request = urllib.request.Request(  # noqa: S310
            self.url.rstrip("/") + "/api/token/refresh/",
            json.dumps({"refresh": self.token}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with open_within_origin(request, self.timeout) as answer:
                return f"Bearer {json.loads(answer.read())['access']}"
        except (urllib.error.HTTPError, ValueError, KeyError) as error:
            raise GoldsmithError(f"[{self.url}] takes no such token ({error}): make a new one") from None
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(self.url, error) from None

    def users(self) -> dict[str, int]:
        """The ids of accounts by e-mail address."""
        found = self.call("GET", "/api/users/")
        listed = found if isinstance(found, list) else found["results"]
        return {user["email"].lower(): user["id"] for user in listed}

    def projects(self) -> Iterator[Mapping[str, Any]]:
        """All projects the token sees."""
        page = 1
        while True:
            answer = self.call("GET", f"/api/projects/?page={page}&page_size=100")
            yield from answer["results"]
            if not answer.get("next"):
                return
            page += 1

    def create_project(self, title: str, description: str, config: str, instruction: str) -> int:
        """A new project; the server checks the page first."""
        self.call("POST", "/api/projects/validate/", {"label_config": config})
        project = self.call(
            "POST",
            "/api/projects/",
            {
                "title": title,
                "description": description,
                "label_config": config,
                "expert_instruction": instruction,
                "show_instruction": True,
                "show_skip_button": True,
                "enable_empty_annotation": True,
                "sampling": "Sequential sampling",
                "maximum_annotations": 1,
            },
        )
        return project["id"]

    def export(self, project: int) -> list[dict[str, Any]]:
        """All tasks of a project with their annotations, as the server has them now."""
        return self.call("GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true")

    def upload(self, project: int, files: Mapping[str, bytes]) -> dict[str, str]:
        """Put files on the server; the address of each within it, by its name. No task is made of them."""
        addresses: dict[str, str] = {}
        names = sorted(files)
        for start in range(0, len(names), _UPLOADED):
            some = names[start : start + _UPLOADED]
            body, kind = _multipart({name: files[name] for name in some})
            path = f"/api/projects/{project}/import?commit_to_project=false"
            answer = self.call("POST", path, data=body, kind=kind)
            for number in answer["file_upload_ids"]:
                stored = self.call("GET", f"/api/import/file-upload/{number}")["file"]
                # The server keeps `name` as `upload/<project>/<random>-name`.
                name = next(name for name in some if stored.endswith(f"-{name}"))
                addresses[name] = f"/data/{stored}"
        if missing := sorted(set(files) - set(addresses)):
            raise GoldsmithError(f"[{self.url} > project {project}] did not keep {missing[0]}: push again")
        return addresses

    def import_tasks(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> list[int]:
        """Add tasks; their ids."""
        answer = self.call("POST", f"/api/projects/{project}/import?return_task_ids=true", list(tasks))
        return answer["task_ids"]


def _multipart(files: Mapping[str, bytes]) -> tuple[bytes, str]:
    border = uuid.uuid4().hex
    parts = []
    for number, (name, data) in enumerate(files.items()):
        head = f'--{border}\r\nContent-Disposition: form-data; name="file{number}"; filename="{name}"\r\n'
        parts += [head.encode(), b"Content-Type: application/octet-stream\r\n\r\n", data, b"\r\n"]
    return b"".join([*parts, f"--{border}--\r\n".encode()]), f"multipart/form-data; boundary={border}"


def _unreachable(url: str, error: Exception) -> GoldsmithError:
    return GoldsmithError(f"[{url}] cannot be reached ({getattr(error, 'reason', error)}): is it running?")


def _refusal(url: str, method: str, path: str, error: urllib.error.HTTPError) -> str:
    said = error.read(2000).decode("utf-8", "replace")
    try:
        form = json.loads(said)
        said = json.dumps(form.get("validation_errors") or form.get("detail") or form)
    except (ValueError, AttributeError):
        said = error.reason if said.lstrip().startswith("<") else said
    cures = {401: "is the token right?", 403: "has the account the right to do it?", 404: "is the address right?"}
    plain = " ".join(str(said).split())[:300]
    where = urllib.parse.urlsplit(path).path
    return f"[{url} > {method} {where}] answers {error.code} ({plain}): {cures.get(error.code, 'see its log')}"
