"""Positions: estimates, their errors, what is connected. Labels from clicks, and their weights."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from clicked import log_of, make_clicks
from gbrank.clicks import clicks_to_labels, position_report

ETA = np.log(np.arange(1, 11))


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
    assert report.impressions == np.bincount(position)[1:].tolist()
    assert report.clicked == np.bincount(position, clicks)[1:].tolist()
    assert (report.documents, report.shared_fraction) == (12, 1.0)


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
    assert report.shared_fraction == 0
    assert report.identified == [0] * 10
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
    assert report.shared_fraction == pytest.approx(2 / 3)
    assert report.identified[1] > 0.95
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
    assert report.impressions == repeated.impressions
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
    log, truth = impressions(n_sessions=1000)
    found = clicks_to_labels(log)
    worth = 2 ** found["label"] - 1
    expected = truth[found["document"]]
    assert_allclose(worth / worth.mean(), expected / expected.mean(), atol=0.25)
    assert found["weight"].min() > 0.95
    assert found["impressions"].sum() == len(log)
    known = clicks_to_labels(log, attention={r: 1 / r for r in range(1, 11)})
    assert_allclose(known["label"], found["label"], atol=0.01)


def test_a_prior_that_is_fitted_shrinks_by_hand() -> None:
    """The formula, with a by the moments of a negative binomial."""
    log, _ = impressions(n_sessions=3)
    found = clicks_to_labels(log, attention=dict.fromkeys(range(1, 11), 1.0))
    clicked, shown = found["clicked"].to_numpy(), found["impressions"].to_numpy()
    expected = shown * clicked.sum() / shown.sum()
    spread = (expected * (clicked / expected - 1) ** 2).sum() - (len(shown) - 1)
    variance = spread / (expected.sum() - (expected**2).sum() / expected.sum())
    worth = (clicked + 1 / variance) / (expected + 1 / variance)
    assert_allclose(2 ** found["label"] - 1, worth)
    assert_allclose(found["weight"], expected / (expected + 1 / variance))


@pytest.mark.slow
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
    assert sum(report.impressions) == 6000
    log = pd.DataFrame(
        {"query": 1, "document": position % 7, "position": position, "click": clicks}
    )
    labels = clicks_to_labels(log)
    assert labels["impressions"].sum() == 6000
