"""A dataset for the tests of the machinery."""
