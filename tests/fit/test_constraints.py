"""Constraints: they hold at the end, at the least cost to the objective, and are recorded."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import Constraint, GBRanker, get_measure, get_objective, load_ranker, make_cubic, plots
from gbrank.fit.constraints import get_constraint
from gbrank.fit.loop import FitInterrupted
from gbrank.fit.multipliers import DAMPING, SUM_OF_STEPS, TOLERANCE, Multipliers

X, Y, QID = make_cubic(120, n_documents=12, n_features=6, random_state=0)
MARGIN = np.searchsorted([0.2, 0.5, 0.8], X[:, 0]).astype(np.float64)
LABELS = {"margin": MARGIN}
SMALL: dict[str, Any] = {"n_estimators": 40, "random_state": 0, "n_jobs": 1}
MEASURE = "ndcg@10[margin]"


def fitted(constraint: str | None, **params: Any) -> GBRanker:
    constraints = None if constraint is None else [constraint]
    return GBRanker(constraints=constraints, **SMALL | params).fit(X, Y, qid=QID, labels=LABELS)


def value(ranker: GBRanker, labels: Any = MARGIN) -> float:
    return get_measure("ndcg@10")(labels, ranker.predict(X), qid=QID)


# --- What a fit does ----------------------------------------------------------------------------


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_the_constraint_holds_and_costs_what_it_must(booster: str) -> None:
    free = fitted(None, booster=booster)
    alone = fitted(None, booster=booster, objective="noisy:ndcg[margin]")
    asked = 0.5 * (value(free) + value(alone)) / value(alone)
    bound = fitted(f"{MEASURE} >= {asked} of best", booster=booster)
    (end,) = bound.constraints_
    assert_allclose(end.best, value(alone))
    assert_allclose(end.target, asked * value(alone))
    assert_allclose(end.value, value(bound))
    assert abs(end.value - end.target) < 0.03  # neither missed nor overdone
    assert value(alone, Y) < value(bound, Y) < value(free, Y)


def test_an_absolute_level() -> None:
    (end,) = fitted(f"{MEASURE} >= 0.7").constraints_
    assert end.target == 0.7
    assert end.value > 0.7 - 0.02


def test_two_constraints() -> None:
    other = np.searchsorted([0.2, 0.5, 0.8], X[:, 1]).astype(np.float64)
    texts = [f"{MEASURE} >= 0.75 of best", "ndcg@10[other] >= 0.75 of best"]
    ranker = GBRanker(constraints=texts, **SMALL)
    ranker.fit(X, Y, qid=QID, labels=LABELS | {"other": other})
    assert [end.constraint for end in ranker.constraints_] == texts
    for end, labels in zip(ranker.constraints_, (MARGIN, other), strict=True):
        assert end.value > end.target - 0.03
        assert_allclose(end.value, value(ranker, labels))


def test_one_that_holds_by_itself_changes_nothing() -> None:
    bound = fitted(f"{MEASURE} >= 0.01 of best")
    assert_allclose(bound.predict(X), fitted(None).predict(X), rtol=1e-9)
    assert bound.constraints_[0].multiplier == 0


def test_one_that_cannot_hold_is_told() -> None:
    with pytest.warns(UserWarning, match=r"asks for 0\.9990.*reaches 0\.\d+.*alone, it reaches"):
        ranker = fitted("ndcg@10 >= 0.999")
    assert ranker.constraints_[0].best < 0.999


def test_no_more_is_measured_than_is_needed() -> None:
    """Training queries, where there are no others, and by the constraints alone; or as asked."""
    ours = {"multipliers", "violations"}
    found = fitted(f"{MEASURE} >= 0.5", n_estimators=2).evals_result_
    assert (set(found), set(found["train"])) == ({"train", *ours}, {MEASURE})
    found = fitted(f"{MEASURE} >= 0.5", n_estimators=2, validation_fraction=0.3).evals_result_
    assert (set(found), set(found["valid_0"])) == ({"valid_0", *ours}, {"ndcg@10", MEASURE})
    found = fitted(f"{MEASURE} >= 0.5", n_estimators=2, verbose=1).evals_result_
    assert (set(found), set(found["train"])) == ({"train", *ours}, {"ndcg@10", MEASURE})


def test_another_objective_and_a_mixture() -> None:
    for objective in ("lambda:ap", "ranknet", "ranknet+0.5*lambda:ndcg", "approx:ndcg"):
        ranker = fitted(f"{MEASURE} >= 0.8 of best", objective=objective)
        assert ranker.constraints_[0].value > ranker.constraints_[0].target - 0.05, objective


def test_on_validation_queries() -> None:
    """They, not the training queries, decide; and the best round is one that is feasible."""
    train, valid = QID < 80, QID >= 80
    ranker = GBRanker(
        constraints=[f"{MEASURE} >= 0.85 of best"], early_stopping_rounds=15, **SMALL
    ).fit(
        X[train], Y[train], qid=QID[train], labels={"margin": MARGIN[train]},
        eval_set=[(X[valid], Y[valid])], eval_qid=[QID[valid]],
        eval_labels=[{"margin": MARGIN[valid]}],
    )  # fmt: skip
    (end,) = ranker.constraints_
    found = get_measure("ndcg@10")(MARGIN[valid], ranker.predict(X[valid]), qid=QID[valid])
    assert_allclose(end.value, found)
    values = ranker.evals_result_["valid_0"]
    lacking = ranker.evals_result_["violations"][end.constraint]
    feasible = [round for round, lack in enumerate(lacking) if lack == 0]
    assert feasible, "the test needs a round in which the constraint holds"
    best = max(feasible, key=lambda round: (values["ndcg@10"][round], -round))
    assert ranker.best_iteration_ == best + 1
    alone = GBRanker(
        "noisy:ndcg[margin]", eval_metric=MEASURE, early_stopping_rounds=15, **SMALL
    ).fit(
        X[train], Y[train], qid=QID[train], labels={"margin": MARGIN[train]},
        eval_set=[(X[valid], Y[valid])], eval_qid=[QID[valid]],
        eval_labels=[{"margin": MARGIN[valid]}],
    )  # fmt: skip
    assert alone.best_iteration_ < len(alone.sigmas_)
    assert end.best == alone.best_score_


# --- What is recorded ---------------------------------------------------------------------------


def test_the_weights_are_those_of_the_formula() -> None:
    ranker = fitted(f"{MEASURE} >= 0.9 of best")
    (end,) = ranker.constraints_
    results = ranker.evals_result_
    curve = fitted(None, objective="noisy:ndcg[margin]", eval_metric=MEASURE, verbose=1)
    alone = curve.evals_result_["train"][MEASURE]
    multiplier = 0.0
    for round, reached in enumerate(results["train"][MEASURE]):
        multiplier = max(0.0, multiplier + 600 / 40 * (0.9 * alone[round] - reached))
        assert_allclose(results["multipliers"][end.constraint][round], multiplier, atol=1e-12)
        lack = max(0.0, end.target - reached)
        assert_allclose(results["violations"][end.constraint][round], lack, atol=1e-12)
    assert end.multiplier == results["multipliers"][end.constraint][-1]


def multipliers_of(constraints: Any, rounds: int, curves: Any) -> Multipliers:
    """Return the multipliers of constraints whose fits alone had these curves."""
    multipliers = Multipliers(constraints, "train", rounds)
    for goal, curve in zip(multipliers.goals, curves, strict=True):
        goal.curve = curve
    return multipliers


def test_the_mixture_has_the_weights_of_the_round() -> None:
    constraint = get_constraint(f"{MEASURE} >= 1.0 of best")
    multipliers = multipliers_of([constraint], 2, [[0.4, 0.8]])
    mixture = multipliers.mixture(get_objective("2*ranknet+ranknet"))
    own, other, raised = mixture.weights or ()
    assert (own, other, raised(0, 2)) == (2.0, 1.0, 0.0)
    multipliers.end_round({"train": {MEASURE: [0.3]}})
    lack = 0.4 - 0.3
    assert_allclose(raised(1, 2), 3 * (SUM_OF_STEPS / 2 * lack + DAMPING * lack))
    assert str(mixture.objectives[2]) == "noisy:ndcg[margin]"


def test_saved_and_loaded(tmp_path: Path) -> None:
    ranker = fitted(f"{MEASURE} >= 0.9 of best")
    ranker.save(tmp_path / "model")
    loaded = load_ranker(tmp_path / "model")
    assert loaded.constraints_ == ranker.constraints_
    assert loaded.constraints == [f"{MEASURE} >= 0.9 of best"]
    assert loaded.evals_result_ == ranker.evals_result_


def test_a_picture_and_a_table() -> None:
    ranker = fitted(f"{MEASURE} >= 0.9 of best", verbose=1)
    axes = plots.constraints(ranker, ax=Figure().subplots())
    weights = axes.figure.axes[-1].lines[0].get_ydata()
    assert_array_equal(weights, next(iter(ranker.evals_result_["multipliers"].values())))
    assert plots.learning_curves(ranker, ax=Figure().subplots()).get_ylabel() == "ndcg@10"
    assert "multipliers" in ranker.evals_result_.to_markdown()
    with pytest.raises(ValueError, match="fitted with constraints"):
        plots.constraints(fitted(None))


def test_a_callback_sees_the_weights() -> None:
    seen: list[float] = []
    text = f"{MEASURE} >= 0.9 of best"
    GBRanker(constraints=[text], **SMALL).fit(
        X, Y, qid=QID, labels=LABELS,
        callbacks=[lambda round: seen.append(round.values["multipliers"][text])],
    )  # fmt: skip
    assert len(seen) == SMALL["n_estimators"]


KILLED = """
import os, sys
sys.path.insert(0, {tests!r})
from fit.test_constraints import GBRanker, LABELS, QID, SMALL, X, Y

