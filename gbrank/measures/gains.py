"""Gains (what a label is worth) and discounts (what a position is worth)."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Positions,
    Vector,
    check_entries,
    check_known_name,
    check_number,
    check_takes,
    check_vector,
    plain,
    quoted,
    warn_user,
)
from gbrank.common.fields import REQUIRED, Checked, Real
from gbrank.engine.compiling import inline

Gain: TypeAlias = str | tuple[float, ...] | Callable[[Vector], Vector]
Discount: TypeAlias = "str | geometric_discount | Callable[[Vector], Vector]"


@dataclass(frozen=True)
class geometric_discount(Checked):
    """Geometric discount of rank-biased precision, D(r) = (1 − p) p^(r − 1).

    Parameters
    ----------
    p : float in ]0, 1[
        The user's persistence: the probability of going on to the next document.

    References
    ----------
    Moffat & Zobel 2008, "Rank-biased precision for measurement of retrieval effectiveness".

    Examples
    --------
    >>> from gbrank import DCG
    >>> from gbrank.extend import geometric_discount
    >>> DCG(discount=geometric_discount(0.5))([0, 1], [2.0, 1.0])
    0.25
    """

    p: float = Real(REQUIRED, above=0, below=1)


# The kinds of discounts in compiled code.
UNKNOWN = -1.0
LOG2 = 0.0
LETOR = 1.0
RECIPROCAL = 2.0
FLAT = 3.0
GEOMETRIC = 4.0
LINEAR = 5.0

LARGEST_GAIN = 1e300  # sums of gains, and their slopes, stay finite
LARGEST_EXPONENT = 31  # of grades; larger labels are amounts or counts
LINEAR_REMEDY = (
    'Use smaller labels, or gain=linear, as in objective="noisy:ndcg(gain=linear)" and '
    'eval_metric="ndcg@10(gain=linear)".'
)

GAINS: dict[str, Callable[[Vector], Vector]] = {
    "exp2": lambda labels: np.exp2(labels) - 1,
    "linear": lambda labels: labels.copy(),
}

DISCOUNTS = {"log2": LOG2, "letor": LETOR, "reciprocal": RECIPROCAL, "flat": FLAT, "linear": LINEAR}


@inline
def discount_at(kind: float, parameter: float, rank: float) -> tuple[float, float]:
    """Return D(r) and D′(r) for a rank r ≥ 1."""
    value = 1.0
    slope = 0.0
    if kind == LOG2:
        value = 1 / np.log2(1 + rank)
        slope = -value * value / (np.log(2.0) * (1 + rank))
    elif kind == LETOR:
        if rank > 2:
            value = 1 / np.log2(rank)
            slope = -value * value / (np.log(2.0) * rank)
    elif kind == RECIPROCAL:
        value = 1 / rank
        slope = -value * value
    elif kind == GEOMETRIC:
        value = (1 - parameter) * parameter ** (rank - 1)
        slope = value * np.log(parameter)
    elif kind == LINEAR:
        value = 1 - rank / parameter
        slope = -1 / parameter
    return value, slope


@inline
def fill(kind: float, parameters: Vector, ranks: Vector, out: Vector) -> None:
    """Write the discounts of ranks, each with a parameter of its own."""
    for p in range(out.size):
        out[p] = discount_at(kind, parameters[p], ranks[p])[0]


def check_gain(gain: Any, name: str) -> Gain:
    """Return a gain by name, a function, or a table of numbers as a tuple."""
    if isinstance(gain, list | tuple | np.ndarray):
        if len(gain) == 0:
            raise ArgumentError(name, "must hold a gain for each label from 0 on", quoted(gain))
        for value in gain:
            check_number(value, name, 0)
        return tuple(map(plain, gain))
    return _check_curve(gain, name, GAINS, "a name, a list of gains or a function")


def check_discount(discount: Any, name: str) -> Discount:
    """Return a discount by name, one with parameters, or a function."""
    if isinstance(discount, geometric_discount):
        return discount
    return _check_curve(discount, name, DISCOUNTS, "a name or a function of ranks")


def _check_curve(curve: Any, name: str, known: Collection[str], wanted: str) -> Any:
    if isinstance(curve, str):
        check_known_name(name, curve, known)
    elif callable(curve):
        check_takes(curve, name, "labels" if name == "gain" else "ranks")
    else:
        raise ArgumentTypeError(name, f"must be {wanted}", quoted(curve))
    return curve


def gain_values(gain: Gain, labels: Vector) -> Vector:
    """Return the gain of each label.

    Parameters
    ----------
    gain : {"exp2", "linear"}, list, tuple or callable
        ``"exp2"`` is 2^y − 1, ``"linear"`` is y, a table is indexed by the label, a callable
        maps an array of labels to an array of gains.
    labels : ndarray, shape (n,)
        Finite, non-negative labels.

    Returns
    -------
    ndarray, shape (n,)
        Gains below 0 or above 1e300, and labels beyond a table, are a ValueError.

    Examples
    --------
    >>> gain_values("exp2", np.array([0.0, 1.0, 3.0]))
    array([0., 1., 7.])
    """
    with np.errstate(over="ignore"):
        if isinstance(gain, str):
            gains = GAINS[gain](labels)
        elif isinstance(gain, tuple):
            n = len(gain)
            wrong = (labels != np.floor(labels)) | (labels >= n)
            demand = f"must be integers from 0 to {n - 1} for a gain table of {n} entries"
            check_entries(wrong, labels, "labels", demand)
            gains = np.array(gain, dtype=np.float64)[labels.astype(np.int64)]
        else:
            gains = check_vector(gain(labels), "what gain returns")
    if gains.shape != labels.shape:
        raise ArgumentError("gain", f"must keep the shape {labels.shape}", f"{gains.shape}")
    bad = ~((gains >= 0) & (gains <= LARGEST_GAIN))
    if bad.any():
        row = int(np.argmax(bad))
        raise ArgumentError(
            "gain",
            f"must give gains from 0 to {LARGEST_GAIN}",
            f"{gains[row]} for label {labels[row]} in row {row} from {gain!r}",
            f" {LINEAR_REMEDY}",
        )
    largest = labels.max(initial=0.0)
    if gain == "exp2" and largest > LARGEST_EXPONENT:
        warn_user(
            f"labels reach {largest:g}, and gain='exp2' is 2^y − 1: all but the largest labels "
            f"count for almost nothing. {LINEAR_REMEDY}"
        )
    return gains


class DiscountFormula(NamedTuple):
    """A discount's kind and parameter: of each query, or of one in compiled code."""

    kind: float
    parameter: float | Vector


def formula_of(discount: Discount, sizes: Positions) -> DiscountFormula:
    """Return a discount's kind and parameter for each query; a function's kind is `UNKNOWN`."""
    if isinstance(discount, geometric_discount):
        return DiscountFormula(GEOMETRIC, discount.p)
    kind = DISCOUNTS[discount] if isinstance(discount, str) else UNKNOWN
    return DiscountFormula(kind, sizes.astype(np.float64))


def discount_values(discount: Discount, sizes: Positions, k: int | None = None) -> Vector:
    """Return the discount of each position, zero beyond rank `k`.

    Parameters
    ----------
    discount : {"log2", "letor", "reciprocal", "flat", "linear"}, or another
        ``"log2"`` is 1 / log2(1 + r); ``"letor"`` is 1 at r ≤ 2, else 1 / log2(r), as in the
        LETOR evaluation scripts; ``"reciprocal"`` is 1 / r; ``"flat"`` is 1; ``"linear"`` is
        1 − r / m for a query of m documents, so 0 at its last rank. A `geometric_discount`,
        or a callable that maps an array of ranks to an array of discounts.
    sizes : ndarray of int, shape (n_queries,)
        Number of documents m of each query.
    k : int, optional
        Last rank that counts.

    Returns
    -------
    ndarray, shape (Σ m,)
        The discounts of ranks 1 to m, query by query. Discounts of a callable that are negative,
        not finite, or grow with the rank are a ValueError.

    Examples
    --------
    >>> discount_values("reciprocal", np.array([4, 1]), k=2)
    array([1. , 0.5, 0. , 0. , 1. ])
    """
    ranks = 1 + np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    if callable(discount):
        values = np.array(discount(np.arange(1.0, sizes.max() + 1)), dtype=np.float64)
        if values.shape != (sizes.max(),) or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(f"discount {discount!r} must give a finite value ≥ 0 for every rank.")
        if (np.diff(values) > 0).any():
            raise ValueError(f"discount {discount!r} must not grow with the rank.")
        values = values[ranks - 1]
    else:
        values = np.empty(len(ranks))
        kind, parameter = formula_of(discount, sizes)
        parameters = np.repeat(np.broadcast_to(parameter, len(sizes)), sizes)
        fill(kind, parameters, ranks.astype(np.float64), values)
    if k is not None:
        values[ranks > k] = 0
    return values
