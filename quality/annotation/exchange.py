"""Sheets to Label Studio and answers back: one project a person, for its free edition has no roles and no blind review.

Sending twice adds nothing, for a project is known by the plan's number and a task by its item's key. Each fetch keeps
what the server said, and compares it with the fetch before: the server shows neither edits by the same person nor
deletions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quality.annotation import sheets
from quality.annotation.judgements import Judgement, Problem, from_label_studio, task_data, to_lines
from quality.annotation.label_studio import Server
from quality.annotation.work import Item, Plan, Work
from schemas import GoldsmithError

_BATCH = 200


@dataclass(frozen=True)
class Pushed:
    """A person's sheet on the server: its project, how many tasks were there and how many were added."""

    person: str
    project: int
    there: int
    added: int


def push(work: Work, server: Server) -> list[Pushed]:
    """Make or complete everyone's project.

    Raises:
        GoldsmithError: a person has no account, the server fails, or an answer of the dataset cannot be shown.
    """
    plan = work.plan()
    accounts = _accounts(plan, server)
    there = {project.get("description"): project["id"] for project in server.projects()}
    config = sheets.config(plan.audit)
    done, projects = [], {}
    for person in plan.people:
        mark = f"goldsmith audit {plan.number} {person}"
        title = f"{plan.audit.name} {person}"[:50]
        project = there.get(mark) or server.create_project(title, mark, config, plan.audit.question)
        projects[person] = {"project": project, "account": accounts[person]}
        known = {str(task["data"].get("item_id")) for task in server.export(project)}
        missing = [item for item in plan.sheet(person) if item.key not in known]
        for start in range(0, len(missing), _BATCH):
            _send(work, plan, server, project, person, missing[start : start + _BATCH])
        done.append(Pushed(person, project, len(known), len(missing)))
    work.write("projects.json", {"url": server.url, "people": projects})
    return done


def _accounts(plan: Plan, server: Server) -> dict[str, int]:
    users = server.users()
    if missing := sorted(name for name in plan.people.values() if name not in users):
        raise GoldsmithError(f"[{server.url}] has no account {missing[0]}: make it there, with the address of the plan")
    return {person: users[name] for person, name in plan.people.items()}


def _send(work: Work, plan: Plan, server: Server, project: int, person: str, items: Sequence[Item]) -> None:
    names = {
        text for item in items for show, text in zip(plan.audit.shows, item.shown, strict=True) if show.medium != "text"
    }
    addresses = server.upload(project, {name: (work.media / name).read_bytes() for name in sorted(names)})
    server.import_tasks(project, [_task(plan, person, item, addresses) for item in items])


def _task(plan: Plan, person: str, item: Item, addresses: Mapping[str, str]) -> dict[str, Any]:
    pair = plan.audit.kind == "pair"
    data = task_data(plan, item, person, addresses)
    if not plan.audit.show_answer or item.answer is None or item.role == "gold":
        return {"data": data}
    swapped = pair and item.swapped(person)
    size = (item.size[0], item.size[1]) if item.size else None
    results = sheets.to_results(plan.audit, item.answer, shown=item.text, size=size, swapped=swapped)
    again, _ = sheets.from_results(plan.audit, results, shown=item.text, size=size, swapped=swapped)
    if again != item.answer:
        raise GoldsmithError(
            f"[audit {plan.audit.name} > {item.item_id}] its answer cannot be shown: see quality.annotation"
        )
    return {"data": data, "predictions": [{"model_version": "dataset", "result": results}]}


def pull(work: Work, server: Server) -> tuple[list[Judgement], list[Problem]]:
    """Fetch everyone's answers, keep them as a new snapshot, and write the judgements.

    Raises:
        GoldsmithError: nothing was pushed, or the server fails.
    """
    plan = work.plan()
    form = work.read("projects.json")
    if not form:
        raise GoldsmithError(f"[{work.path}] was never pushed: run `goldsmith audit push`")
    people = form["people"]
    exports = {person: server.export(place["project"]) for person, place in people.items()}
    number = len(list((work.path / "snapshots").glob("*"))) + 1
    for person, tasks in exports.items():
        work.write(f"snapshots/{number:04d}/{person}.json", tasks)
    accounts = {person: place["account"] for person, place in people.items()}
    judgements, problems = from_label_studio(plan, exports, accounts)
    problems += tampering(work)
    save(work, judgements, problems)
    return judgements, problems


def save(work: Work, judgements: Sequence[Judgement], problems: Sequence[Problem]) -> None:
    """Write what a fetch or a file gave."""
    work.write_lines("judgements.jsonl", to_lines(judgements))
    work.write_lines("problems.jsonl", to_lines(problems))


def tampering(work: Work) -> list[Problem]:
    """What all snapshots together show: answers that were changed after they had been fetched, or that are gone.

    Found at every later fetch as well, so that it stays in the report.
    """
    last: dict[tuple[str, str], tuple[str, str]] = {}
    found: dict[tuple[str, str, str], Problem] = {}
    for folder in sorted((work.path / "snapshots").glob("*")):
        now: dict[tuple[str, str], tuple[str, str]] = {}
        for path in sorted(folder.glob("*.json")):
            now |= {(path.stem, name): one for name, one in _annotations(json.loads(path.read_text("utf-8"))).items()}
        for (person, name), (key, digest) in last.items():
            if (person, name) not in now:
                message = f"an answer fetched before snapshot {folder.name} is gone from the server"
                found[person, name, "deleted"] = Problem("deleted", person, key, message)
            elif now[person, name][1] != digest:
                message = f"an answer was changed after it had been fetched (snapshot {folder.name})"
                found[person, name, "edited"] = Problem("edited", person, key, message, True)
        last = now
    return list(found.values())


def _annotations(tasks: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, str]]:
    """Each answer of an export: its key and a digest of what was said, by its id that is never used again."""
    found = {}
    for task in tasks:
        for annotation in task["annotations"]:
            said = json.dumps([annotation["result"], annotation.get("was_cancelled")], sort_keys=True)
            name = str(annotation.get("unique_id") or annotation["id"])
            found[name] = (str(task["data"].get("item_id")), hashlib.sha256(said.encode()).hexdigest())
    return found
