"""The default ranker beside LightGBM's, XGBoost's and CatBoost's, under the same budget.

python -m benchmarks.studies.flagship --data mq2008 ohsumed --cubic 5
"""

from typing import Any

from benchmarks.studies.study import study
from gbrank import GBRanker, ranker_from_name

TEXT = """\
# The default, beside its peers

`GBRanker()` beside what LightGBM, XGBoost and CatBoost have, on the same budget of rounds, leaves,
learning rate and early stopping (CatBoost on its own symmetric trees). XGBoost's rank:map takes
binary labels only, and these are grades.
"""

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


if __name__ == "__main__":
    default = GBRanker().objective
    rankers = {
        f"gbrank: {default}": default,
        ALL_PAIRS: all_pairs(),
        **{name: name for name in PEERS},
        "lambda:ndcg": "lambda:ndcg",
    }
    study("flagship", TEXT, rankers)
