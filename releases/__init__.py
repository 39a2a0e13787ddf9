"""Releases: version, manifest, lock, difference, gate and regeneration; and the Hub.

A release is bytes that passed their checks, with everything needed to make the same bytes again.
"""

from releases.diff import diff
from releases.diff_html import write_diff_html
from releases.difference import Difference
from releases.digest import digest_dataset, digest_rows, digest_table, digest_whole
from releases.drops import apply_drops
from releases.files import refuse_inside, work_folder
from releases.gate import DOCUMENTS, Verdict, gate, stale
from releases.manifest import Lock, Manifest, Waiver, read_lock, read_manifest, verify_files
from releases.regenerate import Comparison, Wants, compare, missing_sources, wants
from releases.release import RefusedError, release, released
from releases.version import Version
from releases.waivers import read_waivers

__all__ = [
    "DOCUMENTS",
    "Comparison",
    "Difference",
    "Lock",
    "Manifest",
    "RefusedError",
    "Verdict",
    "Version",
    "Waiver",
    "Wants",
    "apply_drops",
    "compare",
    "diff",
    "digest_dataset",
    "digest_rows",
    "digest_table",
    "digest_whole",
    "gate",
    "missing_sources",
    "read_lock",
    "read_manifest",
    "read_waivers",
    "refuse_inside",
    "release",
    "released",
    "stale",
    "verify_files",
    "wants",
    "work_folder",
    "write_diff_html",
]
