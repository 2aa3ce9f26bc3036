"""Which ranking to show for each query: shrinking by hand, and against one choice for all."""

from typing import Any

import numpy as np
import pytest
from clicked import make_clicks
from numpy.testing import assert_allclose

from gbrank import Queries, compare_scores, make_cubic
from gbrank.clicks import LoggedClicks, choose_by_query

X, Y, QID = make_cubic(
    80, n_documents=10, n_features=3, distribution=(0.5, 0.2, 0.15, 0.1, 0.05), random_state=0
)
WORTH = 0.05 + 0.95 * (2**Y - 1) / (2 ** Y.max() - 1)


def log_of(seed: int, n_sessions: int) -> tuple[Any, dict[str, Any], LoggedClicks, Any]:
    """Return a log, scores of its live ranking and of one that is better for odd queries only."""
    rng = np.random.default_rng(seed)
    live = np.log(WORTH) + rng.normal(size=len(Y))
    new = np.log(WORTH) + np.where(QID % 2, 0.3, 3) * rng.normal(size=len(Y))
    log = make_clicks(
        Y, QID, scores=live, temperature=0.5, n_sessions=n_sessions, noise=0.05, random_state=seed
    )
    scores = {"live": -log.position, "new": new[log.rows]}
    order, placed = np.lexsort((log.position, -new[log.rows], log.qid)), np.empty(len(log.y))
    placed[order] = log.position
    gain = WORTH[log.rows] * (1 / placed - 1 / log.position)
    truth = np.bincount(QID[log.rows], gain) / n_sessions
    return log, scores, LoggedClicks(log.position, log.rows, QID[log.rows]), truth


def test_by_hand() -> None:
    """A query's difference is that of compare_scores; all are drawn to their mean by chance."""
    log, scores, logged, _ = log_of(0, 4)
    table = choose_by_query(scores, log.y, log.qid, clicks=logged)
    found = compare_scores(scores, log.y, log.qid, clicks=logged)
    values = np.array(found.records["clicks by dr"]).reshape(2, -1)
    assert_allclose(table["difference"], values[1] - values[0])
    assert table["sessions"].tolist() == [4] * 80
    assert set(table["ranker"]) == {"live", "new"}
    # With as many sessions of each query, moments are those of a variance.
    d, noise = table["difference"], table["error"] ** 2
    share = 1 - noise / d.var(ddof=1)
    assert 0 < share[0] < 1
    assert_allclose(table["shrunk"], d.mean() + share * (d - d.mean()))
    assert ((table["shrunk"] > 0) == (table["ranker"] == "new")).all()


@pytest.mark.parametrize("differ", [True, False])
def test_queries_of_unequal_sessions_by_the_formulas(differ: bool) -> None:
    """DerSimonian and Laird's moments; queries that differ by less than chance have one mean."""
    rng = np.random.default_rng(4)
    query = np.repeat(np.repeat([*"dacb"], [2, 30, 9, 1]), 2)
    session, position = np.repeat(np.arange(42), 2), np.tile([1, 2], 42)
    document = rng.permuted(np.tile([0, 1], (42, 1)), axis=1).ravel()
    good = np.isin(query, ["a", "d"]) if differ else np.full(84, True)
    clicks = (rng.random(84) < np.where((document == 1) == good, 0.9, 0.2)).astype(float)
    logged = LoggedClicks(position, document, query, {1: 1.0, 2: 0.5})
    scores = {"live": -position, "new": document}
    table = choose_by_query(scores, clicks, session, clicks=logged).set_index("query")
    assert table["sessions"].to_dict() == {"a": 30, "b": 1, "c": 9, "d": 2}
    assert table["sessions"].to_dict() == {"d": 2, "a": 30, "c": 9, "b": 1}
    rows = logged.by_row(clicks, Queries.from_qid(session), scores)[1]
    gains = (rows["new"]["clicks by dr"] - rows["live"]["clicks by dr"]).reshape(42, 2).sum(axis=1)
    each = [gains[query[::2] == name] for name in table.index]
    assert_allclose(table["difference"], [*map(np.mean, each)])
    variance = sum(((own - own.mean()) ** 2).sum() for own in each) / (42 - 4)
    assert_allclose(table["error"] ** 2, [variance / len(own) for own in each])
    d, v = table["difference"], table["error"] ** 2
    w = 1 / v
    q = (w * (d - (w * d).sum() / w.sum()) ** 2).sum()
    between = max(0.0, (q - 3) / (w.sum() - (w**2).sum() / w.sum()))
    assert (between > 0) == differ
    mean = np.average(d, weights=1 / (v + between))
    assert_allclose(table["shrunk"], mean + between / (between + v) * (d - mean))
    assert (table["ranker"] == np.where(table["shrunk"] > 0, "new", "live")).all()


def test_choosing_is_worth_more_than_either_ranking() -> None:
    """Where one is better for half of the queries, after five sessions each."""
    gains = []
    for seed in range(5):
        log, scores, logged, truth = log_of(seed, 5)
        table = choose_by_query(scores, log.y, log.qid, clicks=logged)
        chosen = (table["ranker"] == "new").to_numpy()
        gains.append((truth[chosen].sum() / len(truth), max(truth.mean(), 0)))
    chosen, best = np.mean(gains, axis=0)
    assert chosen > best + 0.02


def test_one_mean_for_all() -> None:
    """Queries that differ no more than by chance all follow their mean; so do clicks of nobody."""
    session = np.repeat(np.arange(40), 2)
    position, query = np.tile([1, 2], 40), session // 4
    document = np.where(session % 2, position, 3 - position)
    scores = {"live": -position, "new": document}
    logged = LoggedClicks(position, document, query, {1: 1.0, 2: 0.5})
    for clicks in ((document == 2).astype(float), np.zeros(80)):
        table = choose_by_query(scores, clicks, session, clicks=logged)
        assert table["ranker"].nunique() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"scores": {"a": [1, 2, 1, 2]}},
            "scores must be a dict of two rankings, the live one first",
        ),
        ({"scores": {"a": [1, 2, 1, 2], "b": [1, 2, 1, np.nan]}}, r"scores\['b'\] must be finite"),
        ({"clicks": 3}, "clicks must be a LoggedClicks, got 3"),
        ({"qid": [1, 1]}, "qid must have one entry per row, 4, got 2"),
        ({"scores": {"a": [1, 2, 1, 2], "b": [1, 2]}}, r"scores\['b'\] must have 4 entries"),
        ({"query": [1, 2, 1, 2]}, "query must be one for each session"),
        ({"query": [1, 1, 2, 2]}, "query must have one with two sessions"),
    ],
)
def test_bad_arguments(options: Any, message: str) -> None:
    given = {
        "scores": {"a": [1, 2, 1, 2], "b": [2, 1, 1, 2]},
        "query": [1, 1, 1, 1],
        "qid": [1, 1, 2, 2],
        **options,
    }
    logged = LoggedClicks([1, 2, 1, 2], [1, 2, 2, 1], given["query"], {1: 1.0, 2: 0.5})
    clicks = given.get("clicks", logged)
    with pytest.raises((ValueError, TypeError), match=message):
        choose_by_query(given["scores"], [1, 0, 0, 1], given["qid"], clicks=clicks)
