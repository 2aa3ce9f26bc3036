"""XGBoost: trainer, model and hook."""
