"""What publishing a release would do to a repository, worked out from the manifest and from the Hub alone.

There is no record of an earlier run on this machine: an interrupted publication is found on the Hub, as its staging
branch, its commit or its tag, and the plan is to do what is left.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from releases.hub.local import HUB_OWN, Local
from releases.hub.remote import Entry, Remote, State
from releases.hub.withdraw import FILE as TOMBSTONES
from releases.hub.withdraw import read_tombstones
from releases.manifest import MANIFEST, File, Manifest
from releases.version import Version
from schemas import GoldsmithError
from schemas.rooms import Room

COMMIT_FILES = 100
"""Files in a commit, at most: the Hub advises 50 to 100 and ends a commit after 60 seconds."""

Gated = Literal["auto", "manual"]
Step = Literal["everything", "tag", "nothing"]


@dataclass(frozen=True)
class Plan:
    """What will be done.

    Attributes:
        step: `everything`: files are to be sent; `tag`: main has them, verify and tag; `nothing`: the tag has them.
        head: the commit main points to, None where the repository is still to be created.
        tagged: the commit the version's tag points to, if there is one.
        send: files that main lacks or has with other bytes; `new` of them are at paths that main lacks.
        remove: paths on main that this release no longer has.
        send_bytes: of `send`, what the repository does not hold yet under any name; deduplication may spare more.
        make_private, make_public, gate: settings to change; restrictions are made first, `make_public` last.
        unfinished: a staging branch of this version is there.
        card: the README as it will stand.
    """

    repo: str
    url: str
    tag: str
    step: Step
    head: str | None
    tagged: str | None
    files: int
    bytes: int
    send: tuple[File, ...]
    new: int
    send_bytes: int
    remove: tuple[str, ...]
    private: bool
    make_private: bool
    make_public: bool
    gate: Gated | None
    unfinished: bool
    card: str

    @property
    def staging(self) -> str:
        """The branch on which the files are gathered and checked. It is deleted last: while it is there, the
        publication is not finished."""
        return f"staging/{self.tag}"

    def text(self) -> str:
        """The plan for people; the card comes last."""
        lines = [f"{self.url}", f"  {self._what()}"]
        if self.step == "everything":
            commits = -(-len(self.send) // COMMIT_FILES)
            lines += [
                f"  send      {len(self.send)} files ({self.new} new, {len(self.send) - self.new} changed), "
                f"{self.send_bytes:,} bytes new to the repository",
                f"  keep      {self.files - len(self.send)} files, {self.bytes - self.send_bytes:,} bytes reused",
                f"  remove    {len(self.remove)} files{': ' + ', '.join(self.remove[:5]) if self.remove else ''}",
                f"  commits   {commits} on branch {self.staging}, then 1 on main",
            ]
        lines += [f"  readers   {self._readers()}", "  card      README.md:", ""]
        return "\n".join([*lines, self.card])

    def _what(self) -> str:
        if self.step == "nothing":
            return f"{self.tag} is already published" + (", its staging branch is left over" if self.unfinished else "")
        if self.step == "tag":
            return f"main holds these files already: verify them and set tag {self.tag}"
        return f"{'create the repository and ' if self.head is None else ''}publish {self.tag}"

    def _readers(self) -> str:
        now = "nobody (it is new)" if self.head is None else "members only" if self.private else "everybody"
        then = now
        if self.head is None or self.make_private or self.make_public:
            then = "everybody" if self.make_public else "members only"
        return f"now {now}; then {then}" + (f", gated ({self.gate})" if self.gate else "")


def make_plan(local: Local, remote: Remote, state: State | None, *, private: bool, gated: Gated | None) -> Plan:
    """The plan for publishing `local`.

    Raises:
        GoldsmithError: the tag exists with other content, a later version is published, or main holds files that no
            release put there.
    """
    tree = {} if state is None else remote.tree(state.branches["main"])
    tags = {} if state is None else state.tags
    tagged = tags.get(local.tag)
    send = local.differing(tree)
    remove = _removals(local, remote, tree, state) if tagged is None else []
    if tagged is not None:
        _check_tagged(local, remote, tagged)
        step: Step = "nothing"
    else:
        _check_latest(local, tags, remote.repo)
        _check_withdrawn(local, remote, tree, state)
        step = "everything" if send or remove else "tag"
    held = {entry.sha256 for entry in tree.values()}
    unfinished = state is not None and f"staging/{local.tag}" in state.branches
    first = not any(tag != local.tag for tag in tags)
    return Plan(
        repo=remote.repo,
        url=remote.url(local.tag),
        tag=local.tag,
        step=step,
        head=None if state is None else state.branches["main"],
        tagged=tagged,
        files=len(local.files),
        bytes=sum(file.bytes for file in local.files.values()),
        send=tuple(send),
        new=sum(file.path not in tree for file in send),
        send_bytes=sum(file.bytes for file in send if file.sha256 not in held),
        remove=tuple(remove),
        private=state is None or state.private,
        make_private=private and state is not None and not state.private,
        make_public=not private and _ours_to_open(state, tree, first=first, unfinished=unfinished),
        gate=gated if gated and (state is None or state.gated != gated) else None,
        unfinished=unfinished,
        card=(local.folder / "README.md").read_text(encoding="utf-8"),
    )


def _ours_to_open(state: State | None, tree: Mapping[str, Entry], *, first: bool, unfinished: bool) -> bool:
    """Whether the end makes the repository public: a new or empty one, or one whose first version is under way. One
    that holds a release keeps the visibility that its owners gave it."""
    return state is None or (state.private and first and (unfinished or not tree.keys() - HUB_OWN))


def _check_tagged(local: Local, remote: Remote, commit: str) -> None:
    if differences := local.differences(remote.tree(commit)):
        raise GoldsmithError(
            f"[{remote.repo} > {local.tag}] is published with other content ({len(differences)} differences, first: "
            f"{differences[0]}): a version never changes, release under a new one"
        )


def _check_latest(local: Local, tags: Mapping[str, str], repo: str) -> None:
    for tag in tags:
        try:
            version = Version.parse(tag.removeprefix("v"))
        except GoldsmithError:
            continue  # a tag of somebody's own
        if version > Version.parse(local.manifest.version):
            raise GoldsmithError(f"[{repo} > {local.tag}] {tag} is published, main would go back: release above it")


def _check_withdrawn(local: Local, remote: Remote, tree: Mapping[str, Entry], state: State | None) -> None:
    """What was withdrawn stays so: the release must know all tombstones of main."""
    if state is None or TOMBSTONES not in tree:
        return
    with Room("publish") as scratch:
        (Path(scratch) / TOMBSTONES).write_bytes(remote.read_bytes(TOMBSTONES, state.branches["main"]))
        there = {(tombstone.table, tombstone.id) for tombstone in read_tombstones(Path(scratch))}
    here = {(tombstone.table, tombstone.id) for tombstone in read_tombstones(local.folder)}
    if lost := sorted(there - here):
        raise GoldsmithError(
            f"[{remote.repo} > {local.tag}] does not know that {lost[0][0]} > {lost[0][1]} was withdrawn ({len(lost)} "
            "such rows): make it with the tombstones of the release before it"
        )


def _removals(local: Local, remote: Remote, tree: Mapping[str, Entry], state: State | None) -> list[str]:
    """Paths that an earlier release put on main and this one does not have."""
    others = sorted(tree.keys() - local.files.keys() - HUB_OWN)
    if not others or state is None:
        return []
    released: set[str] = set()
    if MANIFEST in tree:
        released = _released(remote, state.branches["main"])
    if foreign := [path for path in others if path not in released]:
        raise GoldsmithError(
            f"[{remote.repo} > main] holds {len(foreign)} files that no release put there (first: {foreign[0]}): "
            "move them away, goldsmith deletes only its own"
        )
    return others


def _released(remote: Remote, commit: str) -> set[str]:
    try:
        manifest = Manifest.from_json(json.loads(remote.read_bytes(MANIFEST, commit)))
    except (ValueError, KeyError, TypeError):
        return set()
    return {file.path for file in manifest.files}
