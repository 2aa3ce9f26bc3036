"""Gaussian sums of |x_i − ḡ_j| over all pairs of a list, in quasi-linear time.

The list is split at a value of x and ḡ: of a pair from different parts it is known which of the
two is larger, so that its distance is the sum of both documents' distances from the cut, and plain
Gaussian sums give all such pairs. Either part is treated likewise, until all x of a part are equal.
"""

import numpy as np

from gbrank.kernels.compiled import Matrix, Vector, inline
from gbrank.kernels.division import WAITING, middle_split, partition
from gbrank.kernels.gauss_transform import FEW, GAUSSIAN, add_by_boxes
from gbrank.kernels.sorting import rank

__all__ = ["DISTANCE_SCRATCH", "add_distances"]

# Parts of up to so many pairs are summed pair by pair.
SMALL = 2048
DISTANCE_SCRATCH = 10


@inline
def add_distances(
    places: Vector, x: Vector, means: Vector, scale: Vector, scratch: Matrix, out: Vector
) -> None:
    """Add c_j |x_i − ḡ_j| exp(−d²), d the distance of their places, to both out[i] and out[j].

    Pairs (i, j) are all, in either order, and i = j counts twice. There must be `DISTANCE_SCRATCH`
    rows.
    """
    m = x.size
    by_x = scratch[0, :m].view(np.int64)
    by_mean = scratch[1, :m].view(np.int64)
    spare = scratch[2, :m].view(np.int64)
    ordered = scratch[3, :m]
    for i in range(m):
        ordered[i] = -x[i]
    rank(ordered, spare, scratch[4, :m], by_x)
    for i in range(m):
        ordered[i] = -ordered[i]
        by_x[i] = i
        by_mean[i] = i
    parts = np.empty((WAITING, 4), np.int64)
    parts[0, 0] = 0
    parts[0, 1] = m
    parts[0, 2] = 0
    parts[0, 3] = m
    waiting = 1
    while waiting > 0:
        waiting -= 1
        begin = parts[waiting, 0]
        end = parts[waiting, 1]
        first = parts[waiting, 2]
        last = parts[waiting, 3]
        if first == last:
            continue
        if (end - begin) * (last - first) <= SMALL:
            for a in range(begin, end):
                for b in range(first, last):
                    i = by_x[a]
                    j = by_mean[b]
                    d = places[i] - places[j]
                    value = scale[j] * abs(x[i] - means[j]) * np.exp(-d * d)
                    out[i] += value
                    out[j] += value
            continue
        middle = begin + middle_split(ordered[begin:end])
        alike = middle == end
        cut = ordered[begin if alike else middle]
        split = first
        if not alike:
            partition(by_x[begin:end], x, cut, spare)
            split += partition(by_mean[first:last], means, cut, spare)
        for upper in range(1 if alike else 2):
            own = by_x[middle:end] if upper else by_x[begin:middle]
            others = by_mean[first:split] if upper else by_mean[split:last]
            for swapped in range(2):
                sources = scratch[4, : own.size if swapped else others.size]
                targets = scratch[5, : others.size if swapped else own.size]
                weights = scratch[6:8]
                sums = scratch[8:10]
                for t in range(sources.size):
                    p = own[t] if swapped else others[t]
                    sources[t] = places[p]
                    weights[0, t] = 1.0 if swapped else scale[p]
                    weights[1, t] = weights[0, t] * abs((x[p] if swapped else means[p]) - cut)
                for t in range(targets.size):
                    targets[t] = places[others[t] if swapped else own[t]]
                sums[:, : targets.size] = 0.0
                add_by_boxes(GAUSSIAN, FEW, False, sources, weights, targets, sums)
                for t in range(targets.size):
                    p = others[t] if swapped else own[t]
                    distance = abs((means[p] if swapped else x[p]) - cut)
                    total = distance * sums[0, t] + sums[1, t]
                    out[p] += total * scale[p] if swapped else total
        if alike:
            continue
        upper_waits = middle - begin < end - middle
        for turn in range(2):
            upper = upper_waits == (turn == 0)
            parts[waiting, 0] = middle if upper else begin
            parts[waiting, 1] = end if upper else middle
            parts[waiting, 2] = split if upper else first
            parts[waiting, 3] = last if upper else split
            waiting += 1
