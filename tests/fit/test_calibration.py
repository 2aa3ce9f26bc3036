"""Probabilities: Platt scaling, the ranker's output, its error in comparisons."""

import json
import signal
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from plain_trees import PLAIN
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from gbrank import GBRanker, LinearRanker, compare_rankers
from gbrank.boosters import TRAINERS
from gbrank.evaluation import Dataset, Fold, expected_calibration_error
from gbrank.fit import boost, loop
from gbrank.fit.calibration import fit_calibration

Vector = NDArray[np.float64]

RNG = np.random.default_rng(0)
N = 12_000
X = RNG.normal(size=(N, 3))
CHANCE = 1 / (1 + np.exp(3 - 2 * X[:, 0]))  # of being relevant
Y = (RNG.uniform(size=N) < CHANCE).astype(float)
QID = np.arange(N) // 20
TRAIN, VALID, TEST = (part == QID // 200 for part in range(3))
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def make(objective: str = "lambda:ndcg+pointwise", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {
        "n_estimators": 25,
        "num_leaves": 6,
        "random_state": 0,
        "n_jobs": 1,
    }
    return GBRanker(objective, **{**PLAIN, **defaults, **params})


def fitted(ranker: GBRanker, y: Vector = Y) -> GBRanker:
    """Fit on the training queries, validate on the next ones."""
    return ranker.fit(
        X[TRAIN], y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], y[VALID])], eval_qid=[QID[VALID]]
    )


def sigmoid(x: Vector) -> Vector:
    """Return the logistic function."""
    return 1 / (1 + np.exp(-x))


def assert_fitted_to(ranker: GBRanker, *data: Any) -> None:
    """Assert that a ranker's slope and intercept are those of this data, up to float32."""
    expected = fit_calibration(*data)
    assert_allclose(astuple(ranker.calibration_), astuple(expected), rtol=1e-5)


def smoothed(t: Vector, w: Vector) -> Vector:
    """Return Platt's targets: 1 becomes (N₁ + 1)/(N₁ + 2), and 0 becomes 1/(N₀ + 2)."""
    w = w / w.mean()
    n1 = sum(w * t)
    n0 = sum(w * (1 - t))
    return t * (n1 + 1) / (n1 + 2) + (1 - t) / (n0 + 2)


# --- The fit ----------------------------------------------------------------------------------


def test_known_slope_and_intercept() -> None:
    """Of data drawn from them, up to the noise of 50,000 documents."""
    rng = np.random.default_rng(1)
    scores = rng.normal(2, 3, 50_000)
    labels = (rng.uniform(size=50_000) < sigmoid(0.7 * scores - 2)).astype(float)
    found = fit_calibration(scores, labels, None, 1.0)
    assert_allclose([found.slope, found.intercept], [0.7, -2], rtol=0.03)


def test_least_cross_entropy_is_that_of_scikit_learn() -> None:
    """With fractional targets as rows of both classes, each of its own weight."""
    rng = np.random.default_rng(2)
    scores, labels = rng.normal(5, 2, 300), rng.integers(0, 4, 300).astype(float)
    scores += labels
    for weights in (None, rng.uniform(0, 2, 300)):
        w = np.ones(300) if weights is None else weights
        t = smoothed(labels / 4, w)
        model = LogisticRegression(C=1e8, tol=1e-8, max_iter=1000)
        model.fit(
            np.tile(scores, 2)[:, None], np.repeat([1, 0], 300), np.hstack([w * t, w - w * t])
        )
        found = fit_calibration(scores, labels, weights, 4.0)
        assert found.largest_label == 4
        expected = [model.coef_[0, 0], model.intercept_[0]]
        assert_allclose([found.slope, found.intercept], expected, rtol=1e-4)


@given(
    st.lists(
        st.tuples(
            st.integers(-500, 500).map(lambda score: score / 100), st.sampled_from([0.0, 0.25, 1.0])
        ),
        min_size=1,
        max_size=12,
    ),
    st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
)
@settings(max_examples=60, deadline=None)
def test_no_other_map_has_less_cross_entropy(
    rows: list[tuple[float, float]], step: tuple[float, float]
) -> None:
    """None whose slope is not negative."""
    scores, labels = map(np.array, zip(*rows, strict=True))
    t = smoothed(labels, np.ones(len(labels)))
    found = fit_calibration(scores, labels, None, 1.0)

    def loss(slope: float, intercept: float) -> float:
        x = slope * scores + intercept
        return float(np.sum(np.logaddexp(0, x) - t * x))

    assert found.slope >= 0
    other = loss(max(found.slope + step[0], 0), found.intercept + step[1])
    assert loss(found.slope, found.intercept) <= other + 1e-9


