"""Functions of one query, as users write objectives, plain and compiled."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from gbrank.extend import custom_objective

Vector = NDArray[np.float64]


def listnet(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Cross entropy of the softmax of the labels and that of the scores."""
    p = np.exp((scores - scores.max()) / sigma)
    p /= p.sum()
    target = np.exp(labels - labels.max())
    target /= target.sum()
    return -(target * np.log(p)).sum(), (p - target) / sigma, p * (1 - p) / sigma**2


listnet_compiled = numba.njit(listnet)
either = pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])


def custom(function: Callable[..., Any], compiled: bool) -> Any:
    """Make an objective of a function, compiled or not: once in a process."""
    return custom_objective(_compiled(function) if compiled else function)


_compiled = cache(numba.njit)


def fail_at_three(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Raise an error on queries of three documents."""
    if scores.size == 3:
        raise ValueError("three documents")
    return 0.0, scores - labels, np.ones_like(scores)
