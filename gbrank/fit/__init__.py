"""Fitting a ranker: the rounds, the start, checkpoints, storage."""
