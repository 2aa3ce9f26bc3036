"""Pairs weighted by how many pairs of documents a swap flips, in O(m log² m) for any labels.

Let two documents of labels y > y' swap: the pairs that flip are their own, one with each document
between them whose label is y or y', and two with each whose label is between theirs. With
e_l(y) = [x_l < y] + [x_l ≤ y] this is Σ_l w_l (e_l(y) − e_l(y')), where w_l is 1 between the two
blocks of tied documents, 1/2 inside them, the two themselves included.

The list is divided by rank. Of a document i in one half T and the documents j of the other half S
with smaller labels, the weights times v_j, a function of their scores, add up to

    Σ_j v_j w_ij = E_i V(x_i) + Σ_{l in T nearer, x_l < x_i} (V(x_l) + V'(x_l))
                   + Σ_{l in S, x_l < x_i} (2 a_l + b_l) + Σ_{l in S, x_l = x_i} a_l

where V and V' sum v over the documents of S of smaller, and of no larger labels, E_i counts the
nearer documents of T of the same label, and a_l and b_l sum v over the documents of S that are
farther than l, of smaller and of the same label. ("Nearer" is to where the list is divided, and a
document's own block counts half.) So two passes over a half do, with sums by label in a binary
indexed tree. The logistic function is a polynomial in u = exp(−(s_i − s_j)/σ), a product of a
factor of i and a factor of j, as in `gbrank.kernels.sweeps`.
"""

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline, shared
from gbrank.kernels.division import WAITING, partition, wait
from gbrank.kernels.sorting import rank
from gbrank.kernels.sweeps import TERMS, fill_powers

__all__ = ["sweep_flips"]

# Parts of a list with no more documents are summed pair by pair.
SMALL = 64
# Powers of u, and the distance in units of σ.
LANES = TERMS + 1
# Rows of sums: of each label, those described above, and the tree.
VALUES, OWN, BELOW, TREE = range(4)


