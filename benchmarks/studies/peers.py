"""What LightGBM, XGBoost and CatBoost have for ranking, by name."""

from typing import Any

from gbrank import ranker_from_name

__all__ = ["ALL_PAIRS", "PEERS", "all_pairs"]

PEERS = (
    "lightgbm:lambdarank",
    "lightgbm:rank_xendcg",
    "xgboost:rank:ndcg",
    "catboost:YetiRank",
    "catboost:YetiRank:mode=NDCG",
    "catboost:StochasticRank:metric=NDCG",
)
ALL_PAIRS = "lightgbm:lambdarank, all pairs"


def all_pairs() -> Any:
    """Return LightGBM's lambdarank without a truncation."""
    ranker = ranker_from_name("lightgbm:lambdarank")
    return ranker.set_params(booster_params={"lambdarank_truncation_level": 10_000})
