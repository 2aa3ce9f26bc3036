"""Bad input: refused before training, with the argument, what it was, and what it should be."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gbrank import (
    AP,
    ERR,
    NDCG,
    RR,
    GBRanker,
    LambdaRank,
    Queries,
    RankNet,
    get_measure,
    get_objective,
    lightgbm_feval,
    lightgbm_fobj,
    make_cubic,
    xgboost_feval,
    xgboost_obj,
)

X, Y, QID = make_cubic(10, n_documents=12, n_features=6, random_state=0)
N = len(Y)
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def make(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {
        "n_estimators": 5,
        "random_state": 0,
        "n_jobs": 1,
        "min_child_samples": 5,
    }
    return GBRanker(objective, booster=booster, **{**defaults, **params})


def fit(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker, fitted."""
    return make(booster, objective, **params).fit(X, Y, qid=QID)


def with_value(values: Any, row: int, value: Any) -> Any:
    """Return a copy with one entry changed."""
    changed = np.array(values, dtype=float)
    changed[row] = value
    return changed


# --- Data -------------------------------------------------------------------------------------

VALID = {"eval_set": [(X, Y)], "eval_qid": [QID]}
DATA: list[tuple[dict[str, Any], str]] = [
    ({"y": Y[:-1]}, r"(y|labels) must have 120 entries, got 119"),
    ({"y": np.stack([Y, Y], axis=1)}, r"(y|labels).*dimension.*\(120, 2\)"),
    ({"y": with_value(Y, 7, np.nan)}, r"(y|labels) must be finite, got nan in row 7"),
    ({"y": with_value(Y, 7, np.inf)}, r"(y|labels) must be finite, got inf in row 7"),
    ({"y": with_value(Y, 7, -1)}, r"(y|labels) must be at least 0, got -1.0 in row 7"),
    (
        {"y": np.array(["good"] * N)},
        r"y must hold real numbers, got dtype <U4, such as 'good'. Map",
    ),
    ({"y": [None, *Y[1:]]}, r"(y|labels) must"),
    ({"y": with_value(Y, 7, 2000)}, r"gain.*2000.*row 7.*gain='linear'"),
    ({"y": np.zeros(N)}, r"nothing to learn: .*labels are all 0"),
    ({"y": QID * 1.0}, r"nothing to learn: .*equal within each query"),
    ({"qid": range(N)}, r"nothing to learn: every query has one document.*Pass as qid="),
    ({"X": X[:0], "y": [], "qid": []}, r"X must have at least one row"),
    ({"y": None}, r"the target y is None"),
    ({"X": X[:1], "y": [1], "qid": [0]}, r"at least two documents.*got 1 sample"),
    ({"X": X + 1j}, r"X.*Complex data not supported"),
    ({"qid": QID[:-1]}, r"qid must have one entry per row, 120, got 119"),
    ({"qid": with_value(QID, 7, np.nan)}, r"qid must not be missing.*row 7"),
    ({"group": [12] * 10}, r"either qid or group"),
    ({"qid": None, "group": [12] * 9}, r"group must add up.*120.*108"),
    ({"qid": None, "group": [120, 0]}, r"group.*at least 1, got 0 for query 1"),
    ({"sample_weight": np.ones(10)}, r"sample_weight.*one entry per document, so 120.*got 10"),
    ({"query_weight": np.ones(N)}, r"query_weight.*one entry per query, so 10.*got 120"),
    ({"sample_weight": with_value(Y, 7, -1)}, r"sample_weight.*at least 0 .*got -1.0 at index 7"),
    ({"query_weight": with_value(range(10), 7, np.nan)}, r"query_weight.*finite, got nan"),
    ({"query_weight": np.zeros(10)}, r"query_weight.*positive"),
    ({"init_score": np.zeros(3)}, r"init_score must have 120 entries, got 3"),
    ({"init_score": with_value(Y, 7, np.nan)}, r"init_score must be finite, got nan in row 7"),
    ({**VALID, "eval_set": (X, Y)}, r"eval_set must be a list of \(X, y\)"),
    ({"eval_set": [(X, Y)]}, r"eval_set needs eval_qid= or eval_group="),
    ({**VALID, "eval_group": [[N]]}, r"eval_set needs eval_qid= or eval_group=, and not both"),
    ({**VALID, "eval_qid": [QID, QID]}, r"eval_qid must have one entry per eval_set, 1, got 2"),
    ({**VALID, "eval_init_score": []}, r"eval_init_score must have one entry per eval_set, 1"),
    ({**VALID, "eval_qid": [QID[1:]]}, r"eval_set\[0\]: qid must have one entry per row"),
    ({**VALID, "eval_set": [(X, -Y)]}, r"eval_set\[0\]: (y|labels) must be at least 0"),
    ({**VALID, "eval_set": [(X[:, :4], Y)]}, r"eval_set\[0\]: X has 4 features.*expecting 6"),
    ({**VALID, "eval_set": [(X, np.zeros(N))]}, r"relevant"),
    ({"eval_qid": [QID]}, r"eval_set"),
    ({"categorical_feature": ["word"]}, r"categorical_feature.*'word'"),
]


