"""Rankings that are drawn document by document (Plackett-Luce), from the numbers as documented."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.data.sampling import split_mix

__all__ = ["chance_of", "drawn"]


def chance_of(ranking: Sequence[int], s: NDArray[Any]) -> Any:
    """Return the probability of a ranking: each document is drawn by softmax of those left."""
    strength = np.exp(s[list(ranking)])
    return np.prod(strength / np.cumsum(strength[::-1])[::-1])


def drawn(s: NDArray[Any], noise: NDArray[Any], draw: int) -> Any:
    """Return one of the drawn rankings of scores that come best first."""
    place = np.arange(len(s), dtype=np.uint64) + np.uint64(draw // 2 * len(s))
    bits = split_mix(noise, place) + np.uint64(draw % 2) * np.uint64(2**63 - 1)
    uniform = ((bits >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52
    return np.argsort(np.log(-np.log(uniform)) - s)
