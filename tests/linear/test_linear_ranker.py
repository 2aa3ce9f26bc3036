"""LinearRanker as an estimator: kinds of data, weights, what it refuses, and saved models."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from gbrank import AP, NDCG, LinearRanker, SmoothRank, load_ranker, make_cubic
from gbrank.fit.interrupted import FitInterrupted
from gbrank.fit.rounds import Round
from gbrank.schedules import geometric
from linear_fits import HELD_OUT, QID, WEIGHTS, Vector, X, Y, fit, make, squared

SHUFFLED = np.random.default_rng(1).permutation(len(Y))


# --- Data -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["cg", "sgd"])
def test_forms_of_data(solver: str) -> None:
    """Sparse or dense, shuffled or not, by qid or group, in a frame: the same model."""
    ranker = make(solver=solver, n_steps=4)
    coef = ranker.fit(X, Y, qid=QID).coef_
    for rows in (sp.csr_matrix(X), sp.csc_matrix(X), pd.DataFrame(X)):
        assert_allclose(clone(ranker).fit(rows, Y, qid=QID).coef_, coef, rtol=1e-4)
        assert_allclose(ranker.predict(rows), X @ coef)
    other = clone(ranker).fit(X[SHUFFLED], Y[SHUFFLED], qid=QID[SHUFFLED])
    assert_allclose(other.coef_, coef, rtol=1e-4)
    assert_array_equal(clone(ranker).fit(X, Y, group=[12] * 30).coef_, coef)
    named = clone(ranker).fit(pd.DataFrame(X, columns=list("abcde")), Y, qid=QID)
    assert named.feature_names_in_.tolist() == list("abcde")


def test_sigma_of_stochastic_gradient() -> None:
    """1 by default, whatever schedule trees have for the objective."""
    ranker = LinearRanker("approx:ndcg", solver="sgd", n_steps=2).fit(X, Y, qid=QID)
    assert_array_equal(ranker.sigmas_, 1.0)


def test_threads_change_nothing() -> None:
    """Nor does a second fit: the same bits."""
    rows, labels, qid = make_cubic(8, n_documents=300, n_features=4, random_state=0)
    fits = [
        LinearRanker("approx:ndcg", sigma=0.1, n_steps=2, n_jobs=jobs).fit(rows, labels, qid=qid)
        for jobs in (1, 2, 2)
    ]
    for ranker in fits:
        assert_array_equal(ranker.coef_, fits[0].coef_)


def test_weights() -> None:
    """A query of weight 2 is a query that is there twice; document weights are not averaged."""
    double = 1.0 + (np.arange(30) == 3)
    twice = np.append(np.arange(len(Y)), np.flatnonzero(QID == 3))
    expected = make(n_steps=6).fit(X[twice], Y[twice], qid=np.append(QID, np.full(12, 99))).coef_
    weighed = make(n_steps=6).fit(X, Y, qid=QID, query_weight=double)
    assert_allclose(weighed.coef_, expected, rtol=1e-3)
    by_document = make(n_steps=6).fit(X, Y, qid=QID, sample_weight=double[QID])
    assert_array_equal(by_document.coef_, weighed.coef_)
    with pytest.raises(ValueError, match=r"sample_weight.*solver='cg'.*sgd"):
        make().fit(X, Y, qid=QID, sample_weight=WEIGHTS)
    make(solver="sgd", n_steps=2).fit(X, Y, qid=QID, sample_weight=WEIGHTS)


# --- Bad input --------------------------------------------------------------------------------


def test_interruption_keeps_the_steps() -> None:
    """Ctrl-C in step 4: the weights of 4 steps, with a warning; in step 0, nothing."""
    limit = 4

    def interrupted(scores: Vector, labels: Vector, sigma: float) -> Any:
        if sigma > limit:
            raise KeyboardInterrupt
        return squared(scores, labels, sigma)

    ranker = make(interrupted, sigma=lambda step, steps: step + 1.0)
    with pytest.warns(FitInterrupted, match="4 of 13 rounds: the model keeps 4"):
        ranker.fit(X, Y, qid=QID)
    assert len(ranker.evals_result_["train"]["ndcg@10"]) == 4
    limit = 0
    with pytest.raises(KeyboardInterrupt):
        clone(ranker).fit(X, Y, qid=QID)


# --- scikit-learn's tools ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "kernel",
    [Nystroem(gamma=0.3, n_components=60, random_state=0), KernelPCA(60, kernel="rbf", gamma=0.3)],
)
def test_kernel_map(kernel: Any) -> None:
    """Section 6: a map of the kernel's in front makes the ranker non-linear."""
    ranker = make_pipeline(kernel, make("smooth:ndcg", reg_lambda=1e-3))
    ranker.fit(X, Y, linearranker__qid=QID)
    value = NDCG(k=10)(HELD_OUT[1], ranker.predict(HELD_OUT[0]), qid=HELD_OUT[2])
    assert value > fit().score(*HELD_OUT) + 0.05


# --- Callbacks --------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["cg", "sgd"])
def test_callbacks_see_the_weights_of_each_step(solver: str) -> None:
    """They are a copy; the training metric after a step is the weighted mean of their ranking."""
    seen: list[Round] = []

    def spoil(round: Round) -> None:
        seen.append(replace(round, coef=np.array(round.coef)))
        assert round.coef is not None
        round.coef[:] = np.nan

    weights = 1.0 + np.arange(30) % 3
    ranker = make(solver=solver, n_steps=4)
    ranker.fit(X, Y, qid=QID, query_weight=weights, callbacks=[spoil])
    assert [item.number for item in seen] == [0, 1, 2, 3]
    assert seen[-1].coef is not None
    assert_array_equal(seen[ranker.best_iteration_ - 1].coef, ranker.coef_)
    for item in seen:
        assert item.coef is not None
        ndcg = NDCG(k=10).per_query(Y, X @ item.coef, qid=QID)
        known = ~np.isnan(ndcg)
        mean = np.average(ndcg[known], weights=weights[known])
        assert item.values["train"]["ndcg@10"] == pytest.approx(mean, abs=1e-12)


# --- Saved models -----------------------------------------------------------------------------


def test_the_same_ranker(tmp_path: Path) -> None:
    """Bits of the weights, and everything else; one file, of JSON."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    ranker = make(SmoothRank(AP()), sigma=geometric(1, 0.1), n_steps=2, init=np.ones(5))
    ranker.fit(frame, Y, qid=QID)
    ranker.save(tmp_path / "deep" / "model")
    (file,) = (tmp_path / "deep" / "model").iterdir()
    assert json.loads(file.read_text())["fitted"]["coef"] == ranker.coef_.tolist()
    for loaded in (LinearRanker.load(file.parent), load_ranker(file.parent)):
        assert isinstance(loaded, LinearRanker)
        assert_array_equal(loaded.predict(frame), ranker.predict(frame))
        assert_array_equal(loaded.sigmas_, ranker.sigmas_)
        assert loaded.evals_result_ == ranker.evals_result_
        assert loaded.evals_result_.to_markdown() == ranker.evals_result_.to_markdown()
        assert loaded.score(frame, Y, QID) == ranker.score(frame, Y, QID)
        assert loaded.feature_names_in_.tolist() == list("abcde")
        assert_array_equal(loaded.fit(frame, Y, qid=QID).coef_, ranker.coef_)
