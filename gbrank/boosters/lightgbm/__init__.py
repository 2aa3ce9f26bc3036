"""LightGBM: trainer, model and hook."""
