"""Pieces of SQL that several check modules share."""

from __future__ import annotations

from schemas import Check, Severity

STRIP = (
    "Read them (ffprobe, exiftool): they are released as they are. Take them out in the collection itself (sound: "
    "ffmpeg -map 0:a -map_metadata -1 -c copy; pictures: exiftool -all=), or waive this once all were read."
)


def setting(name: str) -> str:
    """The value of a threshold, as an SQL expression."""
    return f"(SELECT value FROM settings WHERE name = '{name}')"


def clips(name: str, meaning: str, severity: Severity, fails: str, message: str, advice: str) -> Check:
    """A check on single clips.

    Args:
        fails: the condition, in SQL over `utterances`, under which a clip fails.
        message: an SQL expression that says what is wrong.
    """
    query = f"SELECT utterance_id AS id, {message} AS message FROM utterances WHERE {fails}"
    return Check(name, meaning, severity, "utterances", query, ("settings",), advice)


PERSONAL = "(SELECT text FROM settings WHERE name = 'personal_names') = 'yes'"
"""Whether names in the collection may name people."""


def tagged(name: str, meaning: str, table: str, key: str, *, personal: bool) -> Check:
    """A check on words inside files (their column `tags`), which block where names are personal and warn elsewhere."""
    where = PERSONAL if personal else f"NOT {PERSONAL}"
    query = f"""SELECT {key} AS id, 'the file holds ' || array_to_string(tags, ', ') AS message FROM {table}
WHERE len(tags) > 0 AND {where}"""
    return Check(name, meaning, "block" if personal else "warn", table, query, ("settings",), STRIP)


def said(text: str, *values: str) -> str:
    """A message with values, numbers to three digits: `said('level {} dBFS', 'level_dbfs')`."""
    return f"format('{text}', {', '.join(f'round({value}, 3)' for value in values)})"
