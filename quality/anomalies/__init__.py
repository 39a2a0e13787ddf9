"""The strangest rows of a table: `vendi` scores them, `features` makes rows comparable, `check` runs a `Strange`."""
