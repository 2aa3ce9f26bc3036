"""Discounts of the query's length, with parameters, and users' own: by hand, by enumeration.

What every objective does with them is in test_objectives.py.
"""

import pickle
from collections.abc import Callable
from functools import partial
from itertools import chain
from math import exp, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import gbrank
import reference
from exports import exported
from gbrank import (
    DCG,
    NDCG,
    SLAM,
    ApproxRank,
    GBRanker,
    LambdaRank,
    Queries,
    SmoothRank,
    SoftRank,
    TieRank,
    get_measure,
    get_objective,
    make_cubic,
    write_letor,
)
from gbrank.commands.cli import main
from gbrank.measures.gains import DISCOUNTS, discount_values, geometric_discount

Written = Callable[[int, int], float]
TIES = ("average", "pessimistic", "optimistic", "order")


def root(ranks: Any) -> Any:
    """Return a discount of a user's own."""
    return ranks**-0.5


def halving(rank: int, m: int) -> float:
    """Return the geometric discount of p = 1/2."""
    return 0.5**rank


def linear(rank: int, m: int) -> float:
    """Return 1 at rank 0, 0 at the last."""
    return (m - rank) / m


# Each with its formula in rank and number of documents.
CASES: dict[str, tuple[Any, Written]] = {
    "linear": ("linear", linear),
    "geometric": (geometric_discount(0.5), halving),
    "log2": ("log2", lambda r, m: 1 / log2(1 + r)),
    "letor": ("letor", lambda r, m: 1 / log2(r) if r > 2 else 1.0),
    "own": (root, lambda r, m: r**-0.5),
}
every_case = pytest.mark.parametrize(("discount", "written"), CASES.values(), ids=CASES)
# What SmoothRank and others, which have no loss of their own otherwise, can be applied to.
SMOOTH = (ApproxRank, SmoothRank, TieRank, SoftRank)
shares = st.floats(0, 1)


def value_of(name: str, written: Written, k: int | None = None) -> reference.Value:
    """Return a slow measure of labels in rank order."""
    formula = getattr(reference, name)
    return lambda labels: formula(labels, k, discount=lambda rank: written(rank, len(labels)))


# --- The exact measure ------------------------------------------------------------------------


def test_by_hand() -> None:
    """Three documents: 2/3, 1/3, 0."""
    assert DCG(discount="linear", gain="linear")([5, 2, 7], [3, 2, 1]) == pytest.approx(4)
    assert DCG(k=1, discount="linear")([1, 1, 1], [3, 2, 1]) == pytest.approx(2 / 3)


@every_case
@pytest.mark.parametrize("name", ["ndcg", "dcg"])
@given(reference.queries(6), st.sampled_from([None, 1, 3]))
@settings(max_examples=10, deadline=None)
def test_all_orders_of_tied_documents(
    name: str, discount: Any, written: Written, query: reference.Query, k: int | None
) -> None:
    """Every tie rule, truncated or not; 0/0 of a single document under "linear" is no value."""
    for ties in TIES:
        measure: Any = getattr(gbrank, name.upper())(k=k, discount=discount, ties=ties)
        expected = reference.tied(value_of(name, written, k), *query, ties)
        actual = measure.per_query(*query)
        assert_allclose(actual, [np.nan if expected is None else expected], rtol=1e-12, atol=1e-15)


@every_case
@pytest.mark.parametrize("k", [None, 4])
def test_queries_of_different_lengths(discount: Any, written: Written, k: int | None) -> None:
    """One call for all: each has the discounts of its own length, its rows anywhere."""
    data = reference.Data(1)
    rows = np.random.default_rng(0).permutation(len(data.y))
    measure, value = NDCG(k=k, discount=discount), value_of("ndcg", written, k)
    actual = measure.per_query(data.y[rows], data.scores[rows], qid=data.qid[rows])
    for query, found in zip(Queries.from_qid(data.qid[rows]).ids, actual, strict=True):
        own = np.flatnonzero(data.qid == query)
        ranked = data.y[own[np.argsort(-data.scores[own])]]
        expected = value([float(label) for label in ranked])
        assert_allclose(found, np.nan if expected is None else expected, rtol=1e-12)


