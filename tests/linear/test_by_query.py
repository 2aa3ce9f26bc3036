"""LinearRanker on z-scores by query: retrievers' scores, of which some are missing."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from gbrank import NDCG, LinearRanker, compare_scores, load_ranker, make_cubic
from gbrank.evaluation import cross_validate_rankers, make_scorer, scores_from

X, Y, QID = make_cubic(40, n_documents=12, n_features=4, random_state=0)
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, 1e3 + 50 * X)
HOLES[QID == 3, 1] = np.nan  # a retriever that failed
HOLES[QID == 5, 2] = 7.0  # and one that says the same of all


def z_scores(rows: np.ndarray) -> np.ndarray:
    """Return z-scores of a query, by pandas; a missing value is 1 below the lowest."""
    frame = pd.DataFrame(rows)
    scores = (frame - frame.mean()) / frame.std(ddof=0).replace(0, 1)
    return scores.fillna(scores.min() - 1).fillna(0).to_numpy()


def expected() -> np.ndarray:
    """Return the z-scores of all queries."""
    return np.concatenate([z_scores(HOLES[query == QID]) for query in range(40)])


def fit(rows: Any = HOLES, **params: Any) -> LinearRanker:
    """Return a ranker that takes z-scores."""
    return LinearRanker(by_query=True, n_steps=3, n_jobs=1, **params).fit(rows, Y, qid=QID)


@pytest.mark.parametrize("sparse", [False, True])
def test_it_is_a_ranker_on_z_scores(sparse: bool) -> None:
    """In fit, in validation, and in predict; query ids or sizes say which rows belong together."""
    rows = sp.csr_matrix(HOLES) if sparse else HOLES
    plain = LinearRanker(n_steps=3, n_jobs=1).fit(
        expected(), Y, qid=QID, eval_set=[(expected(), Y)], eval_qid=[QID]
    )
    ranker = LinearRanker(by_query=True, n_steps=3, n_jobs=1).fit(
        rows, Y, qid=QID, eval_set=[(rows, Y)], eval_qid=[QID]
    )
    assert_allclose(ranker.coef_, plain.coef_, rtol=1e-6)
    assert ranker.best_score_ == pytest.approx(plain.best_score_)
    scores = expected() @ ranker.coef_
    assert_allclose(ranker.predict(rows, QID), scores, atol=1e-12)
    assert_allclose(ranker.predict(rows, group=[12] * 40), scores, atol=1e-12)
    assert_allclose(ranker.predict(rows[:12], group=[12]), scores[:12], atol=1e-12)


def test_scale_and_origin_of_a_query_do_not_matter() -> None:
    """Nor does the order of rows."""
    ranker, shuffled = fit(), np.random.default_rng(1).permutation(len(Y))
    scores = ranker.predict(HOLES, QID)
    other = HOLES * (1 + QID[:, np.newaxis]) - 5 * QID[:, np.newaxis]
    assert_allclose(ranker.predict(other, QID), scores, atol=1e-9)
    assert_allclose(ranker.predict(HOLES[shuffled], QID[shuffled]), scores[shuffled], atol=1e-9)


def test_whoever_judges_passes_the_queries(tmp_path: Path) -> None:
    """score, rank, comparisons, cross-validation, saved and pickled rankers."""
    ranker = fit()
    scores = ranker.predict(HOLES, QID)
    mean = NDCG(k=10)(Y, scores, qid=QID)
    assert ranker.score(HOLES, Y, QID) == pytest.approx(mean)
    assert make_scorer("ndcg@10")(ranker, HOLES, Y, QID) == pytest.approx(mean)
    best = ranker.rank(HOLES, QID) == 1
    assert_array_equal(scores[best], [scores[query == QID].max() for query in range(40)])
    ranker.save(tmp_path)
    for again in (load_ranker(tmp_path), pickle.loads(pickle.dumps(ranker)), tmp_path):
        assert_array_equal(scores_from(again, HOLES, qid=QID), scores)
    found = compare_scores({"ranker": ranker, "first": X[:, 0]}, Y, QID, X=HOLES)
    assert found.summary()[0].mean == pytest.approx(mean)
    rankers = {"linear": LinearRanker(by_query=True, n_steps=2, n_jobs=1)}
    data = {"folds": 3, "seeds": 1, "n_jobs": 1, "progress": False}
    assert cross_validate_rankers(rankers, HOLES, Y, QID, **data).summary()[0].mean > 0.5


def test_scikit_learn_passes_the_queries() -> None:
    """Of a pipeline to fit, predict and score, where metadata routing is enabled."""
    with config_context(enable_metadata_routing=True):
        steps = make_pipeline(MaxAbsScaler(), LinearRanker(by_query=True, n_steps=2, n_jobs=1))
        scores = steps.fit(HOLES, Y, qid=QID).predict(HOLES, qid=QID)
        assert steps.score(HOLES, Y, qid=QID) == pytest.approx(NDCG(k=10)(Y, scores, qid=QID))
