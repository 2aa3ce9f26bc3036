"""LambdaRank's weights against the enumeration of every order of tied documents."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gbrank
import reference
from cases import groups, loop
from reference import CASES, Query, by_measure, queries

SIGMAS = (0.5, 1.0, 2.0)
TRUNCATIONS = (None, 1, 2, 3)
MEASURES = by_measure(CASES)
# Of each way to sum swaps the measure that says most; the oracle of tests/properties has them all.
QUICK = {"NDCG", "AP", "ERR", "KendallTau"}
every_measure = groups("name, parameters", MEASURES, slow=MEASURES.keys() - QUICK)


def bind(objective: Any, labels: list[float]) -> Any:
    """Bind an objective to one query."""
    return objective.bind(np.array(labels), gbrank.Queries.from_sizes([len(labels)]))


def assert_close(actual: Any, expected: Any) -> None:
    """Equal to 1e-10 of the largest entry."""
    largest = np.abs(expected).max(initial=0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10 * largest + 1e-14)


def check(objective: Any, deltas: Any, query: Query, sigma: float) -> None:
    """Compare an objective's gradient, curvature and loss with those of the given weights."""
    labels, scores = query
    bound = bind(objective, labels)
    gradient, curvature, loss = reference.lambda_gradients(deltas, labels, scores, sigma)
    actual_gradient, actual_curvature = bound.gradients(np.array(scores), sigma)
    assert_close(actual_gradient, gradient)
    assert_close(actual_curvature, curvature)
    assert (actual_curvature > 0).all()
    assert_close(bound.loss(np.array(scores), sigma), [loss])


def value_of(name: str, parameters: dict[str, Any]) -> reference.Value:
    """Return the slow formula of a measure."""
    return partial(reference.VALUES[name], **parameters)


# --- The reference itself ---------------------------------------------------------------------


def test_reference_swap_by_hand() -> None:
    """A swap across ranks 1 and 3 changes RR from 1 to 1/3; below the first hit, by nothing."""
    deltas = np.array(reference.expected_swap_deltas(reference.rr, [1, 0, 0], [3, 2, 1]))
    np.testing.assert_allclose(deltas[0], [0, 1 / 2, 2 / 3])
    assert deltas[1, 2] == 0
    np.testing.assert_array_equal(deltas, deltas.T)


def test_reference_swap_of_a_tied_pair_by_hand() -> None:
    """Two tied documents: |G_i - G_j| |D(1) - D(2)| in either order, not the zero of the means."""
    value = partial(reference.dcg, gain="linear", discount="reciprocal")
    deltas = reference.expected_swap_deltas(value, [3, 1], [0, 0])
    assert deltas[0][1] == deltas[1][0] == pytest.approx(2 * (1 - 1 / 2))


def test_reference_truncation_drops_pairs_below_it() -> None:
    """Three tied documents and truncation 1: a pair holds the first rank in 2 of 3 orders."""
    deltas = reference.expected_swap_deltas(lambda ranked: ranked[0], [1, 0, 0], [0] * 3, 1)
    assert deltas[0][1] == pytest.approx(2 / 3)
    cut = reference.expected_swap_deltas(reference.kendall_tau, [2, 1, 0], [3, 2, 1], 1)
    assert cut[0][1] > 0
    assert cut[1][2] == 0


# --- LambdaRank -------------------------------------------------------------------------------


@every_measure
@given(
    queries(6, 4),
    st.sampled_from(SIGMAS),
    st.sampled_from(TRUNCATIONS),
    st.sampled_from(["expected", "order"]),
)
@settings(max_examples=20, deadline=None)
def test_swaps(
    name: str,
    parameters: dict[str, Any],
    query: Query,
    sigma: float,
    truncation: int | None,
    ties: str,
) -> None:
    """Tied documents stand in all orders alike, or with ties="order" as the rows do.

    A pair counts where its better document is within the truncation. Every registered measure is
    held against its own value on other lists in tests/properties.
    """
    measure = getattr(gbrank, name)(**parameters)
    objective = gbrank.LambdaRank(measure, truncation=truncation, ties=ties)
    deltas_of = {
        "expected": reference.expected_swap_deltas, "order": reference.row_order_swap_deltas
    }[ties]  # fmt: skip
    check(objective, deltas_of(value_of(name, parameters), *query, truncation), query, sigma)


@every_measure
@loop("truncation", [None, 4])
def test_longer_lists(name: str, parameters: dict[str, Any], truncation: int | None) -> None:
    """Twenty documents, of which two, two and three tie: 24 orders."""
    rng = np.random.default_rng(3)
    labels = [4.0, *rng.integers(0, 4, 19).astype(float)]
    scores = rng.permutation([5.0, 5, 4.5, 4, 4, 3.5, 3, 3, 3, *np.arange(11) / 4]).tolist()
    objective = gbrank.LambdaRank(getattr(gbrank, name)(**parameters), truncation=truncation)
    deltas = reference.expected_swap_deltas(value_of(name, parameters), labels, scores, truncation)
    check(objective, deltas, (labels, scores), 1.0)


@given(queries(6), st.sampled_from(SIGMAS))
@settings(max_examples=40, deadline=None)
def test_ranknet_weighs_all_pairs_alike(query: Query, sigma: float) -> None:
    """RankNet is weight 1 for every pair of different label."""
    check(gbrank.RankNet(), reference.unit_deltas(query[0]), query, sigma)