@given(reference.queries(8), shares, st.sampled_from([None, 2]))
@settings(max_examples=50, deadline=None)
def test_dcg_is_linear_in_the_discount(query: reference.Query, share: float, k: int | None) -> None:
    """Of a mixture, the mean of the parts; NDCG divides it by the mean of their ideals."""
    labels, scores = query
    parts = [DCG(k, discount=discount) for discount in ("reciprocal", geometric_discount(0.5))]
    weights = (1 - share, share)
    mixed: Any = lambda ranks: weights[0] / ranks + weights[1] * 0.5**ranks  # noqa: E731
    values, ideals = (
        sum(w * part.per_query(labels, s)[0] for w, part in zip(weights, parts, strict=True))
        for s in (scores, labels)
    )
    assert_allclose(DCG(k, discount=mixed).per_query(labels, scores)[0], values, atol=1e-14)
    if ideals > 0:
        actual = NDCG(k, discount=mixed).per_query(labels, scores)[0]
        assert_allclose(actual, values / ideals, rtol=1e-12)


def test_values_of_long_lists() -> None:
    """The table of 1,000 and 3 documents, from its formula."""
    ranks = np.concatenate([np.arange(1, 1001), np.arange(1, 4)])
    m = np.repeat([1000, 3], [1000, 3])
    for discount, expected in (("log2", 1 / np.log2(1 + ranks)), ("linear", 1 - ranks / m)):
        actual = discount_values(discount, np.array([1000, 3]), k=900)
        assert_allclose(actual, expected * (ranks <= 900), rtol=1e-13)


# --- Objectives -------------------------------------------------------------------------------


@every_case
@given(reference.queries(6), st.sampled_from([None, 2]))
@settings(max_examples=20, deadline=None)
def test_expected_swaps(
    discount: Any, written: Written, query: reference.Query, k: int | None
) -> None:
    """LambdaRank's weights, over all orders of tied documents."""
    labels, scores = query
    deltas = reference.expected_swap_deltas(value_of("ndcg", written, k), labels, scores)
    gradient, _, loss = reference.lambda_gradients(deltas, labels, scores, 0.7)
    objective = LambdaRank(NDCG(k=k, discount=discount))
    bound = objective.bind(labels, Queries.from_sizes([len(labels)]))
    assert_allclose(bound.gradients(scores, 0.7)[0], gradient, atol=1e-13)
    assert_allclose(bound.loss(scores, 0.7), [loss], atol=1e-13)


@pytest.mark.parametrize("name", [name for name in CASES if name != "own"])
def test_real_ranks(name: str) -> None:
    """ApproxRank takes the formula between whole ranks too, for each query's own length."""
    discount, written = CASES[name]
    sizes, sigma, rng = [7, 4], 0.8, np.random.default_rng(0)
    labels, scores = rng.integers(0, 4, 11), rng.normal(size=11)
    losses = ApproxRank(DCG(discount=discount)).bind(labels, Queries.from_sizes(sizes))
    for rows, loss in zip(np.split(np.arange(11), [7]), losses.loss(scores, sigma), strict=True):
        total = 0.0
        for i in rows:
            others = [1 / (1 + exp((scores[i] - scores[j]) / sigma)) for j in rows if j != i]
            total += (2.0 ** labels[i] - 1) * written(1 + sum(others), len(rows))  # type: ignore[arg-type]
        assert loss == pytest.approx(-total, rel=1e-12)


@every_case
@pytest.mark.parametrize("objective", SMOOTH)
def test_narrow_smoothing_is_the_measure(discount: Any, written: Written, objective: Any) -> None:
    """σ → 0, queries of different lengths: no table but the query's own."""
    data, measure = reference.Data(2), NDCG(discount=discount, no_relevant=0)
    queries, exact = Queries.from_qid(data.qid), measure.bind(data.y, Queries.from_qid(data.qid))
    if objective is ApproxRank and discount is CASES["own"][0]:
        with pytest.raises(ValueError, match="discount must be one known by name"):
            objective(measure).bind(data.y, queries)
        return
    losses = objective(measure).bind(data.y, queries).loss(data.scores, 1e-4)
    teaches = np.array([len(set(data.y[data.qid == query])) > 1 for query in queries.ids])
    assert_allclose(-losses[teaches], exact.per_query(data.scores)[teaches], rtol=1e-6)


