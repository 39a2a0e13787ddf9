"""Publish a release on the Hub, so that a reader sees all of it or nothing.

The files are gathered on a staging branch in commits of up to 100, compared there with the manifest, and read back.
Only then does main move, by one commit of copies on top of the head that was planned for; main is compared again, and
the tag comes last. So what a reader sees changes in one step, and only to bytes that were found to be right.

Any step may be cut off. The next run reads from the Hub what was achieved and does the rest. A commit or a tag whose
answer was lost is looked up, never repeated blindly.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from huggingface_hub import CommitOperationCopy, CommitOperationDelete, get_session

from releases.hub.local import Local
from releases.hub.plan import Gated, Plan, make_plan
from releases.hub.progress import Progress
from releases.hub.remote import Remote, State, quiet
from releases.hub.upload import stage
from releases.hub.verify import SAMPLE_BYTES, read_back, sample
from releases.hub.wire import TIMEOUT, Patience, WireError, attempt, failure_of
from releases.lint import lint
from schemas import GoldsmithError


@dataclass(frozen=True)
class Outcome:
    """What came of it.

    Attributes:
        commit: the commit with the tag; None for a plan.
        read: files that this run read back and hashed.
    """

    status: Literal["planned", "published", "already published"]
    plan: Plan
    commit: str | None
    read: tuple[str, ...]


def publish(
    release: Path,
    repo: str,
    *,
    dry_run: bool = False,
    private: bool = False,
    gated: Gated | None = None,
    xet: bool = True,
    token: str | None = None,
    endpoint: str | None = None,
    patience: Patience | None = None,
    progress: bool = True,
) -> Outcome:
    """Publish the release in the folder `release` to the dataset repository `repo` under the tag `v<version>`.

    Args:
        dry_run: only make the plan; the Hub is read, nothing is written.
        private: members only; else a new repository becomes public at the end, and one that holds a release stays as it
            is.
        gated: readers must ask for access; set before anything can be read.
        xet: send through Xet; False uses plain LFS.
        token, endpoint: None takes those of the `huggingface_hub` login and environment.
        patience: how long to try; None takes the usual.
        progress: show a bar on stderr.

    Raises:
        GoldsmithError: it is not published. Nothing that readers see has changed, or the line says what has.
    """
    local = Local.read(release)
    if problems := lint(release):
        raise GoldsmithError(
            f"[{release}] the Hub would refuse it or show it wrongly ({len(problems)} problems, first: {problems[0]}): "
            "see `goldsmith lint`"
        )
    remote = Remote(repo, token=token, endpoint=endpoint, patience=patience or Patience())
    with quiet(), Progress(progress) as bar:
        state = remote.state()
        remote.check_may_write(exists=state is not None)
        plan = make_plan(local, remote, state, private=private, gated=gated)
        if dry_run:
            return Outcome("planned", plan, None, ())
        return _Publication(local, plan, remote, bar, xet).run()


class _Publication:
    """One run, from the plan to the tag."""

    def __init__(self, local: Local, plan: Plan, remote: Remote, progress: Progress, xet: bool) -> None:
        self.local, self.plan, self.remote, self.progress, self.xet = local, plan, remote, progress, xet
        self.api, self.repo = remote.api, remote.repo

    def run(self) -> Outcome:
        """All steps that are left."""
        if self.plan.head is None:
            self._ask(
                "create", lambda: self.api.create_repo(self.repo, repo_type="dataset", private=True, exist_ok=True)
            )
        self._restrict()
        commit, read = self.plan.tagged, ()
        if commit is None:
            head = self.plan.head or self._state().branches["main"]
            commit, read = (
                self._release(head) if self.plan.step == "everything" else (head, self._check_bytes(head, head))
            )
            self._tag(commit)
        self._finish()
        status = "already published" if self.plan.step == "nothing" else "published"
        return Outcome(status, self.plan, commit, read)

    def _release(self, head: str) -> tuple[str, tuple[str, ...]]:
        """Bring the files to main; the commit, and what was read back before."""
        staging = self.plan.staging
        self._ask(
            staging,
            lambda: self.api.create_branch(
                self.repo, branch=staging, revision=head, repo_type="dataset", exist_ok=True
            ),
        )
        stage(self.local, self.plan, self.remote, self.progress, xet=self.xet)
        staged = self._state().branches[staging]
        read = self._check_bytes(head, staged)
        commit = self._move_main(head, staged)
        if differences := self.local.differences(self.remote.tree(commit)):
            raise GoldsmithError(
                f"[{self.repo} > main] commit {commit[:7]} is not the release ({len(differences)} differences, first: "
                f"{differences[0]}): it is not tagged; run the same command again"
            )
        return commit, read

    def _check_bytes(self, head: str, staged: str) -> tuple[str, ...]:
        """Read a sample back, what is new first; the paths read."""
        new = {file.path for file in self.plan.send}
        seed = self.local.files["manifest.json"].sha256
        chosen = sample(self.plan.send, seed)
        left = SAMPLE_BYTES - sum(file.bytes for file in chosen)
        if left > 0:
            chosen += sample((file for path, file in self.local.files.items() if path not in new), seed, left)
        wrong = read_back(self.remote, chosen, lambda file: staged if file.path in new else head, self.progress)
        if wrong:
            raise GoldsmithError(
                f"[{self.repo}] {wrong[0]}{f', and {len(wrong) - 1} files more' if wrong[1:] else ''}: tell the Hub; "
                "sending them again does not help, it keeps the old ones; main and tags are as they were"
            )
        return tuple(sorted(file.path for file in chosen))

    def _move_main(self, head: str, staged: str) -> str:
        """One commit on `head` with the staged files; its id."""

        def commit() -> str:
            copies = [CommitOperationCopy(f.path, f.path, src_revision=staged) for f in self.plan.send]
            removals = [CommitOperationDelete(path, is_folder=False) for path in self.plan.remove]
            message = f"Release {self.plan.tag}"
            made = self.api.create_commit(
                self.repo, [*copies, *removals], commit_message=message, parent_commit=head, repo_type="dataset"
            )
            return made.oid

        def look(state: State) -> str | None:
            now = state.branches["main"]
            if now == head:
                return None
            if self.local.differences(self.remote.tree(now)):
                raise GoldsmithError(
                    f"[{self.repo} > main] moved to {now[:7]} meanwhile, by someone else: nothing was changed; "
                    "run the same command again, it plans anew"
                )
            return now

        return self._once("commit", commit, look)

    def _tag(self, commit: str) -> None:
        """Set the tag, or find that it is set already."""
        tag = self.plan.tag

        def set_tag() -> str:
            self.api.create_tag(self.repo, tag=tag, revision=commit, tag_message=f"Release {tag}", repo_type="dataset")
            return commit

        def look(state: State) -> str | None:
            target = state.tags.get(tag)
            if target not in (None, commit):
                raise GoldsmithError(
                    f"[{self.repo} > {tag}] was set meanwhile on another commit ({target[:7]}, not {commit[:7]}): "
                    "look at both, then release under a new version"
                )
            return target

        self._once(f"tag {tag}", set_tag, look, so_far="; main has the release, it is not tagged yet")

    def _once(
        self, what: str, call: Callable[[], str], look: Callable[[State], str | None], *, so_far: str = ""
    ) -> str:
        """The result of a call that must take effect once. A lost answer looks like a lost request, so after each
        failure `look` finds out on the Hub whether it took effect."""
        patience = self.remote.patience
        for number in range(1, patience.attempts + 1):
            get_session().timeout = TIMEOUT
            try:
                return call()
            except Exception as error:
                failure = failure_of(error, self.remote.endpoint)
                if failure is None:
                    raise
            if (found := look(self._state())) is not None:
                return found
            if failure.kind != "transient" or number == patience.attempts:
                raise GoldsmithError(f"{failure.error(f'{self.repo} > {what}')}{so_far}")
            time.sleep(patience.wait(number, failure.wait))
        raise AssertionError("patience has at least one attempt")

    def _restrict(self) -> None:
        """Settings that take something from readers come before anything new is there to read."""
        if self.plan.make_private:
            self._settings(private=True)
        if self.plan.gate:
            self._settings(gated=self.plan.gate)

    def _finish(self) -> None:
        """Open the repository, then delete the staging branch: while it is there, something is left to do."""
        if self.plan.make_public:
            self._settings(private=False)
        if self.plan.step == "everything" or self.plan.unfinished:
            try:
                attempt(
                    lambda: self.api.delete_branch(self.repo, branch=self.plan.staging, repo_type="dataset"),
                    self.remote.endpoint,
                    self.remote.patience,
                )
            except WireError as failed:
                if failed.failure.kind != "missing":  # a lost answer: it is gone
                    raise failed.failure.error(f"{self.repo} > {self.plan.staging}") from None

    def _settings(self, **settings: Any) -> None:
        self._ask("settings", lambda: self.api.update_repo_settings(self.repo, repo_type="dataset", **settings))

    def _ask(self, what: str, call: Callable[[], object]) -> None:
        self.remote.ask(what, call)

    def _state(self) -> State:
        state = self.remote.state()
        if state is None:
            raise GoldsmithError(f"[{self.repo}] is gone: somebody deleted or hid it meanwhile")
        return state
