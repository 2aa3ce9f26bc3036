"""Estimates of the clicks that other rankings would have got: by hand, and how often they hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from clicked import make_clicks
from numpy.testing import assert_allclose

from gbrank import compare_scores, make_cubic
from gbrank.clicks import LoggedClicks
from gbrank.clicks.position_report import with_influence
from gbrank.data.queries import Queries

ATTENTION = {r: 1 / r for r in range(1, 11)}
X, Y, QID = make_cubic(
    2000, n_documents=12, n_features=3, distribution=(0.5, 0.2, 0.15, 0.1, 0.05), random_state=0
)
SCORES = {"other": X[:, 1], "ideal": Y + 0.01 * X[:, 0]}


def clicks_of(log: Any, scores: Any) -> float:
    """Return the mean number of clicks of a session, by the model that made the log."""
    worth = 0.05 + 0.95 * (2 ** Y[log.rows] - 1) / (2 ** Y.max() - 1)
    order, total = np.lexsort((log.position, -scores, log.qid)), np.empty(len(worth))
    total[order] = 1 / log.position[np.lexsort((log.position, log.qid))]
    return float((total * worth).sum() / (log.qid.max() + 1))


def draws(n: int, n_sessions: int, n_queries: int = 100) -> Iterator[Any]:
    """Yield logs of some queries."""
    for seed in range(n):
        chosen = np.random.default_rng(seed).choice(np.unique(QID), n_queries, replace=False)
        kept = np.flatnonzero(np.isin(QID, chosen))
        labels = np.append(Y[kept], Y.max())  # the same scale of labels in all of them
        log = make_clicks(
            labels, np.append(QID[kept], -1), scores=np.append(3 * X[kept, 0], 0),
            n_sessions=n_sessions, noise=0.05, random_state=seed,
        )  # fmt: skip
        own = log.rows < len(kept)
        yield log._replace(
            rows=kept[log.rows[own]], y=log.y[own], qid=log.qid[own], position=log.position[own]
        )


def test_by_hand() -> None:
    """Weights are those of a document over all its rows; a clip binds one estimate less."""
    clicks, session = np.array([1.0, 0, 0, 1]), np.array([0, 0, 1, 1])
    position, document = np.array([1, 2, 1, 2]), np.array([5, 6, 6, 5])
    logged = LoggedClicks(position, document, [3, 3, 3, 3], {1: 1.0, 2: 0.25}, clip=1.5)
    scores = {"live": -position, "five": document == 5, "six": document == 6}
    found = compare_scores(scores, clicks, session, clicks=logged)
    means = {row.ranker: row.mean for row in found.summary() if row.measure == "clicks by ips"}
    # 5 was clicked twice, at attention 1.25 of 2; "five" would give it 2, clipped to 1.5 times.
    assert means == pytest.approx({"live": 1.0, "five": 1.5, "six": 0.4})
    own = next(row for row in found.summary() if row.measure == "clicks by dr")
    assert own.mean == pytest.approx(1.0)


@pytest.mark.parametrize("attention", [ATTENTION, None], ids=["known", "learned"])
@pytest.mark.slow
def test_intervals_hold(attention: Any) -> None:
    """Of differences from the live ranking, in 90% of cases or more."""
    everything = make_clicks(Y, QID, scores=3 * X[:, 0], n_sessions=4, noise=0.05)
    live = clicks_of(everything, -everything.position)
    inside = []
    for log in draws(40, 10):
        logged = LoggedClicks(log.position, log.rows, QID[log.rows], attention)
        scores = {"live": -log.position, **{name: s[log.rows] for name, s in SCORES.items()}}
        for row in compare_scores(scores, log.y, log.qid, clicks=logged).summary():
            if row.ranker != "live":
                truth = clicks_of(everything, SCORES[row.ranker][everything.rows]) - live
                inside.append(row.difference_low <= truth <= row.difference_high)
    assert np.mean(inside) >= 0.90


def test_errors_of_attention_widen_intervals() -> None:
    """The intervals of a log that has to learn it are wider, but for the live ranking's own."""
    (log,) = draws(1, 5)
    widths = []
    for attention in (ATTENTION, None):
        logged = LoggedClicks(log.position, log.rows, QID[log.rows], attention)
        scores = {"live": -log.position, "ideal": Y[log.rows]}
        rows = compare_scores(scores, log.y, log.qid, clicks=logged).summary()
        widths.append([row.high - row.low for row in rows])
        assert_allclose(rows[0].mean, log.y.sum() / len(np.unique(log.qid)), atol=1e-9)
    assert widths[1][1] > 1.1 * widths[0][1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position": [1, 2, 1, 2]}, "attention must be given where documents do not connect"),
        ({"attention": {1: 1.0}}, r"attention\[2\] must be a number above 0, got None"),
        ({"query": [1, 2]}, "query must have 4 entries, got 2"),
        ({"document": [1, None, "a", "b"]}, "document must not be missing, got None in row 1"),
        ({"clip": 0.5}, "clip must be a number of at least 1, got 0.5"),
        ({"document": [1, 2]}, "document must have 4 entries, got 2"),
    ],
    ids=str,
)
def test_bad_logs(changes: Any, message: str) -> None:
    given = {"position": [1, 2, 2, 1], "document": [1, 2, 1, 2], "query": [1] * 4, **changes}
    with pytest.raises(ValueError, match=message):
        compare_scores(
            {"a": [1, 2, 3, 4]}, [0, 0, 1, 1], [1, 1, 2, 2], clicks=LoggedClicks(**given)
        )
    logged = LoggedClicks([1, 2], [1, 2], [1, 1])
    with pytest.raises(ValueError, match="clicks must be None where judged_by, labels or metric"):
        compare_scores({"a": [1, 2]}, [0, 1], [1, 1], clicks=logged, metric="map")
    with pytest.raises(
        TypeError, match="clicks must be a LoggedClicks, an Interleaved or None, got 3"
    ):
        compare_scores({"a": [1, 2]}, [0, 1], [1, 1], clicks=3)  # type: ignore[arg-type]


