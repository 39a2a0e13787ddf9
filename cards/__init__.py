"""The documents of a dataset: README.md for the Hub, DATASHEET.md, croissant.json and CITATION.cff.

Every figure in them is a named query over the data (`cards.queries`); what only people know is in the builder's
datasheet.toml (`cards.datasheet`; all keys in cards/README.md). `problems` finds where a document and the data
disagree. Checking data, releasing and publishing are the business of other rooms.
"""

from cards.documents import problems, write

__all__ = ["problems", "write"]
