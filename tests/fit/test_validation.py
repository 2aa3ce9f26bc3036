"""Validation sets: the best round, the rounds that are kept, queries that are set aside."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import AP, GBRanker, make_cubic
from small_fits import HELD_OUT, QID, VALID, Vector, X, Y, boosters, fit, make, regression


@boosters
def test_early_stopping(booster: str) -> None:
    """The first measure on the first set decides; the model is cut to its best round."""
    ranker = make(booster, n_estimators=60, early_stopping_rounds=4, eval_metric=["ndcg@5", "map"])
    sets = {name: [*values, *values] for name, values in VALID.items()}
    sets["eval_set"][1] = (X, Y)
    sets["eval_qid"][1] = QID
    ranker.fit(X, Y, qid=QID, **sets)
    curve = ranker.evals_result_["valid_0"]["ndcg@5"]
    best = int(np.argmax(curve)) + 1
    assert (ranker.best_iteration_, ranker.best_score_) == (best, max(curve))
    assert len(curve) == best + 4 == len(ranker.sigmas_) < 60
    assert {name: len(values["map"]) for name, values in ranker.evals_result_.items()} == {
        "valid_0": len(curve), "valid_1": len(curve)
    }  # fmt: skip
    assert ranker.score(*HELD_OUT) == pytest.approx(max(curve), abs=1e-12)
    value = AP()(Y, ranker.predict(X), qid=QID)
    assert ranker.evals_result_["valid_1"]["map"][best - 1] == pytest.approx(value, abs=1e-12)
    whole = fit(booster, n_estimators=best, sigma=1.0)
    assert_array_equal(ranker.predict(X), whole.predict(X))


@boosters
@pytest.mark.parametrize("above", [False, True])
def test_the_first_trees_only(booster: str, above: bool) -> None:
    """They are those of a fit of so many rounds, on what it boosts from."""
    init = fit(booster, "listnet", n_estimators=3) if above else None
    ranker = fit(booster, init=init)
    for rounds in (1, 4, 10):
        assert_allclose(
            ranker.predict(X, num_iteration=rounds),
            fit(booster, init=init, n_estimators=rounds).predict(X),
            rtol=1e-6,
        )
    for wrong in (0, 11, 2.0, "all"):
        with pytest.raises((ValueError, TypeError), match="num_iteration must be"):
            ranker.predict(X, num_iteration=wrong)


def test_validation_fraction() -> None:
    """Whole queries are set aside, with their weights, whatever the order of rows."""
    sizes = np.arange(5, 25)  # a query is known by its size
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(20), sizes)
    features, labels, weights = rng.normal(size=(290, 3)), rng.integers(0, 3, 290), rng.random(290)
    seen: set[int] = set()

    def record(scores: Vector, y: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        seen.add(len(scores))
        return regression(scores, y, sigma)

    def train(rows: Any, **params: Any) -> GBRanker:
        return make(objective=record, **params).fit(
            features[rows], labels[rows], qid=qid[rows], sample_weight=weights[rows],
            init_score=features[rows, 0], query_weight=1.0 + pd.unique(qid[rows]),
        )  # fmt: skip

    for rows in (np.arange(290), rng.permutation(290)):
        seen.clear()
        ranker = train(rows, validation_fraction=0.25)
        assert len(ranker.evals_result_["valid_0"]["ndcg@10"]) == 10
        kept = set(seen)
        assert len(kept) == 15
        alone = train(np.flatnonzero(np.isin(sizes, list(kept))[qid]))
        assert_allclose(ranker.predict(features), alone.predict(features), atol=1e-6)
    assert kept == seen


@boosters
def test_a_round_without_a_tree_counts_as_a_round(booster: str) -> None:
    """LightGBM grows no tree where there is no gradient: the model ends with the best round."""

    def wanders(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        return 0.0, (scores - labels) * np.sign(2 - sigma), np.ones_like(scores)

    widths = [1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0]  # 2 rests, 3 goes back
    ranker = make(
        booster, wanders, sigma=lambda round, _: widths[round], early_stopping_rounds=9
    ).fit(X, Y, qid=QID, **VALID)
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert curve[2] == curve[1]
    assert 3 < ranker.best_iteration_ < len(curve) == 10
    assert ranker.score(*HELD_OUT) == pytest.approx(ranker.best_score_, abs=1e-12)


def warnings_of(train: Any, valid: Any, qid: Any, recwarn: pytest.WarningsRecorder) -> list[str]:
    """Return what a fit says of queries that are in both parts."""
    documents, y, _ = make_cubic(30, n_documents=8, n_features=3, random_state=0)
    GBRanker(n_estimators=2, n_jobs=1).fit(
        documents[train],
        y[train],
        qid=qid[train],
        eval_set=[(documents[valid], y[valid])],
        eval_qid=[qid[valid]],
    )
    texts = [str(warning.message) for warning in recwarn]
    return [text for text in texts if "are training queries" in text]


def test_queries_in_both_parts(recwarn: pytest.WarningsRecorder) -> None:
    """With the same rows; the remedy ends the warning."""
    qid = np.repeat([f"q{number}" for number in range(30)], 8)
    train, valid = np.arange(240) < 160, np.arange(240) >= 120
    (text,) = warnings_of(train, valid, qid, recwarn)
    assert text.startswith(
        "5 of 15 queries of eval_set[0] are training queries, such as 'q15', with the same rows"
    )
    recwarn.clear()
    assert warnings_of(train, valid & ~train, qid, recwarn) == []


def test_ids_that_are_in_both_parts(recwarn: pytest.WarningsRecorder) -> None:
    """Those of other data may begin anew, a query may come again, all training data may be one."""
    qid, rows = np.repeat(np.arange(30), 8), np.arange(240)
    assert warnings_of(rows < 160, rows >= 160, qid % 20, recwarn) == []
    assert warnings_of(rows % 8 < 6, rows % 8 >= 6, qid, recwarn) == []
    assert warnings_of(rows < 160, rows < 160, qid, recwarn) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"eval_set": HELD_OUT[:2]}, r"eval_set must be a list of \(X, y\) pairs, got a tuple"),
        ({"eval_set": [HELD_OUT]}, r"eval_set must hold \(X, y\) pairs, got "),
        ({"eval_qid": None}, "eval_set needs eval_qid= or eval_group=, and not both"),
        ({"eval_qid": [HELD_OUT[2]] * 2}, "eval_qid must be a list, with one entry per eval_set"),
    ],
)
def test_malformed_validation_sets(changed: dict[str, Any], message: str) -> None:
    """What is wrong is said before a round is trained."""
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y, qid=QID, **{**VALID, **changed})
