"""Whether probabilities come true: the expected calibration error, and a picture of it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.checks import check_finite, check_number, check_vector
from gbrank.datasets.types import StrPath
from gbrank.fit.calibration import Calibration

__all__ = ["calibration_error", "expected_calibration_error", "plot_calibration"]

Vector = NDArray[np.float64]


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
    >>> from gbrank import expected_calibration_error
    >>> round(expected_calibration_error([0.0, 0.5, 1.0, 1.0], [0.25, 0.25, 0.75, 0.75]), 4)
    0.125
    """
    size, targets, probabilities = _binned(t, p, bins)
    return float(np.abs(targets - probabilities) @ size)


def plot_calibration(
    t: ArrayLike, p: ArrayLike, path: StrPath | None = None, *, bins: int = 10
) -> Any:
    """Draw the mean target in each bin of probabilities, with the share of documents in it.

    Probabilities that come true are on the diagonal.

    Parameters
    ----------
    t, p, bins
        As for `expected_calibration_error`.
    path : str or path-like, optional
        Where the picture goes; its suffix says in what format.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from gbrank import plot_calibration
    >>> figure = plot_calibration([0.0, 0.5, 1.0, 1.0], [0.25, 0.25, 0.75, 0.75])
    >>> figure.axes[0].get_title()
    'expected calibration error 0.1250'
    """
    from matplotlib.figure import Figure  # takes long to import

    _, targets, probabilities = _binned(t, p, bins)
    figure = Figure(figsize=(4.2, 5.2), layout="constrained")
    curve, counts = figure.subplots(2, sharex=True, height_ratios=[4, 1])
    curve.plot([0, 1], [0, 1], color="#666666", linestyle="--", linewidth=1)
    curve.plot(probabilities, targets, "o-", color="#0072B2")
    curve.set_title(f"expected calibration error {expected_calibration_error(t, p, bins=bins):.4f}")
    curve.set_ylabel("mean target")
    curve.set_aspect("equal")
    counts.hist(np.asarray(p, dtype=float), np.linspace(0, 1, bins + 1), color="#0072B2")
    counts.set_ylabel("documents")
    counts.set_xlabel("probability")
    for axes in (curve, counts):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def calibration_error(
    calibration: Calibration | None, labels: Vector, scores: Vector, largest_label: float
) -> float | None:
    """Return the expected calibration error of a ranker's scores, where it has one.

    Parameters
    ----------
    calibration : Calibration, optional
        What turns its scores into probabilities.
    labels, scores : ndarray, shape (n_documents,)
    largest_label : float
        That of the data set: labels are judged as shares of it in every fold, also where the
        ranker has not seen it.

    Returns
    -------
    float or None
        None without a calibration.

    Examples
    --------
    >>> calibration = Calibration(slope=1.0, intercept=0.0, largest_label=2.0)
    >>> calibration_error(calibration, np.array([0.0, 2.0]), np.array([0.0, 0.0]), 2.0)
    0.0
    >>> calibration_error(calibration, np.array([0.0, 4.0]), np.array([0.0, 0.0]), 4.0)
    0.25
    """
    if calibration is None:
        return None
    probabilities = calibration.probabilities(scores) * calibration.largest_label / largest_label
    return expected_calibration_error(labels / largest_label, probabilities)


def _binned(t: ArrayLike, p: ArrayLike, bins: int) -> tuple[Vector, Vector, Vector]:
    """Return each bin's share of the documents, its mean target and its mean probability."""
    check_number(bins, "bins", 1, integer=True)
    probabilities = _check_shares(p, "p")
    targets = _check_shares(t, "t", len(probabilities))
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    bin_of = np.searchsorted(edges, probabilities)
    size = np.bincount(bin_of)
    filled = size > 0
    totals = (np.bincount(bin_of, values)[filled] for values in (targets, probabilities))
    mean_target, mean_probability = (total / size[filled] for total in totals)
    return size[filled] / len(probabilities), mean_target, mean_probability


def _check_shares(values: ArrayLike, name: str, length: int | None = None) -> Vector:
    checked = check_finite(check_vector(values, name, length), name)
    if not len(checked):
        raise ValueError(f"{name} must have at least one entry, got none.")
    outside = (checked < 0) | (checked > 1)
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(f"{name} must be from 0 to 1, got {checked[row]} in row {row}.")
    return checked
