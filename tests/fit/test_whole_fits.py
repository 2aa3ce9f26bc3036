"""What a fit publishes is there at once or not at all, and of the parameters at its start."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import gbrank
from gbrank import GBRanker, LinearRanker, SLAMPerceptron, load_ranker
from gbrank.boosters import BOOSTERS
from gbrank.fit import boost
from gbrank.fit.interrupted import FitInterrupted

PACKAGE = str(Path(gbrank.__file__).parent)
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 120)
QID = np.repeat(np.arange(12), 10)
NOISE = RNG.normal(size=120)
# The same columns, with other meanings.
FIRST = pd.DataFrame({"a": Y + NOISE, "b": NOISE})
SECOND = pd.DataFrame({"a": -(Y + NOISE), "c": NOISE})
ATTRIBUTES = (
    "best_iteration_", "best_score_", "sigmas_", "learning_rate_", "training_data_", "init_",
    "evals_result_", "coef_", "init_coef_", "cumulative_loss_", "position_bias_",
    "feature_names_in_",
)  # fmt: skip


def boosted() -> GBRanker:
    return GBRanker("ranknet", n_estimators=3, n_jobs=1, random_state=0, min_child_samples=2)


def refit(ranker: Any) -> Any:
    return ranker.fit(SECOND, Y, qid=QID)


def go_on(ranker: Any) -> Any:
    return ranker.partial_fit(FIRST[:10], Y[:10])


KINDS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "GBRanker": (boosted, refit),
    "LinearRanker": (lambda: LinearRanker("regression"), refit),
    "SLAMPerceptron": (SLAMPerceptron, refit),
    "partial_fit": (SLAMPerceptron, go_on),
}


def state(ranker: Any) -> str:
    """Return all that a fit has left, as text."""
    found = {name: getattr(ranker, name) for name in ATTRIBUTES if hasattr(ranker, name)}
    names = list(found.get("feature_names_in_", []))
    rows = [frame for frame in (FIRST, SECOND) if list(frame.columns) == names]
    return repr((found, [ranker.predict(X).tolist() for X in rows], ranker.score(rows[0], Y, QID)))


class Interruption:
    """Raises KeyboardInterrupt when the n-th function of gbrank is entered; counts them."""

    def __init__(self, at: int | None = None) -> None:
        self._at, self.calls = at, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.calls += 1
            if self.calls == self._at:
                sys.setprofile(None)
                raise KeyboardInterrupt


def watched(call: Callable[[], Any], watcher: Interruption) -> None:
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        call()
    finally:
        sys.setprofile(before)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gbrank.fit.interrupted.FitInterrupted")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_at_any_moment(kind: str) -> None:
    """Either the model from before, or the next one, or that of fewer rounds; a first fit none."""
    make, again = KINDS[kind]
    ranker = make().fit(FIRST, Y, qid=QID)
    before, counted = state(ranker), Interruption()
    watched(lambda: again(ranker), counted)
    after = state(ranker)
    assert before != after
    moments = np.unique(np.linspace(1, counted.calls, 40, dtype=int))
    found = set()
    for at in {*moments, *range(counted.calls - 20, counted.calls + 1)}:
        ranker, first = make().fit(FIRST, Y, qid=QID), make()
        try:
            watched(lambda: again(ranker), Interruption(at))  # noqa: B023
        except KeyboardInterrupt:
            found.add(state(ranker))
        else:
            assert state(ranker) == after or ranker.best_iteration_ < 3
        if kind == "partial_fit":
            continue
        try:
            watched(lambda: again(first), Interruption(at))  # noqa: B023
        except KeyboardInterrupt:
            if hasattr(first, "n_features_in_"):
                assert state(first) == after
                continue
            with pytest.raises(NotFittedError):
                first.predict(SECOND)
            assert not any(name.endswith("_") for name in vars(first))
    assert found in ({before}, {before, after})


class Late:
    """A matrix that calls a function when it is read."""

    def __init__(self, X: Any, called: Callable[[], Any]) -> None:
        self._X, self._called, self.shape = np.asarray(X), called, X.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self._called()
        return self._X


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        *(("GBRanker", call) for call in ("predict", "rank", "explain")),
        *(("LinearRanker", call) for call in ("predict", "rank")),
    ],
)
def test_a_fit_during_a_prediction(kind: str, call: str) -> None:
    """Which takes all from the one model or all from the other, as where threads share a ranker."""
    X = FIRST.to_numpy()
    ranker = KINDS[kind][0]().fit(X, Y, qid=QID)

    def again() -> None:
        if kind == "GBRanker":
            ranker.init = boosted().fit(X, Y, qid=QID)
        ranker.fit(X, Y % 2, qid=QID)

    def answer(X: Any) -> Any:
        return getattr(ranker, call)(X)

    before, during, after = answer(X), answer(Late(X, again)), answer(X)
    assert (before != after).any()
    assert np.array_equal(during, before) or np.array_equal(during, after)


def test_a_fit_during_a_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is saved is the one model or the other."""
    ranker, original = boosted().fit(FIRST, Y, qid=QID), GBRanker.get_params
    before = ranker.predict(FIRST)

    def again(self: GBRanker, deep: bool = True) -> Any:
        monkeypatch.undo()
        refit(ranker)
        return original(self, deep)

    monkeypatch.setattr(GBRanker, "get_params", again)
    ranker.save(tmp_path)
    assert list(ranker.feature_names_in_) == ["a", "c"]
    np.testing.assert_array_equal(load_ranker(tmp_path).predict(FIRST), before)


