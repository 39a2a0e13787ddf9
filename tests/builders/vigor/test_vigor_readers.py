"""Readers: the bundled sample in every format, with its planted defects, and the real files with the notes' counts."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("rlemasklib", reason="needs goldsmith[vigor]")
pytest.importorskip("cv2", reason="needs goldsmith[vigor]")

from builders.build import build
from builders.sources import Sources
from builders.vigor.builder import BUILDER
from builders.vigor.forms import Claim, Problem, named
from builders.vigor.licences import releasable
from builders.vigor.readers import READERS
from quality import run
from schemas import DatasetFolder

SAMPLE = BUILDER.folder / "sample"


def _read(name, folder=None):
    reader = READERS[name](folder or SAMPLE / name)
    claims, problems, records = [], list(reader.strays()), len(reader.strays())
    for picture in reader.pictures():
        records += reader.records(picture)
        for item in reader.claims(picture):
            (claims if isinstance(item, Claim) else problems).append(item)
    return reader, claims, problems, records


@pytest.mark.parametrize("name", [name for name in READERS if name != "stills"])
def test_every_record_is_a_claim_merged_or_a_problem(name):
    reader, claims, problems, records = _read(name)
    assert claims
    assert records == len(claims) + sum(len(claim.merged) for claim in claims) + len(problems)
    known = {concept.id for concept, _ in reader.concepts()}
    assert {claim.concept.id for claim in claims} <= known
    assert len({claim.key for claim in claims}) == len(claims)


def test_planted_defects_of_coco_have_their_reasons():
    _, claims, problems, _ = _read("coco")
    assert Counter(problem.reason for problem in problems) == {
        "bad_counts": 1, "bad_size": 1, "bad_polygon": 1, "empty_mask": 1, "unknown_category": 1, "unknown_image": 1,
    }  # fmt: skip
    assert sum(claim.crowd for claim in claims) == 1


def test_lvis_says_absent_only_where_it_looked():
    reader, claims, _, _ = _read("lvis")
    assert {claim.truth for claim in claims if claim.mask is None} == {"absent"}
    assert sum(claim.truth == "absent" for claim in claims) == 4
    assert {claim.exhaustive for claim in claims} == {True, False}
    bat = next(concept for concept, _ in reader.concepts() if concept.lemma == "bat")
    assert (bat.id, bat.synset, bat.synonyms) == ("object/bat (animal)", "bat.n.01", ("toy bat",))


def test_paco_unknown_is_never_absent_and_parts_have_their_object():
    _, claims, _, _ = _read("paco")
    assert {claim.truth for claim in claims} == {"present", "unknown"}
    unknown = Counter(claim.concept.lemma for claim in claims if claim.truth == "unknown" and claim.mask is not None)
    assert unknown == {"any material": 36, "any color": 12}
    parts = [claim for claim in claims if claim.concept.level == "part"]
    keys = {claim.key for claim in claims if claim.concept.level == "object"}
    assert parts
    assert all(part.parent in keys for part in parts)
    assert parts[0].concept.id == "part/spot (toy)"


def test_ade20k_takes_lists_bare_numbers_and_only_what_is_seen():
    _, claims, _, _ = _read("ade20k")
    parts = [claim for claim in claims if claim.concept.level == "part"]
    assert len(parts) == 3
    assert all(part.parent for part in parts)
    half = next(claim for claim in claims if claim.key.endswith(":0"))
    assert half.mask.area < 0.6 * half.mask.box[2] * half.mask.box[3] * 2
    assert [claim.concept.level for claim in claims].count("low") == 1


def test_psg_counts_from_nought_and_merges_what_is_said_twice():
    _, claims, _, _ = _read("psg")
    relations = [claim for claim in claims if claim.concept.level == "relation"]
    assert Counter(claim.concept.lemma for claim in relations) == {"left of": 4, "on": 2}
    assert [len(claim.merged) for claim in relations].count(1) == 2
    assert all(abs(claim.box[0] - claim.mask.box[0]) < 1 for claim in claims if claim.box)


def test_visual_genome_of_the_sample():
    _, claims, problems, _ = _read("visual_genome")
    assert [problem.reason for problem in problems] == ["self_relation"] * 2
    relations = [claim for claim in claims if claim.concept.level == "relation"]
    assert {claim.concept.lemma for claim in relations} == {"left of"}
    assert sum(len(claim.merged) for claim in relations) == 2


def test_clips():
    _, claims, _, _ = _read("davis")
    (disk,) = claims
    assert len(disk.frames) == 4
    assert disk.ignore is not None
    _, claims, _, _ = _read("youtube_vis")
    (ball,) = claims
    assert [mask is not None for _, mask in ball.frames] == [True, True, False]


def test_names_are_taken_apart():
    assert named("object", "bat_(animal)").id == "object/bat (animal)"
    assert named("low", "Light_Gray").lemma == "light grey"
    assert named("relation", " ON ").lemma == "on"


def test_visual_genome_as_the_notes_count_it(shared_file):
    _, claims, problems, _ = _read("visual_genome", shared_file("real/vigor/visual_genome_5"))
    levels = Counter(claim.concept.level for claim in claims)
    assert (levels["object"], levels["low"], levels["relation"]) == (177, 167, 158 - 15)
    assert sum(len(claim.merged) for claim in claims) == 15
    assert problems == []
    objects = [claim for claim in claims if claim.concept.level == "object"]
    assert sum(claim.concept.synset is None for claim in objects) == 13
    assert all(claim.concept.lemma == claim.concept.lemma.lower() for claim in claims)
    bearers = {claim.parent for claim in claims if claim.concept.level == "low"}
    assert len(objects) - len(bearers) == 67


def test_davis_is_one_masklet(shared_file):
    reader, claims, _, _ = _read("davis", shared_file("real/vigor/davis_car_shadow"))
    (car,) = claims
    assert len(car.frames) == len(reader.pictures()) == 40
    assert all(mask is not None for _, mask in car.frames)
    assert car.ignore is None  # Binary: 255 is the object, not void.


def test_lvis_check_finds_the_three_turned_pictures_and_pixels_need_a_licence(shared_file, tmp_path):
    lvis = shared_file("real/vigor/lvis")
    folder = DatasetFolder(tmp_path / "vigor")
    build(BUILDER, Sources.load(BUILDER.folder, overrides={"lvis": lvis}), folder.path, progress=False)
    report = run.check(folder, BUILDER.checks)
    results = {result.name: result for result in report.results}
    found = {message.split("lvis:")[1].split("]")[0] for _, message in results["boxes_contradict_masks"].examples}
    assert results["boxes_contradict_masks"].failures == 3
    assert found == {"179898", "443426", "464824"}
    assert results["mask_of_a_contradicted_picture"].failures == 13
    assert results["box_contradicts_mask"].failures == 15
    assert report.passed
    reader = READERS["lvis"](lvis)
    annotated = [
        picture for picture in reader.pictures() if any(isinstance(c, Claim) and c.mask for c in reader.claims(picture))
    ]
    assert (len(annotated), sum(releasable(picture.licence) for picture in annotated)) == (93, 19)


def test_a_folder_of_something_else_is_named(tmp_path):
    from schemas import GoldsmithError

    for name in READERS:
        if name != "stills":
            with pytest.raises(GoldsmithError, match="has"):
                READERS[name](tmp_path)
    assert READERS["stills"](tmp_path).pictures() == []
    assert isinstance(Problem("a", "b", "c"), Problem)
