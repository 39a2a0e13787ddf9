"""JSON files larger than memory: COCO's instances have 450 MB, LVIS's 1.1 GB, several GB as Python's objects.

A file is read once from its start to its end, an item at a time, and of each item only its place is kept; whoever wants
an item reads it again. Two levels are known by place, as all annotation files have them: the members of an object and
the items of a list, alone or in an object. Values are those of `json.loads` to the last bit (NaN, whole numbers of any
size, lone surrogates, the last of two equal keys): parsers of streams, such as ijson on yajl, refuse or change them.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from schemas import GoldsmithError

_CHUNK = 1 << 20
_LARGEST = 64 << 20
"""No item is longer, in characters: so a broken file does not fill the memory before it is refused."""
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\n\r]*")
_BOM = b"\xef\xbb\xbf"
_Span = tuple[int, int]
"""First byte of a value in its file, and the one behind it."""


class JsonList(Sequence[Any]):
    """A list in a JSON file, whose items are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts, self._ends = array("q"), array("q")

    def add(self, span: _Span) -> None:
        """One more item, while the file is first read."""
        self._starts.append(span[0])
        self._ends.append(span[1])

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, index: Any) -> Any:
        chosen = range(len(self))[index]
        return list(self.at(chosen)) if isinstance(chosen, range) else next(self.at([chosen]))

    def __iter__(self) -> Iterator[Any]:
        return self.at(range(len(self)))

    def at(self, indices: Iterable[int]) -> Iterator[Any]:
        """Some items; the file is opened once for them."""
        return _read(self._path, ((self._starts[index], self._ends[index]) for index in indices))


class JsonObject(Mapping[str, Any]):
    """The object that a JSON file is: lists are `JsonList`, other values are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[str, JsonList | _Span] = {}

    def add(self, key: str, value: JsonList | _Span) -> None:
        """One more member, while the file is first read; the last of two with one key counts."""
        self._values[key] = value

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __getitem__(self, key: str) -> Any:
        value = self._values[key]
        return value if isinstance(value, JsonList) else next(_read(self._path, [value]))


class Groups:
    """The items of a list by what they speak of, in the list's order; only their places are kept."""

    def __init__(self, items: Sequence[Any], key_of: Callable[[Any], str | None]) -> None:
        """`key_of` says of an item where it belongs: None for nowhere."""
        self._items = items
        self._places: dict[str, array[int]] = {}
        for place, item in enumerate(items):
            if (key := key_of(item)) is not None:
                self._places.setdefault(key, array("q")).append(place)

    def keys(self) -> Iterable[str]:
        """What the items speak of, in the order of the first item of each."""
        return self._places.keys()

    def count(self, key: str) -> int:
        """How many items belong there."""
        return len(self._places.get(key, ()))

    def of(self, key: str) -> Iterator[Any]:
        """The items that belong there."""
        places = self._places.get(key, ())
        return self._items.at(places) if isinstance(self._items, JsonList) else (self._items[each] for each in places)


def open_json(path: Path) -> Any:
    """A JSON file: a `JsonObject`, a `JsonList`, or the value itself if it is neither.

    Raises:
        GoldsmithError: it is no JSON in UTF-8, as a whole or in an item; or an item is longer than 64 MB.
    """
    with open(path, "rb") as file:
        return _Scan(path, file).document()


def _read(path: Path, spans: Iterable[_Span]) -> Iterator[Any]:
    with open(path, "rb") as file:
        for start, end in spans:
            file.seek(start)
            try:
                yield json.loads(file.read(end - start).decode("utf-8", "surrogatepass"))
            except (ValueError, RecursionError):
                raise GoldsmithError(
                    f"[{path.name}] is no longer what it was: leave it alone while it is read, and build again"
                ) from None


