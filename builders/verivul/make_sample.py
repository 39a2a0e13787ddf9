"""Makes the bundled sample again: a repository as a fast-export stream, and the list of its fixes.

    python -P -m builders.verivul.make_sample

The stream is text, so a change of the sample can be read as one; the commits' ids follow from it.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from builders.verivul import sample_answers
from builders.verivul.commits import Fix
from builders.verivul.sample_code import FAULTS, HEADER, HOSTILE, LATIN1

_SAMPLE = Path(__file__).parent / "sample"
_WHO = b"Goldsmith <goldsmith@example.org>"
_START = 1_700_000_000
_DAY = 86_400
_ABSENT = "0" * 39 + "1"


class Stream:
    """Writes a fast-export stream, one commit after another on one branch."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.marks = 0

    def commit(
        self, message: str, files: dict[str | bytes, bytes], *, merge: int = 0, parent: int | None = None
    ) -> int:
        """Add a commit; its mark."""
        self.marks += 1
        when = b"%s %d +0000" % (_WHO, _START + self.marks * _DAY)
        text = message.encode()
        head = b"commit refs/heads/main\nmark :%d\nauthor %s\ncommitter %s\n" % (self.marks, when, when)
        self._parts.append(head + b"data %d\n%s\n" % (len(text), text))
        if (parent or self.marks - 1) and self.marks > 1:
            self._parts.append(b"from :%d\n" % (parent or self.marks - 1))
        if merge:
            self._parts.append(b"merge :%d\n" % merge)
        for path, content in files.items():
            name = path if isinstance(path, bytes) else path.encode()
            quoted = b'"' + name.replace(b"\\", b"\\\\").replace(b"\n", b"\\n") + b'"' if b"\n" in name else name
            self._parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (quoted, len(content), content))
        self._parts.append(b"\n")
        return self.marks

    @property
    def content(self) -> bytes:
        """The whole stream."""
        return b"".join([b"feature done\n", *self._parts, b"done\n"])


def make() -> tuple[bytes, list[tuple[int, int, str, str]]]:
    """The stream, and (mark, CWE, CVE, subject) of each fix in it."""
    stream, fixes = Stream(), []
    first: dict[str | bytes, bytes] = {"include/parcel.h": HEADER.encode()}
    first |= {fault.path: fault.old.encode() for fault in FAULTS}
    first |= {LATIN1[0]: LATIN1[1], HOSTILE[0]: HOSTILE[1]}
    stream.commit("parcel 1.0\n", first)
    listed = [(f.path, f.cwe, f.subject, f.new.encode()) for f in FAULTS]
    listed.append((LATIN1[0], 369, "size_half: nothing is half of nothing", LATIN1[2]))
    listed.append((HOSTILE[0], 125, "a file with a strange name", HOSTILE[2]))
    for number, (path, cwe, subject, content) in enumerate(listed, 1):
        cve = f"CVE-1900-{number:04d}"
        mark = stream.commit(f"{subject}\n\nFixes {cve}" + (f" (CWE-{cwe})\n" if cwe else "\n"), {path: content})
        fixes.append((mark, cwe, cve, subject))
    merge = stream.commit("Merge branch 'security' (CVE-1900-0099)\n", {}, merge=1)
    fixes.append((merge, 0, "CVE-1900-0099", "Merge branch 'security'"))
    many: dict[str | bytes, bytes] = {
        f"src/part{n}.c": b"int part%d(void)\n{\n    return %d;\n}\n" % (n, n) for n in range(40)
    }
    stream.commit("forty parts\n", many)
    edited: dict[str | bytes, bytes] = {
        path: content.replace(b"return", b"return 1 +") for path, content in many.items()
    }
    wide = stream.commit("forty parts at once (CVE-1900-0098)\n", edited)
    fixes.append((wide, 0, "CVE-1900-0098", "forty parts at once"))
    return stream.content, fixes


def ids(stream: bytes) -> dict[int, str]:
    """The commit id of each mark."""
    with tempfile.TemporaryDirectory() as room:
        marks = Path(room) / "marks"
        git = ["git", "--git-dir", room + "/repo"]
        subprocess.run([*git, "init", "-q", "--bare"], check=True)  # noqa: S603
        subprocess.run([*git, "fast-import", "--quiet", f"--export-marks={marks}"], input=stream, check=True)  # noqa: S603
        lines = (line.split() for line in marks.read_text().splitlines())
        return {int(mark[1:]): sha for mark, sha in lines}


def main() -> None:
    """Write the sample's files."""
    stream, fixes = make()
    known = ids(stream)
    (_SAMPLE / "repository.stream").write_bytes(stream)
    entries = [Fix("parcel", known[mark], (cve,), (cwe,) if cwe else (), subject) for mark, cwe, cve, subject in fixes]
    entries.append(Fix("parcel", _ABSENT, ("CVE-1900-0097",), (), "a commit that is not in the repository"))
    grid = next(entry for entry in entries if entry.subject.startswith("grid_set"))
    (_SAMPLE / "calls.jsonl").write_text(sample_answers.record(_SAMPLE / "repository.stream", grid), encoding="utf-8")
    head = "# The fixes of the bundled sample, made by make_sample.py.\n\n"
    (_SAMPLE / "commits.toml").write_text(head + "".join(entry.toml() for entry in entries), encoding="utf-8")


if __name__ == "__main__":
    main()
