"""A judge beside people: against formulas written out, and by simulation."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from xgboost import XGBRanker

from gbrank import GBRanker, compare_scores, cross_validate_rankers, make_cubic
from gbrank.measures.judges import powered_mean

X, Y, QID = make_cubic(60, n_documents=10, n_features=4, random_state=0)
SCORES = {"live": X[:, 0], "new": X[:, 0] + X[:, 1]}
FEW = np.where(QID < 15, Y, np.nan)


def judge_of(agreement: float, seed: int = 0) -> Any:
    """Return labels that are people's in this share of documents, and else any."""
    rng = np.random.default_rng(seed)
    return np.where(rng.uniform(size=len(Y)) < agreement, Y, rng.integers(0, 5, len(Y)))


def test_the_formula_written_out() -> None:
    """Slope, shrinkage, variance and degrees of freedom, from least squares by SciPy."""
    rng = np.random.default_rng(0)
    judge = rng.uniform(size=80)
    people = 0.5 * judge + rng.normal(0, 0.05, 80)
    judged = np.arange(80) % 4 == 0
    people[~judged] = np.nan
    n, own, line = 20, judge[judged], stats.linregress(judge[judged], people[judged])
    shrunk = 1 - 1 / (1 + (line.slope / line.stderr) ** 2)
    slope, lead = shrunk * line.slope, own.mean() - judge.mean()
    left = people[judged] - slope * own
    variance = left.var() * n / (n - 2) * (1 / n + shrunk * lead**2 / (own.var() * n))
    variance += slope**2 * judge.var(ddof=1) / 80
    found = powered_mean(people, judge, judged)
    assert found.mean == pytest.approx(people[judged].mean() - slope * lead, rel=1e-12)
    assert found.error == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert found.freedom == 18
    alone = stats.t.ppf(0.975, 19) * people[judged].std(ddof=1) / np.sqrt(20)
    assert found.worth == pytest.approx(min(60, 20 * ((alone / found.margin) ** 2 - 1)), rel=1e-9)
    judge = np.where(judged, np.arange(80) % 8 == 0, 0.5)
    assert powered_mean(judge, judge, judged).worth == 60  # all that people have not judged


