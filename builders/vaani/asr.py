"""Cross-check with a recogniser: error rates of what it heard against the transcripts, and how to ask one.

    python -P -m builders.vaani.asr DATASET OUT.tsv --endpoint URL --model NAME [--key-variable VARIABLE]

asks an OpenAI-compatible transcription endpoint for every transcribed clip of a dataset folder and writes what it heard
to a file (which is appended to and can be gone on with). That file is then a source (`--source hypotheses=OUT.tsv`), so
that a rebuild needs no endpoint. A recogniser knows few of these languages; its disagreement is a reason to listen.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jiwer
import pyarrow.parquet as pq
import regex

from builders.vaani.transcript import clean, fold
from schemas import DatasetFolder, GoldsmithError
from schemas.address import open_within_origin, shown

_TIMEOUT_S = 120


def error_rates(reference: str, heard: str) -> tuple[float, float] | None:
    """(word error rate, grapheme error rate) of `heard` against a clean text; None without a reference.

    Both texts are cleaned and folded alike. Marks are letters here: taking them off, as common normalisers do, makes
    any recogniser of an Indic language look better than it is.
    """
    wanted, given = fold(clean(reference)), fold(clean(heard))
    if not wanted:
        return None
    return float(jiwer.wer(wanted, given)), float(jiwer.wer(_graphemes(wanted), _graphemes(given)))


def _graphemes(text: str) -> str:
    """Grapheme clusters as words."""
    return " ".join(regex.findall(r"\X", text.replace(" ", "")))


def read_hypotheses(content: bytes, name: str) -> dict[str, str]:
    """utterance_id -> text, from TSV (with a header) or JSONL.

    Raises:
        GoldsmithError: a line cannot be read, or an utterance occurs twice.
    """
    found: dict[str, str] = {}
    for number, row in _lines(content.decode("utf-8-sig", "replace"), name):
        key, text = row.get("utterance_id"), row.get("text")
        if not isinstance(key, str) or not isinstance(text, str):
            raise GoldsmithError(f"[{name} > line {number}] lacks utterance_id or text: a hypothesis has both")
        if key in found:
            raise GoldsmithError(f"[{name} > line {number}] has {key} again: one hypothesis each")
        found[key] = text
    return found


def _lines(text: str, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    if text.lstrip().startswith("{"):
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise GoldsmithError(f"[{name} > line {number}] is no JSON ({error}): mend the line") from None
                yield number, row
        return
    reader = csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    for row in reader:
        yield reader.line_num, row


def transcribe(folder: DatasetFolder, out: Path, endpoint: str, model: str, key: str | None = None) -> int:
    """Ask an endpoint (`.../v1/audio/transcriptions`) for every transcribed clip that `out` lacks; how many were asked.

    Raises:
        GoldsmithError: the endpoint cannot be reached or refuses; what was heard until then is in `out`.
    """
    done = read_hypotheses(out.read_bytes(), out.name) if out.is_file() else {}
    asked = 0
    with open(out, "a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, escapechar=None)
        if not done:
            writer.writerow(["utterance_id", "text"])
        for row in _transcribed(folder):
            if row["utterance_id"] not in done:
                heard = _ask(endpoint, model, key, row["audio"], row["bcp47"])
                writer.writerow([row["utterance_id"], " ".join(heard.split())])
                file.flush()
                asked += 1
    return asked


def _transcribed(folder: DatasetFolder) -> Iterator[dict[str, Any]]:
    for path in folder.all_shards("utterances"):
        with pq.ParquetFile(path) as parquet:
            columns = ["utterance_id", "audio", "bcp47", "text_clean"]
            for batch in parquet.iter_batches(32, columns=columns):
                yield from (row for row in batch.to_pylist() if row["text_clean"])


def _ask(endpoint: str, model: str, key: str | None, audio: dict[str, Any], language: str | None) -> str:
    boundary = uuid.uuid4().hex
    fields = {"model": model, "response_format": "json"}
    if language and len(language) == 2:
        fields["language"] = language
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{audio["path"]}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    body = "".join(parts).encode() + head.encode() + audio["bytes"] + f"\r\n--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    if not endpoint.startswith(("http://", "https://")):
        raise GoldsmithError(f"[{shown(endpoint)}] is no address of an endpoint: it starts with http:// or https://")
    request = urllib.request.Request(endpoint, body, headers)  # noqa: S310 (http or https: see above)
    try:
        with open_within_origin(request, _TIMEOUT_S) as response:
            return str(json.load(response)["text"])
    except (OSError, ValueError, KeyError) as error:
        raise GoldsmithError(
            f"[{shown(endpoint)}] did not transcribe ({error}): run again, it goes on where it stopped"
        ) from None


def main(arguments: list[str]) -> None:
    """The command line of this module."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -P -m builders.vaani.asr", description="Ask a recogniser for hypotheses."
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--key-variable", help="environment variable that holds the key")
    given = parser.parse_args(arguments)
    key = os.environ.get(given.key_variable) if given.key_variable else None
    try:
        asked = transcribe(DatasetFolder(given.dataset), given.out, given.endpoint, given.model, key)
    except GoldsmithError as error:
        parser.exit(2, f"{error}\n")
    print(f"{asked} clips transcribed into {given.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
