"""Positions: estimates, their errors, what is connected. Labels from clicks, and their weights."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from clicked import make_clicks
from numpy.testing import assert_allclose, assert_array_equal
from plain_trees import PLAIN
from scipy.optimize import minimize

from gbrank import GBRanker, make_cubic
from gbrank.clicks import clicks_to_labels, position_report

ETA = np.log(np.arange(1, 11))


def log_of(
    seed: int, *, queries: int = 80, sessions: int = 20, temperature: float = 1.0, eta: float = 1.0
) -> Any:
    """Return simulated clicks on rankings mostly by one feature, which varies by `temperature`."""
    X, y, qid = make_cubic(
        queries, n_documents=12, n_features=5, distribution=(0.5, 0.2, 0.15, 0.1, 0.05),
        random_state=seed,
    )  # fmt: skip
    return X, make_clicks(
        y, qid, scores=3 * X[:, 0], n_sessions=sessions, temperature=temperature, noise=0.05,
        eta=eta, random_state=seed,
    )  # fmt: skip


def test_the_estimate_is_the_posterior_mode() -> None:
    """Of Poisson counts with a parameter for each document, found by a search for all at once."""
    rng = np.random.default_rng(0)
    documents, position = rng.integers(0, 12, 200), rng.integers(1, 5, 200)
    clicks = (rng.random(200) < 1 / position).astype(float)
    report = position_report(documents, position, clicks)
    r = np.log([1, 2, 3, 4])
    prior = np.linalg.inv(0.09 * np.eye(4) + np.outer(r, r))

    def loss(parameters: Any) -> float:
        bias, worth = parameters[:4], parameters[4:]
        rate = worth[documents] + bias[position - 1]
        return float(np.exp(rate).sum() - clicks @ rate + bias @ prior @ bias / 2)

    found = minimize(loss, np.zeros(16), method="BFGS", options={"gtol": 1e-8}).x[:4]
    assert_allclose(report.bias, found - found[0], atol=1e-4)
    assert report.shown == np.bincount(position)[1:].tolist()
    assert report.clicked == np.bincount(position, clicks)[1:].tolist()
    assert (report.documents, report.moved) == (12, 1.0)


@pytest.mark.parametrize(
    ("options", "draws"),
    [
        ({}, 60),
        ({"sessions": 3}, 60),
        ({"temperature": 0.1}, 40),
        ({"sessions": 3, "queries": 30}, 60),
    ],
    ids=["many", "few sessions", "little varies", "few queries"],
)
@pytest.mark.slow
def test_intervals_hold(options: dict[str, Any], draws: int) -> None:
    """Nominal 95% intervals of log attention have the truth in 90% of cases or more."""
    inside = []
    for seed in range(draws):
        eta = 0.5 + seed % 3 / 2
        _, log = log_of(seed, eta=eta, **options)
        report = position_report(log.rows, log.position, log.y)
        error = np.abs(np.array(report.bias) + eta * ETA)
        inside.append(error[1:] < 1.96 * np.array(report.error)[1:])
    assert np.mean(inside) >= 0.90


def test_nothing_is_told_by_one_ranking() -> None:
    """No position is connected, and no bias is said."""
    _, log = log_of(0, temperature=0, sessions=4)
    report = position_report(log.rows, log.position, log.y)
    assert not report.connected
    assert report.group == [*range(10)]
    assert report.moved == 0
    assert report.told == [0] * 10
    assert_allclose(report.bias, 0, atol=1e-9)
    r = np.log(np.arange(1, 11))
    assert_allclose(report.error[1:], np.sqrt(r**2 + 2 * 0.09)[1:])  # of the prior alone


def test_a_swap_connects_two_positions() -> None:
    """And tells their difference alone, relative to the prior."""
    documents = np.repeat([[0, 1, 2], [1, 0, 2]], 500, axis=0).ravel()
    position = np.tile([1, 2, 3], 1000)
    clicks = np.random.default_rng(0).random(3000) < 0.5 / position
    report = position_report(documents, position, clicks)
    assert report.group == [0, 0, 1]
    assert report.moved == pytest.approx(2 / 3)
    assert report.told[1] > 0.95
    assert abs(report.attention[2] - 0.5) < 0.1


def test_weights_are_repetitions_and_rows_have_no_order() -> None:
    rng = np.random.default_rng(1)
    documents, position = rng.integers(0, 9, 80), rng.integers(1, 4, 80)
    clicks, weights = rng.random(80), rng.integers(1, 4, 80)
    report = position_report(documents, position, clicks, weights)
    repeated = position_report(
        *(np.repeat(part, weights) for part in (documents, position, clicks))
    )
    assert_allclose(report.bias, repeated.bias)
    assert report.shown == repeated.shown
    order = rng.permutation(80)
    shuffled = position_report(*(p[order] for p in (documents, position, clicks, weights)))
    assert shuffled == report


def test_what_has_no_weight_is_not_there() -> None:
    """Neither a document nor, for the connection, a position."""
    documents, position = np.repeat([0, 1, 2, 3], 3), np.tile([1, 2, 3], 4)
    clicks = np.random.default_rng(0).random(12)
    known = documents < 3
    report = position_report(documents, position, clicks, known)
    assert report == position_report(documents[known], position[known], clicks[known])
    lonely = position_report(documents, position, clicks, position < 3)
    assert lonely.connected
    assert lonely.group == [0, 0, 1]


def test_documents_of_any_type() -> None:
    """1 and "1" are two documents; None is none."""
    report = position_report([1, "1", ("a", 1)], [1, 1, 2], [0, 1, 1])
    assert report.documents == 3
    with pytest.raises(ValueError, match="documents must not be missing, got None in row 0"):
        position_report([None, "a"], [1, 2], [0, 1])
    with pytest.raises(ValueError, match="documents must have at least one row"):
        position_report([], [], [])
    with pytest.raises(ValueError, match="position must have at least the position"):
        position_report([1], {}, [1])
    with pytest.raises(ValueError, match="weights must have one above 0"):
        position_report([1], [1], [1], [0])


def test_tables() -> None:
    report = position_report(["a", "a", "b"], [1, 2, 1], [1, 0, 1])
    assert list(report.to_pandas().columns) == [
        "position", "shown", "clicked", "bias", "error", "told", "group",
    ]  # fmt: skip
    assert "50.0% of 2 documents" in report._repr_html_()


# --- Labels ------------------------------------------------------------------------------------


def impressions(**options: Any) -> tuple[pd.DataFrame, Any]:
    """Return a log of 40 queries of ten documents whose truth is known, and the truth."""
    y = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    qid = np.repeat(np.arange(40), 10)
    log = make_clicks(y, qid, scores=options.pop("good", 0) * y, random_state=0, **options)
    frame = {"query": qid[log.rows], "document": log.rows, "position": log.position, "click": log.y}
    return pd.DataFrame(frame), 0.1 + 0.9 * (2**y - 1) / 3


def test_labels_of_the_position_based_model_are_the_truth() -> None:
    """As gains, up to a factor, after many impressions; the certainty is near 1."""
    log, truth = impressions(n_sessions=4000)
    found = clicks_to_labels(log)
    worth = 2 ** found["label"] - 1
    expected = truth[found["document"]]
    assert_allclose(worth / worth.mean(), expected / expected.mean(), atol=0.15)
    assert found["weight"].min() > 0.95
    assert found["shown"].sum() == len(log)
    known = clicks_to_labels(log, attention={r: 1 / r for r in range(1, 11)})
    assert_allclose(known["label"], found["label"], atol=0.1)


def test_a_prior_that_is_fitted_shrinks_by_hand() -> None:
    """The formula, with a by the moments of a negative binomial."""
    log, _ = impressions(n_sessions=3)
    found = clicks_to_labels(log, attention=dict.fromkeys(range(1, 11), 1.0))
    clicked, shown = found["clicked"].to_numpy(), found["shown"].to_numpy()
    expected = shown * clicked.sum() / shown.sum()
    spread = (expected * (clicked / expected - 1) ** 2).sum() - (len(shown) - 1)
    variance = spread / (expected.sum() - (expected**2).sum() / expected.sum())
    worth = (clicked + 1 / variance) / (expected + 1 / variance)
    assert_allclose(2 ** found["label"] - 1, worth)
    assert_allclose(found["weight"], expected / (expected + 1 / variance))


def test_shrinking_brings_labels_nearer_to_the_truth() -> None:
    """Than the ratio of clicks to expected clicks, for documents with few of them."""
    log, truth = impressions(n_sessions=3)
    found = clicks_to_labels(log)
    worth = 2 ** found["label"] - 1
    expected = truth[found["document"]] / truth[found["document"]].mean()
    share = found["weight"]
    plain = (worth - (1 - share)) / share
    assert ((worth - expected) ** 2).mean() < 0.7 * ((plain - expected) ** 2).mean()


def test_a_missing_query_is_a_query() -> None:
    """Of its documents each has an attention, and a label, of its own."""
    log, _ = impressions(n_sessions=20)
    missing = log.assign(query=log["query"].where(log["query"] > 20))
    found, expected = (clicks_to_labels(own) for own in (missing, log))
    assert_allclose(found["label"], expected["label"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attention": {1: 1.0}}, r"attention\[2\] must be a number above 0, got None"),
        ({"attention": {1: 1.0, 2: np.inf}}, r"attention\[2\] must be a number above 0, got inf"),
        ({"attention": [1.0, 0.5]}, "attention must be a dict of position to number"),
        ({"log": [1]}, "log must be a pandas.DataFrame"),
        ({"log": pl.DataFrame({"query": [1]})}, "log must be a pandas.DataFrame"),
        ({"log": pd.DataFrame({"query": [1]})}, "log must have a column 'click'"),
    ],
    ids=str,
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    log, _ = impressions(n_sessions=1)
    with pytest.raises(ValueError, match=message):
        clicks_to_labels(**{"log": log, **options})
    with pytest.raises(ValueError, match="must have a click"):
        clicks_to_labels(log.assign(click=0))


def test_ids_that_are_categories() -> None:
    """Only documents that were shown for a query have a row."""
    shown = np.arange(24) // 3 % 4
    place = np.tile([1, 2, 3], 8)
    columns = {"query": shown, "document": shown * 10 + place, "position": place}
    log = pd.DataFrame({**columns, "click": np.arange(24) % 2})
    found = clicks_to_labels(log.astype({"query": "category", "document": "category"}))
    assert len(found) == 12
    np.testing.assert_array_equal(found["label"], clicks_to_labels(log)["label"])


# --- In a fit ----------------------------------------------------------------------------------


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
    assert ranker.position_report_.moved == expected.moved
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
    """It warns, and says what would help; "free" trusts the features without a word."""
    X, log = log_of(0, queries=20, temperature=0, sessions=3)
    with pytest.warns(UserWarning, match="of 10 positions, at most 1 are connected"):
        ranker = fitted(X, log)
    naive, free = fitted(X, log, position=None), fitted(X, log, position_model="free")
    assert_array_equal(ranker.predict(X), naive.predict(X))
    assert naive.position_report_ is None
    assert set(ranker.position_bias_.values()) == {0}
    assert free.position_bias_[10] < -0.1


def test_many_positions_share_places_far_down() -> None:
    """A log of deep scrolling, of some thousands, takes no minute; up to 500 are told apart."""
    for n, wanted in ((500, [*range(1, 501)]), (3000, None)):
        position = np.repeat(np.arange(1, n + 1), 2)
        clicks = np.random.default_rng(0).random(2 * n) < 3 / (2 + position)
        report = position_report(np.tile(np.arange(2), n), position, clicks)
        assert wanted is None or report.positions == wanted
    steps = np.diff(report.positions)
    assert report.positions[:100] == [*range(1, 101)]
    assert (steps[:99] == 1).all()
    assert (steps[100:] <= 1 + 0.02 * np.array(report.positions[100:-1])).all()
    assert sum(report.shown) == 6000
    log = pd.DataFrame(
        {"query": 1, "document": position % 7, "position": position, "click": clicks}
    )
    labels = clicks_to_labels(log)
    assert labels["shown"].sum() == 6000
