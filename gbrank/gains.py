"""Gains (what a label is worth) and discounts (what a position is worth)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from gbrank._checks import check_number, unknown_name
from gbrank.kernels.discounts import FLAT, GEOMETRIC, LETOR, LOG2, RECIPROCAL, UNKNOWN, fill

__all__ = [
    "Discount",
    "Gain",
    "discount_kind",
    "discount_values",
    "gain_values",
    "geometric_discount",
]

Vector = NDArray[np.float64]
Gain: TypeAlias = str | tuple[float, ...] | Callable[[Vector], Vector]
Discount: TypeAlias = "str | geometric_discount | Callable[[Vector], Vector]"


@dataclass(frozen=True)
class geometric_discount:
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
    >>> discount_values(geometric_discount(0.5), 2)
    array([0.5 , 0.25])
    """

    p: float

    def __post_init__(self) -> None:
        check_number(self.p, "p", 0, 1, open_low=True)
        if self.p == 1:
            raise ValueError("p must be below 1, got 1.")


GAINS: dict[str, Callable[[Vector], Vector]] = {
    "exp2": lambda labels: np.exp2(labels) - 1,
    "linear": lambda labels: labels.copy(),
}

DISCOUNTS = {"log2": LOG2, "letor": LETOR, "reciprocal": RECIPROCAL, "flat": FLAT}


def check_gain(gain: Any) -> None:
    """Refuse a gain that is neither a known name, a table of numbers, nor a function."""
    if isinstance(gain, str):
        if gain not in GAINS:
            raise unknown_name("gain", gain, GAINS)
    elif isinstance(gain, tuple):
        for value in gain:
            check_number(value, "gain", 0)
    elif not callable(gain):
        raise TypeError(f"gain must be a name, a tuple of gains or a function, got {gain!r}.")


def check_discount(discount: Any) -> None:
    """Refuse a discount that is neither a known name nor a function."""
    if isinstance(discount, str):
        if discount not in DISCOUNTS:
            raise unknown_name("discount", discount, DISCOUNTS)
    elif not isinstance(discount, geometric_discount) and not callable(discount):
        raise TypeError(f"discount must be a name or a function of ranks, got {discount!r}.")


def gain_values(gain: Gain, labels: Vector) -> Vector:
    """Return the gain of each label.

    Parameters
    ----------
    gain : {"exp2", "linear"}, tuple or callable
        ``"exp2"`` is 2^y − 1, ``"linear"`` is y, a tuple is indexed by the label, a callable
        maps an array of labels to an array of gains.
    labels : ndarray, shape (n,)
        Finite, non-negative labels.

    Returns
    -------
    ndarray, shape (n,)

    Raises
    ------
    ValueError
        If a gain overflows or is negative, or a label has no entry in the table.

    Examples
    --------
    >>> gain_values("exp2", np.array([0.0, 1.0, 3.0]))
    array([0., 1., 7.])
    """
    with np.errstate(over="ignore"):
        if isinstance(gain, str):
            gains = GAINS[gain](labels)
        elif isinstance(gain, tuple):
            gains = _look_up(gain, labels)
        else:
            gains = np.ascontiguousarray(gain(labels), dtype=np.float64)
    if gains.shape != labels.shape:
        raise ValueError(f"gain must keep the shape {labels.shape}, returned {gains.shape}.")
    bad = ~(np.isfinite(gains) & (gains >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"gain {gain!r} must give finite gains of at least 0; label {labels[row]} in row {row} "
            f"gives {gains[row]}. Use smaller labels, or another gain such as gain='linear'."
        )
    return gains


def _look_up(table: tuple[float, ...], labels: Vector) -> Vector:
    bad = (labels != np.floor(labels)) | (labels >= len(table))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"labels must be integers from 0 to {len(table) - 1} for a gain table of "
            f"{len(table)} entries, got {labels[row]} in row {row}."
        )
    return np.asarray(table, dtype=np.float64)[labels.astype(np.int64)]


def discount_kind(discount: Discount) -> tuple[float, float]:
    """Return the number and the parameter by which compiled code knows a discount.

    Parameters
    ----------
    discount : str, geometric_discount or callable

    Returns
    -------
    kind, parameter : float
        The kind is `UNKNOWN` for a callable.

    Examples
    --------
    >>> discount_kind(geometric_discount(0.5)) == (GEOMETRIC, 0.5)
    True
    """
    if isinstance(discount, geometric_discount):
        return GEOMETRIC, discount.p
    return (DISCOUNTS[discount], 0.0) if isinstance(discount, str) else (UNKNOWN, 0.0)


def discount_values(discount: Discount, length: int, k: int | None = None) -> Vector:
    """Return the discounts of ranks 1 to `length`, zero beyond rank `k`.

    Parameters
    ----------
    discount : {"log2", "letor", "reciprocal", "flat"} or callable
        ``"log2"`` is 1 / log2(1 + r); ``"letor"`` is 1 at r ≤ 2, else 1 / log2(r), as in the
        LETOR evaluation scripts; ``"reciprocal"`` is 1 / r; ``"flat"`` is 1; a callable maps an
        array of ranks to an array of discounts.
    length : int
        Number of ranks.
    k : int, optional
        Last rank that counts.

    Returns
    -------
    ndarray, shape (length,)

    Raises
    ------
    ValueError
        If a discount is negative, not finite, or grows with the rank.

    Examples
    --------
    >>> discount_values("reciprocal", 4, k=2)
    array([1. , 0.5, 0. , 0. ])
    """
    kind, parameter = discount_kind(discount)
    if kind == UNKNOWN:
        ranks = np.arange(1, length + 1, dtype=np.float64)
        values = np.array(cast(Any, discount)(ranks), dtype=np.float64)
    else:
        values = np.empty(length)
        fill(kind, parameter, values)
    if values.shape != (length,) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"discount {discount!r} must give a finite value ≥ 0 for every rank.")
    if (np.diff(values) > 0).any():
        raise ValueError(f"discount {discount!r} must not grow with the rank.")
    if k is not None:
        values[k:] = 0
    return values
