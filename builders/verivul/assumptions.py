"""What a harness assumes about its inputs, as plain values that go into the row.

A setup starts from one of `LADDER` and is only ever narrowed, by what fails in the fixed program (`strengthen`).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class About:
    """Assumptions about all variables or members of one name (`access.key_of`: `size`, `.size`).

    Attributes:
        nonnull, nonzero, terminated (a string has its NUL).
        size: elements of its buffer.
        span: inclusive bounds of a number.
    """

    nonnull: bool = False
    nonzero: bool = False
    terminated: bool = False
    size: int | None = None
    span: tuple[int, int] | None = None


@dataclass
class Setup:
    """How inputs are made.

    Attributes:
        elements: of a buffer of unknown size; `objects`: of an array of records.
        depth: of pointers to records; deeper ones are NULL.
        linked: a length beside a buffer is its size.
        nullable: names of pointers that may be NULL.
        bounded: loop limits are at most `elements`; `negative`: and at least -1 instead of 0.
        stub_cap: what stubs write through pointers is at most this; 0 for any.
        callees: how deep callees keep their bodies.
        about: by name.
        assumed: lines of assertions that are assumed instead.
        skipped: members that are not set; `opaque`: types of which nothing is known.
        packets: where the code asks for the end of its data, its data are bytes of any number up to 24, whatever a
            length beside them says.
        kept: the harness keeps its objects reachable, so that only the program can leak.
    """

    elements: int = 4
    objects: int = 2
    depth: int = 3
    linked: bool = True
    nullable: frozenset[str] = frozenset()
    bounded: bool = True
    negative: bool = False
    stub_cap: int = 4
    callees: int = 2
    about: dict[str, About] = field(default_factory=dict)
    assumed: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    opaque: set[str] = field(default_factory=set)
    kept: bool = False
    packets: bool = False

    def of(self, name: str) -> About:
        """The assumptions about a name, to be narrowed."""
        return self.about.setdefault(name, About())

    def lines(self) -> list[str]:
        """Every assumption, one line each, sorted."""
        found = [f"buffers of unknown size hold {self.elements} elements, arrays of records {self.objects}",
                 f"pointers to records are followed to depth {self.depth}, then NULL",
                 f"callees keep their bodies to depth {self.callees}, the others return any value"]  # fmt: skip
        found += ["a length beside a buffer is the buffer's size"] if self.linked else []
        found += ["data whose end the code asks for are 0 to 24 bytes"] if self.packets else []
        low = -1 if self.negative else 0
        found += [f"loop limits lie in {low}..{self.elements}"] if self.bounded else []
        found += [f"what stubs write is at most {self.stub_cap}"] if self.stub_cap else []
        found += [f"{name} may be NULL" for name in self.nullable] + [f"asserted: {line}" for line in self.assumed]
        for name, about in self.about.items():
            found += [f"{name} is not NULL"] if about.nonnull else []
            found += [f"{name} is not 0"] if about.nonzero else []
            found += [f"{name} is NUL-terminated"] if about.terminated else []
            found += [f"{name} holds {about.size} elements"] if about.size else []
            found += [f"{name} lies in {about.span[0]}..{about.span[1]}"] if about.span else []
        return sorted(found)


def ladder(nullable: frozenset[str]) -> list[Setup]:
    """The setups to try, the cheap one first; `nullable` are names that the fix compares with NULL."""
    small = {"elements": 2, "callees": 0, "depth": 2, "objects": 1, "stub_cap": 2, "nullable": nullable}
    large = Setup(bounded=False, negative=True, stub_cap=0, elements=8, nullable=nullable)
    nulls = [Setup()] if nullable else []
    return [Setup(**small, packets=True), Setup(**small), *nulls, Setup(nullable=nullable, packets=True),
            Setup(nullable=nullable), large]  # fmt: skip
