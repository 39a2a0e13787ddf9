"""What the Hub asks of a dataset card's YAML, checked without a network.

The Hub answers a commit of a bad card with an error; `datasets` and `huggingface_hub` accept nearly everything
offline. These are the rules that depend on nothing but the YAML and the footers of the Parquet files. The text of the
card and the other limits of the Hub (file sizes, row groups) are not its business.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from schemas.errors import GoldsmithError
from schemas.hub_files import HubFile, dataset_info
from schemas.hub_words import CREATORS, LICENCES, MULTILINGUALITY, SIZES, TASKS, languages, size_category

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)(?P<body>.*)\Z", re.DOTALL | re.MULTILINE
)
_SPLIT = re.compile(r"\w+(\.\w+)*")
_SHARD = re.compile(r"(?P<stem>.+)-(?P<index>\d{5})-of-(?P<count>\d{5})\.parquet")


class _Loader(yaml.SafeLoader):
    """YAML without Python objects in which a key stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = Counter(self.construct_object(key, deep=True) for key, _ in node.value)
        twice = [key for key, count in keys.items() if count > 1]
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"key {twice[0]!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


def read_card(text: str) -> tuple[dict[str, Any], str]:
    """The YAML mapping and the body of a README.

    Raises:
        GoldsmithError: there is no YAML head, or it is not plain YAML (syntax, Python tags, a key that stands twice).
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        raise GoldsmithError("[README.md] has no YAML head between two lines `---`: run `goldsmith card`")
    try:
        metadata = yaml.load(match["yaml"], _Loader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise GoldsmithError(f"[README.md > YAML] is not plain YAML ({reason}): run `goldsmith card`") from None
    if not isinstance(metadata, dict):
        raise GoldsmithError("[README.md > YAML] is no mapping: run `goldsmith card`")
    return metadata, match["body"]


def card_problems(metadata: Mapping[Any, Any], files: Sequence[HubFile]) -> list[str]:
    """What the Hub, its viewer or `load_dataset` would refuse or get wrong in a card.

    Args:
        metadata: the card's YAML, as `read_card` gives it.
        files: all data files of the repository (`data_files`).

    Returns:
        one line a problem, with the place in the YAML; empty where there is none.
    """
    found = [*_key_problems(metadata), *_word_problems(metadata), *_shard_problems(files)]
    found += _config_problems(metadata, files)
    found += _size_problems(metadata, files)
    return [f"[README.md > {place}] {problem}" for place, problem in found]


def _key_problems(value: Any, place: str = "YAML") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                yield place, f"key {key!r} is no text: quote it"
            elif "." in key or "$" in key:
                yield place, f"key {key!r} has a '.' or '$', which the Hub refuses"
            if inner is None:
                yield place, f"key {key!r} has no value: leave it out"
            yield from _key_problems(inner, f"{place} > {key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _key_problems(inner, f"{place} > {index}")


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _word_problems(metadata: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    advice = {"license": "write SPDX ids in lower case", "language": "two letters where a code has them: as, not asm"}
    words: dict[str, Iterable[str]] = {
        "license": LICENCES,
        "language": languages(),
        "task_categories": TASKS,
        "size_categories": SIZES,
        "annotations_creators": CREATORS,
        "language_creators": CREATORS - {"no-annotation"},
        "multilinguality": MULTILINGUALITY,
    }
    for key, known in words.items():
        for word in _many(metadata.get(key)):
            if not isinstance(word, str):
                yield key, f"YAML reads {word!r} as {type(word).__name__}: quote it"
            elif word not in known:
                yield key, f"{word!r} is not in the Hub's list{': ' + advice[key] if key in advice else ''}"
    if not metadata.get("license"):
        yield "license", "is missing: name one, or `other` with license_name and license_link"
    if "other" in _many(metadata.get("license")):
        for key in ("license_name", "license_link"):
            if not metadata.get(key):
                yield key, "is missing: `license: other` needs it"
    link = metadata.get("license_link")
    if link and not (str(link).startswith(("https://", "http://")) or link in ("LICENSE", "LICENSE.md")):
        yield "license_link", f"{link!r} is neither a URL nor LICENSE or LICENSE.md"


def _shard_problems(files: Sequence[HubFile]) -> Iterator[tuple[str, str]]:
    found: dict[tuple[str, int], set[int]] = {}
    for file in files:
        if match := _SHARD.fullmatch(file.path):
            found.setdefault((match["stem"], int(match["count"])), set()).add(int(match["index"]))
    for (stem, count), indices in found.items():
        if missing := sorted(set(range(count)) - indices):
            yield "configs", f"{stem}: shard {missing[0]:05d} of {count} is missing"


def _matching(pattern: str, files: Sequence[HubFile]) -> list[HubFile]:
    """The files that a glob of a card matches (`*` stops at `/`, `**` does not)."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    regex = re.compile("".join(wild.get(part, re.escape(part)) for part in parts))
    return [file for file in files if regex.fullmatch(file.path)]


