"""NDCG@10 of every objective with default parameters: see `study` for the protocol.

python -m benchmarks.studies.objectives --data mq2008 ohsumed
"""

from benchmarks.studies.study import study

TEXT = """\
# On two real data sets the good objectives are level

NDCG@10 of each objective with its defaults, five folds, next to the boosters' own. Differences are
from LightGBM's lambdarank. The protocol is that of
[`benchmarks/studies/study.py`](../studies/study.py).
"""

MEASURED = ("lambda", "approx", "smooth", "tie", "soft", "slam")
OTHERS = ("listnet", "listmle", "xendcg", "ranknet", "ranksvm", "squared_hinge", "regression")
BUILT_IN = ("lightgbm:lambdarank", "lightgbm:rank_xendcg", "xgboost:rank:ndcg")

if __name__ == "__main__":
    names = [
        *BUILT_IN,
        *(f"{name}:ndcg" for name in MEASURED),
        *(f"{name}:ndcg+listmle" for name in MEASURED),
        *OTHERS,
    ]
    study("objectives", TEXT, {name: name for name in names}, baseline=BUILT_IN[0])
