"""Position bias: clicks that are simulated, and what is learned from them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from clicked import make_clicks
from gbrank import GBRanker, Queries, get_objective, make_cubic
from plain_trees import PLAIN

X, Y, QID = make_cubic(30, n_documents=10, n_features=4, random_state=0)
CLICKS = make_clicks(Y, QID, n_sessions=3, n_positions=6, random_state=0)
SHOWN = X[CLICKS.rows]
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def make(objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {"n_estimators": 6, "random_state": 3, "n_jobs": 1, "min_child_samples": 3}
    return GBRanker(objective, **{**PLAIN, **defaults, **params})


def fit(ranker: GBRanker, **data: Any) -> GBRanker:
    """Return a ranker, fitted to the clicks."""
    given = {"qid": CLICKS.qid, "position": CLICKS.position, **data}
    return ranker.fit(SHOWN, CLICKS.y, **given)


# --- What is learned ---------------------------------------------------------------------------


@pytest.mark.slow
def test_debiased_training_recovers_the_ranking() -> None:
    """A ranker that looks at one feature was in service: clicks alone make it look right.

    Trained with positions, rankers judged by the true labels of other queries are better in every
    world, and nearly as good as those that are trained on labels.
    """
    worth = {"labels": [], "clicks": [], "positions": []}
    for seed in range(3):
        X, y, qid = make_cubic(
            160, n_documents=12, n_features=5, distribution=(0.5, 0.2, 0.15, 0.1, 0.05),
            random_state=seed,
        )  # fmt: skip
        train = qid < 80
        clicks = make_clicks(
            y[train], qid[train], scores=3 * X[train, 0], n_sessions=40, noise=0.05,
            random_state=seed,
        )  # fmt: skip
        shown, own = X[train][clicks.rows], {"qid": clicks.qid}
        both = {**own, "position": clicks.position}
        for name, data in {
            "labels": (X[train], y[train], {"qid": qid[train]}),
            "clicks": (shown, clicks.y, own),
            "positions": (shown, clicks.y, both),
        }.items():
            ranker = GBRanker(
                "lambdarank", n_estimators=50, num_leaves=15, random_state=0, n_jobs=1
            )
            ranker.fit(data[0], data[1], **data[2])
            worth[name].append(ranker.score(X[~train], y[~train], qid=qid[~train]))
        attention = np.exp(list(ranker.position_bias_.values()))
        assert_allclose(attention, 1 / np.arange(1, 11), atol=0.16)
        assert np.corrcoef(attention, 1 / np.arange(1, 11))[0, 1] > 0.98
    labels, naive, debiased = map(np.array, worth.values())
    assert (debiased - naive > 0.02).all()
    assert (labels - debiased).mean() < 0.25 * (labels - naive).mean()


@pytest.mark.parametrize("name", ["noisy:ndcg", "approx:ndcg", "listnet"])
def test_objectives_learn_biases(name: str) -> None:
    """Documents are shown in random order, so only the position can explain the clicks' fall."""
    clicks = make_clicks(Y, QID, n_sessions=8, n_positions=6, eta=2, noise=0, random_state=1)
    ranker = make(name).fit(X[clicks.rows], clicks.y, qid=clicks.qid, position=clicks.position)
    bias = ranker.position_bias_
    assert list(bias) == [1, 2, 3, 4, 5, 6]
    assert bias[1] == 0
    assert bias[6] < bias[1]
    assert np.isfinite(list(bias.values())).all()