def _entries(config: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """The (split, patterns) of a config, in the forms the Hub allows."""
    for entry in _many(config.get("data_files")):
        if isinstance(entry, Mapping):
            yield str(entry.get("split")), [str(path) for path in _many(entry.get("path"))]
        else:
            yield "train", [str(entry)]


def _config_problems(metadata: Mapping[Any, Any], files: Sequence[HubFile]) -> Iterator[tuple[str, str]]:
    configs = [config for config in _many(metadata.get("configs")) if isinstance(config, Mapping)]
    names = [config.get("config_name") for config in configs]
    for name, count in Counter(names).items():
        if name is None:
            yield "configs", "a config has no config_name"
        elif count > 1:
            yield f"configs > {name}", f"stands {count} times"
        elif name == "data":
            yield f"configs > {name}", "the name `data` is refused: rename the table"
    defaults = [config.get("config_name") for config in configs if config.get("default")]
    if configs and len(defaults) != 1:
        yield "configs", f"one config must be the default; these are: {defaults}"
    claimed: set[str] = set()
    for config in configs:
        place = f"configs > {config.get('config_name')}"
        for split, patterns in _entries(config):
            if not _SPLIT.fullmatch(split):
                yield place, f"split {split!r} may only have letters, digits, '_' and inner dots"
            for pattern in patterns:
                hit = _matching(pattern, files)
                claimed |= {file.path for file in hit}
                if not hit:
                    yield place, f"{pattern} matches no file"
                elif not any(file.rows for file in hit):
                    yield (
                        place,
                        f"split {split} has no row, and `load_dataset` then refuses all of the config: leave it out",
                    )
    for file in files:
        if file.path not in claimed and file.rows:
            yield "configs", f"{file.path} is in no config: readers would not see it"


def _size_problems(metadata: Mapping[Any, Any], files: Sequence[HubFile]) -> Iterator[tuple[str, str]]:
    rows = sum(file.rows for file in files)
    sizes = _many(metadata.get("size_categories"))
    if sizes and sizes != [size_category(rows)]:
        yield "size_categories", f"says {', '.join(map(str, sizes))}; {rows} rows are {size_category(rows)}"
    configs = {c.get("config_name"): c for c in _many(metadata.get("configs")) if isinstance(c, Mapping)}
    for info in _many(metadata.get("dataset_info")):
        if not isinstance(info, Mapping):
            continue
        name = str(info.get("config_name", "default"))
        place = f"dataset_info > {name}"
        if name not in configs:
            yield place, "there is no such config"
            continue
        truth = dataset_info(
            name, [(s, [f for p in ps for f in _matching(p, files)]) for s, ps in _entries(configs[name])]
        )
        for key, value in truth.items():
            if info.get(key) != value:
                yield f"{place} > {key}", _difference(info.get(key), value)


def _difference(says: Any, truth: Any) -> str:
    """The first items that differ, where both are lists of named things; else both values."""
    if isinstance(says, list) and isinstance(truth, list) and len(says) == len(truth):
        says, truth = next(pair for pair in zip(says, truth, strict=True) if pair[0] != pair[1])
    return f"says {says!r}, the files say {truth!r}"
