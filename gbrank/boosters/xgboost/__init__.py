"""XGBoost: trainer, hook and trees."""
