"""Draw the bundled sample: every source format, with known truth and planted defects.

    python -P -m builders.vigor.sample.make_sample

Planted: run lengths of a wrong sum, a swapped size, a box given as polygon, a polygon smaller than a pixel, a category
that is not there, an annotation of no picture, a picture whose boxes were made on a turned copy, a file with an EXIF
tag, a relation said twice and in capitals, a part outside its whole, licences that forbid to pass pixels on.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from builders.vigor.masks import from_array, from_polygons, uncompressed, union
from builders.vigor.pixels import jpeg, load_rgb, png
from builders.vigor.sample.scenes import HEIGHT, PAINT, WIDTH, Drawn, clip, scene

HERE = Path(__file__).parent
SURE = tuple(name for name in PAINT if name not in ("grey", "brown", "pink"))
NAMES = ("ball", "box", "flag", "kite", "tile")
LICENCES = [{"id": number, "name": name, "url": ""} for number, name in ((2, "BY-NC"), (4, "BY"), (5, "BY-SA"))]


def main() -> None:
    """Draw all of it anew."""
    for name in (
        "coco",
        "panoptic",
        "lvis",
        "paco",
        "partimagenet",
        "ade20k",
        "visual_genome",
        "gqa",
        "psg",
        "davis",
        "youtube_vis",
        "stills",
    ):
        shutil.rmtree(HERE / name, ignore_errors=True)
        (HERE / name).mkdir()
    _coco()
    _panoptic_and_psg()
    _lvis()
    _paco()
    _partimagenet()
    _ade20k()
    _visual_genome_and_gqa()
    _clips()
    _stills()
    _texts()
    (HERE / "audits.jsonl").write_text("", encoding="utf-8")
    (HERE / "answers.jsonl").write_text("", encoding="utf-8")
    _answers()
    _audits()


def _image(number: int, name: str, licence: int = 4) -> dict[str, Any]:
    return {
        "id": number,
        "file_name": name,
        "width": WIDTH,
        "height": HEIGHT,
        "license": licence,
        "coco_url": f"http://images.example.org/{name}",
    }


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=None, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


def _save(path: Path, pixels: np.ndarray, quality: int = 92) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jpeg(pixels, quality) if path.suffix == ".jpg" else png(pixels))


def _coco() -> None:
    """72 scenes of three things: what the audit of colours is drawn from."""
    images, annotations = [], []
    for number in range(1, 73):
        drawn = scene(number, colours=SURE)
        licence = 2 if number % 12 == 0 else 4 + number % 2
        images.append(_image(number, f"{number:04d}.jpg", licence))
        _save(HERE / "coco" / "pictures" / f"{number:04d}.jpg", drawn.pixels)
        for place, thing in enumerate(drawn.things):
            form: Any = [thing.ring]
            if place == 1:
                form = {"size": [HEIGHT, WIDTH], "counts": thing.seen.counts}
            if place == 2 and number % 3 == 0:
                form = {"size": [HEIGHT, WIDTH], "counts": uncompressed(thing.seen.counts)}
            annotations.append(
                {
                    "id": number * 10 + place,
                    "image_id": number,
                    "category_id": NAMES.index(thing.name) + 1,
                    "iscrowd": 0,
                    "segmentation": form,
                    "bbox": thing.box,
                    "area": float(thing.seen.area),
                }
            )
    for each in annotations:
        if each["image_id"] == 5:  # Boxes of a copy turned by a quarter.
            x, y, width, height = each["bbox"]
            each["bbox"] = [round(v, 2) for v in (HEIGHT - y - height, x, height, width)]
    both = union([each.seen for each in scene(7, colours=SURE).things])
    base = {"image_id": 7, "category_id": 1, "iscrowd": 0, "bbox": [1, 1, 9, 9], "area": 50.0}
    annotations += [
        {
            **base,
            "id": 9001,
            "iscrowd": 1,
            "segmentation": {"size": [HEIGHT, WIDTH], "counts": uncompressed(both.counts)},
            "bbox": list(both.box),
            "area": float(both.area),
        },
        {**base, "id": 9002, "segmentation": {"size": [HEIGHT, WIDTH], "counts": [4, 3, 12]}},
        {**base, "id": 9003, "segmentation": {"size": [WIDTH, HEIGHT], "counts": [0, WIDTH * HEIGHT]}},
        {**base, "id": 9004, "segmentation": [[5.0, 5.0, 10.0, 10.0]]},
        {**base, "id": 9005, "segmentation": [[5.2, 5.2, 5.6, 5.2, 5.6, 5.6]]},
        {**base, "id": 9006, "category_id": 77, "segmentation": [[5, 5, 20, 5, 20, 20]]},
        {**base, "id": 9007, "image_id": 777, "segmentation": [[5, 5, 20, 5, 20, 20]]},
    ]
    _write(
        HERE / "coco" / "instances.json",
        {
            "licenses": LICENCES,
            "images": images,
            "annotations": annotations,
            "categories": [{"id": i, "name": name, "supercategory": "thing"} for i, name in enumerate(NAMES, 1)],
        },
    )
    # One file carries the tag of a tilted camera: its pixels lie on the side, the annotations are upright.
    lying = Image.fromarray(np.rot90(scene(3, colours=SURE).pixels))
    exif = Image.Exif()
    exif[0x0112] = 6
    lying.save(HERE / "coco" / "pictures" / "0003.jpg", quality=92, exif=exif)


def _segments(drawn: Drawn) -> tuple[np.ndarray, list[dict[str, Any]]]:
    """Panoptic pixels and segments_info; ids above 255, so that green and blue are needed."""
    ids = np.zeros((HEIGHT, WIDTH), np.int64)
    segments = []
    for place, thing in enumerate(drawn.things):
        number = 70000 + 300 * (place + 1)
        ids[thing.seen.decode() > 0] = number
        segments.append(
            {
                "id": number,
                "category_id": NAMES.index(thing.name) + 1,
                "iscrowd": 0,
                "isthing": 1,
                "area": int(thing.seen.area),
                "bbox": list(thing.seen.box),
            }
        )
    rest = ids == 0
    rest[:4] = False  # The upper border is void.
    ids[rest] = 900
    segments.append(
        {
            "id": 900,
            "category_id": 6,
            "iscrowd": 0,
            "isthing": 0,
            "area": int(rest.sum()),
            "bbox": list(from_array(rest).box),
        }
    )
    colours = np.stack([ids % 256, ids // 256 % 256, ids // 65536], -1).astype(np.uint8)
    return colours, segments


def _panoptic_and_psg() -> None:
    images, annotations, data = [], [], []
    for first in (101, 102):
        number = first
        drawn = scene(number)
        colours, segments = _segments(drawn)
        _save(HERE / "panoptic" / "masks" / f"{number}.png", colours)
        _save(HERE / "panoptic" / "pictures" / f"{number}.jpg", drawn.pixels)
        images.append(_image(number, f"{number}.jpg"))
        annotations.append({"image_id": number, "file_name": f"{number}.png", "segments_info": segments})
        number += 10  # PSG's are other scenes.
        drawn = scene(number)
        colours, segments = _segments(drawn)
        _save(HERE / "psg" / "masks" / f"{number}.png", colours)
        _save(HERE / "psg" / "pictures" / f"{number}.jpg", drawn.pixels)
        data.append(
            {
                "image_id": str(number),
                "file_name": f"{number}.jpg",
                "pan_seg_file_name": f"{number}.png",
                "width": WIDTH,
                "height": HEIGHT,
                "license": 4,
                "segments_info": [{**each, "category_id": each["category_id"] - 1} for each in segments],
                "annotations": [
                    {"bbox": [b[0], b[1], b[0] + b[2], b[1] + b[3]], "bbox_mode": 0}
                    for b in (each["bbox"] for each in segments)
                ],
                "relations": [[0, 1, 0], [1, 2, 0], [0, 3, 1], [0, 1, 0]],
            }
        )
    names = [*NAMES, "ground"]
    categories = [{"id": i, "name": name, "isthing": int(i < 6)} for i, name in enumerate(names, 1)]
    _write(
        HERE / "panoptic" / "panoptic.json", {"images": images, "annotations": annotations, "categories": categories}
    )
    _write(
        HERE / "psg" / "psg.json",
        {
            "data": data,
            "thing_classes": list(NAMES),
            "stuff_classes": ["ground"],
            "predicate_classes": ["left of", "on"],
            "test_image_ids": [],
        },
    )


def _lvis() -> None:
    images, annotations = [], []
    for number in (201, 202):
        drawn = scene(number)
        present = {NAMES.index(thing.name) + 1 for thing in drawn.things}
        image = _image(number, f"COCO_val2014_{number:012d}.jpg", 4 if number == 201 else 2)
        image["coco_url"] = f"http://images.example.org/val2017/{number:012d}.jpg"
        missing = sorted(set(range(1, 7)) - present)
        image |= {"neg_category_ids": missing[:2], "not_exhaustive_category_ids": [min(present)]}
        images.append(image)
        _save(HERE / "lvis" / "val2017" / f"{number:012d}.jpg", drawn.pixels)
        annotations += [
            {
                "id": number * 10 + place,
                "image_id": number,
                "category_id": NAMES.index(thing.name) + 1,
                "segmentation": [thing.ring],
                "bbox": thing.box,
                "area": float(thing.seen.area),
            }
            for place, thing in enumerate(drawn.things)
        ]
    names = [*NAMES, "bat_(animal)"]
    categories = [
        {
            "id": i,
            "name": name,
            "synset": f"{name.split('_')[0]}.n.01",
            "synonyms": [name, f"toy_{name.split('_')[0]}"],
            "def": f"a drawn {name.split('_')[0]}",
            "frequency": "f",
        }
        for i, name in enumerate(names, 1)
    ]
    _write(HERE / "lvis" / "lvis.json", {"images": images, "annotations": annotations, "categories": categories})


def _paco() -> None:
    """Objects with a spot as part, and colours: what the back-test of colours hides."""
    attributes = [{"id": i, "name": name} for i, name in enumerate((*PAINT, "light_blue", "other(color)", "striped"))]
    ids = {each["name"]: each["id"] for each in attributes}
    images, annotations = [], []
    for number in range(301, 313):
        drawn = scene(number, parts=True)
        image = _image(number, f"{number}.jpg")
        image |= {"neg_category_ids": [], "not_exhaustive_category_ids": [], "neg_category_ids_attrs": {"13": [1]}}
        images.append(image)
        _save(HERE / "paco" / "pictures" / f"{number}.jpg", drawn.pixels)
        for place, thing in enumerate(drawn.things):
            number_of = number * 100 + place * 10
            part = from_polygons([thing.part], HEIGHT, WIDTH)
            unknown = {f"unknown_{kind}": 0 for kind in ("color", "pattern_marking", "material", "transparency")}
            common = {"image_id": number, "iscrowd": 0, "obj_ann_id": number_of, **unknown}
            annotations.append(
                {
                    **common,
                    "id": number_of,
                    "category_id": NAMES.index(thing.name) + 1,
                    "bbox": thing.box,
                    "area": float(thing.seen.area),
                    "attribute_ids": [ids[thing.colour]],
                    "dom_color_ids": [ids[thing.colour]],
                    "unknown_material": 1,
                    "segmentation": {"size": [HEIGHT, WIDTH], "counts": thing.seen.counts},
                }
            )
            part_colour = [] if place == 2 else [ids[thing.part_colour]]
            annotations.append(
                {
                    **common,
                    "id": number_of + 1,
                    "category_id": 11,
                    "bbox": list(part.box),
                    "area": float(part.area),
                    "attribute_ids": part_colour,
                    "dom_color_ids": [],
                    "unknown_color": int(place == 2),
                    "segmentation": {"size": [HEIGHT, WIDTH], "counts": part.counts},
                }
            )
    outside = from_polygons([[2, 2, 14, 2, 14, 14, 2, 14]], HEIGHT, WIDTH)
    annotations.append(
        {
            **annotations[1],
            "id": 99001,
            "attribute_ids": [],
            "bbox": list(outside.box),
            "area": 144.0,
            "segmentation": {"size": [HEIGHT, WIDTH], "counts": outside.counts},
        }
    )
    categories = [{"id": i, "name": name, "supercategory": "OBJECT"} for i, name in enumerate(NAMES, 1)]
    _write(
        HERE / "paco" / "paco.json",
        {
            "images": images,
            "annotations": annotations,
            "categories": categories,
            "part_categories": [{"id": 11, "name": "toy:spot", "supercategory": "PART"}],
            "attributes": attributes,
        },
    )


def _partimagenet() -> None:
    drawn = scene(401, parts=True)
    _save(HERE / "partimagenet" / "401.jpg", drawn.pixels)
    annotations = [
        {
            "id": place,
            "image_id": 401,
            "category_id": place % 2,
            "iscrowd": 0,
            "segmentation": [thing.part],
            "bbox": list(from_polygons([thing.part], HEIGHT, WIDTH).box),
            "area": 100.0,
        }
        for place, thing in enumerate(drawn.things)
    ]
    _write(
        HERE / "partimagenet" / "val.json",
        {
            "images": [_image(401, "401.jpg")],
            "annotations": annotations,
            "categories": [
                {"id": 0, "name": "Toy Spot", "supercategory": "Toy"},
                {"id": 1, "name": "Toy Centre", "supercategory": "Toy"},
            ],
        },
    )


def _ade20k() -> None:
    drawn = scene(501, parts=True)
    folder = HERE / "ade20k" / "scene"
    _save(folder / "501.jpg", drawn.pixels)
    objects = []
    for place, thing in enumerate(drawn.things):
        part = from_polygons([thing.part], HEIGHT, WIDTH)
        for number, name, mask, parts in (
            (
                place,
                f"{thing.name}, toy {thing.name}",
                thing.seen,
                {"part_level": 0, "hasparts": 10 + place, "ispartof": []},
            ),
            (10 + place, "spot, dot", part, {"part_level": 1, "hasparts": [], "ispartof": [place]}),
        ):
            pixels = mask.decode() * 255
            if number == 0:  # Half of it is hidden behind something.
                pixels[:, : int(mask.box[0] + mask.box[2] / 2)][
                    pixels[:, : int(mask.box[0] + mask.box[2] / 2)] == 255
                ] = 128
            _save(folder / "501" / f"instance_{number:03d}.png", pixels)
            objects.append(
                {
                    "id": number,
                    "name": name,
                    "name_ndx": number,
                    "raw_name": name,
                    "attributes": [],
                    "occluded": "no",
                    "crop": "0",
                    "parts": parts,
                    "instance_mask": f"501/instance_{number:03d}.png",
                }
            )
    objects[0]["attributes"] = drawn.things[0].colour  # A bare text, not a list.
    _write(
        folder / "501.json",
        {"annotation": {"filename": "501.jpg", "imsize": [HEIGHT, WIDTH, 3], "object": objects, "licence": "CC0-1.0"}},
    )


def _visual_genome_and_gqa() -> None:
    objects, attributes, relations, about, graphs = [], [], [], [], {}
    for number in (601, 602):
        drawn = scene(number)
        _save(HERE / "visual_genome" / f"{number}.jpg", drawn.pixels)
        listed, coloured = [], []
        for place, thing in enumerate(drawn.things):
            x, y, width, height = (int(v) for v in thing.seen.box)
            each = {"object_id": number * 10 + place, "x": x, "y": y, "w": width, "h": height}
            names = [thing.name, f"toy {thing.name}"] if place == 0 else [thing.name]
            listed.append({**each, "names": names, "synsets": [f"{thing.name}.n.01"] if place else []})
            coloured.append({**each, "names": names, **({"attributes": [thing.colour, "Small"]} if place < 2 else {})})
        ends = [{**each, "name": each["names"][0]} for each in listed]
        said = [("LEFT OF", 0, 1), ("left of", 0, 1), ("left of", 1, 2), ("beside", 2, 2)]
        relations.append(
            {
                "image_id": number,
                "relationships": [
                    {
                        "relationship_id": number * 10 + i,
                        "predicate": what,
                        "synsets": ["along.r.01"],
                        "subject": ends[one],
                        "object": ends[other],
                    }
                    for i, (what, one, other) in enumerate(said)
                ],
            }
        )
        objects.append({"image_id": number, "objects": listed})
        attributes.append({"image_id": number, "attributes": coloured})
        about.append(
            {
                "image_id": number,
                "width": WIDTH,
                "height": HEIGHT,
                "url": f"http://images.example.org/{number}.jpg",
                "coco_id": None,
                "flickr_id": None,
                "licence": "CC0-1.0",
            }
        )
        graphs[str(number + 10)] = _graph(number + 10)
    for name, content in (
        ("objects", objects),
        ("attributes", attributes),
        ("relationships", relations),
        ("image_data", about),
    ):
        _write(HERE / "visual_genome" / f"{name}.json", content)
    _write(HERE / "gqa" / "sceneGraphs.json", graphs)


def _graph(number: int) -> dict[str, Any]:
    """A scene graph of GQA, with its picture; its last object is near one that is not there."""
    drawn = scene(number)
    _save(HERE / "gqa" / f"{number}.jpg", drawn.pixels)
    objects = {}
    for place, thing in enumerate(drawn.things):
        x, y, width, height = (int(v) for v in thing.seen.box)
        one = {"name": "to the left of", "object": str(place + 1)} if place < 2 else {"name": "near", "object": "99"}
        objects[str(place)] = {
            "name": thing.name,
            "x": x,
            "y": y,
            "w": width,
            "h": height,
            "attributes": [thing.colour],
            "relations": [one],
        }
    return {"width": WIDTH, "height": HEIGHT, "licence": "CC0-1.0", "objects": objects}


def _clips() -> None:
    """DAVIS with its masks; YouTube-VIS with masks for one clip and nothing for another, which is left to proposals."""
    for frame, (pixels, mask) in enumerate(clip(701, 4)):
        _save(HERE / "davis" / "JPEGImages" / "480p" / "disk" / f"{frame:05d}.jpg", pixels, 85)
        path = HERE / "davis" / "Annotations" / "480p" / "disk" / f"{frame:05d}.png"
        labels = mask.decode()
        labels[:2] = 255  # Void.
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(labels, "P")
        picture.putpalette([0, 0, 0, 128, 0, 0] + [255] * 762)
        picture.save(path)
    (HERE / "davis" / "licence.txt").write_text("CC0-1.0\n", encoding="utf-8")
    videos, annotations = [], []
    for number, seed in ((1, 702), (2, 703)):
        frames = clip(seed, 3)
        names = [f"{number}/{frame:05d}.jpg" for frame in range(len(frames))]
        for name, (pixels, _) in zip(names, frames, strict=True):
            _save(HERE / "youtube_vis" / "JPEGImages" / name, pixels, 85)
        videos.append(
            {"id": number, "file_names": names, "width": WIDTH, "height": HEIGHT, "length": 3, "licence": "CC0-1.0"}
        )
        masks = [mask for _, mask in frames]
        if number == 1:
            forms = [
                None if i == 2 else {"size": [HEIGHT, WIDTH], "counts": mask.counts} for i, mask in enumerate(masks)
            ]
            annotations.append(
                {
                    "id": 11,
                    "video_id": 1,
                    "category_id": 1,
                    "iscrowd": 0,
                    "segmentations": forms,
                    "bboxes": [list(mask.box) for mask in masks],
                    "areas": [mask.area for mask in masks],
                }
            )
    _write(
        HERE / "youtube_vis" / "instances.json",
        {"videos": videos, "annotations": annotations, "categories": [{"id": 1, "name": "ball"}]},
    )


def _stills() -> None:
    _save(HERE / "stills" / "801.jpg", scene(801).pixels)
    (HERE / "stills" / "licences.tsv").write_text("801.jpg\tCC0-1.0\n", encoding="utf-8")


def _texts() -> None:
    first = scene(1, colours=SURE).things
    texts = [
        ("coco:1", f"There is a {first[0].colour} {first[0].name} next to the {first[1].name}. There is no bat."),
        ("coco:2", "Is there a kite in the picture? If a ball were here, it would be red."),
        ("psg:111", f"The {scene(111).things[0].name} is left of the {scene(111).things[1].name}, without a flag."),
        (
            "visual_genome:601",
            f"I see {scene(601).things[0].name}s; the {scene(601).things[1].name} is {scene(601).things[1].colour}.",
        ),
        ("youtube_vis:1/00000", "The ball is a moving object."),
    ]
    lines = [
        json.dumps({"rationale_id": f"r{i}", "image_id": image, "text": text})
        for i, (image, text) in enumerate(texts, 1)
    ]
    (HERE / "rationales.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _answers() -> None:
    """What a vision model would say of the boxes of Visual Genome and GQA, by the drawn truth; one is left unasked, one
    is answered no."""
    from builders.vigor.forms import Claim
    from builders.vigor.generate import offline
    from builders.vigor.proposals import Scene
    from builders.vigor.readers import open_source
    from builders.vigor.verify.questions import Question, questions, record

    every: list[Question] = []
    wrong: set[str] = set()
    for name in ("visual_genome", "gqa"):
        reader = open_source(name, HERE / name)
        for picture in reader.pictures():
            assert picture.path is not None
            claims = [claim for claim in reader.claims(picture) if isinstance(claim, Claim)]
            shown = Scene(load_rgb(picture.path), None, claims)
            names = sorted({claim.concept.lemma for claim in claims if claim.concept.level == "object"})
            made = [each for each in offline().run(shown) if each.proposal.concept.level == "object"]
            for place, each in enumerate(made):
                asked = questions(shown, each.proposal, names)
                if name == "gqa" and picture.key == "612" and place == 0:
                    continue
                if name == "gqa" and picture.key == "612" and place == 1:
                    wrong |= {question.id for question in asked if question.wanted}
                every += asked
    record(every, lambda q: "Yes." if q.wanted and q.id not in wrong else "No.", "drawn-truth", HERE / "answers.jsonl")


def _audits() -> None:
    """A person's verdicts on a random sample of the accepted colours, by the drawn truth."""
    from builders.build import build
    from builders.sources import Sources
    from builders.vigor.audit import sample
    from builders.vigor.builder import BUILDER
    from schemas import DatasetFolder

    with tempfile.TemporaryDirectory() as room:
        folder = DatasetFolder(Path(room) / "vigor")
        build(BUILDER, Sources.load(BUILDER.folder, sample=True), folder.path)
        import pyarrow.parquet as pq

        rows = {
            row["grounding_id"]: row
            for path in folder.all_shards("groundings")
            for row in pq.read_table(path).to_pylist()
        }
        lines = []
        for name in sample(folder, "low", 70, 20261130):
            row = rows[name]
            right = row["concept_id"].removeprefix("low/") == _true_colour(row)
            lines.append(
                {"round": 1, "grounding_id": name, "level": "low", "correct": right, "auditor": "p1", "seed": 20261130}
            )
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (HERE / "audits.jsonl").write_text(text, encoding="utf-8")


def _true_colour(row: dict[str, Any]) -> str:
    """The colour that the thing at the middle of a region was painted in."""
    source, _, key = row["image_id"].partition(":")
    number = int(key.rpartition("/")[2].split(".")[0] or 0)
    drawn = scene(
        number, parts=source in ("paco", "partimagenet", "ade20k"), colours=SURE if source == "coco" else tuple(PAINT)
    )
    x = row["mask_box"][0] + row["mask_box"][2] / 2
    thing = drawn.things[int(x // (WIDTH / 3))]
    return thing.part_colour if row["area"] < thing.seen.area / 2 else thing.colour


if __name__ == "__main__":
    main()
