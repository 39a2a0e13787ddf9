"""Draws the sample of an audit, and gives everyone their sheet.

The sample is drawn after the annotation is closed: its seed is made from the bytes of the data, so that nobody can know
which rows will be looked at while they can still be changed. The same data, audit and `seed` give the same rows.
"""

from __future__ import annotations

import hashlib
import io
import json
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from quality.annotation import kinds
from quality.annotation import population as rows_of
from quality.annotation.bounds import sample_size
from quality.annotation.work import Item, Plan, Stratum, Work, pseudonym
from schemas import Audit, CheckSet, DatasetFolder, GoldsmithError


def choose(audits: Sequence[Audit], name: str | None, dataset: str) -> Audit:
    """The audit called `name`, or the only one.

    Raises:
        GoldsmithError: there is none, or several and no name.
    """
    names = ", ".join(audit.name for audit in audits)
    if not audits:
        raise GoldsmithError(f"[{dataset}] declares no audit: add one to `audits` of its checks")
    if name is None and len(audits) > 1:
        raise GoldsmithError(f"[{dataset}] has several audits: say which of {names}")
    for audit in audits:
        if name in (None, audit.name):
            return audit
    raise GoldsmithError(f"[{dataset}] has no audit {name}: choose from {names}")


def plan(
    folder: DatasetFolder,
    checks: CheckSet,
    audit: Audit,
    people: Sequence[str],
    out: Path,
    *,
    seed: str = "",
    salt: str | None = None,
) -> Plan:
    """Draw the sample and write the folder of the audit.

    Args:
        people: names or e-mail addresses of those who judge; on a server, of their accounts.
        salt: for pseudonyms; a new secret by default. Give that of an earlier audit to keep the pseudonyms.

    Raises:
        GoldsmithError: no people, one twice or without a name, `out` is used, or the audit does not fit the data.
    """
    named = _named(people)
    if out.exists() and any(out.iterdir()):
        raise GoldsmithError(f"[{out}] is not empty: an audit is planned once; choose another folder")
    files = {file["path"]: file["sha256"] for file in folder.build["files"] if file["path"].startswith("data/")}
    drawn = hashlib.sha256(json.dumps([seed, audit.name, sorted(files.items())]).encode()).hexdigest()
    salt = salt or secrets.token_hex(16)
    pseudonyms = sorted(pseudonym(salt, name) for name in named)
    work = Work(out)
    with rows_of.session(folder, checks) as session:
        table = rows_of.population(session, audit)
        strata, chosen = _draw(audit, table, drawn)
        columns = (table.column(name).to_pylist() for name in ("item_id", "stratum"))
        stratum_of = dict(zip(*columns, strict=True))
        rows = [{**row, "stratum": stratum_of[row["item_id"]]} for row in rows_of.items(session, audit, chosen)]
        golds = [row for row in rows_of.gold_items(session, audit) if row["item_id"] not in set(chosen)]
    golds = sorted(golds, key=lambda row: _rank(drawn, row["item_id"]))[: audit.golds]
    judged_by = _assign(audit, [row["item_id"] for row in rows], pseudonyms, drawn)
    items = [_item(audit, row, "sample", judged_by[row["item_id"]], salt, work) for row in rows]
    items += [_item(audit, row, "gold", pseudonyms, salt, work) for row in golds]
    made = Plan(
        dataset=folder.schema.name,
        audit=audit,
        seed=drawn,
        salt=salt,
        people={pseudonym(salt, name): name for name in named},
        files=files,
        strata=strata,
        items=sorted(items, key=lambda item: item.key),
    )
    out.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, work.population, compression="zstd")
    work.save(made)
    return made


def _rank(seed: str, item_id: str) -> bytes:
    """A random order of items that depends on the seed and the id only, not on the order of rows."""
    return hashlib.sha256(f"{seed}/{item_id}".encode()).digest()


_NO_LETTERS = ("Cc", "Cs", "Zl", "Zp")
"""Control characters, halves of characters (bytes that are no UTF-8) and line ends, by `unicodedata.category`."""