def test_a_judge_that_knows_nothing_costs_nothing() -> None:
    """Its slope is shrunk to almost nothing; the interval is never wider than people's alone."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        people, judge = rng.uniform(size=(2, 60))
        people[15:] = np.nan
        found = powered_mean(people, judge, ~np.isnan(people))
        own = people[:15]
        alone = stats.t.ppf(0.975, 14) * own.std(ddof=1) / np.sqrt(15)
        assert found.margin <= alone * (1 + 1e-9)
    constant = powered_mean(people, np.ones(60), ~np.isnan(people))
    assert constant.mean == pytest.approx(own.mean())
    assert (constant.margin, constant.worth) == (pytest.approx(alone), 0)
    judged, people = ~np.isnan(people), np.where(np.arange(60) % 3 == 0, np.nan, people)
    some = powered_mean(people, np.ones(60), judged)  # of queries with a value: 10 of 15
    own = people[~np.isnan(people)]
    assert some.mean == pytest.approx(own.mean())
    error = np.sqrt(15 / 14 * np.sum((own - own.mean()) ** 2)) / 10  # of a ratio of two means
    assert some.error == pytest.approx(error, rel=1e-12)
    assert some.margin == pytest.approx(stats.t.ppf(0.975, 9) * error, rel=1e-12)


def test_degrees_of_freedom_are_those_of_queries_with_a_value() -> None:
    """Where people found nothing relevant a query has none, beside a judge too."""
    rng = np.random.default_rng(0)
    judge = rng.uniform(size=60)
    people = 0.5 * judge + rng.normal(0, 0.05, 60)
    judged = np.arange(60) < 20
    people[~judged | (np.arange(60) % 5 == 0)] = np.nan
    powered = powered_mean(people, judge, judged)
    assert powered.worth > 1
    assert powered.freedom == 14  # 16 queries, less a mean and a slope
    assert powered.margin == pytest.approx(stats.t.ppf(0.975, 14) * powered.error, rel=1e-12)


def test_people_whose_values_are_equal() -> None:
    """They leave nothing to a judge: neither a mean nor a difference fails."""
    rng = np.random.default_rng(0)
    judge, judged = rng.uniform(size=60), np.arange(60) < 15
    found = powered_mean(np.where(judged, 0.75, np.nan), judge, judged)
    assert found == (0.75, 0.0, 14, 0.0)
    one = powered_mean(np.where(np.arange(60) == 3, 0.5, np.nan), judge, judged)  # no spread
    assert one.mean == 0.5
    assert np.isnan([one.error, one.freedom, one.worth]).all()
    alike = {"a": SCORES["live"], "b": np.where(QID < 15, SCORES["live"], SCORES["new"])}
    row = compare_scores(alike, FEW, QID, judge_labels=judge_of(0.9)).summary()[1]
    assert (row.difference, row.difference_low, row.difference_high) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("bias", [0.0, -0.4])
@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_intervals_cover_what_people_would_say(bias: float, noise: float) -> None:
    """With 15 queries of people, of skewed values, some of which have none."""
    rng = np.random.default_rng(1)
    hits, n = 0, 1500
    for _ in range(n):
        people = rng.beta(2, 1, 100)
        judge = np.clip(people + bias + rng.normal(0, noise, 100), 0, 1)
        undefined = rng.uniform(size=100) < 0.1
        people[undefined] = np.nan
        judge[undefined] -= 0.3  # the judge sees that there is little
        judged = np.arange(100) < 15
        people[15:] = np.nan
        found = powered_mean(people, judge, judged)
        hits += abs(found.mean - 2 / 3) <= found.margin
    assert 0.93 - 2.5 * np.sqrt(0.05 / n) < hits / n < 0.975


def test_a_good_judge_narrows_the_difference() -> None:
    """And says by how much; the judge's own bias does not move the mean."""
    alone = compare_scores({n: s[QID < 15] for n, s in SCORES.items()}, Y[QID < 15], QID[QID < 15])
    found = compare_scores(SCORES, FEW, QID, judge_labels=judge_of(0.97))
    one, other = (item.summary()[1] for item in (found, alone))
    assert one.n_queries == 15
    ends = [row.difference_high - row.difference_low for row in (one, other)]
    assert ends[0] < 0.8 * ends[1]
    assert 5 < one.judge_equivalent_queries <= 45
    assert 5 < found.summary()[0].judge_equivalent_queries <= 45  # to the mean of the baseline
    text = found.table()
    assert "15 queries judged by people, 45 more by a judge" in text
    assert "For the differences, the judge is equivalent to" in text
    nothing = compare_scores(SCORES, FEW, QID, judge_labels=np.ones(len(Y))).table()
    assert "the judge is equivalent to 0.0 more queries of people." in nothing
    three = compare_scores(SCORES, np.where(QID < 3, Y, np.nan), QID, judge_labels=judge_of(0.97))
    assert [row.n_queries for row in three.summary()] == [3, 3]
    more = 0.2 * np.mean([row.mean for row in found.summary()])
    biased = compare_scores(SCORES, FEW, QID, judge_labels=np.minimum(judge_of(0.97) + 1, 4))
    assert abs(biased.summary()[0].mean - found.summary()[0].mean) < more


def test_the_score_of_a_ranker_and_folds() -> None:
    """The same mean as that of the comparison; training takes the judge's labels elsewhere."""
    judge = judge_of(0.8)
    ranker = GBRanker(n_estimators=5, random_state=0, n_jobs=1).fit(X, Y, qid=QID)
    found = compare_scores({"own": ranker}, FEW, QID, X=X, judge_labels=judge).summary()[0]
    assert ranker.score(X, FEW, QID, judge_labels=judge) == pytest.approx(found.mean)
    rankers = {
        "own": GBRanker(n_estimators=5),
        "first": X[:, 0],
        "theirs": XGBRanker(n_estimators=2),
    }
    options: dict[str, Any] = {"folds": 3, "seeds": 1, "n_jobs": 1, "progress": False}
    compared = cross_validate_rankers(rankers, X, FEW, QID, judge_labels=judge, **options)
    rows = compared.summary()
    assert [row.n_queries for row in rows] == [15, 15, 15]
    alone = compare_scores({"first": X[:, 0]}, FEW, QID, judge_labels=judge).summary()[0]
    assert rows[1].mean == pytest.approx(alone.mean)
