"""The types a column can have.

Each type is declared once and says how it looks to Arrow, to Hugging Face `datasets`, to DuckDB and to Croissant.
Media are kept as `struct<bytes, path>` and are never decoded here, so neither torch nor torchcodec is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from schemas.errors import GoldsmithError

MEDIA = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


class Type:
    """A column type. Subclasses are frozen dataclasses; equality is by value."""

    croissant: ClassVar[str] = "sc:Text"

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type that is written to Parquet."""
        raise TypeError(f"{type(self).__name__} is not a column type")

    @property
    def feature(self) -> dict[str, Any]:
        """The Hugging Face feature, in the JSON form that `datasets.Features.from_dict` reads."""
        raise TypeError(f"{type(self).__name__} is not a column type")

    @property
    def label(self) -> str:
        """A short name for people, as in a field table."""
        return type(self).__name__.lower()

    def to_json(self) -> dict[str, Any]:
        """A plain form that `from_json` reads back."""
        return {"type": type(self).__name__}


@dataclass(frozen=True)
class Text(Type):
    """Unicode text."""

    arrow = pa.string()
    feature: ClassVar[dict[str, Any]] = {"dtype": "string", "_type": "Value"}


@dataclass(frozen=True)
class Int(Type):
    """A signed integer of 8, 16, 32 or 64 bits."""

    bits: int = 64
    croissant: ClassVar[str] = "sc:Integer"

    @property
    def arrow(self) -> pa.DataType:
        return getattr(pa, f"int{self.bits}")()

    @property
    def feature(self) -> dict[str, Any]:
        return {"dtype": f"int{self.bits}", "_type": "Value"}

    @property
    def label(self) -> str:
        return f"int{self.bits}"

    def to_json(self) -> dict[str, Any]:
        return {"type": "Int", "bits": self.bits}


@dataclass(frozen=True)
class Float(Type):
    """An IEEE float of 32 or 64 bits."""

    bits: int = 64
    croissant: ClassVar[str] = "sc:Float"

    @property
    def arrow(self) -> pa.DataType:
        return getattr(pa, f"float{self.bits}")()

    @property
    def feature(self) -> dict[str, Any]:
        return {"dtype": f"float{self.bits}", "_type": "Value"}

    @property
    def label(self) -> str:
        return f"float{self.bits}"

    def to_json(self) -> dict[str, Any]:
        return {"type": "Float", "bits": self.bits}


@dataclass(frozen=True)
class Bool(Type):
    """True or false."""

    arrow = pa.bool_()
    feature: ClassVar[dict[str, Any]] = {"dtype": "bool", "_type": "Value"}
    croissant: ClassVar[str] = "sc:Boolean"


@dataclass(frozen=True)
class Date(Type):
    """A calendar day."""

    arrow = pa.date32()
    feature: ClassVar[dict[str, Any]] = {"dtype": "date32", "_type": "Value"}
    croissant: ClassVar[str] = "sc:Date"


@dataclass(frozen=True)
class Timestamp(Type):
    """A moment in UTC, in microseconds."""

    arrow = pa.timestamp("us")
    feature: ClassVar[dict[str, Any]] = {"dtype": "timestamp[us]", "_type": "Value"}
    croissant: ClassVar[str] = "sc:DateTime"


@dataclass(frozen=True)
class Label(Type):
    """One of a fixed, ordered set of names, stored as its index (a Hugging Face `ClassLabel`)."""

    names: tuple[str, ...]
    croissant: ClassVar[str] = "sc:Integer"
    arrow = pa.int64()

    @property
    def feature(self) -> dict[str, Any]:
        return {"names": list(self.names), "_type": "ClassLabel"}

    def to_json(self) -> dict[str, Any]:
        return {"type": "Label", "names": list(self.names)}


@dataclass(frozen=True)
class Json(Type):
    """Any JSON value, stored as text under Arrow's JSON extension type."""

    feature: ClassVar[dict[str, Any]] = {"_type": "Json"}

    @property
    def arrow(self) -> pa.DataType:
        return pa.json_()


@dataclass(frozen=True)
class Image(Type):
    """An encoded picture: `struct<bytes, path>`."""

    arrow = MEDIA
    feature: ClassVar[dict[str, Any]] = {"_type": "Image"}
    croissant: ClassVar[str] = "sc:ImageObject"


@dataclass(frozen=True)
class Audio(Type):
    """An encoded sound: `struct<bytes, path>`; `sampling_rate` in Hz, or None where files differ."""

    sampling_rate: int | None = None
    croissant: ClassVar[str] = "sc:AudioObject"
    arrow = MEDIA

    @property
    def feature(self) -> dict[str, Any]:
        rate = {} if self.sampling_rate is None else {"sampling_rate": self.sampling_rate}
        return {**rate, "_type": "Audio"}

    def to_json(self) -> dict[str, Any]:
        return {"type": "Audio", "sampling_rate": self.sampling_rate}


@dataclass(frozen=True)
class List(Type):
    """A list of values of one type."""

    of: Type

    @property
    def arrow(self) -> pa.DataType:
        return pa.list_(self.of.arrow)

    @property
    def feature(self) -> dict[str, Any]:
        return {"feature": self.of.feature, "_type": "List"}

    @property
    def label(self) -> str:
        return f"list<{self.of.label}>"

    def to_json(self) -> dict[str, Any]:
        return {"type": "List", "of": self.of.to_json()}


@dataclass(frozen=True)
class Struct(Type):
    """Named fields."""

    fields: tuple[tuple[str, Type], ...]

    def __init__(self, fields: Mapping[str, Type] | tuple[tuple[str, Type], ...]) -> None:
        pairs = tuple(fields.items()) if isinstance(fields, Mapping) else tuple(fields)
        object.__setattr__(self, "fields", pairs)

    @property
    def arrow(self) -> pa.DataType:
        return pa.struct([(name, kind.arrow) for name, kind in self.fields])

    @property
    def feature(self) -> dict[str, Any]:
        return {name: kind.feature for name, kind in self.fields}

    @property
    def label(self) -> str:
        return f"struct<{', '.join(f'{name}: {kind.label}' for name, kind in self.fields)}>"

    def to_json(self) -> dict[str, Any]:
        return {"type": "Struct", "fields": [[name, kind.to_json()] for name, kind in self.fields]}


_SIMPLE = {kind.__name__: kind for kind in (Text, Bool, Date, Timestamp, Json, Image)}


def from_json(form: Mapping[str, Any]) -> Type:
    """Read back what `Type.to_json` wrote.

    Raises:
        GoldsmithError: the form names no known type.
    """
    match form["type"]:
        case "Int":
            return Int(form["bits"])
        case "Float":
            return Float(form["bits"])
        case "Label":
            return Label(tuple(form["names"]))
        case "Audio":
            return Audio(form["sampling_rate"])
        case "List":
            return List(from_json(form["of"]))
        case "Struct":
            return Struct(tuple((name, from_json(kind)) for name, kind in form["fields"]))
        case simple if simple in _SIMPLE:
            return _SIMPLE[simple]()
    raise GoldsmithError(f"unknown column type {form['type']!r}: the file was written by a newer goldsmith")