def test_the_order_of_rows_and_the_scale_of_weights_do_not_matter() -> None:
    """Up to rounding."""
    rng = np.random.default_rng(3)
    scores, weights = rng.normal(size=500), rng.uniform(size=500)
    labels = (rng.normal(size=500) < scores).astype(float)
    order = rng.permutation(500)
    first = fit_calibration(scores, labels, weights, 1.0)
    second = fit_calibration(scores[order], labels[order], 7 * weights[order], 1.0)
    assert_allclose(
        [first.slope, first.intercept], [second.slope, second.intercept], rtol=1e-9
    )  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "labels", "largest", "expected"),
    [
        (np.arange(10.0), np.zeros(10), 0.0, 1 / 12),
        (np.arange(10.0), np.full(10, 3.0), 3.0, 11 / 12),
        (np.full(10, 0.1), np.repeat([0.0, 1.0], 5), 1.0, 0.5),
        (np.arange(10.0), np.repeat([1.0, 0.0], 5), 1.0, 0.5),
    ],
    ids=["no relevant", "all relevant", "equal scores", "scores the wrong way round"],
)
def test_scores_that_say_nothing(
    scores: Vector, labels: Vector, largest: float, expected: float
) -> None:
    """All documents get the mean of Platt's targets."""
    found = fit_calibration(scores, labels, None, largest)
    assert found.slope == 0
    assert_allclose(found.probabilities(scores), expected)


def test_separable_scores_are_not_quite_certain() -> None:
    """Though the cross entropy of 0 and 1 would fall for ever."""
    scores = np.arange(100.0)
    p = fit_calibration(scores, (scores >= 50).astype(float), None, 1.0).probabilities(scores)
    assert 0 < p.min() < 0.02 < 0.98 < p.max() < 1
    assert (np.diff(p) >= 0).all()


# --- The ranker -------------------------------------------------------------------------------


@boosters
@pytest.mark.parametrize("objective", ["lambda:ndcg+pointwise", "lambda:ndcg"])
def test_probabilities_come_true(booster: str, objective: str) -> None:
    """On new documents, of whom the chance is known; the bare sigmoid is far from it."""
    ranker = fitted(make(objective, booster=booster))
    p = ranker.predict(X[TEST], output="probability")
    assert np.abs(p - CHANCE[TEST]).mean() < 0.03
    assert expected_calibration_error(Y[TEST], p) < 0.03
    assert expected_calibration_error(Y[TEST], sigmoid(ranker.predict(X[TEST]))) > 0.12


@boosters
def test_probabilities_are_those_of_the_scores(booster: str, tmp_path: Path) -> None:
    """In the same order; saved and loaded, the same bits."""
    ranker = fitted(make(booster=booster))
    scores, p = ranker.predict(X), ranker.predict(X, output="probability")
    assert_array_equal(ranker.predict(X, output="score"), scores)
    own = ranker.calibration_
    assert_allclose(p, sigmoid(own.slope * scores + own.intercept), rtol=1e-12)
    assert (np.diff(p[np.argsort(scores)]) >= 0).all()
    ranker.save(tmp_path)
    loaded = GBRanker.load(tmp_path)
    assert loaded.calibration_ == own
    assert_array_equal(loaded.predict(X, output="probability"), p)


def test_a_start_is_part_of_the_score() -> None:
    """What is calibrated is what `predict` returns."""
    start = make("regression").fit(X, 5 * Y, qid=QID)
    ranker = fitted(make(init=start))
    assert_fitted_to(ranker, ranker.predict(X[VALID]), Y[VALID], None, 1.0)
    alone = make(init=start).fit(X, Y, qid=QID)
    assert_fitted_to(alone, alone.predict(X), Y, None, 1.0)


def test_initial_scores_are_not() -> None:
    """As `predict` does not know them."""
    alone = make().fit(X, Y, qid=QID, init_score=X[:, 0])
    assert_fitted_to(alone, alone.predict(X), Y, None, 1.0)
    (Xt, yt, qt), (Xv, yv, qv) = ((X[part], Y[part], QID[part]) for part in (TRAIN, VALID))
    ranker = make().fit(Xt, yt, qid=qt, init_score=Xt[:, 0], eval_set=[(Xv, yv)], eval_qid=[qv],
                        eval_init_score=[Xv[:, 0]])  # fmt: skip
    assert_fitted_to(ranker, ranker.predict(Xv), yv, None, 1.0)


