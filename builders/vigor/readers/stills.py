"""Pictures that nobody has annotated: only proposals speak of them. `licences.tsv` gives the licence of each file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builders.vigor.files import Files
from builders.vigor.forms import Claim, Concept, Picture, Problem
from builders.vigor.licences import UNKNOWN
from builders.vigor.pixels import opened
from builders.vigor.values import BadValueError


class Stills:
    """A folder of pictures, and maybe a `licences.tsv`: file name, tab, SPDX identifier."""

    def __init__(self, folder: Path) -> None:
        files = Files(folder)
        table = folder / "licences.tsv"
        lines = table.read_text(encoding="utf-8").splitlines() if table.is_file() else []
        licences = dict(line.split("\t")[:2] for line in lines if "\t" in line)
        self._pictures: list[Picture] = []
        self._strays: list[Problem] = []
        for path in files.all():
            name = path.relative_to(folder).as_posix()
            try:
                with opened(path, whole=False) as image:
                    turned = image.getexif().get(0x0112, 1) > 4
                    width, height = image.size[::-1] if turned else image.size
            except BadValueError as error:
                self._strays.append(Problem.of(error, name, name, "images"))
                continue
            licence = licences.get(name, UNKNOWN)
            self._pictures.append(Picture(name, name, width, height, licence, path=path, place=name))

    def pictures(self) -> list[Picture]:
        return self._pictures

    def concepts(self) -> Iterator[tuple[Concept, str]]:
        return iter(())

    def claims(self, picture: Picture) -> Iterator[Claim | Problem]:
        return iter(())

    def records(self, picture: Picture) -> int:
        return 0

    def strays(self) -> list[Problem]:
        return self._strays
