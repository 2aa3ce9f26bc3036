"""Rankers by name: those of gbrank, LightGBM, XGBoost and CatBoost."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from xgboost import XGBRanker

from gbrank import NDCG, GBRanker, LambdaRank, make_cubic
from gbrank.evaluation import ranker_from_name
from gbrank.evaluation.catboost import CatBoostPeer

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)

# --- Rankers by name --------------------------------------------------------------------------


def test_names_of_gbranks_rankers() -> None:
    """They have the protocol's budget, or the one that is given."""
    ranker = ranker_from_name("lambda:ndcg@10", num_leaves=7, eval_metric="ap")
    expected = GBRanker(
        LambdaRank(NDCG(k=10)), n_estimators=5000, learning_rate=0.05, num_leaves=7,
        min_child_samples=20, subsample=0.8, colsample=0.7, extra_trees=False,
        early_stopping_rounds=100, eval_metric="ap",
    )  # fmt: skip
    assert ranker.get_params() == expected.get_params()


def test_rankers_of_the_boosters() -> None:
    """As they come."""
    quiet = LGBMRanker(verbosity=-1)
    for name, expected in (("lightgbm", quiet), ("xgboost", XGBRanker())):
        ranker = ranker_from_name(name, num_leaves=7)
        assert type(ranker) is type(expected)
        assert str(ranker.get_params()) == str(expected.get_params())


@pytest.mark.parametrize("name", ["nonsense", "lightgbm:lambdarank", "catboost", "lambda:nonsense"])
def test_unknown_names(name: str) -> None:
    """Refused before anything is trained."""
    with pytest.raises(ValueError, match="unknown"):
        ranker_from_name(name)


def test_catboost_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the message says what to install."""
    monkeypatch.setitem(sys.modules, "catboost", None)
    with pytest.raises(ImportError, match=r"pip install 'gbrank\[catboost\]'"):
        ranker_from_name("catboost:YetiRank")


@pytest.mark.slow
def test_optional_packages_are_not_imported() -> None:
    """Not until they are needed, unless by a booster, as older versions of LightGBM do."""
    code = """if True:
        import sys, lightgbm, xgboost
        before = set(sys.modules)
        import gbrank
        print([m for m in ("catboost", "matplotlib") if m in set(sys.modules) - before])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- CatBoost ---------------------------------------------------------------------------------

XV, YV, QV = make_cubic(8, n_documents=8, n_features=4, random_state=1)
VALID: dict[str, Any] = {"eval_set": [(XV, YV)], "eval_qid": [QV]}


@pytest.mark.parametrize("loss", ["YetiRank", "YetiRank:mode=NDCG", "StochasticRank:metric=NDCG"])
def test_catboost_stops_early(loss: str) -> None:
    """By its own measure, after the patience; the rounds after the best are cut off."""
    pytest.importorskip("catboost")
    named = ranker_from_name(f"catboost:{loss}", n_estimators=60, early_stopping_rounds=7)
    peer = named.set_params(random_state=3, n_jobs=1)
    whole = clone(peer).set_params(early_stopping_rounds=None).fit(X, Y, qid=QID, **VALID)
    assert whole.best_iteration_ == whole.model_.tree_count_ == 60
    params = whole.model_.get_all_params()
    assert (params["depth"], params["bootstrap_type"]) == (4, "Bernoulli")
    sampling = [params[name] for name in ("learning_rate", "rsm", "subsample")]
    assert_allclose(sampling, [0.05, 0.7, 0.8])
    curve = whole.model_.get_evals_result()["validation"]["NDCG:top=10;type=Exp"]
    best, patience = 0, 7
    for round, value in enumerate(curve):
        if value > curve[best]:
            best = round
        if round - best >= patience:
            break
    peer.fit(X, Y, qid=QID, **VALID)
    assert peer.best_iteration_ == peer.model_.tree_count_ == best + 1
    assert_array_equal(peer.predict(XV), whole.model_.predict(XV, ntree_end=best + 1))


def test_catboost_takes_categories() -> None:
    """Of a frame, and codes; one that is missing or new at prediction is missing."""
    pytest.importorskip("catboost")
    words = np.array(["a", "b", "c"])[np.arange(96) % 3]
    labels = np.where(words == "b", 2.0, 0.0)
    budget: dict[str, Any] = {"n_estimators": 20, "random_state": 0, "n_jobs": 1}
    frame = pd.DataFrame(X).assign(kind=pd.Categorical(words))
    scores = CatBoostPeer(**budget).fit(frame, labels, qid=QID).predict(frame)
    assert scores[words == "b"].min() > scores[words != "b"].max()
    codes = np.column_stack([X, np.arange(96) % 3])
    peer = CatBoostPeer(**budget).fit(codes, labels, qid=QID, categorical_feature=[4])
    assert_array_equal(peer.predict(codes), scores)
    codes[:, 4] = np.nan
    assert np.isfinite(peer.predict(codes)).all()


def test_catboost_takes_queries_in_any_order() -> None:
    """Rows of a query need not be neighbours; scores come in the order of the rows."""
    pytest.importorskip("catboost")
    order = np.arange(96).reshape(12, 8).T.ravel()  # the first documents, then the second ones
    peer = CatBoostPeer(n_estimators=5, random_state=0, n_jobs=1)
    expected = clone(peer).fit(X, Y, qid=QID).predict(X)
    assert_array_equal(peer.fit(X[order], Y[order], qid=QID[order]).predict(X), expected)


def test_catboost_refuses() -> None:
    """What CatBoost, or gbrank, cannot use."""
    pytest.importorskip("catboost")
    with pytest.raises(ValueError, match=r"CatBoost refuses the parameters or data.*Nonsense"):
        CatBoostPeer("Nonsense").fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="y must have 96 entries, got 95"):
        CatBoostPeer().fit(X, Y[:-1], qid=QID)