@pytest.mark.parametrize(("changed", "message"), DATA)
@boosters
def test_bad_data(booster: str, changed: dict[str, Any], message: str) -> None:
    """Nothing has been trained then."""
    ranker = make(booster)
    arguments = {"X": X, "y": Y, "qid": QID, **changed}
    with pytest.raises((ValueError, TypeError), match=message):
        ranker.fit(arguments.pop("X"), arguments.pop("y"), **arguments)
    with pytest.raises(NotFittedError):
        ranker.predict(X)


@pytest.mark.parametrize(
    ("objective", "metric", "message"),
    [
        ("lambda:map", "ndcg", r"threshold"),
        ("lambda:ndcg", "map", r"threshold"),
        ("lambda:ndcg", ["ndcg", "rr"], r"threshold"),
        ("lambda:err", "err", r"max_grade"),
        (LambdaRank(NDCG(gain=(0, 1, 3))), "ndcg", r"gain table of 3 entries, got"),
    ],
)
def test_labels_that_do_not_suit_a_measure(objective: Any, metric: Any, message: str) -> None:
    """No label reaches the threshold, one is above the largest grade, one has no gain."""
    labels = Y * 20 if "max_grade" in message else Y / 10
    with pytest.raises(ValueError, match=message):
        make(objective=objective, eval_metric=metric).fit(X, labels, qid=QID, **{
            "eval_set": [(X, labels)], "eval_qid": [QID]})  # fmt: skip


@pytest.mark.parametrize("objective", [RankNet(), LambdaRank(AP()), LambdaRank(ERR())])
def test_bad_scores(objective: Any) -> None:
    """By hand: lengths, NaN, other things than numbers."""
    bound = objective.bind([1, 0, 2], Queries.from_sizes([3]))
    for scores, message in (
        ([1.0, 2.0], r"scores must have 3 entries, got 2"),
        ([1.0, np.nan, 2.0], r"scores must be finite, got nan in row 1"),
        ([1.0, 2.0, -np.inf], r"scores must be finite, got -inf in row 2"),
        (np.zeros((3, 2)), r"scores must have one dimension"),
        (["a", "b", "c"], r"scores must hold real numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            bound.gradients(scores)
        with pytest.raises((ValueError, TypeError), match=message):
            bound.loss(scores)
    for sigma in (0, -1.0, np.nan, np.inf, "wide", None):
        with pytest.raises((ValueError, TypeError), match="sigma"):
            bound.gradients([1.0, 2.0, 3.0], sigma)


# --- Names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("lamda:ndcg", "lambda"), ("ranknett", "ranknet"), ("lambdarnk", "lambdarank"),
     ("Lambda:ndcg", "lambda"), ("", ""), ("nonsense", "")],
)  # fmt: skip
def test_unknown_objectives(name: str, nearest: str) -> None:
    """The nearest name, and all that there are, wherever it is given."""
    message = rf"(?s)objective.*{nearest}.*lambda.*ranknet"
    for action in (get_objective, lightgbm_fobj, xgboost_obj, lambda name: fit(objective=name)):
        with pytest.raises(ValueError, match=message):
            action(name)


