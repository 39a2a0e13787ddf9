"""Sketch probes: part-annotated drawings with stroke order, to ask a model what it knows of how things are drawn."""
