"""Positions in a fit: what it reports, contexts, and where a log tells nothing."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from clicked import log_of
from gbrank import GBRanker
from gbrank.clicks import position_report
from plain_trees import PLAIN


def fitted(X: Any, log: Any, **params: Any) -> GBRanker:
    """Return a small ranker that was told the positions, or not."""
    position = params.pop("position", log.position)
    small = {"n_estimators": 10, "n_jobs": 1, "random_state": 0, "objective": "lambdarank"}
    ranker = GBRanker(**{**PLAIN, **small, **params})
    return ranker.fit(X[log.rows], log.y, qid=log.qid, position=position)


def on_devices(seed: int, etas: tuple[float, float]) -> Any:
    """Return a log in which attention falls as the session's device has it, and the devices."""
    X, log = log_of(seed, queries=40, sessions=12)
    device = 1 + log.qid % 2
    rng = np.random.default_rng(seed)
    falls = np.array(etas)[device - 1]
    attractive = 0.1 + 0.8 * (log.rows % 3 == 0)
    return (
        X,
        log._replace(y=(rng.random(len(falls)) < log.position**-falls * attractive) * 1.0),
        device,
    )


def test_contexts_have_their_own_attention(tmp_path: Any) -> None:
    """By a mapping of columns, in the report and in a fit; both are saved."""
    X, log, device = on_devices(0, (0.4, 1.6))
    both = {"position": log.position, "device": device}
    report = position_report(log.rows, both, log.y)
    assert report.positions[:3] == [(1, 1), (1, 2), (2, 1)]
    for place, bias, error in zip(report.positions, report.bias, report.error, strict=True):
        eta = {1: 0.4, 2: 1.6}[place[1]]
        assert abs(bias + eta * np.log(place[0])) <= 3 * error
        assert error < 0.8
    ranker = fitted(X, log, position=both, n_estimators=20)
    assert ranker.position_report_ == fitted(X, log, position=both).position_report_
    assert ranker.position_bias_[10, 1] > ranker.position_bias_[10, 2] + 0.3
    assert ranker.position_bias_[1, 1] == ranker.position_bias_[1, 2] == 0
    ranker.save(tmp_path)
    same = GBRanker.load(tmp_path)
    assert same.position_bias_ == ranker.position_bias_
    assert same.position_report_ == ranker.position_report_
    with pytest.raises(ValueError, match=r"position\['device'\] must hold integers of at least 1"):
        fitted(X, log, position={**both, "device": device - 1})


@pytest.mark.parametrize("kind", ["array", "sparse"])
def test_a_fit_reports_what_documents_tell(kind: str, tmp_path: Any) -> None:
    """Documents are those with equal features, however they come; the report is saved."""
    X, log = log_of(0, queries=20, sessions=3)
    if kind == "sparse":
        from scipy.sparse import csr_matrix

        X = csr_matrix(X)
    ranker = fitted(X, log)
    expected = position_report(log.rows, log.position, log.y)
    assert ranker.position_report_.shared_fraction == expected.shared_fraction
    assert_allclose(ranker.position_report_.bias, expected.bias)
    assert_allclose(ranker.position_report_.error, expected.error)
    ranker.save(tmp_path)
    assert GBRanker.load(tmp_path).position_report_ == ranker.position_report_


@pytest.mark.parametrize("kind", ["array", "sparse"])
def test_equal_numbers_are_equal_features(kind: str) -> None:
    """Zeros of both signs, and those that a sparse matrix stores, are one document's."""
    X, log = log_of(0, queries=20, sessions=3)
    X[:, 1] = 0
    X, rows = X[log.rows], np.arange(len(log.rows))
    other = X.copy()
    other[::2, 1] = -0.0
    if kind == "sparse":
        from scipy.sparse import csr_matrix, vstack

        full = csr_matrix(np.ones(other.shape))
        full.data[:] = other.ravel()  # its zeros are stored
        X, other = csr_matrix(X), vstack([full[:99], csr_matrix(other[99:])], format="csr")
    reports = [fitted(part, log._replace(rows=rows)).position_report_ for part in (X, other)]
    assert reports[0] == reports[1]


@pytest.mark.parametrize("lonely", ["labels", "weights"])
@pytest.mark.filterwarnings("ignore:these clicks cannot tell")
def test_a_place_without_curvature_has_no_bias(lonely: str) -> None:
    """Such as that of queries whose labels are equal, in a context of their own."""
    X, log = log_of(0, queries=20, temperature=0, sessions=3)
    own = log.qid == log.qid[0]
    position = {"position": log.position, "page": 1 + own}
    y, weights = np.where(own, 0, log.y), np.where(own, 0.0, 1.0)
    ranker = GBRanker(n_estimators=5, n_jobs=1, random_state=0, objective="ranknet")
    data = {"qid": log.qid, "position": position}
    if lonely == "weights":
        ranker.fit(X[log.rows], log.y, sample_weight=weights, **data)
    else:
        ranker.fit(X[log.rows], y, **data)
    biases = ranker.position_bias_
    assert biases is not None
    assert {bias for (_, page), bias in biases.items() if page == 2} == {0}
    assert np.isfinite(list(biases.values())).all()


def test_where_a_log_tells_nothing_a_fit_is_naive() -> None:
    """It warns, and says what would help; without regularization it is silent."""
    X, log = log_of(0, queries=20, temperature=0, sessions=3)
    with pytest.warns(UserWarning, match="at most 1 of 10 positions are connected"):
        ranker = fitted(X, log)
    naive, free = fitted(X, log, position=None), fitted(X, log, position_regularization=None)
    assert_array_equal(ranker.predict(X), naive.predict(X))
    assert naive.position_report_ is None
    assert set(ranker.position_bias_.values()) == {0}
    assert free.position_bias_[10] < -0.1


def test_stored_zeros_make_no_other_document() -> None:
    """Rows of sparse data are compared by value, and stay as they are."""
    rng = np.random.default_rng(0)
    documents = rng.integers(0, 3, (10, 4)).astype(float)
    X = documents[np.concatenate([rng.permutation(10)[:5] for _ in range(40)])]
    cells = (X != 0) | (np.arange(len(X))[:, np.newaxis] % 2 == 1)  # every second row has all
    stored = sp.csr_matrix((X[cells], cells.nonzero()), shape=X.shape)
    n_stored = stored.nnz
    clicks = (rng.random(len(X)) < 0.4).astype(float)
    log = {"qid": np.repeat(np.arange(40), 5), "position": np.tile(np.arange(1, 6), 40)}
    dense, sparse = (
        GBRanker("ranknet", n_estimators=2, n_jobs=1).fit(table, clicks, **log).position_report_
        for table in (X, stored)
    )
    assert_allclose(sparse.bias, dense.bias)
    assert_allclose(sparse.error, dense.error)
    assert stored.nnz == n_stored > np.count_nonzero(X)