@boosters
def test_the_training_data_where_there_is_no_other(booster: str) -> None:
    """With its weights, and those of queries; rows in any order."""
    rng = np.random.default_rng(4)
    documents, queries = rng.uniform(0.5, 2, N), rng.uniform(0.5, 2, N // 20)
    weights: list[tuple[dict[str, Any], Vector | None]] = [
        ({}, None),
        ({"sample_weight": documents}, documents),
        ({"query_weight": queries}, queries[QID]),
        ({"sample_weight": documents, "query_weight": queries}, documents * queries[QID]),
    ]
    for given_weights, expected in weights:
        ranker = make(booster=booster).fit(X, Y, qid=QID, **given_weights)
        assert_fitted_to(ranker, ranker.predict(X), Y, expected, 1.0)


@pytest.mark.parametrize("name", ["lightgbm:lambdarank", "xgboost:rank:ndcg"])
def test_rows_in_any_order(name: str) -> None:
    """Though the boosters' own objectives need them query by query."""
    order = np.random.default_rng(6).permutation(N)
    ranker = make(name, booster=name.partition(":")[0]).fit(X[order], Y[order], qid=QID[order])
    assert_fitted_to(ranker, ranker.predict(X), Y, None, 1.0)


def test_rows_with_weights_in_any_order() -> None:
    """Not one bit depends on it."""
    rng = np.random.default_rng(1)
    scores, labels, weights = rng.normal(size=999), rng.integers(0, 3, 999) * 1.0, rng.random(999)
    expected = fit_calibration(scores, labels, weights, 2.0)
    for _ in range(5):
        order = rng.permutation(999)
        assert fit_calibration(scores[order], labels[order], weights[order], 2.0) == expected


def test_queries_set_aside_are_validation_data() -> None:
    """Not the training data, nor all."""
    ranker = make(validation_fraction=0.3).fit(X, Y, qid=QID)
    whole = fit_calibration(ranker.predict(X), Y, None, 1.0)
    assert ranker.calibration_.slope < 0.99 * whole.slope


def test_the_first_validation_set_counts() -> None:
    """But a label is measured by the largest of all that the ranker has seen."""
    ranker = make().fit(
        X[TRAIN],
        Y[TRAIN],
        qid=QID[TRAIN],
        eval_set=[(X[VALID], Y[VALID]), (X[TEST], 4 * Y[TEST])],
        eval_qid=[QID[VALID], QID[TEST]],
    )
    assert_fitted_to(ranker, ranker.predict(X[VALID]), Y[VALID], None, 4.0)
    assert ranker.predict(X, output="probability").max() < 0.4


@pytest.mark.parametrize("labels", [np.zeros(N), np.full(N, 2.0)])
def test_labels_that_are_all_equal(labels: Vector) -> None:
    """There is one probability for all documents, near the only target."""
    y = labels.copy()
    y[TRAIN] = 2 * Y[TRAIN]
    p = fitted(make(eval_metric="ndcg(no_relevant=0)"), y).predict(X, output="probability")
    assert_allclose(p, labels / 2, atol=0.001)
    assert np.ptp(p) == 0


@pytest.mark.parametrize("name", ["lightgbm:lambdarank", "xgboost:rank:ndcg"])
def test_the_boosters_own_objectives_too(name: str) -> None:
    """Of which the scores are only an order."""
    ranker = fitted(make(name, booster=name.partition(":")[0]))
    p = ranker.predict(X[TEST], output="probability")
    assert expected_calibration_error(Y[TEST], p) < 0.05


def test_bad_output() -> None:
    """The argument, what it was, and what it should be."""
    ranker = make(n_estimators=2).fit(X, Y, qid=QID)
    for output in ("probabilities", None, 1):
        with pytest.raises(
            ValueError, match=r"output must be one of \['score', 'probability'\], g"
        ):
            ranker.predict(X, output=output)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        make().predict(X, output="probability")


# --- In comparisons ---------------------------------------------------------------------------


@pytest.mark.slow
def test_comparisons_report_it(tmp_path: Path) -> None:
    """On the documents of each fit, averaged over fits; nothing where there are scores alone."""
    rows = Fold(*(np.flatnonzero(part) for part in (TRAIN, VALID, TEST)))
    folds = [rows, Fold(rows.valid, rows.test, rows.train)]
    rankers = {"trees": make(subsample=0.5), "linear": LinearRanker("regression")}
    options: dict[str, Any] = {"seeds": 2, "n_jobs": 1, "progress": False, "results": tmp_path}
    made, read = (
        compare_rankers(rankers, [Dataset("data", X, Y, QID, folds)], **options) for _ in range(2)
    )
    for part, place in (("valid", 1), ("test", 2)):
        errors = []
        for fold in folds:
            for seed in range(2):
                ranker = make(subsample=0.5, random_state=seed)
                (Xt, yt, qt), (Xv, yv, qv) = ((X[rows], Y[rows], QID[rows]) for rows in fold[:2])
                ranker.fit(Xt, yt, qid=qt, eval_set=[(Xv, yv)], eval_qid=[qv])
                p = ranker.predict(X[fold[place]], output="probability")
                errors.append(expected_calibration_error(Y[fold[place]], p))
        for comparison in (made, read):
            trees, linear = comparison.summary(part)
            assert_allclose(trees.calibration_error, np.mean(errors), rtol=1e-9)
            assert np.isnan(linear.calibration_error)
            content = json.loads(json.dumps(comparison.to_json(), allow_nan=False))[part]
            assert content[0]["calibration_error"] == trees.calibration_error
            assert content[1]["calibration_error"] is None
            head, first, second = comparison.table(part).split("\n")[1:4]
            place_of = head.index("ECE") + 3
            assert first[:place_of].endswith(f" {trees.calibration_error:.4f}")
            assert second[:place_of].endswith("   ")
    assert made.records["calibration_error"] == read.records["calibration_error"]


def test_labels_that_were_never_seen() -> None:
    """Labels are shares of the data set's largest, and so are the expected labels."""
    rows = Fold(*(np.flatnonzero(part) for part in (TRAIN, VALID, TEST)))
    labels = np.where(TEST, 2 * Y, Y)
    options: dict[str, Any] = {"seeds": 1, "n_jobs": 1, "progress": False}
    data = Dataset("data", X, labels, QID, [rows])
    comparison = compare_rankers({"trees": make()}, [data], **options)
    ranker = make(random_state=0).fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], Y[VALID])], eval_qid=[QID[VALID]]
    )
    for part, chosen in (("valid", VALID), ("test", TEST)):
        p = ranker.predict(X[chosen], output="probability") / 2
        expected = expected_calibration_error(labels[chosen] / (2 * Y.max()), p)
        assert_allclose(comparison.summary(part)[0].calibration_error, expected, rtol=1e-9)


