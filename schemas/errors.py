"""The one error that people see: a line that says what is wrong, where, and what to do."""


class GoldsmithError(Exception):
    """A mistake that a user can mend.

    The command line prints its text as one line and ends with exit code 2; it never shows a traceback for it.
    """

    code = 2


class DataError(GoldsmithError):
    """The call was right, but the data failed: exit code 1."""

    code = 1