def test_rows_have_no_order_and_positions_may_have_contexts() -> None:
    """The half of a session follows from its id; one device alone changes next to nothing."""
    rng, n = np.random.default_rng(0), 400
    session = np.repeat(np.arange(n), 2)
    document, position = rng.permuted(np.tile([0, 1], (n, 1)), axis=1).ravel(), np.tile([1, 2], n)
    clicks = (rng.random(2 * n) < np.array([0.2, 0.6])[document] / position).astype(float)

    def means(order: Any, device: bool = False) -> list[float]:
        where: Any = position[order]
        where = {"position": where, "device": np.ones(2 * n)} if device else where
        logged = LoggedClicks(where, document[order], session[order] // 10)
        scores = {"live": -position[order], "better": document[order]}
        found = compare_scores(scores, clicks[order], session[order], clicks=logged)
        return [row.mean for row in found.summary()]

    rows = np.arange(2 * n)
    assert_allclose(means(rng.permutation(2 * n)), means(rows), rtol=1e-9)
    assert_allclose(means(rows, device=True), means(rows), rtol=1e-2)


def test_documents_are_as_good_as_the_other_half_says() -> None:
    """A clip moves one estimate less for it; and of equal scores the log's order stays."""
    rng = np.random.default_rng(0)
    (log,) = draws(1, 20)
    order = rng.permutation(len(log.y))
    rows, clicks, session, position = (
        values[order] for values in (log.rows, log.y, log.qid, log.position)
    )
    logged = LoggedClicks(position, rows, QID[rows], ATTENTION, clip=1)
    scores = {"live": -position, "equal": np.zeros(len(rows)), "ideal": Y[rows]}
    found = compare_scores(scores, clicks, session, clicks=logged).summary()
    mean = {(row.ranker, row.measure): row.mean for row in found}
    for estimate in ("clicks by ips", "clicks by dr"):
        assert mean["equal", estimate] == pytest.approx(mean["live", estimate], rel=1e-12)
    truth = clicks_of(log, Y[log.rows])
    ips, dr = (
        abs(mean["ideal", estimate] - truth) for estimate in ("clicks by ips", "clicks by dr")
    )
    assert dr < 0.7 * ips


def test_errors_of_attention_reach_weights_that_are_not_clipped() -> None:
    """By the slopes of the estimate, which are found here by small steps of each bias."""
    (log,) = draws(1, 5, 30)
    sessions, clip, step = Queries.from_qid(log.qid, "qid"), 1.5, 1e-6
    scores = {"ideal": Y[log.rows]}

    def values(attention: Any) -> Any:
        logged = LoggedClicks(log.position, log.rows, QID[log.rows], attention, clip)
        return logged.values(log.y, sessions, scores)[1]["ideal"]["clicks by ips"]

    report, influence = with_influence(log.rows, log.position[:, np.newaxis], log.y)
    known = report.attention
    slopes = [
        (values(known | {place: own * np.exp(step)}) - values(known)).sum() / step
        for place, own in known.items()
    ]
    error = np.zeros(len(np.unique(QID[log.rows])))
    documents, query = np.unique(log.rows), np.unique(QID[log.rows], return_inverse=True)[1]
    of_document = dict(zip(log.rows.tolist(), query.tolist(), strict=True))
    for document, own in zip(documents.tolist(), influence, strict=True):
        error[of_document[document]] += own @ slopes
    assert_allclose(values(None), values(known) + error, atol=1e-5)
    assert np.abs(error).max() > 0.01


def test_a_session_is_of_one_query() -> None:
    """As of a list that was shown for it."""
    logged = LoggedClicks([1, 2], [5, 6], [3, 4], {1: 1.0, 2: 0.5})
    with pytest.raises(ValueError, match="query must be one for each session"):
        compare_scores({"live": [2, 1]}, [1, 0], [0, 0], clicks=logged)
