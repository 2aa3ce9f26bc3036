"""Hooks: gbrank's objectives inside LightGBM's and XGBoost's own training calls, round by round."""

import copy
import gc
import pickle
import weakref
from typing import Any, ClassVar

import lightgbm as lgb
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import lightgbm_fobj
from training_kits import (
    FALLING,
    N_QUERIES,
    ROUNDS,
    SCORES,
    SIZES,
    LightGBM,
    X,
    Y,
    both,
    constructed,
    recording,
    schedule_of,
)


@both
def test_round_in_training(kit: Any) -> None:
    """Each round once, from 0; again from 0 when the same data and hook are used again."""
    hook, data = kit.hook("lambdarank", FALLING), kit.data()
    first = kit.scores(kit.train(hook, data))
    assert_array_equal(hook.sigmas, schedule_of(range(ROUNDS)))
    kit.train(hook, data, 3, learning_rate=0.7)
    assert_array_equal(hook.sigmas, schedule_of(range(3)))
    assert_array_equal(kit.scores(kit.train(hook, data)), first)


@both
def test_round_in_cross_validation(kit: Any) -> None:
    """One callable serves three folds: every fold has the sigma of its round."""
    calls: list[float] = []
    hook = kit.hook(recording(calls), FALLING)
    history = kit.cross_validate(hook, kit.feval("ndcg@5"))
    assert_array_equal(hook.sigmas, schedule_of(range(ROUNDS)))
    per_round = 2 * N_QUERIES  # three folds of two thirds of the queries
    assert calls == [sigma for sigma in hook.sigmas for _ in range(per_round)]
    (name,) = [name for name in history if name.endswith("ndcg@5-mean") and "train" not in name]
    assert len(history[name]) == ROUNDS
    assert 0.3 < min(history[name]) < max(history[name]) <= 1


@both
def test_custom_loops_that_take_turns(kit: Any) -> None:
    """`booster.update(fobj=hook)` is the same training, for two boosters with one hook."""
    calls: list[float] = []
    hook = kit.hook(recording(calls), FALLING)
    loops = [kit.loop(hook), kit.loop(hook)]
    boosters = [next(loop) for _ in range(ROUNDS) for loop in loops][-2:]
    assert calls == [sigma for sigma in hook.sigmas for _ in range(2 * N_QUERIES)]
    whole = kit.scores(kit.train(hook, kit.data()))
    for booster in boosters:
        assert_allclose(kit.scores(booster), whole, rtol=1e-6)


@both
def test_outside_training(kit: Any) -> None:
    """Called by hand, a hook needs the round only if sigma depends on it."""
    data, hook = constructed(kit.data()), kit.hook("lambdarank", FALLING)
    kit.hook("lambdarank", 2.0)(SCORES, data)
    with pytest.raises(ValueError, match=r"round.*at_round"):
        hook(SCORES, data)
    hook.at_round(3, SCORES, data)
    assert_array_equal(hook.sigmas, schedule_of(range(3, 4)))


@both
def test_data_that_outlive_a_hook(kit: Any) -> None:
    """They keep nothing of it."""
    data, hook = constructed(kit.data()), kit.hook("ranknet")
    hook(SCORES, data)
    kept = weakref.ref(hook._bound)
    del hook
    gc.collect()
    assert kept() is None


def test_lgbm_ranker_round_and_continuation() -> None:
    """LGBMRanker calls objectives with other arguments; init_model continues."""
    hook = lightgbm_fobj("lambdarank", FALLING)
    options: ClassVar = {"objective": hook, "n_jobs": 1, "verbose": -1}
    start = lgb.LGBMRanker(**options, n_estimators=4).fit(X, Y, group=SIZES)
    assert_array_equal(hook.sigmas, schedule_of(range(4)))
    rest = lgb.LGBMRanker(**options, n_estimators=2).fit(X, Y, group=SIZES, init_model=start)
    assert_array_equal(hook.sigmas, schedule_of(range(6)))
    whole = LightGBM.train(hook, LightGBM.data())
    assert_allclose(rest.predict(X), whole.predict(X), atol=1e-6)


@both
def test_hooks_are_copied_and_pickled(kit: Any) -> None:
    """A copy of parameters keeps the record; a pickle makes an equal hook."""
    hook = kit.hook("lambda:ndcg", FALLING, rounds=ROUNDS, n_jobs=1)
    assert copy.deepcopy({"objective": hook})["objective"] is hook
    expected = kit.scores(kit.train(hook, kit.data()))
    again = pickle.loads(pickle.dumps(hook))
    assert_array_equal(kit.scores(kit.train(again, kit.data())), expected)
    assert_array_equal(again.sigmas, schedule_of(range(ROUNDS)))
