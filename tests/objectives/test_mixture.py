"""Mixtures, of fixed weights and of weights that are schedules."""

import pickle
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import gbrank
import reference
from exports import exported
from gbrank import (
    NDCG,
    SLAM,
    ApproxRank,
    GainRegression,
    LambdaRank,
    ListMLE,
    ListNet,
    Mixture,
    Queries,
    RankNet,
    get_objective,
    lightgbm_fobj,
    make_cubic,
    xgboost_obj,
)
from gbrank.data.documents import Documents
from gbrank.extend import custom_objective
from gbrank.schedules import join, linear, staircase

Vector = NDArray[np.float64]
X, Y, QID = make_cubic(20, n_documents=10, n_features=4, random_state=0)
SIZES = np.full(20, 10)
FROM_ONE_TO_THE_OTHER = (linear(1, 0), linear(0, 1))

both = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def bind(objective: Any, data: reference.Data, **options: Any) -> Any:
    """Bind an objective to data."""
    return objective.bind(data.y, Queries.from_qid(data.qid), **options)


def weights_seen(into: list[tuple[int, int | None]]) -> Any:
    """Return a weight that writes down what it is called with."""

    def weight(round: int, rounds: int | None) -> float:
        into.append((round, rounds))
        return 0.25

    return weight


# --- The gradient -----------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_mixture(share: float) -> None:
    """Each part over its weighted mean curvature, by its weight over the sum of weights."""
    data = reference.Data(31)
    queries = Queries.from_qid(data.qid)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data.y))
    parts = [o.bind(data.y, queries).gradients(data.scores) for o in (RankNet(), GainRegression())]
    mixed = Mixture([RankNet(), GainRegression()], [3 - 3 * share, 3 * share]).bind(
        data.y, queries, sample_weight=weights
    )
    for actual, first, second in zip(mixed.gradients(data.scores), *parts, strict=True):
        expected = (1 - share) * first / np.average(parts[0][1], weights=weights)
        expected += share * second / np.average(parts[1][1], weights=weights)
        assert_allclose(actual, expected * weights, rtol=1e-12)
    losses = [o.bind(data.y, queries).loss(data.scores) for o in (RankNet(), GainRegression())]
    assert_allclose(
        mixed.loss(data.scores), (1 - share) * losses[0] + share * losses[1], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (linear(0.2, 0.6), [0.2, 0.3, 0.4, 0.5, 0.6]),
        ("cosine(0.1, 0.9, rounds=3)", [0.1, 0.5, 0.9, 0.9, 0.9]),
        (staircase(0.8, 0.5, 2), [0.8, 0.8, 0.4, 0.4, 0.2]),
        (lambda round, rounds: (round + 1) / (rounds + 1), [1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6]),
    ],
)
def test_each_round_has_its_weights(weight: Any, expected: list[float]) -> None:
    """A mixture of the weights that the schedules have in that round."""
    data = reference.Data(41)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data.y))
    objectives = (RankNet(), ListMLE())
    bound = bind(Mixture(objectives, [2, weight]), data, sample_weight=weights, rounds=5)
    for round, value in enumerate(expected):
        fixed = bind(Mixture(objectives, [2 / value, 1]), data, sample_weight=weights)
        for actual, other in zip(
            bound.gradients(data.scores, round=round), fixed.gradients(data.scores), strict=True
        ):
            assert_allclose(actual, other, rtol=1e-12)
        assert_allclose(bound.loss(data.scores, round=round), fixed.loss(data.scores), rtol=1e-12)


