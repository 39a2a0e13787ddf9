"""Pieces of SQL that several check modules share."""

from __future__ import annotations

from schemas import Check, Severity


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


def said(text: str, *values: str) -> str:
    """A message with values, numbers to three digits: `said('level {} dBFS', 'level_dbfs')`."""
    return f"format('{text}', {', '.join(f'round({value}, 3)' for value in values)})"
