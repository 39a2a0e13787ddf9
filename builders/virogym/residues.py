"""The letters of proteins, for the schemas and all that reads sequences."""

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
"""The 20 amino acids, in the order of their letters."""
