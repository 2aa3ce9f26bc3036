"""SmoothAP against equation 9 written out, its derivative, and its limits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reference
from gbrank import AP, Queries, SmoothAP


def written_out(
    labels: Any, scores: Any, sigma: float, threshold: float = 1.0, own: float = 1.0
) -> float:
    """Equation 9, with a sigmoid of 1 where i = j, as the indicator of equation 4; ½ in print."""
    relevant = [row for row, label in enumerate(labels) if label >= threshold]
    total = 0.0
    for i in relevant:
        rank = 1 + sum(reference._logistic((scores[k] - scores[i]) / sigma)
                       for k in range(len(labels)) if k != i)  # fmt: skip
        for j in relevant:
            above = own if i == j else reference._logistic((scores[j] - scores[i]) / sigma)
            total += above / rank
    return total / len(relevant)


def bind(labels: Any, **options: Any) -> Any:
    """Bind the objective to one query."""
    return SmoothAP(**options).bind(labels, Queries.from_sizes([len(labels)]))


@pytest.mark.parametrize("as_printed", [False, True])
@given(reference.queries(9), st.sampled_from([0.2, 1.0, 30.0]), st.sampled_from([1.0, 2.0]))
@settings(max_examples=80)
def test_formula(as_printed: bool, query: reference.Query, sigma: float, threshold: float) -> None:
    """Ties included; where there is nothing to rank, the loss is 0."""
    labels, scores = query
    relevant = sum(label >= threshold for label in labels)
    expected = 0.0
    if 0 < relevant < len(labels):
        own = 0.5 if as_printed else 1.0
        expected = -written_out(labels, scores, sigma, threshold, own)
    bound = bind(labels, threshold=threshold, as_printed=as_printed)
    actual = bound.loss(scores, sigma)[0]
    assert actual == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.integers(-12, 12), min_size=2, max_size=8, unique=True), st.data())
@settings(max_examples=60)
def test_limits(places: list[int], data: Any) -> None:
    """σ → 0 leaves AP, with an error of order exp(−gap/σ); σ → ∞ a constant."""
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(places), max_size=len(places)))
    assume(0 in labels and max(labels) > 0)
    m, relevant = len(labels), sum(label > 0 for label in labels)
    for sigma in (0.2, 0.1, 0.02):
        error = -bind(labels).loss(places, sigma)[0] - AP()(labels, places)
        assert abs(error) <= 2 * m * np.exp(-1 / sigma) + 1e-12
    constant = (relevant + 1) / (m + 1)
    assert -bind(labels).loss(places, 1e12)[0] == pytest.approx(constant, abs=1e-9)
    assert np.abs(bind(labels).gradients(places, 1e12)[0]).max() < 1e-12
