"""Every page of a list captured twice, each time by a browser process of its own, and the two compared part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.webspatial.capture import store
from builders.webspatial.capture.pages import PageEntry, read_pages
from builders.webspatial.capture.runner import Limits, capture_all

PARTS = ("graph", "canvas", "ids", "page", "events")
"""What is told apart in the table; everything else of a capture is compared as `others`."""


@dataclass(frozen=True)
class Repeated:
    """A page captured twice.

    Attributes:
        statuses: what came of the first and the second capture.
        equal: part to whether the two are the same; without parts that neither has.
        inputs, changes, caused: how many the first event log has; caused: changes that need the input.
        changed_pixels: of the page's picture, by the first capture; None where it was not looked at.
    """

    entry: PageEntry
    statuses: tuple[str, str]
    equal: Mapping[str, bool]
    inputs: int = 0
    changes: int = 0
    caused: int = 0
    changed_pixels: int | None = None

    @property
    def passed(self) -> bool:
        """Whether both captures are there, are the same, and changed nothing."""
        return self.statuses == ("captured", "captured") and all(self.equal.values()) and not self.changed_pixels


def repeat(
    pages: Path,
    folders: Mapping[str, Path],
    out: Path,
    *,
    packages: Path | None = None,
    limits: Limits | None = None,
    note: Callable[[str], None] = lambda line: None,
) -> list[Repeated]:
    """Capture a list into `out/first` and `out/second` (see `runner.capture_all`) and compare them."""
    roots = (out / "first", out / "second")
    runs = []
    for root in roots:
        records = capture_all(pages, folders, root, packages=packages, limits=limits, note=note)
        runs.append({record["id"]: record["status"] for record in records})
    return [_compared(entry, roots, (runs[0][entry.id], runs[1][entry.id])) for entry in read_pages(pages)]


def _compared(entry: PageEntry, roots: tuple[Path, Path], statuses: tuple[str, str]) -> Repeated:
    if statuses != ("captured", "captured"):
        return Repeated(entry, statuses, {})
    data = store.read(roots[0] / entry.id).data
    changes = (data.get("events") or {}).get("changes", ())
    return Repeated(
        entry,
        statuses,
        differences(*(store.sums(root / entry.id) for root in roots), with_events=bool(entry.frames)),
        inputs=len((data.get("events") or {}).get("inputs", ())),
        changes=len(changes),
        caused=sum(change["caused"] for change in changes),
        changed_pixels=data.get("changed_pixels"),
    )


def differences(first: Mapping[str, str], second: Mapping[str, str], with_events: bool = True) -> dict[str, bool]:
    """Part to whether two captures (`store.sums`) have the same of it."""
    names = {*first, *second}
    shown = [part for part in PARTS if part in names and (part != "events" or with_events)]
    equal = {part: first.get(part) == second.get(part) for part in shown}
    rest = names - set(PARTS)
    return {**equal, "others": all(first.get(part) == second.get(part) for part in rest)}


def table(found: Sequence[Repeated]) -> str:
    """A line a page: `=` the same, `!` not, `.` there is none."""
    heads = (*PARTS, "others")
    width = max((len(f"{r.entry.group}/{r.entry.path}") for r in found), default=0)
    lines = [f"{'page':{width}} {'kind':14} {' '.join(heads)} {'inputs':>7} {'changes':>8} {'caused':>7} {'pixels':>7}"]
    for r in found:
        name = f"{r.entry.group}/{r.entry.path}"
        if r.statuses != ("captured", "captured"):
            lines.append(f"{name:{width}} {r.entry.kind:14} {r.statuses[0]}, {r.statuses[1]}")
            continue
        marks = ({True: "=", False: "!", None: "."}[r.equal.get(part)] for part in heads)
        cells = " ".join(f"{mark:^{len(part)}}" for mark, part in zip(marks, heads, strict=True))
        pixels = "" if r.changed_pixels is None else str(r.changed_pixels)
        lines.append(f"{name:{width}} {r.entry.kind:14} {cells} {r.inputs:7} {r.changes:8} {r.caused:7} {pixels:>7}")
    kinds = sorted({r.entry.kind for r in found if r.passed and r.entry.kind})
    lines.append(
        f"{sum(r.passed for r in found)} of {len(found)} pages the same; kinds: {', '.join(kinds) or 'not named'}"
    )
    return "\n".join(lines)