@pytest.mark.slow
def test_an_interrupted_round_leaves_no_values() -> None:
    """All attributes of a fit that Ctrl-C has ended tell of the same rounds."""
    for at in range(1, 400, 7):
        ranker = boosted().set_params(verbose=1, n_estimators=30)

        def fit(ranker: GBRanker = ranker) -> None:
            ranker.fit(FIRST, Y, qid=QID, eval_set=[(FIRST, Y)], eval_qid=[QID])

        counted = Interruption()
        if at == 1:
            watched(fit, counted)
            step = counted.calls
        try:
            with pytest.warns(FitInterrupted):
                watched(fit, Interruption(step // 2 + at))
        except (KeyboardInterrupt, pytest.fail.Exception):
            continue
        done = len(ranker.sigmas_)
        curves = [c for curves in ranker.evals_result_.values() for c in curves.values()]
        assert {len(curve) for curve in curves} == {done}, at


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("end", ["finish", "_final_scores"])
def test_ctrl_c_after_the_rounds_keeps_them(
    booster: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it interrupts, and whole: the same model as without it."""
    owner: Any = BOOSTERS[booster].trainer if end == "finish" else boost
    original, calls, often = getattr(owner, end), [], 1

    def interrupted(*arguments: Any) -> Any:
        calls.append(0)
        if len(calls) <= often:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments)

    def make(**params: Any) -> GBRanker:
        return boosted().set_params(booster=booster, **params)

    same = make().fit(FIRST, Y, qid=QID)
    monkeypatch.setattr(owner, end, interrupted)
    ranker = make()
    with pytest.warns(FitInterrupted, match="after its last round: the model is complete"):
        ranker.fit(FIRST, Y, qid=QID)
    assert state(ranker) == state(same)
    calls.clear()
    often = 2
    with pytest.warns(FitInterrupted), pytest.raises(KeyboardInterrupt):
        ranker.fit(FIRST, Y, qid=QID)
    calls.clear()
    with pytest.raises(KeyboardInterrupt):  # of a part of a fit, as in its rounds
        make(init="regression").fit(FIRST, Y, qid=QID)


def changing(ranker: Any, params: dict[str, Any]) -> Callable[[Any], None]:
    return lambda round: ranker.set_params(**params) and None


@pytest.mark.parametrize(
    "params",
    [
        {"booster": "xgboost"}, {"objective": "lambda:map"}, {"n_estimators": 1},
        {"n_estimators": "many"}, {"init": "regression"}, {"init": "nothing"},
        {"subsample": 0.3}, {"validation_fraction": 0.5}, {"early_stopping_rounds": 1},
        {"learning_rate": 7.0}, {"curvature": "unit"}, {"eval_metric": "map"}, {"verbose": 1},
        {"random_state": 9}, {"booster_params": {"max_bin": 3}}, {"n_jobs": 2},
    ],
)  # fmt: skip
def test_parameters_are_those_of_the_start(params: dict[str, Any], tmp_path: Path) -> None:
    """What a callback sets changes neither the model nor what can be saved."""
    plain, ranker = boosted().fit(FIRST, Y, qid=QID), boosted()
    ranker.fit(FIRST, Y, qid=QID, callbacks=[changing(ranker, params)])
    np.testing.assert_array_equal(ranker.predict(FIRST), plain.predict(FIRST))
    assert ranker.evals_result_ == plain.evals_result_
    ranker.save(tmp_path)
    np.testing.assert_array_equal(load_ranker(tmp_path).predict(FIRST), plain.predict(FIRST))


@pytest.mark.parametrize(("make", "again"), [KINDS["GBRanker"], KINDS["LinearRanker"]])
def test_an_assigned_attribute_lasts_until_the_next_fit(
    make: Callable[[], Any], again: Callable[[Any], Any]
) -> None:
    """It is what the ranker itself then reads, too."""
    ranker = make()
    with pytest.raises(NotFittedError):
        ranker.best_iteration_ = 1
    ranker.fit(FIRST, Y, qid=QID)
    rounds = ranker.best_iteration_
    ranker.best_iteration_ = rounds + 4
    assert ranker.best_iteration_ == ranker._fitted.best_iteration == rounds + 4
    assert again(ranker).best_iteration_ == rounds
