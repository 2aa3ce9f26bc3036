"""The weights of SLAM, by the paper's definitions, averaged over documents of equal gain."""

from itertools import groupby
from typing import Any

import reference
from gbrank import AP


def weights(measure: Any, labels: reference.Labels) -> tuple[list[float], list[float]]:
    """Return what v_i compares by (gain or relevance) and v_i."""
    if isinstance(measure, AP):
        x = [float(label >= measure.threshold) for label in labels]
        return x, [value / max(sum(x), 1) for value in x]
    gain, discount = measure.gain, reference.DISCOUNTS[measure.discount]
    x = [
        gain[int(label)] if isinstance(gain, tuple) else reference.GAINS[gain](label)
        for label in labels
    ]
    ideal = sorted(x, reverse=True)
    worth = [
        value * discount(rank) if measure.k is None or rank <= measure.k else 0.0
        for rank, value in enumerate(ideal, 1)
    ]
    total = sum(worth)
    mean = {}
    for value, block in groupby(zip(ideal, worth, strict=True), key=lambda pair: pair[0]):
        shares = [share for _, share in block]
        mean[value] = sum(shares) / len(shares) / total if total else 0.0
    return x, [mean[value] for value in x]
