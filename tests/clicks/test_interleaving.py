"""Drafts of two rankings: by hand, and that no ranker wins where both are equally good."""

from typing import Any

import numpy as np
import pytest

from gbrank import compare_scores
from gbrank.clicks import Interleaved


def test_by_hand() -> None:
    """A session of more documents or clicks counts no more; a tie is half a session each."""
    session = [1, 1, 1, 2, 2, 3, 3, 4, 4]
    new = np.array([1, 0, 1, 0, 1, 1, 0, 0, 1])
    clicks = [1, 0, 1, 0, 0, 0, 1, 1, 1]
    query = ["a"] * 7 + ["b"] * 2
    scores = {"live": 1 - new, "new": new}
    found = compare_scores(scores, clicks, session, clicks=Interleaved(query))
    # "a": new wins session 1, half of 2, none of 3; "b": half. Queries count by their sessions.
    assert found.measures == ["sessions won"]
    assert found.records["query"] == [*"abab"]
    assert found.records["sessions won"] == pytest.approx([0.75, 0.25, 0.75, 0.25])
    assert [row.mean for row in found.summary()] == pytest.approx([0.5, 0.5])
    assert found.summary()[1].n_queries == 2


@pytest.mark.slow
def test_equal_rankers_are_told_apart_as_often_as_the_level_says() -> None:
    """Documents are equally good, and a coin says who begins: p is below 0.1 in some 10%."""
    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        session = np.repeat(np.arange(200), 10)
        begins = rng.random((200, 5)) < 0.5
        new = np.stack([begins, ~begins], axis=2).reshape(-1).astype(int)
        clicks = rng.random(2000) < np.tile(0.4 / np.arange(1, 11), 200)
        scores, query = {"live": 1 - new, "new": new}, session // 4
        row = compare_scores(scores, clicks, session, clicks=Interleaved(query)).summary()[1]
        found.append(row.p_t < 0.1)
    assert np.mean(found) <= 0.2


@pytest.mark.parametrize(
    ("scores", "query", "message"),
    [
        ({"a": [1, 0]}, [1, 1], "scores must be of two rankers"),
        ({"a": [1, 0], "b": [0, 1], "c": [0, 0]}, [1, 1], "scores must be of two rankers"),
        ({"a": [1, 0], "b": [1, 1]}, [1, 1], "1 where the document is this one's and 0 elsewhere"),
        ({"a": [2, 0], "b": [-1, 1]}, [1, 1], "scores must be of two rankers"),
        ({"a": [1, 0], "b": [0, 1]}, [1], "query must have 2 entries, got 1"),
        ({"a": [1, 0], "b": [0, 1]}, [1, 2], "query must be one for each session"),
    ],
)
def test_bad_drafts(scores: Any, query: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_scores(scores, [0, 1], [1, 1], clicks=Interleaved(query))
