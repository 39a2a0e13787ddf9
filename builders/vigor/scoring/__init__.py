"""Scoring: does a model look at what it says? `score.score` is what `goldsmith score vigor` calls.

Not part of the build: nothing here makes a row, and builder.py names it only when it is asked to score.
"""