@shared
def sweep_flips(
    s: Vector, sigma: float, first: Positions, last: Positions, x: Vector, terms: Matrix,
    scratch: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add forces and curvatures of all pairs of different x, in units of σ, for weights as above.

    The parameters are those of `gbrank.kernels.sweeps.sweep_pairs`. Return the loss, if there is no
    gradient.
    """
    m = s.size
    by_label = scratch[0, :m].view(np.int64)
    spare = scratch[1, :m].view(np.int64)
    labels = scratch[2, :m]  # counted from the lowest of a part
    counts = scratch[3, :m]
    places = scratch[4, :m]
    for p in range(m):
        places[p] = p
        labels[p] = -x[p]
    rank(labels, by_label, counts, spare)
    sums = np.empty((4, int(x.max()) + 1, LANES))
    small = np.empty((2 + SMALL, SMALL))
    parts = np.empty((WAITING, 2), np.int64)
    total = 0.0
    parts[0, 0] = 0
    parts[0, 1] = m
    waiting = 1
    while waiting > 0:
        waiting -= 1
        begin = parts[waiting, 0]
        end = parts[waiting, 1]
        n_labels = _number_labels(by_label[begin:end], x, labels)
        if n_labels == 1:
            continue
        if last[begin] == end:
            total += _sum_block(by_label[begin:end], labels, n_labels, terms, gradient, curvature)
            continue
        if end - begin <= SMALL:
            total += _sum_small(
                begin, end, s, sigma, first, last, labels, n_labels, small, gradient, curvature
            )
            continue
        middle = first[(begin + end) // 2]
        if middle == begin:
            middle = last[begin]
        for way in range(4 if gradient.size > 0 else 2):
            total += _gather(
                way < 2, way % 2 > 0, begin, middle, end, s, sigma, first, labels, n_labels, terms,
                sums, counts, gradient, curvature,
            )  # fmt: skip
        partition(by_label[begin:end], places, middle, spare)
        waiting = wait(parts, waiting, begin, middle, end)
    return total


@inline
def _number_labels(by_label: Positions, x: Vector, labels: Vector) -> int:
    """Fill `labels` for these documents, ascending by x, and return how many there are."""
    n = 0
    for t in range(by_label.size):
        if t > 0 and x[by_label[t]] != x[by_label[t - 1]]:
            n += 1
        labels[by_label[t]] = n
    return n + 1


@shared
def _gather(
    upper: bool, lower_labels: bool, begin: int, middle: int, end: int, s: Vector, sigma: float,
    first: Positions, labels: Vector, n_labels: int, terms: Matrix, sums: Matrix, counts: Vector,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add what the documents of a half get from those of the other with smaller (larger) labels."""
    size = middle - begin if upper else end - middle
    size_of_others = end - begin - size
    centre = 0.5 * s[middle - 1] + 0.5 * s[middle]
    powers = np.empty(LANES)
    found = np.empty(LANES)
    sums[:, :n_labels] = 0.0
    counts[:n_labels] = 0.0
    losses = gradient.size == 0

    stop = size_of_others
    while stop > 0:  # from the farthest to the nearest
        start = _block(stop - 1, -1, size_of_others, not upper, middle, first)
        p = _place(start, not upper, middle)
        _fill(abs(s[p] - centre) / sigma, powers)
        single = stop - start == 1
        for phase in range(1 if single else 2):
            for t in range(start, stop):
                y = _label(labels, _place(t, not upper, middle), n_labels, lower_labels)
                _look_up(sums[TREE], y, found)
                share = 1.0 if single else 0.5
                own = 0.5 if single else 0.0
                for n in range(np.uintp(LANES)):
                    sums[OWN, y, n] += share * found[n]
                    same = sums[VALUES, y, n] + own * powers[n]
                    sums[BELOW, y, n] += share * (2.0 * found[n] + same)
            for t in range(start, stop if phase == 0 else start):
                y = _label(labels, _place(t, not upper, middle), n_labels, lower_labels)
                _add(sums[TREE], y, n_labels, powers)
                for n in range(np.uintp(LANES)):
                    sums[VALUES, y, n] += powers[n]
        stop = start

    # VALUES becomes V, BELOW becomes V + V', and OWN all that is of S alone.
    powers[:] = 0.0
    found[:] = 0.0
    for y in range(n_labels):
        for n in range(np.uintp(LANES)):
            value = sums[VALUES, y, n]
            sums[VALUES, y, n] = powers[n]
            sums[OWN, y, n] += found[n]
            found[n] += sums[BELOW, y, n]
            sums[BELOW, y, n] = 2.0 * powers[n] + value
            powers[n] += value
            sums[TREE, y, n] = 0.0

    in_order = upper != lower_labels
    forces = terms[0 if in_order else 1]
    bends = terms[2 if in_order else 3]
    sign = 1.0 if lower_labels else -1.0
    total = 0.0
    start = 0
    while start < size:  # from the nearest to the farthest
        stop = 1 + _block(start, 1, size, upper, middle, first)
        gap = abs(s[_place(start, upper, middle)] - centre) / sigma
        _fill(gap, powers)
        single = stop - start == 1
        for phase in range(1 if single else 2):
            for t in range(start, stop):
                p = _place(t, upper, middle)
                y = _label(labels, p, n_labels, lower_labels)
                _look_up(sums[TREE], y, found)
                share = 1.0 if single else 0.5
                same = counts[y] + (0.5 if single else 0.0)
                force = 0.0
                bend = 0.0
                for n in range(np.uintp(LANES)):
                    found[n] = share * (found[n] + same * sums[VALUES, y, n] + sums[OWN, y, n])
                for n in range(np.uintp(TERMS)):
                    force += forces[n] * powers[n] * found[n]
                    bend += bends[n] * powers[n] * found[n]
                if losses:
                    total += force if in_order else force + gap * found[0] + found[TERMS]
                else:
                    gradient[p] += sign * force
                    curvature[p] += bend
            for t in range(start, stop if phase == 0 else start):
                y = _label(labels, _place(t, upper, middle), n_labels, lower_labels)
                _add(sums[TREE], y, n_labels, sums[BELOW, y])
                counts[y] += 1.0
        start = stop
    return total


@inline
def _place(t: int, upper: bool, middle: int) -> int:
    """Return the position of the t-th document of a half, counted from `middle`."""
    return middle - 1 - t if upper else middle + t


@inline
def _block(t: int, step: int, size: int, upper: bool, middle: int, first: Positions) -> int:
    """Return the last t of the same tied block in this direction."""
    head = first[_place(t, upper, middle)]
    while 0 <= t + step < size and first[_place(t + step, upper, middle)] == head:
        t += step
    return t


@inline
def _label(labels: Vector, p: int, n_labels: int, lower_labels: bool) -> int:
    """Return a label, counted from the other end if lower labels look for larger ones."""
    y = int(labels[p])
    return n_labels - 1 - y if lower_labels else y


@inline
def _fill(gap: float, powers: Vector) -> None:
    """Write the powers of exp(−gap), and the gap."""
    fill_powers(np.exp(-gap), powers)
    powers[TERMS] = gap


@inline
def _add(tree: Matrix, y: int, n_labels: int, values: Vector) -> None:
    """Add to the sums of a label."""
    node = y + 1
    while node <= n_labels:
        for n in range(np.uintp(LANES)):
            tree[node - 1, n] += values[n]
        node += node & -node


@inline
def _look_up(tree: Matrix, y: int, out: Vector) -> None:
    """Write the sums over smaller labels."""
    out[:] = 0.0
    node = y
    while node > 0:
        for n in range(np.uintp(LANES)):
            out[n] += tree[node - 1, n]
        node -= node & -node


@inline
def _sum_block(
    by_label: Positions, labels: Vector, n_labels: int, terms: Matrix,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs inside a tied block, where a third of the others stands between two.

    With e(y) summed over the block, the weight of two documents is (1 + e(y) − e(y'))/3; and e(y)
    is the number of documents up to y, and that before y.
    """
    size = by_label.size
    force = terms[0, :TERMS].sum()
    bend = terms[2, :TERMS].sum()
    total = 0.0
    start = 0
    while start < size:
        stop = start + 1
        while stop < size and labels[by_label[stop]] == labels[by_label[start]]:
            stop += 1
        lower = start * (1.0 + stop) / 3.0
        higher = (size - stop) * (1.0 + size - start) / 3.0
        total += force * lower * (stop - start)
        for t in range(start, stop if gradient.size > 0 else start):
            gradient[by_label[t]] += force * (higher - lower)
            curvature[by_label[t]] += bend * (higher + lower)
        start = stop
    return total if gradient.size == 0 else 0.0


@inline
def _sum_small(
    begin: int, end: int, s: Vector, sigma: float, first: Positions, last: Positions,
    labels: Vector, n_labels: int, small: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs of a few documents, one by one."""
    blocks = small[0]  # Σ e_l(y) of the block
    running = small[1]  # ... and of those before it
    before = small[2:]  # ... and of those before each document's, and half of its own
    running[:n_labels] = 0.0
    total = 0.0
    start = begin
    while start < end:
        stop = last[start]
        blocks[:n_labels] = 0.0
        for p in range(start, stop):
            blocks[int(labels[p])] += 1.0
            blocks[int(labels[p]) + 1 : n_labels] += 2.0
        for p in range(start, stop):
            before[p - begin, :n_labels] = running[:n_labels] + 0.5 * blocks[:n_labels]
        running[:n_labels] += blocks[:n_labels]
        for i in range(begin, stop):
            a = int(labels[i])
            for j in range(max(start, i + 1), stop):
                b = int(labels[j])
                if a == b:
                    continue
                if i < start:
                    weight = (before[j - begin, a] - before[i - begin, a]) - (
                        before[j - begin, b] - before[i - begin, b]
                    )
                else:
                    weight = (np.sign(a - b) + blocks[a] - blocks[b]) / 3.0
                gap = (s[i] - s[j]) / sigma
                total += _push(i, j, a - b, abs(weight), gap, gradient, curvature)
        start = stop
    return total


@inline
def _push(
    i: int, j: int, difference: int, weight: float, gap: float,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add a pair, i above j; return its loss if there is no gradient."""
    row = 0 if difference > 0 else 1
    u = np.exp(-gap)
    p = 1.0 / (1.0 + u)
    if gradient.size == 0:
        return weight * (np.log1p(u) + (gap if row == 1 else 0.0))
    force = weight * (u * p if row == 0 else p)
    gradient[i] += force if row == 1 else -force
    gradient[j] += force if row == 0 else -force
    curvature[i] += weight * u * p * p
    curvature[j] += weight * u * p * p
    return 0.0
