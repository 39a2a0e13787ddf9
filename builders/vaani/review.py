"""Which clips people should hear again: a seeded sample from every stratum, as review tasks.

A stratum is a district, language and transcriber. In each, the clips are ordered by a hash of the seed and their id,
and the first ones are taken: the same seed takes the same clips, and clips that are added later disturb few choices.
Each task carries how many clips of its stratum it stands for, so that error rates can be estimated for the whole. What
people answer, and what follows from it, is the business of the annotation audit.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import duckdb

from schemas import DatasetFolder, GoldsmithError

QUESTIONS = (
    ("decision", "Keep this clip?", ("excellent", "accept", "reject")),
    ("audible", "Is the speaker audible and understandable?", ("yes", "no")),
    ("one_speaker", "Is there one speaker only?", ("yes", "no")),
    ("language", "Is it the language of the label?", ("yes", "no", "cannot tell")),
    ("related", "Is it about the image?", ("yes", "no")),
    ("complete", "Is the sentence complete?", ("yes", "no")),
    ("personal", "Does it hold personal information?", ("no", "yes")),
    ("transcript", "Write what you hear, in the rules of the transcript.", ()),
)
"""The questions of VAANI's own review (name, question, answers; none: free text)."""

_STRATUM = ("district", "language", "transcriber_id")
_SHOWN = ("utterance_id", *_STRATUM, "_split", "transcript", "image_id", "duration_s", "snr_percentile_db")


def review_plan(
    folder: DatasetFolder, *, seed: int = 1, share: float = 0.05, least: int = 5, again: float = 0.1
) -> dict[str, Any]:
    """The review tasks of a built dataset, as JSON values.

    Args:
        share: of each stratum's clips that is reviewed.
        least: clips of each stratum at least, or all it has.
        again: share of the tasks that a second person reviews too, for agreement.

    Returns:
        {"dataset", "seed", "questions", "strata": [{district, language, transcriber_id, clips, reviewed}], "tasks": [{
        "id", "stratum", "weight", "reviewers", "audio": {file, row, path}, ...}]}; a task's weight is the number of
        clips it stands for, its audio a row of a Parquet file of the folder.

    Raises:
        GoldsmithError: a share is none.
    """
    for name, value in (("share", share), ("again", again)):
        if not 0 <= value <= 1:
            raise GoldsmithError(f"[review > {name}] is {value}: it must be a share from 0 to 1")
    strata: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for clip in _clips(folder):
        strata.setdefault(tuple(clip[name] for name in _STRATUM), []).append(clip)
    tasks: list[dict[str, Any]] = []
    summary = []
    for stratum, clips in sorted(strata.items(), key=lambda item: tuple(map(str, item[0]))):
        chosen = sorted(clips, key=lambda clip: _hash(seed, clip["utterance_id"]))
        chosen = chosen[: max(min(least, len(clips)), math.ceil(share * len(clips)))]
        summary.append({**dict(zip(_STRATUM, stratum, strict=True)), "clips": len(clips), "reviewed": len(chosen)})
        tasks += [_task(clip, len(summary) - 1, len(clips) / len(chosen), seed, again) for clip in chosen]
    questions = [{"name": name, "question": text, "answers": list(answers)} for name, text, answers in QUESTIONS]
    return {"dataset": folder.schema.name, "seed": seed, "questions": questions, "strata": summary, "tasks": tasks}


def _clips(folder: DatasetFolder) -> list[dict[str, Any]]:
    """What a reviewer sees of each clip, and where its sound is."""
    found: list[dict[str, Any]] = []
    columns = ", ".join(name for name in _SHOWN if name != "_split")
    for split, paths in folder.shards("utterances").items():
        for path in paths:
            query = (
                f"SELECT {columns}, file_row_number AS row, audio.path AS name "
                "FROM read_parquet(?, file_row_number = true) ORDER BY row"
            )
            rows = duckdb.execute(query, [str(path)])
            names = [column[0] for column in rows.description or ()]
            for values in rows.fetchall():
                clip = dict(zip(names, values, strict=True))
                place = {"file": path.relative_to(folder.path).as_posix(), "row": clip.pop("row")}
                found.append({**clip, "_split": split, "audio": {**place, "path": clip.pop("name")}})
    return found


def _task(clip: dict[str, Any], stratum: int, weight: float, seed: int, again: float) -> dict[str, Any]:
    reviewers = 2 if _hash(seed + 1, clip["utterance_id"]) < again else 1
    shown = {name: value for name, value in clip.items() if name not in ("utterance_id", "_split")}
    task = {"id": clip["utterance_id"], "stratum": stratum, "weight": weight, "reviewers": reviewers}
    return {**task, "split": clip["_split"], **shown}


def _hash(seed: int, name: str) -> float:
    return int.from_bytes(hashlib.blake2b(f"{seed} {name}".encode(), digest_size=8).digest()) / 2**64
