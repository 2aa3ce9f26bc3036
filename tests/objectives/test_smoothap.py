"""SmoothAP against equation 9 written out, its limits, and its derivative."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import reference
from gbrank import AP, Queries, SmoothAP, get_objective, list_measures

Vector = NDArray[np.float64]


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


@pytest.mark.parametrize("as_printed", [False, True])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_gradient(as_printed: bool, tied: bool, sigma: float) -> None:
    """Complex steps through the formula."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 3, 12)
    scores = rng.integers(0, 4, 12) / 2 if tied else rng.normal(size=12)
    gradient, _ = bind(labels, as_printed=as_printed).gradients(scores, sigma)
    relevant = labels >= 1
    for row in range(12):
        s = scores + 1e-30j * np.eye(12)[row]
        above = 1 / (1 + np.exp((s[:, None] - s[None, :]) / sigma))
        np.fill_diagonal(above, 0)
        own = 0.5 if as_printed else 1.0
        precision = (own + above[:, relevant].sum(axis=1)) / (1 + above.sum(axis=1))
        value = precision[relevant].mean()
        assert gradient[row] == pytest.approx(-value.imag / 1e-30, rel=1e-11, abs=1e-14)
    assert gradient.sum() == pytest.approx(0, abs=1e-14 * np.abs(gradient).sum())


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


def test_as_printed_is_not_ap() -> None:
    """Relevant documents at ranks 1 and 3: AP of 5/6, less the mean of ½ and 1/6, for σ → 0."""
    (loss,) = bind([1, 0, 1], as_printed=True).loss([3.0, 2.0, 1.0], 1e-3)
    assert -loss == pytest.approx(5 / 6 - (1 / 2 + 1 / 6) / 2)
    (loss,) = bind([1, 0, 1]).loss([3.0, 2.0, 1.0], 1e-3)
    assert -loss == pytest.approx(5 / 6)
    with pytest.raises(ValueError, match=r"as_printed must be one of \[True, False\], got 1"):
        SmoothAP(as_printed=1)


@given(st.floats(0.1, 10), st.floats(0.1, 10))
@settings(max_examples=40)
def test_scale(scale: float, sigma: float) -> None:
    """Scores and sigma times a are the same objective (lemma 1; σ is in units of scores here)."""
    data = reference.Data(3)
    bound = SmoothAP().bind(data.y, Queries.from_qid(data.qid))
    assert_allclose(
        bound.loss(scale * data.scores, scale * sigma), bound.loss(data.scores, sigma), rtol=1e-11
    )


def test_curvature() -> None:
    """Each pair adds that of its logistic majoriser, |weight| p (1 − p) P(right order)/σ²."""
    rng, sigma = np.random.default_rng(6), 0.7
    labels, s = rng.integers(0, 2, 9), rng.normal(size=9)
    above = 1 / (1 + np.exp((s[None, :] - s[:, None]) / sigma))  # i above j
    np.fill_diagonal(above, 1)
    ranks, relevant_ranks = above.sum(axis=0), labels @ above
    share, precision = labels / ranks / labels.sum(), relevant_ranks / ranks
    pull = share[:, None] * (labels[None, :] - precision[:, None])
    weight = pull - pull.T
    bend = np.abs(weight) * above * above.T * np.where(weight < 0, above, above.T)
    np.fill_diagonal(bend, 0)
    gradient, curvature = bind(labels).gradients(s, sigma)
    assert_allclose(gradient, (weight * above * above.T).sum(axis=1) / sigma, rtol=1e-12)
    assert_allclose(curvature, bend.sum(axis=1) / sigma**2, rtol=1e-12)


def test_name() -> None:
    """SmoothRank's second smooth AP; its name in papers is no measure."""
    assert get_objective("smooth:ap-ranks") == SmoothAP()
    assert get_objective(str(SmoothAP(threshold=2))) == SmoothAP(threshold=2)
    assert get_objective("smoothap(as_printed=True)") == SmoothAP(as_printed=True)
    inner = SmoothAP()
    assert get_objective("smooth:ap-ranks+listmle") == inner + get_objective("listmle")
    assert "ap-ranks" not in [item.name for item in list_measures()]
    for text in ("lambda:ap-ranks", "approx:ap-ranks"):
        with pytest.raises(ValueError, match="unknown measure 'ap-ranks'"):
            get_objective(text)


@pytest.mark.parametrize("threshold", [0, -1.0, np.nan])
def test_bad_threshold(threshold: float) -> None:
    """Refused by name."""
    with pytest.raises(ValueError, match="threshold must be a number above 0"):
        SmoothAP(threshold=threshold)