def test_at_either_end_one_objective_is_computed() -> None:
    """Alone, over its mean curvature; the other is not even called."""
    calls = []

    def noted(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        calls.append(len(scores))
        return 0.0, scores - labels, np.ones_like(scores)

    data = reference.Data(42)
    mixture = Mixture([RankNet(), custom_objective(noted)], FROM_ONE_TO_THE_OTHER)
    bound = bind(mixture, data, rounds=3)
    gradient, curvature = bind(RankNet(), data).gradients(data.scores)
    mixed = bound.gradients(data.scores, round=0)
    assert not calls
    assert_allclose(mixed, (gradient / curvature.mean(), curvature / curvature.mean()), rtol=1e-12)
    assert_array_equal(bound.loss(data.scores), bind(RankNet(), data).loss(data.scores))
    last = bound.gradients(data.scores, round=2)
    assert sum(calls) == len(data.y)
    assert_allclose(last[0], data.scores - data.y, rtol=1e-12)
    assert_allclose(last[1], 1, rtol=1e-12)


def test_the_number_of_rounds_reaches_all_parts() -> None:
    """And each round asks for its own."""
    seen: list[tuple[int, int | None]] = []
    objective = Mixture([RankNet(), ListMLE(), ListNet()], [1, weights_seen(seen), linear(1, 2)])
    bound = bind(objective, reference.Data(43), rounds=7)
    assert set(seen) == {(round, 7) for round in range(7)}  # checked before any work
    seen.clear()
    bound.gradients(reference.Data(43).scores, round=4)
    assert seen == [(4, 7)]


# --- What it must not be ----------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("silent", ["ranksvm", "lambda:ap(threshold=9)"])
def test_what_has_no_curvature_has_no_say(silent: str, weight: float) -> None:
    """A hinge where all margins are kept, or a measure for which nothing is relevant."""
    labels, scores = np.array([2.0, 1, 0, 0]), np.array([9.0, 6, 3, 0.5])
    given = {"queries": Queries.from_sizes([4]), "sample_weight": np.full(4, weight)}
    alone = RankNet().bind(labels, **given).gradients(scores)
    for text in (f"{silent}+ranknet", f"ranknet+{silent}"):
        gradient, curvature = get_objective(text).bind(labels, **given).gradients(scores)
        assert_allclose(gradient / curvature, alone[0] / alone[1], rtol=1e-12)
        assert_allclose(curvature.mean(), weight / 2, rtol=1e-12)


# --- Values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("linear(1,0)*listnet+linear(0,1)*lambda:ndcg",
         Mixture([ListNet(), LambdaRank()], FROM_ONE_TO_THE_OTHER)),
        ("listnet + linear(0, 1, rounds=9) * lambda:ndcg@5",
         Mixture([ListNet(), LambdaRank("ndcg@5")], [1, linear(0, 1, 9)])),
        ("listnet+join([0,linear(0,1)],[5])*ranknet+0.1*listmle",
         Mixture([ListNet(), RankNet(), ListMLE()], [1, join([0, linear(0, 1)], [5]), 0.1])),
        ("approx:ndcg(discount=linear)+staircase(1,0.5,10)*approx:ndcg",
         Mixture([ApproxRank(NDCG(discount="linear")), ApproxRank()], [1, staircase(1, 0.5, 10)])),
        ("ranknet+constant(1)*listmle", RankNet() + ListMLE()),
        ("ranknet + 0.8*slam(smooth=False):ndcg",
         Mixture([RankNet(), SLAM(smooth=False)], [1, 0.8])),
        ("(2*lambda:ap+0.8*listmle)", Mixture([LambdaRank("ap"), ListMLE()], [2, 0.8])),
        ("lambda:ap+2*(ranknet)+listmle",
         LambdaRank("ap") + Mixture([RankNet(), ListMLE()], [2, 1])),
    ],
)  # fmt: skip
def test_strings(text: str, expected: Any) -> None:
    """Read, printed without spaces and read back; evaluated and pickled."""
    assert get_objective(text) == expected
    assert " " not in str(expected)
    for again in (
        get_objective(str(expected)), pickle.loads(pickle.dumps(expected)),
        eval(repr(expected), exported() | vars(gbrank.schedules)),
    ):  # fmt: skip
        assert again == expected
        assert hash(again) == hash(expected)


# --- Training ---------------------------------------------------------------------------------


@both
def test_hooks_pass_on_rounds(booster: str) -> None:
    """The round is the booster's, the number of rounds the hook's."""
    make: Any = {"lightgbm": lightgbm_fobj, "xgboost": xgboost_obj}[booster]
    seen: list[tuple[int, int | None]] = []
    hook = make(Mixture([RankNet(), ListMLE()], [1, weights_seen(seen)]), rounds=9)
    if booster == "lightgbm":
        params = {"objective": hook, "verbose": -1, "num_threads": 1}
        lgb.train(params, lgb.Dataset(X, Y, group=SIZES), 4)
    else:
        xgb.train({"nthread": 1}, xgb.DMatrix(X, Y, group=SIZES, nthread=1), 4, obj=hook)
    assert seen[:9] == [(round, 9) for round in range(9)]
    assert seen[-4:] == [(round, 9) for round in range(4)]
    with pytest.raises(ValueError, match=r"round is not known.*at_round"):
        hook.derivatives(
            hook.bind(Documents.checked(None, Y, Queries.from_sizes(SIZES))), np.zeros(200), None
        )
