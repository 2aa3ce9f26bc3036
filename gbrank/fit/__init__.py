"""Fitting a ranker: the plan, the loop, the start, checkpoints, storage."""
