"""A Hub on the loopback: it speaks the Hub's wire protocol to the real `huggingface_hub`, `datasets` and `hf_xet`.

Only what these clients ask for is here, and only for datasets. What it stores is in a folder and in memory, and each
request can be made to fail in a chosen way (`Fault`). Standard library only, but for Xet's own store (`xet`).
"""

from loophub.faults import Fault
from loophub.server import CutError, Loophub
from loophub.store import Account, Repo

__all__ = ["Account", "CutError", "Fault", "Loophub", "Repo"]
