"""Labels from clicks: what they grow with, how they are shrunk, how certain they are."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from clicked import make_clicks
from numpy.testing import assert_allclose

from gbrank.clicks import clicks_to_labels


def log_of(**options: Any) -> tuple[pd.DataFrame, Any]:
    """Return a log of 40 queries of ten documents whose truth is known, and the truth."""
    y = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    qid = np.repeat(np.arange(40), 10)
    log = make_clicks(y, qid, scores=options.pop("good", 0) * y, random_state=0, **options)
    frame = {"query": qid[log.rows], "document": log.rows, "position": log.position, "click": log.y}
    return pd.DataFrame(frame), 0.1 + 0.9 * (2**y - 1) / 3


def test_labels_of_the_position_based_model_are_the_truth() -> None:
    """As gains, up to a factor, after many impressions; the certainty is near 1."""
    log, truth = log_of(n_sessions=4000)
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
    log, _ = log_of(n_sessions=3)
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
    log, truth = log_of(n_sessions=3)
    found = clicks_to_labels(log)
    worth = 2 ** found["label"] - 1
    expected = truth[found["document"]] / truth[found["document"]].mean()
    share = found["weight"]
    plain = (worth - (1 - share)) / share
    assert ((worth - expected) ** 2).mean() < 0.7 * ((plain - expected) ** 2).mean()


def test_a_missing_query_is_a_query() -> None:
    """Of its documents each has an attention, and a label, of its own."""
    log, _ = log_of(n_sessions=20)
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
    log, _ = log_of(n_sessions=1)
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