def kill(round):
    if round.number == 20:
        os._exit(9)

GBRanker(constraints=["ndcg@10[margin] >= 0.9 of best"], **SMALL).fit(
    X, Y, qid=QID, labels=LABELS, checkpoint={folder!r}, checkpoint_rounds=7, callbacks=[kill]
)
"""


@pytest.mark.slow
def test_a_killed_fit_goes_on_to_the_same_model(tmp_path: Path) -> None:
    code = KILLED.format(tests=str(Path(__file__).parents[1]), folder=str(tmp_path))
    assert subprocess.run([sys.executable, "-c", code]).returncode == 9
    ranker = GBRanker(constraints=[f"{MEASURE} >= 0.9 of best"], **SMALL)
    ranker.fit(X, Y, qid=QID, labels=LABELS, checkpoint=tmp_path, checkpoint_rounds=7)
    whole = fitted(f"{MEASURE} >= 0.9 of best")
    assert_array_equal(ranker.predict(X), whole.predict(X))
    assert ranker.evals_result_ == whole.evals_result_
    with pytest.raises(ValueError, match="these were others: labels"):
        ranker.fit(X, Y, qid=QID, labels={"margin": MARGIN[::-1]}, checkpoint=tmp_path)


def test_an_interrupted_fit_keeps_its_rounds() -> None:
    def interrupt(round: Any) -> None:
        if round.number == 9:
            raise KeyboardInterrupt

    ranker = GBRanker(constraints=[f"{MEASURE} >= 0.9 of best"], **SMALL)
    with pytest.warns(FitInterrupted):
        ranker.fit(X, Y, qid=QID, labels=LABELS, callbacks=[interrupt])
    assert ranker.best_iteration_ == 10
    assert_allclose(ranker.constraints_[0].value, value(ranker))


# --- How they are written -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["ndcg@10[margin] >= 0.62", "dcg@5(gain='linear')[a b] >= 0.95 of best", "ap >= 1.0"]
)
def test_written_and_read(text: str) -> None:
    assert str(get_constraint(text)) == text
    assert get_constraint(str(get_constraint(text))) == get_constraint(text)


@pytest.mark.parametrize(
    ("measure", "trained"),
    [("ndcg@10[m]", "ndcg[m]"), ("map@5", "ap"), ("p@3[m]", "precision@3[m]"), ("err@4", "err")],
)
def test_what_is_trained_for_a_constraint(measure: str, trained: str) -> None:
    """All ranks, unless those that count all count alike."""
    objective = get_constraint(f"{measure} >= 0.5").objective(get_objective("lambda:ap"))
    assert str(objective) == f"lambda:{trained}"


def test_other_spellings() -> None:
    assert get_constraint(" ap[x]≥.5  of  best ") == Constraint("ap[x]", 0.5, of_best=True)


@pytest.mark.parametrize(
    ("constraints", "error", "message"),
    [
        (["ndcg[margin] <= 0.5"], ValueError, "name the label of the opposite"),
        (["ndcg[margin] >= half"], ValueError, "a constraint must be like"),
        (["ndcg[margin] >= 1.2 of best"], ValueError, "level must be a number above 0 .* 1.0"),
        (["ndgc[margin] >= 0.5"], ValueError, "constraints: unknown measure 'ndgc'"),
        (["ndcg[m] >= 0.5", "ndcg[m] >= 0.6"], ValueError, "of different measures"),
        ([0.5], TypeError, "a text or a Constraint"),
        (5, TypeError, "a list of texts"),
        (["ndcg[other] >= 0.5"], ValueError, "unknown label 'other'"),
        (["rbp@3[margin] >= 0.47"], None, ""),
        (["rbp@3[margin] >= 0.48"], ValueError, r"level must be at most 0\.47805 in 'rbp@3\[marg"),
        (["ndcg(gain=(3,2,1,0))[margin] >= 1"], None, ""),  # of gains, not of labels
        (["ndcg[margin] >= 1", "ndcg >= 1"], None, ""),
    ],
)
def test_what_is_wrong_with_constraints(
    constraints: Any, error: type[Exception] | None, message: str
) -> None:
    ranker = GBRanker(constraints=constraints, **SMALL | {"n_estimators": 2})
    if error is None:
        ranker.fit(X, Y, qid=QID, labels=LABELS)
        return
    with pytest.raises(error, match=message):
        ranker.fit(X, Y, qid=QID, labels=LABELS)


def test_the_tolerance_is_small() -> None:
    assert TOLERANCE <= 0.005


# --- The weights by themselves ------------------------------------------------------------------

TWO = [get_constraint(f"{MEASURE} >= 1.0 of best"), get_constraint("ap[other] >= 0.5")]
CURVES = [[0.4, 0.8], [0.6, 0.7]]
MEASURED = {"train": {MEASURE: [0.5, 0.6, 0.7], "ap[other]": [0.2, 0.3, 0.6]}}


def told(rounds: int) -> tuple[Multipliers, dict[str, Any]]:
    """Return the multipliers of two constraints after some rounds, and what they recorded."""
    multipliers = multipliers_of(TWO, 3, CURVES)
    results: dict[str, Any] = {"train": {measure: [] for measure in MEASURED["train"]}}
    for round in range(rounds):
        for measure, values in MEASURED["train"].items():
            results["train"][measure].append(values[round])
        multipliers.end_round(results)
    return multipliers, results


def weights(multipliers: Multipliers) -> list[float]:
    """Return the weights of the next round, of the objective and of both constraints."""
    mixture = multipliers.mixture("ranknet")
    return [weight if isinstance(weight, float) else weight(0, 3) for weight in mixture.weights]


def test_resumed_weights_are_those_of_the_next_round() -> None:
    went_on, results = told(2)
    resumed = multipliers_of(TWO, 3, CURVES)
    resumed.resume(results)
    assert weights(resumed) == weights(went_on)
    assert weights(went_on)[0] == 1
    assert weights(went_on)[2] > 0
    began = multipliers_of(TWO, 3, CURVES)
    began.resume({"train": results["train"]})  # a checkpoint of no round
    assert weights(began) == [1, 0, 0]


def test_a_violation_is_what_the_target_itself_lacks() -> None:
    """Though early rounds are asked for less, none of them holds before the target does."""
    multipliers, results = told(3)
    first, second = results["violations"].values()
    assert_allclose(first, [0.3, 0.2, 0.1])
    assert_allclose(second, [0.3, 0.2, 0])
    assert results["multipliers"][str(TWO[0])][0] == 0  # 0.5 is more than the 0.4 asked for
    merits = [multipliers.merit(results, round) for round in (1, 2, 3)]
    assert_allclose(merits, [-0.3, -0.2, -0.1])


@pytest.mark.filterwarnings("ignore:the constraint")
def test_outcomes_are_of_the_round_that_is_kept() -> None:
    multipliers, results = told(3)
    for rounds in (1, 2, 3):
        for end, curve in zip(multipliers.outcomes(results, rounds), CURVES, strict=True):
            assert end.multiplier == results["multipliers"][end.constraint][rounds - 1]
            assert end.best == curve[-1]
        assert [end.value for end in multipliers.outcomes(results, rounds)] == [
            values[rounds - 1] for values in MEASURED["train"].values()
        ]
    assert [end.target for end in multipliers.outcomes(results, 1)] == [0.8, 0.5]


def test_a_measure_that_stays_at_zero_asks_for_all_at_once() -> None:
    """Of a fit for it alone, too, so that its curve says nothing of early rounds."""
    multipliers = multipliers_of(TWO[1:], 2, [[0.0, 0.0]])
    results: dict[str, Any] = {"train": {"ap[other]": [0.0]}}
    multipliers.end_round(results)
    assert results["multipliers"][str(TWO[1])] == [SUM_OF_STEPS / 2 * 0.5]


def test_a_fit_that_died_goes_on_to_the_same_model(tmp_path: Path) -> None:
    """The fits for the constraints alone, which are trained again, leave the checkpoint alone."""

    def die(round: Any) -> None:
        if round.number == 3:
            raise InterruptedError

    params = SMALL | {"n_estimators": 6, "constraints": [f"{MEASURE} >= 0.95 of best"]}
    data: dict[str, Any] = {"qid": QID, "labels": LABELS}
    keep = {"checkpoint": tmp_path, "checkpoint_rounds": 2}
    with pytest.raises(InterruptedError):
        GBRanker(**params).fit(X, Y, **data, **keep, callbacks=[die])
    resumed, whole = GBRanker(**params).fit(X, Y, **data, **keep), GBRanker(**params)
    assert whole.fit(X, Y, **data).evals_result_ == resumed.evals_result_
    assert_array_equal(whole.predict(X), resumed.predict(X))


@pytest.mark.parametrize("lacking", [0.0, TOLERANCE - 1e-9, TOLERANCE + 1e-9])
def test_what_lacks_little_is_no_warning(lacking: float) -> None:
    multipliers = multipliers_of(TWO[1:], 1, [[0.7]])
    results: dict[str, Any] = {"train": {"ap[other]": [0.5 - lacking]}}
    multipliers.end_round(results)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        multipliers.outcomes(results, 1)
    assert len(caught) == (lacking > TOLERANCE)


# --- Objectives of labels -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "raised"),
    [
        ("lambda:ndcg[margin]", "lambda:ap[margin]"),
        ("ranknet+0.5*lambda:ndcg[margin]", "lambda:ap[margin]"),
        ("approx:ndcg[margin]", "approx:ap[margin]"),
        ("ranknet[margin]", "noisy:ap[margin]"),
    ],
)
def test_an_objective_of_a_label(own: str, raised: str) -> None:
    """Constraints are trained by the same kind of objective, where it takes a measure."""
    constraint = get_constraint("ap[margin] >= 0.5 of best")
    assert str(constraint.objective(get_objective(own))) == raised
    made = GBRanker(own, constraints=["ndcg >= 0.1"], **SMALL | {"n_estimators": 3})
    (end,) = made.fit(X, Y, qid=QID, labels=LABELS).constraints_
    assert end.value == get_measure("ndcg")(Y, made.predict(X), qid=QID)
