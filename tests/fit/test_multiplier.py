"""The weight of a term that grows while a measure lacks its level."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from gbrank import GBRanker, LambdaRank, Mixture, Multiplier, get_objective, make_cubic
from gbrank.fit.rounds import Round
from gbrank.objectives.on_label import OnLabel

X, Y, QID = make_cubic(80, n_documents=12, n_features=6, random_state=0)
MARGIN = np.digitize(X[:, 0], [-0.6, -0.2, 0.2, 0.6]).astype(float)
TRAIN, VALID = QID < 60, QID >= 60
DATA: dict[str, Any] = {
    "X": X[TRAIN], "y": Y[TRAIN], "qid": QID[TRAIN], "labels": {"margin": MARGIN[TRAIN]},
    "eval_set": [(X[VALID], Y[VALID])], "eval_qid": [QID[VALID]],
    "eval_labels": [{"margin": MARGIN[VALID]}],
}  # fmt: skip
MEASURE = "ndcg@10[margin]"
TERMS = [LambdaRank(), OnLabel(LambdaRank(), "margin")]

boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def ranker(multiplier: Any, terms: Any = TERMS, **params: Any) -> GBRanker:
    """Return a ranker of two goals."""
    given: dict[str, Any] = {
        "n_estimators": 60, "learning_rate": 0.1, "random_state": 0, "n_jobs": 1,
        "min_child_samples": 5, "eval_metric": ["ndcg@10", MEASURE],
    }  # fmt: skip
    return GBRanker(Mixture(terms, [1, multiplier]), **given | params)


def weights(values: list[float], level: float) -> list[float]:
    """Return the weight after each round, by the formula."""
    summed, result = 0.0, []
    for value in values:
        summed = max(0.0, summed + 600 / len(values) * (level - value))
        result.append(max(0.0, summed + 40 * (level - value)))
    return result


@boosters
def test_weights_follow_from_what_is_lacking(booster: str) -> None:
    """By the formula; and trees that are grown with these weights are the same trees."""
    told, level, own = Multiplier(MEASURE, 0.85), 0.85, []
    fitted = ranker(told, booster=booster).fit(
        **DATA, callbacks=[told, lambda _: own.append(told.weight)]
    )
    expected = weights(fitted.evals_result_["valid_0"][MEASURE], level)
    assert_allclose(own, expected, rtol=1e-12)
    assert 0 == min(own) < max(own)
    scheduled = ranker(lambda round, rounds: [0.0, *own][round], booster=booster).fit(**DATA)
    assert_array_equal(fitted.predict(X), scheduled.predict(X))


@boosters
@pytest.mark.parametrize("level", [0.75, 0.95])
def test_the_level_is_reached(booster: str, level: float) -> None:
    """And little more; the first goal alone is far from it."""
    fitted = ranker(Multiplier(MEASURE, level), booster=booster).fit(**DATA)
    assert fitted.evals_result_["valid_0"][MEASURE][-1] == pytest.approx(level, abs=0.015)
    alone = ranker(1e-9, booster=booster).fit(**DATA).evals_result_["valid_0"][MEASURE][-1]
    assert alone < 0.7


def test_a_level_that_the_first_goal_has_costs_nothing() -> None:
    """The weight is 0 in all rounds but some of the first."""
    told, own = Multiplier("ndcg@10", 0.5), []
    ranker(told).fit(**DATA, callbacks=[told, lambda _: own.append(told.weight)])
    assert own[-50:] == [0.0] * 50


def test_validation_sets_that_are_the_training_data() -> None:
    """They would let a weight fall that the other documents need; the first other set is named."""
    data: Any = {**DATA}
    data["eval_set"] = [(DATA["X"], DATA["y"]), *DATA["eval_set"]]
    data["eval_qid"] = [DATA["qid"], *DATA["eval_qid"]]
    data["eval_labels"] = [DATA["labels"], *DATA["eval_labels"]]
    with pytest.raises(ValueError, match=r"data of Multiplier.*as 'valid_1', got 'valid_0'"):
        ranker(Multiplier(MEASURE, 0.85)).fit(**data)
    ranker(Multiplier(MEASURE, 0.85, "valid_1"), n_estimators=2).fit(**data)


def test_each_fit_begins_anew() -> None:
    """After another fit, on other data, as a clone, in threads at once: the same bits."""
    multiplier = Multiplier(MEASURE, 0.85)
    one = ranker(multiplier)
    expected = one.fit(**DATA, callbacks=[multiplier]).predict(X)
    assert multiplier.weight > 0
    one.fit(X[VALID], Y[VALID], qid=QID[VALID], labels={"margin": MARGIN[VALID]},
            eval_set=[(X, Y)], eval_qid=[QID], eval_labels=[{"margin": MARGIN}])  # fmt: skip
    again = [one, clone(one), pickle.loads(pickle.dumps(one)), ranker(multiplier)]
    with ThreadPoolExecutor(4) as threads:
        for scores in threads.map(lambda other: other.fit(**DATA).predict(X), again):
            assert_array_equal(scores, expected)


def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    """The weight of the next round follows from what is recorded."""

    def killed(round: Round) -> None:
        if round.number == 17:
            raise RuntimeError("killed")

    options: dict[str, Any] = {"checkpoint": tmp_path, "checkpoint_rounds": 1}
    with pytest.raises(RuntimeError):
        ranker(Multiplier(MEASURE, 0.85)).fit(**DATA, **options, callbacks=[killed])
    rounds: list[int] = []
    again = ranker(Multiplier(MEASURE, 0.85)).fit(
        **DATA, **options, callbacks=[lambda round: rounds.append(round.number)]
    )
    assert rounds[0] == 16
    assert_array_equal(again.predict(X), ranker(Multiplier(MEASURE, 0.85)).fit(**DATA).predict(X))
    with pytest.raises(ValueError, match="differs in objective"):
        ranker(Multiplier(MEASURE, 0.8)).fit(**DATA, **options)


def test_texts() -> None:
    """What is printed makes an equal one; a saved ranker predicts, and says what it was."""
    for multiplier in (Multiplier(MEASURE, 0.85), Multiplier("ap", 0.1, "train")):
        made = eval(repr(multiplier))
        assert made == multiplier
        assert (repr(made), hash(made)) == (repr(multiplier), hash(multiplier))
    assert repr(Multiplier("ndcg@10[m]", 1)) == "Multiplier('ndcg@10[m]', 1.0)"
    assert Multiplier("ap", 0.1) != Multiplier("ap", 0.2)


def test_it_is_read_again(tmp_path: Path) -> None:
    """From the text of a mixture, and with a saved ranker, whose clone is the same model again."""
    mixture = Mixture(TERMS, [1, Multiplier(MEASURE, 0.9)])
    assert str(get_objective(str(mixture))) == str(mixture)
    made = GBRanker(mixture, eval_metric=["ndcg@10", MEASURE], n_estimators=3, random_state=0)
    made.fit(**DATA).save(tmp_path)
    again = clone(GBRanker.load(tmp_path)).fit(**DATA)
    assert_array_equal(again.predict(X), made.predict(X))


def test_no_column_is_praised_where_a_measure_is_given_up_on_purpose() -> None:
    """The best feature for relevance serves the other goal worse."""
    for labels, n_warnings in ((True, 0), (False, 1)):
        data = {
            **DATA,
            "y": np.round(4 * (DATA["X"][:, 1] > 0)),
            "eval_set": [(X[VALID], 4 * (X[VALID][:, 1] > 0))],
        }
        if not labels:
            del data["labels"], data["eval_labels"]
        objective = Mixture(TERMS, [0.01, 1]) if labels else "ranknet"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            GBRanker(objective, n_estimators=3, random_state=0).fit(**data)
        assert sum(" alone, " in str(item.message) for item in caught) == n_warnings