@every_case
@given(reference.queries(7))
@settings(max_examples=25, deadline=None)
def test_slam_is_an_upper_bound(discount: Any, written: Written, query: reference.Query) -> None:
    """1 − NDCG of the worst order of equal scores."""
    labels, scores = query
    worst = reference.tied(value_of("ndcg", written), labels, scores, "pessimistic")
    bound = SLAM(NDCG(discount=discount)).bind(labels, Queries.from_sizes([len(labels)]))
    assert 1 - (1 if worst is None else worst) <= bound.loss(scores)[0] + 1e-12


@pytest.mark.parametrize("cls", [LambdaRank, SLAM, *SMOOTH[1:]])
@pytest.mark.parametrize("name", ["reciprocal", "letor"])
def test_a_function_is_what_its_name_is(cls: Any, name: str) -> None:
    """To the last bit."""
    data = reference.Data(3, tied=True)
    queries = Queries.from_qid(data.qid)
    table = discount_values(name, np.array([max(data.sizes)]))
    own, named = (
        cls(NDCG(k=9, discount=discount)).bind(data.y, queries)
        for discount in (lambda ranks: table[: len(ranks)], name)
    )
    assert_array_equal(own.loss(data.scores), named.loss(data.scores))
    assert_array_equal(own.gradients(data.scores), named.gradients(data.scores))


@pytest.mark.parametrize("cls", [SLAM, *SMOOTH[1:], LambdaRank])
def test_gradients_of_dcg_are_linear_in_the_discount(cls: Any) -> None:
    """All of these are linear in the discount, but SLAM of NDCG divides by the mixed ideal."""
    data = reference.Data(4)
    queries = Queries.from_qid(data.qid)
    measure: Any = NDCG if cls is SLAM else DCG

    def gradient(discount: Any) -> Any:
        own = measure(k=12, discount=discount)
        found = cls(own).bind(data.y, queries).gradients(data.scores, 0.5)[0]
        ideal = np.ones(queries.n_queries)
        if cls is SLAM:
            ideal = DCG(k=12, discount=discount, no_relevant=0).per_query(
                data.y, data.y, qid=data.qid
            )
        return found * ideal[data.qid]

    expected = 0.3 * gradient("reciprocal") + 0.7 * gradient("log2")
    actual = gradient(lambda ranks: 0.3 / ranks + 0.7 / np.log2(1 + ranks))
    assert np.abs(expected).max() > 0
    assert_allclose(actual, expected, atol=1e-12 * np.abs(expected).max())


# --- Strings and values -----------------------------------------------------------------------

named = st.one_of(st.sampled_from(list(DISCOUNTS)), st.floats(0.01, 0.99).map(geometric_discount))


@given(named, st.sampled_from(["", "listnet+", "listnet+0.25*"]))
@settings(max_examples=60, deadline=None)
def test_round_trips(discount: Any, before: str) -> None:
    """Measures and objectives print, are read back, evaluated and pickled as the same values."""
    measure = NDCG(k=5, discount=discount, ties="order")
    objective = get_objective(f"{before}approx(beta=3):{measure}")
    for value, read in ((measure, get_measure), (objective, get_objective)):
        assert " " not in str(value)
        copies: list[Any] = [
            partial(read, str(value))(), eval(repr(value), exported()),
            pickle.loads(pickle.dumps(value)),
        ]  # fmt: skip
        for copy in copies:
            assert copy == value
            assert hash(copy) == hash(value)
    assert measure != NDCG(k=5, discount=geometric_discount(0.995), ties="order")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("geometric_discount(0.8)", geometric_discount(0.8)),
        (" geometric_discount( p = 5e-1 )", geometric_discount(0.5)),
        ("linear", "linear"),
        (" 'linear'", "linear"),
    ],
)
def test_strings(text: str, expected: Any) -> None:
    """Bare words are names; parentheses nest inside mixtures of objectives."""
    assert get_measure(f"ndcg@3(discount={text}, gain=(0, 1e+1))") == NDCG(
        k=3, gain=(0, 10.0), discount=expected
    )
    whole = f"approx(beta=1e+1):ndcg(gain=(0,1e+1),discount={text})+0.25*tie:dcg(discount={text})"
    mixture: Any = get_objective(whole)
    assert mixture.objectives == (
        ApproxRank(NDCG(gain=(0, 10.0), discount=expected), beta=10.0),
        TieRank(DCG(discount=expected)),
    )
    assert mixture.weights == (1, 0.25)


