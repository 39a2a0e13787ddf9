"""Claims, recogniser, review plan."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyarrow.parquet as pq
import pytest

from builders.vaani import asr, claims
from builders.vaani.audits import CLIPS
from builders.vaani.builder import BUILDER
from quality.annotation.plan import plan
from schemas import GoldsmithError


@pytest.mark.parametrize(
    ("text", "value", "tolerance"),
    [
        ("31,255", 31255, 0.5),
        ("~31,270", 31270, 0.5),
        ("156 K", 156000, 500),
        ("2.04K", 2040, 5),
        ("20.64", 20.64, 0.005),
    ],
)
def test_numbers_as_they_are_written(text: str, value: float, tolerance: float) -> None:
    assert claims.number_of(text) == (pytest.approx(value), pytest.approx(tolerance))


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[[claim]]\nfigure = 'hours'\n", "has no value"),
        ("[[claim]]\nfigure = 'votes'\nvalue = 1\nplace = 'x'\n", "the figures are hours"),
        ("[[claim]]\nfigure = 'hours'\nvalue = 'many'\nplace = 'x'\n", "is no number"),
        ("[[claim]]\nfigure = 'hours'\nvalue = 1\nplace = 'x'\n" * 2, "twice"),
        ("claim", "is no TOML"),
    ],
)
def test_wrong_claims(toml: str, said: str) -> None:
    with pytest.raises(GoldsmithError, match=said):
        claims.read(toml.encode())


def test_error_rates_keep_marks() -> None:
    assert asr.error_rates("नीली शर्ट", "नीली शर्ट।") == (0.0, 0.0)
    rates = asr.error_rates("नीली शर्ट", "नील शर्ट")
    assert rates is not None
    assert rates[0] == 0.5
    assert 0 < rates[1] < 0.5
    assert asr.error_rates("", "x") is None
    assert asr.error_rates("एक दो", "") == (1.0, 1.0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"utterance_id\ttext\nu\ta\nu\tb\n", "has u again"),
        (b"utterance_id\nu\n", "lacks utterance_id or text"),
        (b'{"utterance_id": "u", "text": "x"}\n{oops\n', "line 2"),
    ],
)
def test_wrong_hypotheses(content: bytes, said: str) -> None:
    with pytest.raises(GoldsmithError, match=said):
        asr.read_hypotheses(content, "heard.tsv")


def test_hypotheses_in_both_forms() -> None:
    assert asr.read_hypotheses('utterance_id\ttext\nu\tएक "दो\n'.encode(), "x") == {"u": 'एक "दो'}
    assert asr.read_hypotheses(b'{"utterance_id": "u", "text": "x"}\n', "x") == {"u": "x"}


class Endpoint(BaseHTTPRequestHandler):
    """A transcription endpoint that hears what it is told, and fails at the third clip."""

    seen: list[tuple[str, bytes]] = []  # noqa: RUF012
    fail_at = 3

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append((self.headers.get("Authorization", ""), body))
        if len(self.seen) == self.fail_at:
            self.send_error(503)
            return
        answer = json.dumps({"text": "एक\tदो\nतीन"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_an_endpoint_is_asked_and_goes_on_where_it_stopped(sample, tmp_path) -> None:
    server = HTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address, out = f"http://127.0.0.1:{server.server_port}/v1/audio/transcriptions", tmp_path / "heard.tsv"
        with pytest.raises(GoldsmithError, match="run again, it goes on"):
            asr.transcribe(sample, out, address, "whisper-1", "secret")
        assert len(asr.read_hypotheses(out.read_bytes(), "x")) == 2
        asked = asr.transcribe(sample, out, address, "whisper-1", "secret")
    finally:
        server.shutdown()
        server.server_close()
    transcribed = [
        row["utterance_id"]
        for path in sample.all_shards("utterances")
        for row in pq.read_table(path, columns=["utterance_id", "text_clean"]).to_pylist()
        if row["text_clean"]
    ]
    heard = asr.read_hypotheses(out.read_bytes(), "x")
    assert set(heard) == set(transcribed)
    assert asked == len(transcribed) - 2
    assert set(heard.values()) == {"एक दो तीन"}
    key, body = Endpoint.seen[0]
    assert key == "Bearer secret"
    assert b'name="model"\r\n\r\nwhisper-1' in body
    assert b'filename="utt_' in body


def test_gold_clips_have_a_label_of_another_family(sample, tmp_path) -> None:
    made = plan(sample, BUILDER.checks, CLIPS, ["ann"], tmp_path / "work")
    golds = {item.item_id: item for item in made.items if item.role == "gold"}
    assert len(golds) >= 5
    clips = {row["utterance_id"]: row for path in sample.all_shards("utterances")
             for row in pq.read_table(path, columns=["utterance_id", "language", "active_s"]).to_pylist()}  # fmt: skip
    for name, item in golds.items():
        assert item.answer
        clip = clips[name.removeprefix("language ")]
        if name.startswith("language "):
            assert item.answer["scores"] == {"language": "no"}
            assert item.shown[1] not in ("", clip["language"])
        else:
            assert item.answer["scores"] == {"audible": "no"}
            assert clip["active_s"] == 0
