"""The probe: a vision-language model reads the prompts, and its attention and answers are kept. Needs goldsmith[probe].

Only `model` and `families` import torch, and only when they run; the scorer reads what was kept without it.
"""
