"""LightGBM: trainer, hook and trees."""
