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


def test_expected_clicks_take_a_good_ranking_for_attention() -> None:
    """Where the log's ranking is good, COEC makes good documents worth less than pbm does."""
    log, truth = log_of(n_sessions=300, good=3)
    agree = {}
    for model in "pbm", "coec", "dctr":
        found = clicks_to_labels(log, model=model)
        agree[model] = np.corrcoef(found["label"], truth[found["document"]])[0, 1]
    assert agree["pbm"] > agree["coec"] + 0.02


def test_a_prior_that_is_fitted_shrinks_by_hand() -> None:
    """The formula, with a by the moments of a negative binomial."""
    log, _ = log_of(n_sessions=3)
    found = clicks_to_labels(log, model="dctr")
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


def test_a_position_without_clicks_says_nothing_to_coec() -> None:
    """A document that was shown there alone is average, and uncertain."""
    log = pd.DataFrame(
        {"query": 0, "document": [0, 1, 2, 3], "position": [1, 1, 1, 9], "click": [1, 0, 1, 0]}
    )
    found = clicks_to_labels(log, model="coec")
    assert found.iloc[3][["label", "weight"]].tolist() == [1, 0]
    assert np.isfinite(found["label"]).all()


def test_coec_counts_shares_of_clicks() -> None:
    """A position that is shown more often, and is clicked as often each time, gets no more."""
    log = pd.DataFrame(
        {
            "query": 0,
            "document": [*"aaaabbbbcc"],
            "position": [1] * 8 + [2] * 2,
            "click": [1] * 4 + [0] * 4 + [1, 0],
        }
    )
    found = [clicks_to_labels(log, model=model) for model in ("coec", "dctr")]
    assert_allclose(found[0]["label"], found[1]["label"])


def test_a_missing_query_is_a_query() -> None:
    """Of its documents each has an attention, and a label, of its own."""
    log, _ = log_of(n_sessions=20)
    missing = log.assign(query=log["query"].where(log["query"] > 20))
    for model in ("pbm", "dctr"):
        found, expected = (clicks_to_labels(own, model=model) for own in (missing, log))
        assert_allclose(found["label"], expected["label"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "ubm"}, "model must be one of"),
        ({"model": "coec", "attention": {1: 1.0}}, "attention must be None with model='coec'"),
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
