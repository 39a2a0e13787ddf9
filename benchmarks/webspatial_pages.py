"""What came of capturing public pages: by repository, the gate between graph and pixels, and the questions they give.

    python -P -m builders.webspatial capture builders/webspatial/pages/public.toml --folder NAME=PATH ... -o captures
    python benchmarks/webspatial_pages.py captures

The repositories are not in this one; pages/public.toml names them with their commits.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

from builders.webspatial import rows
from builders.webspatial.__main__ import table
from builders.webspatial.builder import chosen_questions
from builders.webspatial.capture import store
from builders.webspatial.space.agree import agreement
from builders.webspatial.space.audit import audit

NEEDS = ("needs_network", "missing_file", "page_error")
"""Pages that do not run without a network, or not at all."""


def main(root: Path) -> None:
    """Print the tables."""
    lines = (root / "log.jsonl").read_text(encoding="utf-8").splitlines()
    records = list({record["id"]: record for record in map(json.loads, lines)}.values())
    print(table(records))
    seconds, parts = sorted(r["seconds"] for r in records), [r["capture_ms"] / 1000 for r in records if "engine" in r]
    print(f"\na page: median {median(seconds):.1f} s, nine of ten within {seconds[len(seconds) * 9 // 10]:.1f} s; the")
    print(f"capture part: median {median(parts):.2f} s, nine of ten within {sorted(parts)[len(parts) * 9 // 10]:.2f} s")
    run = [r for r in records if r["status"] not in NEEDS]
    good = sum(r["status"] == "captured" for r in records)
    print(f"\ngraph and camera on {good} of {len(run)} pages that run without a network ({good / len(run):.1%})")
    found = [agreement(store.read(root / n).data["graph"]) for n in store.names(root)]
    asked = [a for n, a in zip(store.names(root), found, strict=True) if rows.why_not(store.read(root / n), a) is None]
    compared, agree = sum(a.compared for a in asked), sum(a.agree for a in asked)
    print(f"graph and pixels agree for {agree} of {compared} meshes of the {len(asked)} pages that are asked about")
    print(f"before the gate: {sum(a.agree for a in found)} of {sum(a.compared for a in found)} meshes")
    print(
        "not asked:",
        dict(Counter(rows.why_not(store.read(root / n), a) for n, a in zip(store.names(root), found, strict=True))),
    )
    start = time.monotonic()
    asked_rows = [
        {"type": c.kind, "fold": fold, "text": c.text, "options": c.options, "answer": c.answer, "marks": {}}
        for fold, some in chosen_questions(root)
        for c in some
    ]
    print(f"\n{len(asked_rows)} questions in {time.monotonic() - start:.0f} s")
    for a in audit(asked_rows, {}):
        print(f"{a.kind:18} {a.questions:5}  chance {a.chance:.3f}  text only {a.text_only:.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