@pytest.mark.parametrize(
    ("name", "nearest"), [("ndgc@10", "ndcg"), ("mapp", "map"), ("", ""), ("nonsense", "")]
)
def test_unknown_measures(name: str, nearest: str) -> None:
    """Likewise."""
    message = rf"(?s)measure.*{nearest}.*dcg.*ndcg.*wta"
    actions = (get_measure, lightgbm_feval, xgboost_feval, lambda name: fit(eval_metric=name),
               lambda name: get_objective(f"lambda:{name}"), LambdaRank)  # fmt: skip
    for action in actions:
        with pytest.raises(ValueError, match=message):
            action(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ranknet:ndcg", "ranknet.*takes no measure"),
        ("lambda:", "measure"),
        ("lambda:ndcg:map", "ndcg:map"),
        ("lambda(3):ndcg", "options"),
        ("lambda(truncation=0):ndcg", "truncation.*0"),
        ("lambda(truncatoin=3):ndcg", "truncatoin"),
        ("lambda(normalize=rows):ndcg", "normalize.*rows"),
        ("lambda(truncation=3", "lambda"),
        ("lambda:ndcg@0", "k"),
    ],
)
def test_bad_objective_strings(name: str, message: str) -> None:
    """What is wrong with it."""
    with pytest.raises(ValueError, match=message):
        get_objective(name)


# --- Parameters -------------------------------------------------------------------------------

PARAMETERS: list[tuple[str, list[Any]]] = [
    ("objective", [3, None, ["lambda"]]),
    ("booster", ["catboost", None, 3]),
    ("n_estimators", [0, -1, 2.5, "10", None, True]),
    ("learning_rate", [0, -0.1, np.nan, np.inf, "0.1"]),
    ("num_leaves", [1, 2.5, None]),
    ("max_depth", [0, -1, 1.5]),
    ("min_child_samples", [-1, 0.5, None]),
    ("subsample", [0, 1.5, np.nan, None]),
    ("subsample_by", ["row", None]),
    ("colsample", [0, 1.5]),
    ("reg_lambda", [-1, np.nan, "1"]),
    ("sigma", [0, -1.0, "geometrc(1, 2)", np.nan, lambda round, rounds: -1.0]),
    ("init", ["ridge", 3, lambda X: X]),
    ("eval_metric", [[], None, 3, [None]]),
    ("early_stopping_rounds", [0, 2.5, "5", "Auto"]),
    ("validation_fraction", [0, 1, 1.5, -0.1, 0.999]),
    ("random_state", ["0", -1, 1.5]),
    ("n_jobs", [0, -2, 1.5]),
    ("booster_params", ["max_bin", 3, [1]]),
]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in PARAMETERS for value in values]
)
@boosters
def test_bad_parameters(booster: str, name: str, value: Any) -> None:
    """The message names the parameter, or the kind of thing it names."""
    ranker = make(booster).set_params(**{name: value})
    with pytest.raises((ValueError, TypeError), match=rf"{name}|schedule|measure"):
        ranker.fit(X, Y, qid=QID)


def test_sigma_that_breaks_later() -> None:
    """A function of the round: the message has the round."""
    with pytest.raises(ValueError, match=r"sigma in round 2.*at least 1e-300.*0\.0"):
        fit(sigma=lambda round, rounds: 2.0 - round)


def test_parameters_that_do_not_go_together() -> None:
    """The message names the remedy."""
    with pytest.raises(ValueError, match=r"early_stopping_rounds.*eval_set=.*validation_fraction"):
        fit(early_stopping_rounds=3)


@boosters
def test_few_or_constant_rows(booster: str) -> None:
    """Nothing to split: a model that says nothing, or a message that says why; no abort."""
    for rows in (X[:12], np.ones((N, 2))):
        try:
            ranker = make(booster, min_child_samples=20)
            ranker.fit(rows, Y[: len(rows)], qid=QID[: len(rows)])
        except ValueError as error:
            assert "min_child_samples" in str(error)  # noqa: PT017
        else:
            assert np.ptp(ranker.predict(rows)) < 1e-6


# --- booster_params ---------------------------------------------------------------------------

