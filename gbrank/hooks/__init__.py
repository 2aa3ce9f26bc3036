"""The callables that LightGBM and XGBoost call every round."""