def test_names_are_short() -> None:
    """As progress bars and tables of results show them."""
    measure = NDCG(k=10, gain="linear", discount=geometric_discount(0.5))
    assert str(measure) == "ndcg@10(gain='linear',discount=geometric_discount(p=0.5))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("geometric(0.5)", "unknown function 'geometric'. Known: geometric_discount"),
        ("liner", "unknown discount 'liner'. Did you mean 'linear'"),
        ("geometric_discount(1.5)", "p must be .* below 1, got 1.5"),
        ("geometric_discount(half)", "p must be a number .* got 'half'"),
        ("geometric_discount()", "p"),
        ("geometric_discount(0.5", "must have options like"),
        ("geometric_discount(1)", "p must be a number above 0 and below 1, got 1"),
        ("geometric_discount((lambda r: r)(1))", "is no value"),
        ("geometric_discount(os.getcwd())", "is no value"),
    ],
)
def test_bad_strings(text: str, message: str) -> None:
    """Always a ValueError that says what is wrong; nothing is evaluated."""
    with pytest.raises(ValueError, match=message):
        get_measure(f"ndcg(discount={text})")
    with pytest.raises(ValueError, match=message):
        get_objective(f"approx:ndcg(discount={text})")


@pytest.mark.parametrize(
    ("discount", "error", "message"),
    [
        (partial(geometric_discount, -0.1), ValueError, "p must be a number above 0"),
        (partial(geometric_discount, float("nan")), ValueError, "p"),
        (partial(geometric_discount, True), TypeError, "p must be a number"),
        (lambda: 3, TypeError, "discount must be a name or a function of ranks, got 3"),
        (lambda: "log3", ValueError, "unknown discount 'log3'"),
    ],
)
def test_bad_parameters(discount: Callable[[], Any], error: type[Exception], message: str) -> None:
    """The message names the argument."""
    with pytest.raises(error, match=message):
        NDCG(discount=discount()).per_query([1, 0], [1.0, 2.0])


def test_bad_functions() -> None:
    """A function is checked for as many ranks as the longest query has."""
    growing: Any = lambda ranks: np.where(ranks > 2, 1.0, 0.5)  # noqa: E731
    measure = DCG(discount=growing)
    measure.per_query([1, 0], [1, 2])
    with pytest.raises(ValueError, match="must not grow with the rank"):
        measure.per_query([1, 0, 1, 0, 1], [1, 2, 3, 4, 5], group=[3, 2])
    with pytest.raises(ValueError, match="finite value ≥ 0 for every rank"):
        DCG(discount=lambda ranks: -ranks)([1, 0], [1, 2])


# --- Training ---------------------------------------------------------------------------------

TEXT = "approx:ndcg(discount=geometric_discount(0.5))"


def test_training_with_a_parameter(tmp_path: Path) -> None:
    """From Python and the command line, the same model, whose description has the discount."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    write_letor(tmp_path / "train.txt", X, y, qid)
    objective = get_objective(TEXT)
    ranker = GBRanker(objective, n_estimators=4, n_jobs=1, random_state=0).fit(X, y, qid=qid)
    ranker.save(tmp_path / "own")
    again = GBRanker.load(tmp_path / "own")
    assert get_objective(again.objective) == objective
    options = {"--objective": TEXT, "--metric": "ndcg(discount=linear)", "--n-estimators": 4,
               "--n-jobs": 1, "--model": tmp_path / "theirs"}  # fmt: skip
    words = chain(*options.items())
    assert main(["train", str(tmp_path / "train.txt"), *map(str, words), "--quiet"]) == 0
    theirs = GBRanker.load(tmp_path / "theirs")
    assert_array_equal(theirs.predict(X), ranker.predict(X))
    plain = GBRanker("approx:ndcg", n_estimators=4, n_jobs=1, random_state=0).fit(X, y, qid=qid)
    assert (plain.predict(X) != ranker.predict(X)).any()
