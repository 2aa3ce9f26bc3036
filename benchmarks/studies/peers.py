"""What LightGBM, XGBoost and CatBoost have for ranking, by name."""

__all__ = ["ALL_PAIRS", "PEERS"]

ALL_PAIRS = "lightgbm:lambdarank:lambdarank_truncation_level=10000"
PEERS = (
    "lightgbm:lambdarank",
    ALL_PAIRS,
    "lightgbm:rank_xendcg",
    "xgboost:rank:ndcg",
    "catboost:YetiRank",
    "catboost:YetiRank:mode=NDCG",
    "catboost:StochasticRank:metric=NDCG",
)
