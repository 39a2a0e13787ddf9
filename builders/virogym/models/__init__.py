"""Protein language models as predictors, from a local folder or a pinned revision (goldsmith[virogym-models]).

torch and transformers are imported when a model is loaded. No code of a model's repository is ever run.
"""
