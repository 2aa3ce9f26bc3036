"""LightGBM: trainer, model and hook."""

from gbrank.boosters.spinning import short_spins

with short_spins():
    import lightgbm  # noqa: F401
