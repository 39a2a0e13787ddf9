"""A difference as one page that can be read without a network: what a person looks at before a release is made.

Signs as in a patch: + new, - gone, ~ otherwise; each change with the step in version that it takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from releases.difference import Change, Difference, TableChange
from releases.rows import Sample, rows_text
from releases.version import LEVELS

_WORDS = {"+": "new", "-": "gone", "~": "changed", "=": "same"}

_STYLE = """
:root { --ink: #1c2126; --soft: #5c6670; --line: #dfe3e7; --paper: #fff; --wash: #f5f7f8;
  --major: #b3261e; --minor: #8a5a00; --patch: #2f6f4f; --gone: #fdecea; --new: #e8f5ec; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ad; --line: #343b41; --paper: #16191c;
  --wash: #1e2326; --major: #ff8a80; --minor: #f0c060; --patch: #7fd0a4; --gone: #3a1f1d; --new: #18301f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 24px; margin: 0 0 4px; overflow-wrap: anywhere; }
h1 span { color: var(--soft); font-weight: 400; }
p { margin: 4px 0 12px; }
code, .sign, td { font-variant-numeric: tabular-nums; }
code { font-family: ui-monospace, monospace; font-size: 13px; overflow-wrap: anywhere; }
.verdict { border-left: 4px solid; padding: 8px 16px; background: var(--wash); margin: 16px 0 24px; }
.verdict ul { margin: 4px 0; padding-left: 20px; }
.verdict li { overflow-wrap: anywhere; }
.major { color: var(--major); } .minor { color: var(--minor); } .patch { color: var(--patch); }
.verdict > * { color: var(--ink); }
.level { display: inline-block; width: 52px; font-weight: 600; font-size: 13px; }
.sign { font-family: ui-monospace, monospace; font-weight: 700; display: inline-block; width: 20px; }
details.table { border: 1px solid var(--line); border-radius: 6px; margin: 12px 0; }
details.table > summary { padding: 10px 14px; cursor: pointer; font-weight: 600; }
details.table > summary small { font-weight: 400; color: var(--soft); margin-left: 12px; }
ul.changes { list-style: none; margin: 0; padding: 0; }
ul.changes > li { border-top: 1px solid var(--line); padding: 8px 14px; overflow-wrap: anywhere; }
.samples { margin: 6px 0 4px 72px; border-collapse: collapse; font-size: 13px; }
.samples th, .samples td { text-align: left; padding: 2px 12px 2px 8px; vertical-align: top;
  border-bottom: 1px solid var(--line); }
.samples th { color: var(--soft); font-weight: 500; }
.ids { margin-left: 72px; font-size: 13px; color: var(--soft); }
.before { background: var(--gone); } .after { background: var(--new); }
"""


def write_diff_html(difference: Difference, path: Path) -> None:
    """Write the page; the same difference gives the same bytes."""
    path.write_text(diff_html(difference), encoding="utf-8")


def diff_html(difference: Difference) -> str:
    """The page as text."""
    title = f"{difference.dataset} {difference.old} → {difference.new}"
    whole = difference.ordered(None)
    parts = [_table_html("the dataset", "~", "", whole)] if whole else []
    for table in difference.tables:
        changes = difference.ordered(table.name)
        parts.append(_table_html(table.name, _sign(table, changes), _counts(table), changes))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><main>\n"
        f"<h1>{escape(difference.dataset)} <span>{escape(difference.old)} → {escape(difference.new)}</span></h1>\n"
        f"{_verdict(difference)}\n" + "\n".join(parts) + "\n</main></body></html>\n"
    )


def _verdict(difference: Difference) -> str:
    level = difference.least_bump
    counts = Counter(change.level for change in difference.changes)
    listed = ", ".join(f"{counts[name]} {name}" for name in reversed(LEVELS) if counts[name]) or "none"
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in difference.reasons)
    return (
        f'<section class="verdict {level}"><p><strong class="{level}">At least a {level} release</strong>, because:</p>'
        f"<ul>{reasons}</ul><p>Changes: {listed}.</p></section>"
    )


def _sign(table: TableChange, changes: Sequence[Change]) -> str:
    if table.before is None:
        return "+"
    if table.after is None:
        return "-"
    return "~" if changes else "="


def _counts(table: TableChange) -> str:
    if table.before is None or table.after is None:
        return rows_text(table.after or table.before or 0)
    rows = (f"{table.before:,} → " if table.before != table.after else "") + rows_text(table.after)
    moves = [("added", table.added), ("removed", table.removed), ("changed", table.changed)]
    return ", ".join([rows, *(f"{number:,} {word}" for word, number in moves if number)])


def _table_html(name: str, sign: str, counts: str, changes: Sequence[Change]) -> str:
    level = changes[0].level if changes else ""
    items = "\n".join(_change_html(change) for change in changes)
    return (
        f'<details class="table"{" open" if changes else ""}><summary>'
        f'<span class="sign {level}" title="{_WORDS[sign]}">{sign}</span>{escape(name)}'
        f"<small>{escape(counts)}</small></summary>\n"
        f'<ul class="changes">{items or "<li>nothing changed</li>"}</ul></details>'
    )


def _change_html(change: Change) -> str:
    column = f"<code>{escape(change.column)}</code> " if change.column else ""
    return (
        f'<li><span class="sign {change.level}" title="{_WORDS[change.sign]}">{change.sign}</span>'
        f'<span class="level {change.level}">{change.level}</span>'
        f"<strong>{escape(change.kind)}</strong> {column}{escape(change.text)}{_samples_html(change.samples)}</li>"
    )


def _samples_html(samples: Sequence[Sample]) -> str:
    if not samples:
        return ""
    if samples[0].before is None:
        ids = ", ".join(f"<code>{escape(sample.id)}</code>" for sample in samples)
        return f'<div class="ids">such as {ids}</div>'
    rows = "".join(
        f'<tr><td><code>{escape(s.id)}</code></td><td class="before"><code>{escape(s.before or "")}</code></td>'
        f'<td class="after"><code>{escape(s.after or "")}</code></td></tr>'
        for s in samples
    )
    return f'<table class="samples"><tr><th>row</th><th>before</th><th>after</th></tr>{rows}</table>'
