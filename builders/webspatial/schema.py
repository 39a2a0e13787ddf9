"""WebSpatial's tables: scenes, their objects, what happened in them, and the questions."""

from __future__ import annotations

from builders.webspatial.space.kinds import KINDS
from schemas import Bool, Column, Dataset, Float, Image, Int, Json, List, Table, Text

SCENES = Table(
    "scenes",
    "A running web application at one frozen instant: its picture, camera and scene graph.",
    (
        Column("scene_id", Text(), "The capture's name: page and a hash of how it was driven."),
        Column("source", Text(), "Whose application: owner/repository."),
        Column("page", Text(), "The page in it, with its query."),
        Column("url", Text(), "Where the application is from."),
        Column("commit", Text(), "Its version there; empty for what is bundled."),
        Column("licence", Text(), "Licence of the application."),
        Column("redistributable", Bool(), "Whether pictures of it may be passed on."),
        Column("engine", Text(), "What draws it.", allowed=("three.js", "A-Frame", "Babylon.js", "PlayCanvas")),
        Column("engine_version", Text(), "The engine's release, as it says itself.", nullable=True),
        Column("kind", Text(), "Whether something changes in its time line.", allowed=("static", "dynamic")),
        Column("seed", Int(64), "Seed of the page's random numbers."),
        Column("width", Int(32), "Of the canvas.", unit="px", minimum=1),
        Column("height", Int(32), "Of the canvas.", unit="px", minimum=1),
        Column("screenshot", Image(), "What the page drew, without marks."),
        Column("ids", Image(), "The same pixels with object ids in place of colours (r + 256 g + 65536 b).",
        nullable=True), Column("camera", Json(), "Position, axes, field of view and matrices, as the engine has them."),
        Column("handed", Text(), "Handedness of the engine's world in `graph`.", allowed=("right", "left")),
        Column("graph", Json(), "The scene graph: nodes with identity, type, geometry, material, transform and boxes."),
        Column("n_objects", Int(32), "Objects that are seen well enough to be asked about.", minimum=0),
        Column("meshes_compared", Int(32), "Whole, unhidden meshes whose projected and drawn boxes were compared."),
        Column("meshes_agree", Int(32), "How many of them agree within 2 px."),
        Column("asked", Bool(), "Whether questions are made of it: at least 97 % of its meshes agree."),
        Column("why_not", Text(), "Why no questions are made of it.", nullable=True),
    ),
    ("scene_id",),
    ("test",),
)  # fmt: skip

OBJECTS = Table(
    "objects",
    "An object of a scene that is seen: a mesh, an instance, or a declared group of meshes.",
    (
        Column("scene_id", Text(), "Its scene.", references="scenes.scene_id"),
        Column("object_id", Int(32), "Its number in the id picture; of a group, its first mesh's.", minimum=1),
        Column("path", Text(), "Its place in the scene graph."),
        Column("name", Text(), "What the application calls it; may be empty."),
        Column("kind", Text(), "The engine's type, or Entity for a declared group."),
        Column("shape", Text(), "Name of its shape where people would agree.", nullable=True),
        Column("colour", Text(), "Name of its paint where the picture agrees.", nullable=True),
        Column("low", List(Float()), "Low corner of its box: right-handed world, y or z up, scene units.", minimum=3),
        Column("high", List(Float()), "High corner of its box.", minimum=3),
        Column("box", List(Float()), "x0, y0, x1, y1 of its pixels.", unit="px", minimum=4),
        Column("pixels", Int(32), "How many pixels show it.", unit="px", minimum=1),
        Column("visible", Float(), "Share of its own silhouette that is seen; empty where not measured.", nullable=True,
               minimum=0, maximum=1.0001),
        Column("front", List(Float()), "Its declared front as a world direction.", nullable=True),
        Column("can_ask", Bool(), "Whether questions may be about it."),
    ),
    ("scene_id", "object_id"),
    ("test",),
)  # fmt: skip

EVENTS = Table(
    "events",
    "What a scene was told (inputs) and what changed in it, in time. Frames are of 1/60 s, from the capture on.",
    (
        Column("scene_id", Text(), "Its scene.", references="scenes.scene_id"),
        Column("number", Int(32), "Its place in the sequence.", minimum=0),
        Column("is_input", Bool(), "An input; else a change."),
        Column("type", Text(), "click, pointerdown, move, rotate, scale, colour, appear, ..."),
        Column("start", Int(32), "First frame.", unit="frame"),
        Column("end", Int(32), "Last frame.", unit="frame"),
        Column("path", Text(), "The object that was hit, or that changed; the top of a group that changed as one.",
               nullable=True),
        Column("object_id", Int(32), "Its number, where it is a single mesh.", nullable=True),
        Column("follows", Text(), "Type of the input that a change follows within 3 frames.", nullable=True),
        Column("direct", Bool(), "Whether that input hit this object.", nullable=True),
        Column("caused", Bool(), "Whether the change is absent from a second run without the inputs.", nullable=True),
        Column("detail", Json(), "Amounts: from, to, path length, point hit and ray."),
    ),
    ("scene_id", "number"),
    ("test",),
)  # fmt: skip

QUESTIONS = Table(
    "questions",
    "A question about a scene, with the program that answers it and the trace of its run.",
    (
        Column("question_id", Text(), "Scene, type and a hash of what is asked."),
        Column("scene_id", Text(), "Its scene.", references="scenes.scene_id"),
        Column("type", Text(), "What is asked.", allowed=tuple(KINDS)),
        Column("group", Text(), "Group of the type.",
               allowed=("attribute", "relation", "direction", "rotation", "time")),
        Column("style", Text(), "How objects are meant: marks on the picture, descriptions, views, or none.",
               allowed=("marks", "names", "views", "plain")),
        Column("fold", Text(), "Half of the scenes, for trained baselines.", allowed=("a", "b")),
        Column("text", Text(), "The question."),
        Column("options", List(Text()), "The answers to choose from; in the text's order for objects.", minimum=2),
        Column("answer", Text(), "The option that is right: the result of the program."),
        Column("image", Image(), "What the reader sees: the picture with marks, views side by side, or frames."),
        Column("program", Json(), "A call of a spatial tool on references; see builders/webspatial/space."),
        Column("marks", Json(), "Letter to object_id."),
        Column("trace", Json(), "The tool calls of its run, with their results."),
        Column("margin", Float(), "Degrees that the camera may be turned about what it looks at without changing the "
               "answer (checked up to 8); empty where the answer does not hang on the camera.", unit="degree",
               nullable=True, minimum=2),
        Column("difficulty", Int(32), "1 to 3: one more for three or more objects, and for a full scene.", minimum=1,
               maximum=3),
        Column("paraphrase", Text(), "The same in a language model's words, where it reads back to the same program.",
               nullable=True),
    ),
    ("question_id",),
    ("test",),
)  # fmt: skip

SCHEMA = Dataset(
    "webspatial",
    "WebSpatial: spatial questions from running web 3D applications",
    "Scenes captured from running web 3D applications (three.js, A-Frame, Babylon.js, PlayCanvas) without editing "
    "them, each with its scene graph, true object masks and time line; and questions about them whose answers come "
    "from executing spatial tools on the graph.",
    (SCENES, OBJECTS, EVENTS, QUESTIONS),
    language=("en",),
    tasks=("visual-question-answering",),
    tags=("spatial-reasoning", "3d", "webgl", "scene-graph"),
)
