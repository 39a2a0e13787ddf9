"""The ground floor: what a dataset is, how its folder is laid out and how its files are written.

Everything here may be imported by every other room; nothing here imports one of them.
"""

import os

# NumPy (2.4 at least) sorts without vector instructions on AMD's processors with AVX-512, and five times faster when it
# is told to use AVX2. With AVX-512 it also computes other last digits (of logarithms), so that a build would depend on
# the processor. NumPy reads this when it is first imported: every process that builds must have imported this before.
os.environ["NPY_DISABLE_CPU_FEATURES"] = "X86_V4"
# A second thread of linear algebra would change last digits too, and spins while it has nothing to do.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from schemas.audits import Attribute, Audit, Show
from schemas.checks import Alike, Check, CheckSet, Figure, Plot, Severity, Strange, Unique, View
from schemas.errors import GoldsmithError
from schemas.folder import DatasetFolder
from schemas.table import Column, Dataset, Table
from schemas.types import Audio, Bool, Date, Float, Image, Int, Json, Label, List, Struct, Text, Timestamp, Type

__all__ = [
    "Alike",
    "Attribute",
    "Audio",
    "Audit",
    "Bool",
    "Check",
    "CheckSet",
    "Column",
    "Dataset",
    "DatasetFolder",
    "Date",
    "Figure",
    "Float",
    "GoldsmithError",
    "Image",
    "Int",
    "Json",
    "Label",
    "List",
    "Plot",
    "Severity",
    "Show",
    "Strange",
    "Struct",
    "Table",
    "Text",
    "Timestamp",
    "Type",
    "Unique",
    "View",
]
