"""What is printed is code: it makes the same again from names that gbrank exports."""

from typing import Any

import numpy as np
import pytest

from exports import exported
from gbrank import (
    GBRanker,
    LambdaRank,
    LinearRanker,
    Mixture,
    RankNet,
    SLAMPerceptron,
    custom_measure,
    get_measure,
    get_objective,
    lightgbm_feval,
    lightgbm_fobj,
    list_measures,
    list_objectives,
    xgboost_feval,
    xgboost_obj,
)
from gbrank.extend import autodiff_objective, custom_objective
from gbrank.objectives.objective_registry import OBJECTIVES
from gbrank.schedules import SCHEDULES, as_schedule, linear

ARGUMENTS: dict[str, Any] = {
    "Multiplier": ("ndcg@10[margin]", 0.4),
    "constant": (0.5,),
    "join": ([1, linear(1, 0)], [3]),
    "staircase": (64, 0.5, 2),
}


def clicked(y_true: Any, y_score: Any) -> float:
    """Tell whether the first document was clicked."""
    return float(y_true[0] > 0)


def profit(scores: Any, labels: Any, price: Any) -> float:
    """Return the price of the first document."""
    return float(price[0])


def squares(scores: Any, labels: Any, sigma: float) -> Any:
    """Return the squared error."""
    error = scores - labels
    return error @ error / 2, error, np.ones_like(error)


def padded(scores: Any, labels: Any, mask: Any) -> Any:
    """Return the squared error of each query."""
    return (mask * (scores - labels) ** 2).sum(1)


OBJECTIVE_TEXTS = [
    *(
        f"{item.name}:ndcg@5" if item.facts.takes_measure else item.name
        for item in list_objectives()
    ),
    "0.7*lambda:ndcg+0.3*ranknet[margin]",
    "linear(1,0)*listnet+join([0,linear(0,1)],[5])*lambda:ndcg(discount=geometric_discount(0.8))",
]
MEASURE_TEXTS = [
    *(item.name for item in list_measures()),
    "ndcg@10(discount=geometric_discount(0.8),gain=[0,1,3])[margin]",
    "recip_rank", "P_10", "AP(rel=2)",
]  # fmt: skip
MADE = [
    *map(get_objective, OBJECTIVE_TEXTS),
    *map(get_measure, MEASURE_TEXTS),
    *(kind(*ARGUMENTS.get(name, (1, 0.1))) for name, kind in SCHEDULES.items()),
    as_schedule("geometric(0.3, 0.1, unit='spread')"),
    custom_measure(clicked), custom_measure(profit, columns=["price"]),
    custom_objective(squares, seed=3), autodiff_objective(padded, "jax", curvature="unit"),
]  # fmt: skip
USERS = {function.__name__: function for function in (clicked, profit, squares, padded)}


@pytest.mark.parametrize("value", MADE, ids=str)
def test_values(value: Any) -> None:
    """Objectives, measures and schedules are equal to what their code makes."""
    again = eval(repr(value), exported() | USERS)
    assert again == value
    assert repr(again) == repr(value)


@pytest.mark.parametrize(
    "ranker",
    [
        GBRanker(),
        GBRanker(Mixture([LambdaRank("map"), RankNet()], [linear(1, 0), 1]), sigma=linear(2, 1)),
        GBRanker(get_objective("lambda:rr[margin]"), eval_metric=[get_measure("P_5"), "map"]),
        GBRanker(custom_objective(squares), init=LinearRanker(by_query=True)),
        SLAMPerceptron("slam:map"),
        *(
            hook("linear(1,0)*listnet+ranknet", sigma=linear(2, 1), rounds=9)
            for hook in (lightgbm_fobj, xgboost_obj)
        ),
        *(hook("ndcg@10", "map") for hook in (lightgbm_feval, xgboost_feval)),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_rankers_and_hooks(ranker: Any) -> None:
    """They print the same as what their code makes."""
    assert repr(eval(repr(ranker), exported() | USERS)) == repr(ranker)


def test_registered_functions_print_their_names() -> None:
    """Their text finds them, and what is printed makes them."""
    try:
        objective = custom_objective(squares, name="squares of a test")
        assert get_objective(str(objective)) == objective
        assert eval(repr(objective), exported() | USERS) == objective
    finally:
        OBJECTIVES.pop("squares of a test")
