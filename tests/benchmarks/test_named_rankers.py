"""What studies share: rankers by name, and data in LETOR's parts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from benchmarks.letor_folders import read_folds
from benchmarks.named_rankers import ranker_from_name
from gbrank import make_cubic, write_letor

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)
XV, YV, QV = make_cubic(8, n_documents=8, n_features=4, random_state=1)
VALID: dict[str, Any] = {"eval_set": [(XV, YV)], "eval_qid": [QV]}


@pytest.mark.parametrize(
    "name",
    ["lightgbm:lambdarank:lambdarank_truncation_level=10000", "lightgbm:rank_xendcg",
     "xgboost:rank:ndcg:lambdarank_pair_method=mean", "catboost:YetiRank:mode=NDCG"],
)  # fmt: skip
def test_peers_stop_early_whatever_the_order_of_rows(name: str) -> None:
    """By their own NDCG@10; the rounds after the best are not used."""
    budget = {"n_estimators": 200, "learning_rate": 0.3, "early_stopping_rounds": 5}
    ranker = ranker_from_name(name, **budget, min_child_samples=3, subsample=1.0, colsample=1.0)
    ranker.fit(X, Y, qid=QID, **VALID)
    assert 1 <= ranker.best_iteration_ < 100
    order = np.arange(96).reshape(12, 8).T.ravel()  # the first documents, then the second ones
    again = clone(ranker).fit(X[order], Y[order], qid=QID[order], **VALID)
    assert again.best_iteration_ == ranker.best_iteration_
    assert_array_equal(again.predict(XV), ranker.predict(XV))


def test_parts_rotate(tmp_path: Path) -> None:
    """With four parts, fold 1 trains on the first two, validates on S3 and tests on S4."""
    for part in range(4):
        own = part == QID // 3
        write_letor(tmp_path / f"S{part + 1}.txt", X[own], Y[own], QID[own])
    data = read_folds(tmp_path)
    assert data.name == tmp_path.name
    assert_array_equal(data.X, X)
    parts = [[*dict.fromkeys((data.qid[rows] // 3).tolist())] for rows in data.splits[0]]
    assert parts == [[0, 1], [2], [3]]
    assert [data.qid[fold.test[0]] // 3 for fold in data.splits] == [3, 0, 1, 2]
