"""Makes the bundled sample again: writes the page list of `scenes/` and captures it into `sample/captures`.

python -P -m builders.webspatial.make_sample            # needs Chromium and npm; see README.md
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from builders.webspatial.space.chirality import polycube

FOLDER = Path(__file__).parent
GROUP = "goldsmith/scenes"
LIST = FOLDER / "pages" / "sample.toml"
SIZE = [480, 360]


def page_list() -> str:
    """The page list of the sample as TOML."""
    still = {"nearby": 2.5}
    pages: list[dict] = []
    for kind, mode, seeds in (
        ("room", "fixed", range(1, 17)),
        ("room", "any", range(21, 37)),
        ("things", "", range(1, 13)),
        ("row", "", range(1, 7)),
        ("street", "", range(1, 13)),
    ):
        pages += [{"path": f"static.html?kind={kind}&mode={mode}&seed={seed}", **still} for seed in seeds]
    for engine in ("babylon", "aframe", "playcanvas"):
        pages += [{"path": f"{engine}.html?seed={seed}"} for seed in (51, 52)]
    for seed in range(1, 6):
        cells = ";".join(",".join(map(str, cell)) for cell in polycube(seed))
        pages.append({"path": f"polycube.html?cells={cells}", "turns": True})
    for seed in range(1, 13):
        pages.append({"path": f"moving.html?seed={seed}", "frames": 48, "pictures": [0, 16, 32, 48]})
    for seed in range(1, 11):
        click = [[4, "click", "clicked"]]
        pages.append({"path": f"clicked.html?seed={seed}", "frames": 36, "pictures": [0, 36], "actions": click})
    lines = [
        "# The bundled sample's pages; written by make_sample.py.",
        "",
        "[[group]]",
        f'name = "{GROUP}"',
        'url = "bundled with the builder, in scenes/"',
        'commit = ""',
        'licence = "CC0-1.0"',
        "npm = true",
        "keep_page = false",
        f"size = {SIZE}",
    ]
    for page in pages:
        lines += ["", "[[group.page]]", *(f"{key} = {json.dumps(value)}" for key, value in page.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the list, then capture it."""
    from builders.webspatial.capture.runner import capture_all

    LIST.write_text(page_list(), encoding="utf-8")
    out = FOLDER / "sample" / "captures"
    records = capture_all(LIST, {GROUP: FOLDER / "scenes"}, out, packages=Path(".webspatial-packages"), note=print)
    (out / "log.jsonl").unlink()
    shutil.rmtree(out / ".tmp", ignore_errors=True)
    print(sum(r["status"] == "captured" for r in records), "of", len(records), "captured")


if __name__ == "__main__":
    main()