ALIASES: dict[str, list[dict[str, Any]]] = {
    "lightgbm": [{"eta": 0.9}, {"reg_lambda": 50.0}, {"min_data": 40}, {"max_leaves": 3},
                 {"subsample": 0.3, "subsample_freq": 1}, {"colsample_bytree": 0.3}],
    "xgboost": [{"learning_rate": 0.9}, {"reg_lambda": 50.0}, {"max_leaves": 3},
                {"min_child_weight": 40}, {"gamma": 3.0}],
}  # fmt: skip
REFUSED = {
    "lightgbm": ["objective", "application", "metric", "metrics", "num_iterations", "num_round",
                 "early_stopping_rounds", "bagging_by_query", "unheard_of"],
    "xgboost": ["objective", "eval_metric", "base_score", "num_boost_round", "unheard_of"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("booster", "params"), [(kind, params) for kind, sets in ALIASES.items() for params in sets]
)
def test_aliases_are_not_dropped(booster: str, params: dict[str, Any]) -> None:
    """Any name of a parameter that GBRanker sets too is used; or refused, by name."""
    try:
        ranker = fit(booster, booster_params=params)
    except ValueError as error:
        assert next(iter(params)) in str(error)  # noqa: PT017
    else:
        assert not np.array_equal(ranker.predict(X), fit(booster).predict(X))


@pytest.mark.parametrize(
    ("booster", "name"), [(kind, name) for kind, names in REFUSED.items() for name in names]
)
def test_refused_booster_params(booster: str, name: str) -> None:
    """What GBRanker has an argument for, under any name, and what the booster does not know."""
    with pytest.raises(ValueError, match=rf"booster.param.*{name}"):
        fit(booster, booster_params={name: 1})


@pytest.mark.parametrize("name", ["boosting", "boosting_type", "boost"])
def test_random_forests_are_refused(name: str) -> None:
    """D20: with a remedy."""
    with pytest.raises(ValueError, match=r"booster_params.*rf.*'gbdt' or 'dart'"):
        fit(booster_params={name: "rf"})


GOOD: dict[str, list[dict[str, Any]]] = {
    "lightgbm": [{"max_bin": 15}, {"extra_seed": 3}, {"linear_tree": True}, {"verbose": 1},
                 {"data_sample_strategy": "goss"}, {"interaction_constraints": [[0, 1], [2, 3, 4]]},
                 {"force_row_wise": True}, {"min_gain_to_split": 0.1, "path_smooth": 1.0}],
    "xgboost": [{"max_bin": 15}, {"gamma": 0.5}, {"alpha": 1, "max_delta_step": 1},
                {"verbosity": 1}, {"max_cached_hist_node": 64}, {"num_parallel_tree": 2},
                {"interaction_constraints": "[[0, 1], [2, 3, 4]]"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("booster", "params"), [(kind, params) for kind, sets in GOOD.items() for params in sets]
)
def test_good_booster_params(booster: str, params: dict[str, Any]) -> None:
    """What the booster knows and GBRanker does not set."""
    assert len(set(fit(booster, booster_params=params).predict(X))) > 2


# --- A fitted ranker --------------------------------------------------------------------------


def test_bad_calls_of_a_fitted_ranker() -> None:
    """D6: no score without queries."""
    ranker = fit()
    for action, message in (
        (lambda: ranker.predict(X[:, :4]), r"X has 4 features.*expecting 6"),
        (
            lambda: ranker.predict(X[0]),
            r"X must hold numbers in two dimensions",
        ),
        (lambda: ranker.score(X, Y), r"score needs qid=.*group="),
        (lambda: ranker.score(X, Y[1:], QID), r"119|120"),
        (lambda: ranker.score(X, Y, QID[1:]), r"qid must have one entry per row"),
        (lambda: ranker.score(X, Y * 0, QID), r"relevant"),
        (lambda: ranker.score(X, Y, QID, query_weight=np.ones(N)), r"query_weight.*per query"),
        (lambda: ranker.rank(X, QID[1:]), r"qid must have one entry per row"),
        (lambda: ranker.rank(X, QID, group=[N]), r"either qid or group"),
    ):
        with pytest.raises(ValueError, match=message):
            action()


@pytest.mark.parametrize("name", ["predict", "rank", "save", "booster_", "feature_importances_"])
def test_not_fitted(name: str) -> None:
    """scikit-learn's own error."""
    with pytest.raises(NotFittedError):
        getattr(GBRanker(), name)(X)


def test_undefined_measures() -> None:
    """A mean over no query is refused, with a remedy; a value for such queries is one."""
    with pytest.raises(ValueError, match=r"relevant.*no_relevant"):
        NDCG()([0, 0], [1.0, 2.0])
    assert RR(no_relevant=0)([0, 0], [1.0, 2.0]) == 0


@pytest.mark.parametrize("value", [0, 1.5, -1, np.inf])
def test_positions(value: float) -> None:
    """They are integers from 1."""
    position = np.append(np.ones(9), value)
    with pytest.raises(ValueError, match=r"position must .*, got .* in row 9"):
        GBRanker().fit(np.ones((10, 1)), np.arange(10), group=[10], position=position)
