"""Table rows of a capture: its scene, its objects, its events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builders.webspatial.capture.store import Capture, dumps
from builders.webspatial.space.agree import Agreement, agreement
from builders.webspatial.space.scene import Obj, Scene


def text(value: Any) -> str:
    """A JSON column's value."""
    return dumps(value).decode()


def why_not(capture: Capture, found: Agreement) -> str | None:
    """Why no questions are made of a capture; None if they are."""
    graph = capture.data["graph"]
    if (graph.get("views") or 1) > 1:
        return "it has several views"
    if not capture.data.get("objectsSeen"):
        return "no object could be told apart in the picture"
    if capture.data.get("turns"):
        return None
    if not found.compared:
        return "no whole, unhidden mesh to compare with the picture"
    if not found.passed:
        return f"graph and pixels agree for {found.agree} of {found.compared} meshes only"
    return None


def scene_row(capture: Capture, scene: Scene) -> dict[str, Any]:
    """The row of `scenes`."""
    data = capture.data
    graph, page = data["graph"], data["page"]
    found = agreement(graph)
    framework = graph.get("framework")
    reason = why_not(capture, found)
    events = data.get("events") or {}
    canvas = capture.picture("canvas")
    ids = capture.picture("ids")
    version = framework["version"] if framework else graph.get("revision")
    return {
        "scene_id": capture.id,
        "source": page["group"],
        "page": page["path"],
        "url": page["url"],
        "commit": page["commit"],
        "licence": page["licence"],
        "redistributable": page["redistribute"],
        "engine": framework["name"] if framework else graph["engine"],
        "engine_version": str(version) if version else None,
        "kind": "dynamic" if events.get("changes") else "static",
        "seed": page["seed"],
        "width": graph["canvas"]["w"],
        "height": graph["canvas"]["h"],
        "screenshot": {"bytes": canvas, "path": f"{capture.id}.png"},
        "ids": {"bytes": ids, "path": f"{capture.id}.ids.png"} if ids else None,
        "camera": text(graph["camera"]),
        "handed": graph["handed"],
        "graph": text({key: value for key, value in graph.items() if key != "camera"}),
        "n_objects": len(scene.objects),
        "meshes_compared": found.compared,
        "meshes_agree": found.agree,
        "asked": reason is None,
        "why_not": reason,
    }


def object_rows(scene: Scene) -> list[dict[str, Any]]:
    """The rows of `objects`, by id."""
    sure = {o.id for o in scene.objects}
    every = sorted((*scene.objects, *scene.doubtful), key=lambda o: o.id)
    return [_object_row(scene.id, o, o.id in sure) for o in every]


def _object_row(scene_id: str, o: Obj, can_ask: bool) -> dict[str, Any]:
    return {
        "scene_id": scene_id,
        "object_id": o.id,
        "path": o.path,
        "name": o.name,
        "kind": o.kind,
        "shape": o.shape,
        "colour": o.colour,
        "low": [float(v) for v in o.low],
        "high": [float(v) for v in o.high],
        "box": [float(v) for v in o.box],
        "pixels": o.pixels,
        "visible": o.visible,
        "front": None if o.front is None else [float(v) for v in o.front],
        "can_ask": can_ask,
    }


def event_rows(capture: Capture) -> list[dict[str, Any]]:
    """The rows of `events`: inputs and changes in the order of their frames, an input before what it starts."""
    events = capture.data.get("events") or {}
    rows = [_input_row(record) for record in events.get("inputs", ())]
    rows += [_change_row(record) for record in events.get("changes", ())]
    rows.sort(key=lambda row: (row["start"], not row["is_input"]))
    return [{"scene_id": capture.id, "number": k, **row} for k, row in enumerate(rows)]


def _input_row(record: Mapping[str, Any]) -> dict[str, Any]:
    hit = record.get("hit") or {}
    kept = {key: value for key, value in record.items() if key not in ("frame", "type")}
    return {
        "is_input": True,
        "type": record["type"],
        "start": record["frame"],
        "end": record["frame"],
        "path": hit.get("path"),
        "object_id": hit.get("id") or None,
        "follows": None,
        "direct": None,
        "caused": None,
        "detail": text(kept),
    }


def _change_row(record: Mapping[str, Any]) -> dict[str, Any]:
    told = ("type", "object", "start", "end", "id", "follows", "direct", "caused")
    return {
        "is_input": False,
        "type": record["type"],
        "start": record["start"],
        "end": record["end"],
        "path": record["object"],
        "object_id": record.get("id"),
        "follows": (record.get("follows") or {}).get("type"),
        "direct": record["direct"],
        "caused": record["caused"],
        "detail": text({key: value for key, value in record.items() if key not in told}),
    }
