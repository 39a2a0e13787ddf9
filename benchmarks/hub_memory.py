"""Publish 601 files and 3 GB to a loopback Hub, then a second version in which one shard changed, and measure.

Peak memory (of the publishing process and of its upload process; the sum must stay in the limit), seconds, bytes sent.
Run: python benchmarks/hub_memory.py [--gigabytes 3] [--files 600] [--no-xet] [-o FOLDER]
The Hub runs in a third process, which is not measured. The disk holds the release and the Hub's copy of it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/releases/hub")]

LIMIT_MB = 500


def make(folder: Path, gigabytes: float, files: int) -> None:
    """A release of `files` shards of random bytes (they neither compress nor repeat)."""
    from tiny import finish

    from schemas import Column, Dataset, Image, Table, Text
    from schemas.folder import shard_name
    from schemas.parquet import write_parquet

    table = Table("blobs", "Blobs.", (Column("id", Text(), "Name."), Column("blob", Image(), "Bytes.")), key=("id",))
    (folder / "data/blobs").mkdir(parents=True)
    cell, rows = 100_000, int(gigabytes * 1e9 / files / 100_000)
    for index in range(files):
        content = np.random.default_rng(index)
        column = [{"bytes": content.bytes(cell), "path": "b"} for _ in range(rows)]
        ids = [f"{index}-{row}" for row in range(rows)]
        batch = pa.RecordBatch.from_pydict({"id": ids, "blob": column}, table.arrow)
        write_parquet(folder / "data/blobs" / shard_name("train", index, files), table.arrow, [batch])
    finish(folder, Dataset("blobs", "Blobs", "Blobs.", (table,)), "1.0.0")


def second(first: Path, folder: Path) -> None:
    """Version 1.1.0: the same shards (hard links), but one with a row less."""
    import pyarrow.parquet as pq
    from tiny import finish

    from schemas import Dataset
    from schemas.parquet import write_parquet

    dataset = Dataset.from_json(json.loads((first / "build.json").read_text())["schema"])
    (folder / "data/blobs").mkdir(parents=True)
    shards = sorted((first / "data/blobs").iterdir())
    for shard in shards[1:]:
        os.link(shard, folder / "data/blobs" / shard.name)
    rows = pq.read_table(shards[0])
    write_parquet(folder / "data/blobs" / shards[0].name, rows.schema, rows.slice(1).combine_chunks().to_batches())
    finish(folder, dataset, "1.1.0")


def publish(release: Path, endpoint: str, xet: bool) -> None:
    """In a process of its own: publish, and print what it took as JSON."""
    from releases.hub.publish import publish

    began = time.monotonic()
    outcome = publish(release, "acme/blobs", endpoint=endpoint, xet=xet)
    status = Path("/proc/self/status").read_text()  # ru_maxrss would count what the parent had before exec
    own = int(status.split("VmHWM:")[1].split()[0]) // 1024
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    seconds = round(time.monotonic() - began, 1)
    read = len(outcome.read)
    print(
        json.dumps({"status": outcome.status, "publish_mb": own, "upload_mb": worker, "seconds": seconds, "read": read})
    )


def serve(folder: Path, xet: bool) -> None:
    """In a process of its own: the Hub. Prints its endpoint; then, for each line on stdin, the bytes it was sent."""
    from driver import ACCOUNTS
    from loophub import Loophub

    with Loophub(folder, ACCOUNTS, xet=xet) as hub:
        print(hub.endpoint, flush=True)
        for _ in sys.stdin:
            puts = sum(record.bytes_in for record in hub.log if record.method == "PUT")
            print(hub.xet.stored_bytes() if hub.xet else puts, flush=True)


def run(folder: Path, gigabytes: float, files: int, xet: bool) -> bool:
    """All of it; whether the limits are kept."""
    from driver import TOKEN

    began = time.monotonic()
    make(folder / "1", gigabytes, files)
    second(folder / "1", folder / "2")
    count, size = len([*folder.glob("1/**/*.*")]), sum(p.stat().st_size for p in folder.glob("1/**/*.*"))
    print(f"made {count} files, {size / 1e9:.2f} GB in {time.monotonic() - began:.0f} s")
    me = [sys.executable, __file__]
    hub = subprocess.Popen(
        [*me, "--serve", str(folder / "hub"), *([] if xet else ["--no-xet"])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert hub.stdin is not None
    assert hub.stdout is not None
    endpoint = hub.stdout.readline().strip()
    (folder / "home").mkdir()
    (folder / "home/token").write_text(TOKEN)
    environment = {**os.environ, "HF_HOME": str(folder / "home"), "HF_HUB_DISABLE_TELEMETRY": "1"}
    good, before = True, 0
    for version in ("1", "2"):
        command = [*me, "--publish", str(folder / version), endpoint, *([] if xet else ["--no-xet"])]
        out = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        print("sent?", file=hub.stdin, flush=True)
        sent = int(hub.stdout.readline())
        result = {**json.loads(out), "sent_mb": round((sent - before) / 1e6, 1)}
        before = sent
        print(f"version {version}, {'Xet' if xet else 'plain LFS'}: {json.dumps(result)}")
        good &= result["publish_mb"] + result["upload_mb"] < LIMIT_MB
        good &= version == "1" or result["sent_mb"] < 0.02 * size / 1e6
    hub.stdin.close()
    hub.wait()
    print(f"peak below {LIMIT_MB} MB and unchanged shards not sent again: {'yes' if good else 'NO'}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=3)
    parser.add_argument("--files", type=int, default=600)
    parser.add_argument("--no-xet", action="store_true")
    parser.add_argument("-o", "--out", type=Path, help="a folder on the disk to use (default: a temporary one)")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--publish", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    xet = not arguments.no_xet
    if arguments.serve:
        serve(arguments.serve, xet)
    elif arguments.publish:
        publish(Path(arguments.publish[0]), arguments.publish[1], xet)
    else:
        with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
            sys.exit(not run(Path(folder), arguments.gigabytes, arguments.files, xet))


if __name__ == "__main__":
    main()