@boosters
@pytest.mark.parametrize("regularization", ["auto", None])
@pytest.mark.parametrize("objective", ["lambdarank", "lambda(normalize=lightgbm,ties=order)"])
def test_steps(objective: str, regularization: str | None, booster: str) -> None:
    """Two rounds by hand: −η (Σg + λb)/(Σh + λ) at the biased scores, with mean curvature 1."""
    options = {"booster": booster, "position_regularization": regularization}
    rankers = [fit(make(objective, n_estimators=rounds, **options)) for rounds in (1, 2)]
    told = np.array(rankers[0].position_report_.identified)
    assert (told > 0.5).all()
    assert (told < 0.95).all()
    bound = get_objective(objective).bind(CLICKS.y, Queries.from_qid(CLICKS.qid))
    position, bias = CLICKS.position - 1, np.zeros(6)
    scores = np.zeros(len(position))
    for ranker in rankers:
        gradient, curvature = bound.gradients(scores + bias[position])
        slope = np.bincount(position, gradient / curvature.mean())
        weight = np.bincount(position, curvature / curvature.mean())
        own = 20 + (weight * (1 - told) / told if regularization else 0)
        bias = bias - 0.1 * (slope + own * bias) / (weight + own)
        assert_allclose(list(ranker.position_bias_.values()), bias - bias[0], rtol=1e-6)
        scores = ranker.predict(SHOWN)
    assert np.ptp(bias) > 0.01


@boosters
def test_biases_are_no_part_of_scores(booster: str, tmp_path: Path) -> None:
    """Predictions are the trees'; the biases are saved with them."""
    ranker = fit(make(booster=booster))
    ranker.save(tmp_path)
    same = GBRanker.load(tmp_path)
    assert same.position_bias_ == ranker.position_bias_
    assert_array_equal(same.predict(X), ranker.predict(X))
    trees = ranker._model.predict(X, 1)
    assert_array_equal(ranker.predict(X), trees)


@boosters
def test_positions_of_any_kind(booster: str) -> None:
    """Positions may have gaps, and come as floats or a list: they are names, in order."""
    expected = fit(make(booster=booster))
    for position in ((10 * CLICKS.position).tolist(), 10.0 * CLICKS.position):
        ranker = fit(make(booster=booster), position=position)
        assert list(ranker.position_bias_) == [10, 20, 30, 40, 50, 60]
        assert [*ranker.position_bias_.values()] == [*expected.position_bias_.values()]
        assert_array_equal(ranker.predict(X), expected.predict(X))


def test_biases_of_contexts() -> None:
    """Each context has positions of its own, and its first one no bias."""
    position = {"position": CLICKS.position, "device": CLICKS.qid % 2 + 1}
    bias = fit(make(), position=position).position_bias_
    assert list(bias) == [(place, device) for place in range(1, 7) for device in (1, 2)]
    assert bias[1, 1] == bias[1, 2] == 0
    assert len(set(bias.values())) == 11


def test_the_order_of_rows_plays_no_part() -> None:
    """To the bit: sums over documents are taken in integers."""
    order = np.random.default_rng(0).permutation(len(SHOWN))
    shuffled = make(n_estimators=3).fit(
        SHOWN[order], CLICKS.y[order], qid=CLICKS.qid[order], position=CLICKS.position[order]
    )
    assert shuffled.position_bias_ == fit(make(n_estimators=3)).position_bias_


def test_biases_of_the_best_round() -> None:
    """Early stopping is judged without positions, and cuts the biases with the trees."""
    valid = {"eval_set": [(X, Y)], "eval_qid": [QID]}
    ranker = fit(make(n_estimators=40, early_stopping_rounds=3, learning_rate=0.5), **valid)
    assert 1 <= ranker.best_iteration_ < 37
    same = fit(make(n_estimators=ranker.best_iteration_, learning_rate=0.5))
    assert same.position_bias_ == ranker.position_bias_
    assert ranker.best_score_ == pytest.approx(ranker.score(X, Y, qid=QID))


def test_sets_that_are_split_off_and_sampled() -> None:
    """Positions go with their rows."""
    ranker = fit(make(validation_fraction=0.3, subsample=0.5, subsample_by="query"))
    assert list(ranker.position_bias_) == [1, 2, 3, 4, 5, 6]
    assert "valid_0" in ranker.evals_result_


def test_a_start_is_debiased_too() -> None:
    """What is boosted from learns from the same clicks."""
    assert fit(make("smooth:ndcg", init="regression", n_estimators=20)).init_.position_bias_[6] < 0
