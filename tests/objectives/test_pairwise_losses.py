"""RankSVM and GBRank against their formulas, written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import reference
from gbrank import Queries, get_objective
from gbrank.objectives.objective import BoundObjective

LOSSES = {"ranksvm": lambda short: short, "squared_hinge": lambda short: short**2 / 2}
SLOPES = {"ranksvm": lambda short: 1.0, "squared_hinge": lambda short: short}
both = pytest.mark.parametrize("name", LOSSES)
sigmas = st.sampled_from([0.5, 1.0, 3.0])


def bind(name: str, labels: reference.Labels) -> BoundObjective:
    """Bind an objective to one query."""
    return get_objective(name).bind(labels, Queries.from_sizes([len(labels)]))


@both
@given(reference.queries(7), sigmas)
@settings(max_examples=60)
def test_by_formula(name: str, query: reference.Query, sigma: float) -> None:
    """Loss, gradient and number of active pairs; a pair at the kink counts half."""
    labels, scores = query
    m = len(labels)
    loss, gradient, active = 0.0, np.zeros(m), np.zeros(m)
    for i in range(m):
        for j in range(m):
            short = 1 - (scores[i] - scores[j]) / sigma
            if labels[i] > labels[j] and short >= 0:
                share = 0.5 if short == 0 else 1.0
                loss += LOSSES[name](short)
                gradient[i] -= share * SLOPES[name](short) / sigma
                gradient[j] += share * SLOPES[name](short) / sigma
                active[[i, j]] += share / sigma**2
    bound = bind(name, labels)
    assert_allclose(bound.loss(scores, sigma), [loss])
    actual = bound.gradients(scores, sigma)
    assert_allclose(actual[0], gradient, atol=1e-12)
    assert_allclose(actual[1], active, atol=1e-12)
