"""VIGOR: concepts of rationales, grounded in pixels, with evidence for every mask. Begin with `builder.py`."""
