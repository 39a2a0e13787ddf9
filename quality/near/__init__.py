"""Rows that are nearly alike, by what they hold: text, code, proteins, pictures, sound, drawings.

`check` runs an `Alike`. Each kind has a searcher (`sets`, `pictures`, `strokes`, `audio`) that takes in rows in any
order, keeps small features of them in files of the session's spill folder, and gives verified pairs.
"""
