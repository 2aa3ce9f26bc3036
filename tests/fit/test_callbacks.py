"""Callbacks: what they are told, and how they end a fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic
from gbrank.fit.rounds import Round
from gbrank.schedules import geometric
from plain_trees import PLAIN

X, Y, QID = make_cubic(30, n_documents=10, n_features=5, random_state=0)
TRAIN, VALID = QID < 22, QID >= 22
VALIDATION: dict[str, Any] = {"eval_set": [(X[VALID], Y[VALID])], "eval_qid": [QID[VALID]]}


def ranker(**params: Any) -> GBRanker:
    """Return a small ranker."""
    return GBRanker("ranknet", **PLAIN | {"n_estimators": 12, "random_state": 0, **params})


def fit(made: Any, **more: Any) -> Any:
    """Fit on the first queries."""
    return made.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN], **more)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_what_is_told_is_what_is_recorded(booster: str) -> None:
    """Round by round, before the next one."""
    told: list[Round] = []
    made = ranker(
        booster=booster, sigma=geometric(1, 0.5), eval_metric=["ndcg@3", "map"],
        early_stopping_rounds=4, verbose=1,
    )  # fmt: skip
    fit(made, callbacks=[told.append], **VALIDATION)
    assert [item.number for item in told] == list(range(len(made.sigmas_)))
    assert {item.rounds for item in told} == {12}
    assert [item.sigma for item in told] == made.sigmas_.tolist()
    assert told[-1].best == made.best_iteration_
    for item in told:
        assert item.values == {
            name: {measure: curve[item.number] for measure, curve in curves.items()}
            for name, curves in made.evals_result_.items()
        }
        curve = made.evals_result_["valid_0"]["ndcg@3"][: item.number + 1]
        assert item.best == np.argmax(curve) + 1


@pytest.mark.parametrize("answer", [True, np.True_])
def test_true_ends_the_fit(answer: Any) -> None:
    """The model is that of a fit of so many rounds; all callbacks are called."""
    told: list[Round] = []
    made = ranker()
    fit(made, callbacks=[lambda round: answer if round.number == 4 else None, told.append])
    assert len(told) == made.best_iteration_ == 5
    assert_array_equal(made.predict(X), fit(ranker(n_estimators=5)).predict(X))


def test_the_best_round_is_kept() -> None:
    """Where early stopping decides, the model ends at the best round so far."""
    whole = fit(ranker(n_estimators=40, early_stopping_rounds=10), **VALIDATION)
    curve = whole.evals_result_["valid_0"]["ndcg@10"]
    end = next(i for i in range(2, 40) if np.argmax(curve[: i + 1]) < i)
    made = ranker(n_estimators=40, early_stopping_rounds=10)
    fit(made, callbacks=[lambda round: round.number == end], **VALIDATION)
    assert made.best_iteration_ == np.argmax(curve[: end + 1]) + 1 <= end


class Pruned(Exception):
    """As Optuna's."""


def test_an_error_ends_the_fit_and_leaves_the_checkpoint(tmp_path: Path) -> None:
    """From which the same fit goes on, with other callbacks or none: they know the last round."""

    def give_up(round: Round) -> None:
        if round.number == 6:
            raise Pruned

    keep: dict[str, Any] = {"checkpoint": tmp_path, "checkpoint_rounds": 2}
    made = ranker()
    with pytest.raises(Pruned):
        fit(made, callbacks=[give_up], **keep)
    assert not hasattr(made, "best_iteration_")
    told: list[Round] = []
    fit(made, callbacks=[told.append], **keep)
    assert [item.number for item in told] == list(range(5, 12))
    assert_array_equal(made.predict(X), fit(ranker()).predict(X))


def test_the_round_that_a_callback_ends_with_is_in_the_checkpoint(tmp_path: Path) -> None:
    """Though a checkpoint is not due: the same fit without the callback goes on from there."""
    fit(ranker(), callbacks=[lambda round: round.number == 4], checkpoint=tmp_path)
    told: list[Round] = []
    fit(ranker(), callbacks=[told.append], checkpoint=tmp_path)
    assert [item.number for item in told] == list(range(4, 12))


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_a_callback_ends_the_fit_where_it_did(booster: str, tmp_path: Path) -> None:
    """The same call gives the same model, its best round included; without it, the fit goes on."""
    params: dict[str, Any] = {"booster": booster, "early_stopping_rounds": 12}
    given: dict[str, Any] = {"checkpoint": tmp_path, **VALIDATION}
    last = [lambda round: round.number >= 4]
    ended = fit(ranker(**params), callbacks=last, **given)
    for _ in range(2):
        again = fit(ranker(**params), callbacks=last, **given)
        assert again.evals_result_ == ended.evals_result_
        assert len(again.sigmas_) == 5
        assert_array_equal(again.predict(X), ended.predict(X))
    assert len(fit(ranker(**params), **given).sigmas_) == 12