class _Scan:
    """One pass over a file, of which a stretch is held as text."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        head = file.read(4)
        encoding = json.detect_encoding(head)
        if not encoding.startswith("utf-8"):
            raise self._error(f"it is {encoding.upper()}, JSON files are UTF-8", 0)
        self._read_to = self._byte = len(_BOM) if head.startswith(_BOM) else 0
        file.seek(self._byte)
        self._text, self._at, self._over = "", 0, False

    def document(self) -> Any:
        first = self._peek()
        found: Any
        if first == "{":
            found = JsonObject(self._path)
            for key in self._members():
                found.add(key, self._list() if self._peek() == "[" else self._value()[1])
        elif first == "[":
            found = self._list()
        else:
            found = self._value()[0]
        if self._peek():
            raise self._error("Extra data", self._byte)
        return found

    def _members(self) -> Iterator[str]:
        """The keys of an object; the caller takes the value behind each."""
        self._take("{")
        if self._peek() == "}":
            self._take("}")
            return
        while True:
            if self._peek() != '"':
                raise self._error("Expecting property name enclosed in double quotes", self._byte)
            key = self._value()[0]
            self._take(":")
            yield key
            if self._take(",}") == "}":
                return

    def _list(self) -> JsonList:
        found = JsonList(self._path)
        self._take("[")
        if self._peek() == "]":
            self._take("]")
            return found
        while True:
            found.add(self._value()[1])
            if self._take(",]") == "]":
                return found

    def _value(self) -> tuple[Any, _Span]:
        """The next value and where it stands. What ends where the text ends may go on in the file (`12` of `12.5`)."""
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if isinstance(error, RecursionError) or not self._widen():
                    raise self._broken(error) from None
                continue
            behind = _SPACE.match(self._text, end).end()  # pyright: ignore[reportOptionalMemberAccess]
            if self._text[behind : behind + 1] in (",", "]", "}", ":") or not self._widen():
                start = self._byte
                self._go(end)
                return value, (start, self._byte)

    def _peek(self) -> str:
        """The next character that is no blank, which then is the next one; empty at the end of the file."""
        while True:
            self._go(_SPACE.match(self._text, self._at).end())  # pyright: ignore[reportOptionalMemberAccess]
            if self._at < len(self._text) or not self._widen():
                return self._text[self._at : self._at + 1]

    def _take(self, wanted: str) -> str:
        """The next character, which must be one of `wanted`."""
        found = self._peek()
        if not found or found not in wanted:
            raise self._error(f"Expecting {' or '.join(map(repr, wanted))}", self._byte)
        self._go(self._at + 1)
        return found

    def _go(self, to: int) -> None:
        self._byte += self._bytes(self._at, to)
        self._at = to

    def _bytes(self, start: int, end: int) -> int:
        """How many bytes a piece of the text has in the file."""
        if self._text.isascii():
            return end - start
        return len(self._text[start:end].encode("utf-8", "surrogatepass"))

    def _widen(self) -> bool:
        """Read on, and let go of what was used; False if there is no more, or the value is longer than any."""
        if self._over or len(self._text) - self._at > _LARGEST:
            return False
        # As much again as is there, so that a long value is not tried too often.
        data = self._file.read(max(_CHUNK, len(self._text) - self._at))
        while data and data[-1] >= 0x80 and (more := self._file.read(1)):  # No character is cut.
            data += more
        self._over = not data
        if self._over:
            return False
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self._error(f"it is not UTF-8: {error.reason}", self._read_to + error.start) from None
        self._read_to += len(data)
        self._text, self._at = self._text[self._at :] + text, 0
        return True

    def _broken(self, error: ValueError | RecursionError) -> GoldsmithError:
        """What is wrong with the next value."""
        what, place = str(error), self._at
        if isinstance(error, json.JSONDecodeError):
            what, place = error.msg, error.pos
        if len(self._text) - self._at > _LARGEST:
            what = f"an item is longer than {_LARGEST >> 20} MB, or {what}"
        return self._error(what, self._byte + self._bytes(self._at, place))

    def _error(self, what: str, byte: int) -> GoldsmithError:
        return GoldsmithError(f"[{self._path.name}] is no JSON ({what}, at byte {byte:,}): fetch it again, whole")
