"""Programs: what is one, how references resolve, and wordings that read back."""

from __future__ import annotations

import http.server
import json
import threading

import pytest

from builders.webspatial.space import planner, wording
from builders.webspatial.space.kinds import KINDS, parse
from builders.webspatial.space.program import check, find
from schemas import GoldsmithError

SIDE = {"tool": "side", "args": {"a": {"mark": "A"}, "b": {"mark": "B"}}}


@pytest.mark.parametrize(
    "broken",
    [
        None,
        {"tool": "os.system", "args": {}},
        {"tool": "side", "args": {"a": {"mark": "A"}}},
        {"tool": "side", "args": {"a": {"mark": "Z"}, "b": {"mark": "B"}}},
        {"tool": "side", "args": {"a": 3, "b": {"mark": "B"}}},
        {"tool": "count", "args": {"colour": "mauve"}},
        {**SIDE, "answer": "left"},
    ],
)
def test_what_is_no_program_is_refused(broken):
    check(SIDE)
    with pytest.raises(GoldsmithError):
        check(broken)


def test_a_description_must_fit_one_object_and_nothing_doubtful(scene):
    red = {"at": (0, 0, 0)}
    wanted = {"unique": {"colour": "red", "shape": "cube"}}
    assert find(scene([red]), wanted, {}).id == 1
    assert find(scene([red, {"at": (3, 0, 0)}]), wanted, {}) is None
    dark = {"at": (3, 0, 0), "rgb": [20, 0, 0]}  # Red paint that looks black here.
    assert find(scene([red, dark]), wanted, {}) is None


def test_every_template_reads_back_to_its_own_kind(captures):
    from builders.webspatial.capture import store
    from builders.webspatial.space.scene import load

    seen = set()
    for name in store.names(captures)[::9]:
        for c in planner.candidates(load(name, store.read(captures / name).data)):
            assert parse(c.text)[0] == c.kind
            assert wording.same(c.text, c)
            seen.add(c.kind)
    assert len(seen) >= 15


def _candidate():
    text = KINDS["left_right"].text.format(a="object A", b="object B")
    return planner.Candidate(
        "s", "left_right", "marks", text, ("left", "right"), "left", SIDE, {"A": 1, "B": 2}, (), 8.0, 1
    )


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("For the viewer, does object A lie to the left or to the right of object B?", True),
        ("For the viewer, does object B lie left or right of object A?", False),
        ("For the viewer, does object A lie left of object B?", False),
        ("For the viewer, is object A left or right of object B and above or below it?", False),
        ("Is object A in front of or behind object B for the camera?", False),
        ("For the viewer, does object A lie left or right of object C?", False),
        ("", False),
    ],
)
def test_a_paraphrase_is_kept_only_if_it_asks_the_same(text, kept):
    assert (wording.paraphrase(_candidate(), lambda prompt: text) is not None) == kept


@pytest.fixture
def endpoint():
    """A chat endpoint on loopback that says what it is told to say, and knows what it was sent."""
    replies: list[bytes] = []
    prompts: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prompts.append(body["messages"][0]["content"])
            reply = replies.pop(0)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", replies, prompts
    server.shutdown()
    server.server_close()


def _says(text):
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def test_a_model_that_misbehaves_adds_nothing(endpoint):
    url, replies, prompts = endpoint
    ask = wording.endpoint(url, "any", seconds=2)
    good = "For the viewer, does object A lie to the left or to the right of object B?"
    replies += [_says(good), _says(good + " Answer: left, or above?"), b"no json", b'{"choices": []}', _says("")]
    found = [wording.paraphrase(_candidate(), ask) for _ in range(5)]
    assert [f is not None for f in found] == [True, False, False, False, False]
    assert not any("left" in p.split("\n\n")[0] for p in prompts)


def test_plans_are_checked_and_answered_by_tools(endpoint, scene):
    url, replies, _ = endpoint
    s = scene([{"at": (-3, 0, 0)}, {"at": (3, 0, 0)}])
    good = {"program": SIDE, "marks": {"A": 1, "B": 2}}
    replies.append(_says(json.dumps([good, {"program": {"tool": "rm"}}, {"program": SIDE, "marks": {"A": 1, "B": 9}}])))
    plans = wording.plan(s, wording.endpoint(url, "any"))
    assert len(plans) == 2
    made = list(wording.planned(s, plans))
    assert [(c.text, c.answer) for c in made] == [(KINDS["left_right"].text.format(a="object A", b="object B"), "left")]


def test_a_record_reads_back(scene):
    text = json.dumps({"type": "paraphrase", "question_id": "q", "text": "t"}) + "\n\n"
    assert wording.read(text).paraphrases == {"q": "t"}
    with pytest.raises(GoldsmithError, match="line 1"):
        wording.read("{")


def test_a_model_that_never_answers_is_given_up():
    def silent(prompt: str) -> str:
        raise OSError("refused")

    ask = wording.patient(silent, most=2)
    with pytest.raises(OSError, match="refused"):
        ask("1")
    with pytest.raises(GoldsmithError, match="gives no answer"):
        ask("2")
    says = iter(["yes"])
    ask = wording.patient(lambda prompt: next(says, None) or silent(prompt), most=1)
    assert ask("1") == "yes"
    with pytest.raises(OSError, match="refused"):
        ask("2")


@pytest.mark.parametrize(("pictures", "asked"), [([0, 12, 20], True), ([0, 20], True), ([0, 12], False), ([], False)])
def test_what_happens_is_asked_only_where_the_first_and_the_last_picture_are(scene, pictures, asked):
    told = {"type": "move", "object": "scene0/a", "start": 0, "end": 20, "path": 3.0, "caused": False}
    told |= {"world_from": [0, 0, 0], "world_to": [3, 0, 0]}
    events = {"frames": 20, "inputs": [], "changes": [told], "pictures": pictures}
    s = scene([{"at": (0, 0, 0), "name": "a"}, {"at": (-3, 0, 0), "name": "b"}], events=events)
    found = {(c.kind, c.answer) for c in planner.candidates(s) if KINDS[c.kind].group == "time"}
    assert bool(found) is asked
    if asked:
        assert {("trajectory", "right"), ("change", "moved"), ("still", "yes"), ("still", "no")} <= found
