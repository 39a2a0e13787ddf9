"""The scorer: what a model's orders, maps and heads are worth beside people, baselines and nulls. It needs no torch."""
