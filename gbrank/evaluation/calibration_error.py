"""Whether probabilities come true: the expected calibration error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import Vector, check_finite, check_number, check_vector, refuse_where


def expected_calibration_error(t: ArrayLike, p: ArrayLike, *, bins: int = 10) -> float:
    r"""Return how far probabilities are, on average, from what came true.

    With n_b of the n documents in the b-th of the bins of equal width, and the bin's mean target
    and mean probability,

    .. math:: \sum_b \frac{n_b}{n} \, |\bar t_b - \bar p_b|

    Chance alone adds to it where documents are few.

    Parameters
    ----------
    t : array-like, shape (n_documents,)
        What is estimated, from 0 to 1: for grades, the label as a share of the largest.
    p : array-like, shape (n_documents,)
        Its estimates, from 0 to 1.
    bins : int
        Number of bins. A probability on the edge of two is in the lower one.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a number is not from 0 to 1, or there is none.

    References
    ----------
    M. P. Naeini, G. F. Cooper, M. Hauskrecht. Obtaining well calibrated probabilities using
    Bayesian binning. AAAI 2015.

    Examples
    --------
    >>> from gbrank.evaluation import expected_calibration_error
    >>> round(expected_calibration_error([0.0, 0.5, 1.0, 1.0], [0.25, 0.25, 0.75, 0.75]), 4)
    0.125
    """
    shares, targets, probabilities = calibration_bins(t, p, bins)
    return float(np.abs(targets - probabilities) @ shares)


def calibration_bins(t: ArrayLike, p: ArrayLike, bins: int) -> tuple[Vector, Vector, Vector]:
    """Return the share of documents, mean target and mean probability of each non-empty bin."""
    check_number(bins, "bins", 1, integer=True)
    probabilities = _check_shares(p, "p")
    targets = _check_shares(t, "t", len(probabilities))
    bin_of = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], probabilities)
    size = np.bincount(bin_of)
    filled = size > 0
    totals = (np.bincount(bin_of, values)[filled] for values in (targets, probabilities))
    mean_target, mean_probability = (total / size[filled] for total in totals)
    return size[filled] / len(probabilities), mean_target, mean_probability


def _check_shares(values: ArrayLike, name: str, length: int | None = None) -> Vector:
    checked = check_finite(check_vector(values, name, length), name)
    if not len(checked):
        raise ValueError(f"{name} must have at least one entry, got none.")
    refuse_where((checked < 0) | (checked > 1), checked, name, "must be from 0 to 1")
    return checked