def _named(people: Sequence[str]) -> list[str]:
    """The names as they are compared, in small letters, each a line of text that any file and server can hold."""
    named = [name.strip().lower() for name in people]
    if not named:
        raise GoldsmithError("[audit plan] nobody judges: give each person with --annotator NAME")
    for given, name in zip(people, named, strict=True):
        place = f"[audit plan > --annotator {given!r}]"
        if not any(unicodedata.category(letter)[0] in "LN" for letter in name):
            raise GoldsmithError(f"{place} is no name: give a person's e-mail address or name")
        if odd := [letter for letter in name if unicodedata.category(letter) in _NO_LETTERS]:
            raise GoldsmithError(f"{place} has {odd[0]!r} in it, which is no letter: leave it out")
        if named.count(name) > 1:
            raise GoldsmithError(f"{place} is given {named.count(name)} times: give each person once")
    return named


def _draw(audit: Audit, table: pa.Table, seed: str) -> tuple[list[Stratum], list[str]]:
    """A simple random sample of each stratum, as large as its bound needs."""
    by_stratum: dict[str, list[str]] = {}
    for item_id, stratum in zip(table.column("item_id").to_pylist(), table.column("stratum").to_pylist(), strict=True):
        by_stratum.setdefault(stratum, []).append(item_id)
    strata, chosen = [], []
    for name, ids in sorted(by_stratum.items()):
        target = audit.target(name)
        size = sample_size(len(ids), target, audit.confidence, audit.planned_errors)
        strata.append(Stratum(name, len(ids), size, target))
        chosen += sorted(ids, key=lambda item_id: _rank(seed, item_id))[:size]
    if unknown := sorted({name for name, _ in audit.targets} - set(by_stratum)):
        raise GoldsmithError(f"[audit {audit.name} > targets] there is no stratum {unknown[0]}: correct the name")
    return strata, chosen


def _assign(audit: Audit, ids: Sequence[str], people: Sequence[str], seed: str) -> dict[str, list[str]]:
    """Who judges what: everyone about as many, some items by several, so that agreement can be measured."""
    judges = min(audit.judges, len(people))
    several = round(audit.overlap * len(ids)) if judges > 1 else 0
    if judges > 1 and audit.overlap > 0:
        several = max(several, min(len(ids), 2))
    load = dict.fromkeys(people, 0)
    given = {}
    for number, item_id in enumerate(sorted(ids, key=lambda item_id: _rank(f"{seed}/judges", item_id))):
        order = sorted(people, key=lambda person: (load[person], _rank(f"{seed}/{item_id}", person)))
        given[item_id] = sorted(order[: judges if number < several else 1])
        for person in given[item_id]:
            load[person] += 1
    return given


def _item(audit: Audit, row: Mapping[str, Any], role: str, people: Sequence[str], salt: str, work: Work) -> Item:
    key = "i" + hashlib.sha256(f"{salt}/{role}/{row['item_id']}".encode()).hexdigest()[:12]
    shown: list[str] = []
    size = None
    for number, show in enumerate(audit.shows):
        value = row[show.column]
        if show.medium == "text":
            shown.append("" if value is None else value if isinstance(value, str) else str(value))
            continue
        data = value["bytes"] if value else None
        if not data:
            raise GoldsmithError(f"[audit {audit.name} > {row['item_id']} > {show.column}] has no bytes: leave it out")
        if show.medium == "image" and size is None:
            size = _size(data)
        shown.append(f"{key}-{number}{_suffix(data)}")
        work.media.mkdir(parents=True, exist_ok=True)
        (work.media / shown[-1]).write_bytes(data)
    made_by = pseudonym(salt, str(row["made_by"])) if row["made_by"] is not None else None
    answer = kinds.of_dataset(audit, row["answer"], shown[0], partly=role == "gold")
    stratum = row["stratum"] if role == "sample" else ""
    return Item(key, row["item_id"], stratum, role, answer, shown, list(people), size, made_by)


_MAGIC = ((b"\x89PNG", ".png"), (b"\xff\xd8", ".jpg"), (b"GIF8", ".gif"), (b"RIFF", ".wav"), (b"fLaC", ".flac"),
          (b"OggS", ".ogg"), (b"ID3", ".mp3"), (b"\xff\xfb", ".mp3"), (b"<svg", ".svg"))  # fmt: skip


def _suffix(data: bytes) -> str:
    """By content: the names in a dataset may say who speaks, and are not shown."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return next((suffix for magic, suffix in _MAGIC if data.startswith(magic)), ".bin")


def _size(data: bytes) -> list[int]:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        return list(picture.size)
