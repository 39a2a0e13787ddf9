"""A server on the loopback that speaks S3 (moto, in its own environment) and checks the signature of every call."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]

_MAY_ALL = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
_OPEN_CALLS = 3
"""The server takes as many calls from anybody: those that make the one account."""


def executable() -> str | None:
    """GOLDSMITH_S3_SERVER, or what `make s3-server` has made; None where there is neither."""
    return shutil.which(os.environ.get("GOLDSMITH_S3_SERVER") or ROOT / ".venv-s3-server" / "bin" / "moto_server")


@dataclass
class S3:
    """A server, and what a client must know of it."""

    environment: dict[str, str]
    client: Any

    def put(self, folder: Path, bucket: str, prefix: str) -> None:
        """Lay a folder into a bucket."""
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            key = f"{prefix}/{path.relative_to(folder).as_posix()}"
            self.client.put_object(Bucket=bucket, Key=key, Body=path.read_bytes())

    def objects(self, bucket: str, prefix: str) -> dict[str, bytes]:
        """All that is there below a prefix."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/")
        keys = [found["Key"] for page in pages for found in page.get("Contents", ())]
        read = {key: self.client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}
        return {key.removeprefix(f"{prefix}/"): content for key, content in read.items()}


@contextmanager
def running(program: str) -> Iterator[S3]:
    """A server with one account that may do all; who has no key of it may do nothing."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "-H", "127.0.0.1", "-p", str(port)]
    environment = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(_OPEN_CALLS)}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(server, port)
        yield _account(f"http://127.0.0.1:{port}")
    finally:
        server.kill()
        server.wait()


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        assert server.poll() is None, "the S3 server ended"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the S3 server did not come up")


def _account(url: str) -> S3:
    import botocore.session

    session = botocore.session.Session()
    anybody = {"aws_access_key_id": "anybody", "aws_secret_access_key": "anybody"}
    accounts = session.create_client("iam", endpoint_url=url, region_name="us-east-1", **anybody)
    accounts.create_user(UserName="builder")
    key = accounts.create_access_key(UserName="builder")["AccessKey"]
    accounts.put_user_policy(UserName="builder", PolicyName="all", PolicyDocument=json.dumps(_MAY_ALL))
    own = {"aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
    variables = {name.upper(): value for name, value in own.items()}
    return S3(
        {**variables, "AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1"},
        session.create_client("s3", endpoint_url=url, region_name="us-east-1", **own),
    )