def test_the_record_is_plain_numbers() -> None:
    """Python's own, which JSON and repr show as such."""
    found = fitted(make(n_estimators=2)).calibration_
    assert [type(value) for value in astuple(found)] == [float] * 3


@boosters
@pytest.mark.parametrize("where", ["the measure", "the tree"])
def test_a_tree_that_ctrl_c_dropped_plays_no_part(
    booster: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without validation data, which the model itself scores: the booster has a tree more."""
    ranker = make(
        "ranknet", booster=booster, n_estimators=9, learning_rate=0.5, verbose=1
    )  # fmt: skip
    owner, name = (loop.Evaluation, "values") if where == "the measure" else (
        TRAINERS[booster], "step"
    )  # fmt: skip
    original, calls = getattr(owner, name), []

    def interrupted(*arguments: Any) -> Any:
        calls.append(0)
        answer = original(*arguments)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return answer

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.warns(loop.FitInterrupted):
        ranker.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])
    assert ranker.best_iteration_ < 6
    assert_fitted_to(ranker, ranker.predict(X[TRAIN]), Y[TRAIN], None, Y[TRAIN].max())


ENDS = {"finish": "booster", "_final_scores": boost, "fit_calibration": boost}


@boosters
@pytest.mark.parametrize("end", ENDS)
def test_ctrl_c_after_the_rounds_keeps_them(
    booster: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it interrupts, and whole: the same model as without it."""
    owner = TRAINERS[booster] if ENDS[end] == "booster" else ENDS[end]
    original, calls, often = getattr(owner, end), [], 1

    def interrupted(*arguments: Any) -> Any:
        calls.append(0)
        if len(calls) <= often:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    same = make("ranknet", booster=booster, n_estimators=3).fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])
    monkeypatch.setattr(owner, end, interrupted)
    ranker = make("ranknet", booster=booster, n_estimators=3)
    with pytest.warns(loop.FitInterrupted, match="after its rounds: the model keeps them"):
        ranker.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])
    assert (ranker.best_iteration_, ranker.calibration_) == (3, same.calibration_)
    assert_array_equal(ranker.predict(X), same.predict(X))
    calls.clear()
    whole = make("ranknet", init="regression", booster=booster)
    often = 2
    with pytest.warns(loop.FitInterrupted), pytest.raises(KeyboardInterrupt):
        ranker.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])
    calls.clear()
    with pytest.raises(KeyboardInterrupt):  # of a part of a fit, as in its rounds
        whole.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])


@pytest.mark.parametrize("validated", [False, True])
def test_scores_that_are_given_are_no_part(validated: bool) -> None:
    """Probabilities are of what `predict` gives, which the initial scores are not in."""
    given = 3.0 * X[:, 1]
    more: dict[str, Any] = {}
    if validated:
        more = {"eval_set": [(X[VALID], Y[VALID])], "eval_qid": [QID[VALID]]}
        more["eval_init_score"] = [given[VALID]]
    ranker = make("ranknet").fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], init_score=given[TRAIN], **more
    )
    judged = VALID if validated else TRAIN
    assert_fitted_to(ranker, ranker.predict(X[judged]), Y[judged], None, Y.max())
