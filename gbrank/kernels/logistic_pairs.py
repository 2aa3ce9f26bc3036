"""Weighted logistic pairs, the gradients of RankNet and LambdaRank.

For a pair in which i is more relevant than j the loss is w log(1 + exp(−(s_i − s_j)/σ)), where w
comes from a measure. With the pair's upper document a and lower document b,
u = exp(−(s_a − s_b)/σ) ≤ 1 gives all that is needed without overflow. Short lists are summed pair
by pair, longer ones by sweeps if the weights allow it.
"""

from typing import Any

import numpy as np

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import NO_ROWS, Function, Matrix, Positions, Vector, inline, shared
from gbrank.kernels.driver import Program
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.flips import sweep_flips
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, multiply, to_score_units
from gbrank.kernels.swaps import INSIDE, LOWER, SHARE, UPPER, separable_weights
from gbrank.kernels.sweeps import PAIR_FORCES, PAIR_LOSSES, sweep_pairs

__all__ = [
    "FEW_GRADES", "LONGEST", "LONGEST_DIRECT", "LONGEST_DIVIDED", "direct_pairs", "pair_program",
    "swept_pairs",
]  # fmt: skip

# Up to so many documents, pairs are summed one by one. The times meet, as measured with five
# grades, between 500 (AP) and 1,150 (RankNet). Lists are divided by label, more often the more
# labels there are: with a continuous one the times meet at 1,700.
LONGEST_DIRECT, LONGEST_DIVIDED = 750, 1700
FEW_LABELS = 32
LONGEST = (
    f"above {LONGEST_DIRECT:,} documents ({LONGEST_DIVIDED:,} if there are more than {FEW_LABELS} "
    "distinct labels)"
)

# Deltas that count flips cost more one by one: the times meet at 130. Up to so many labels, sweeps
# for any two of them are faster than a division by rank.
LONGEST_COUNTED = 130
FEW_GRADES = 8

# Where the weights of a row come from.
UNIT, BY_STATE, BY_ROW, BY_GRADES, BY_FLIPS = 0.0, 1.0, 2.0, 3.0, 4.0


def pair_program(
    labels: Vector,
    queries: Queries,
    *,
    swaps: tuple[Function, Function | None] | None = None,
    separable_between: bool = False,
    counts_flips: bool = False,
    x: Vector | None = None,
    columns: Matrix | None = None,
    table: Vector | None = None,
    top: int | None = None,
    built_in: bool = False,
    boost: float = 1.0,
    tied: bool = True,
    query_norm: bool = False,
) -> Program:
    """Return the program of weighted logistic pairs.

    Parameters
    ----------
    labels : ndarray, shape (n_documents,)
        A pair's more relevant document is the one of larger label.
    queries : Queries
    swaps : pair of functions, optional
        A measure's swap deltas, which weight the pairs; all weigh 1 by default.
    separable_between : bool
        Whether deltas that come by rows are separable between tied blocks.
    counts_flips : bool
        Whether they count the pairs of documents that a swap flips.
    x, columns, table : ndarray, optional
        The measure's constants of documents, queries and positions.
    top : int, optional
        Pairs need one document among the first `top`; all do by default.
    built_in : bool
        Do as the boosters' own objectives: divide weights by 0.01 + |s_i − s_j| unless all scores
        are equal, and multiply the query by log2(1 + S) / S, S the sum of |λ| over both documents
        of all pairs. If not, Newton steps are bounded.
    boost : float
        Factor on the curvature of a built-in.
    tied : bool
        Whether documents of equal score share the mean over all their orders, or stand in the
        order of the rows.
    query_norm : bool
        Whether the driver normalises the query by its gradient.

    Returns
    -------
    Program
    """
    prepare, row = swaps or NO_ROWS
    source = UNIT if swaps is None else BY_STATE if row is None else BY_ROW
    reach = np.inf if top is None else top
    x = labels if x is None else x
    by_label = np.argsort(labels)
    steps, rises = np.diff(x[by_label]), np.diff(labels[by_label]) > 0
    n_labels = 1 + np.count_nonzero(rises)
    longest = LONGEST_DIRECT if n_labels <= FEW_LABELS else LONGEST_DIVIDED
    swept = (source != BY_ROW or separable_between) and not built_in and 2 * reach > longest
    if swept and (steps < 0).any():
        swept = False  # of two documents, that of larger label may have the smaller x
    if counts_flips and not built_in and top is None:
        source = BY_GRADES if n_labels <= FEW_GRADES else BY_FLIPS
        swept, longest = True, LONGEST_COUNTED
    # Sweeps take four fifths of the time to compile: without long lists nothing waits for them.
    return Program(
        kernel=swept_pairs if swept and queries.sizes.max() > longest else direct_pairs,
        documents=x[None] if np.array_equal(steps > 0, rises) else np.stack([labels, x]),
        queries=np.ones((queries.n_queries, 1)) if columns is None else columns,
        table=np.empty(0) if table is None else table,
        params=np.array([source, reach, built_in, boost, longest if swept else np.inf]),
        rows=(prepare, row or NO_ROWS[1]),
        scratch=16 if source == BY_GRADES else 11,
        tied=tied,
        order="descending" if tied else "input",
        query_norm=query_norm,
    )


def direct_pairs(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Sum the logistic loss, or its derivatives, over all pairs of different label."""
    return _sum_pairs(
        s, first, last, documents, query, table, params, sigma, prepare, row, work, gradient,
        curvature,
    )  # fmt: skip


def swept_pairs(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Do as `direct_pairs` where the list is short; sweep over a long one."""
    m = s.size
    if m <= params[4]:
        return _sum_pairs(
            s, first, last, documents, query, table, params, sigma, prepare, row, work, gradient,
            curvature,
        )  # fmt: skip
    x = documents[documents.shape[0] - 1, :m]
    source = params[0]
    top = np.int64(min(params[1], float(m)))
    work[0, :m] = 1.0
    prepare(-1, top, first, last, x, query, table, work[5:], work[0])
    if source == BY_FLIPS:
        loss = query[0] * sweep_flips(
            s, sigma, first, last, x, PAIR_FORCES if gradient.size > 0 else PAIR_LOSSES,
            work, gradient, curvature,
        )  # fmt: skip
        multiply(query[0], query[0], gradient, curvature)
    elif source == BY_GRADES:
        loss = _sweep_grades(
            s, sigma, first, last, x, query, table, prepare, work, gradient, curvature
        )
    else:
        loss = _sweep_list(
            source, s, sigma, first, last, x, query, table, top, row, work, gradient, curvature
        )
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


@shared
def _sum_pairs(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs one by one; return their loss if there is no gradient."""
    m = s.size
    labels = documents[0, :m]
    x = documents[documents.shape[0] - 1, :m]
    weights = work[0]
    up = work[1]
    down = work[2]
    state = work[5:]
    source = params[0]
    top = np.int64(min(params[1], float(m)))
    built_in = params[2] > 0
    weights[:m] = 1.0
    prepare(-1, top, first, last, x, query, table, state, weights)
    wide = is_wide(s, sigma)
    if not wide:
        exponentials(s, sigma, up, down)
    loss = 0.0
    total = 0.0
    for i in range(m - 1):
        if first[i] >= top:
            break
        if source == BY_STATE:
            separable_weights(i, last, x, state, weights)
        elif source >= BY_ROW:
            row(i, top, first, last, x, query, table, state, weights)
        if built_in and s[0] != s[m - 1]:
            if source == UNIT:
                weights[:m] = 1.0
            for j in range(i + 1, m):
                weights[j] /= 0.01 + (s[i] - s[j])
        scale = 1.0 if wide else down[i]
        if wide:
            row_exponentials(i, s, sigma, up)
        if gradient.size > 0:
            total += push_row(i, labels, weights, up, scale, gradient, curvature)
            continue
        for j in range(i + 1, m):
            if labels[i] != labels[j]:
                loss += weights[j] * np.log1p(up[j] * scale)
                if labels[i] < labels[j]:
                    loss += weights[j] * ((s[i] - s[j]) / sigma)
    if gradient.size > 0:
        if built_in:
            curvature *= params[3]
            normalize_by_sum(total, sigma, gradient, curvature)
        else:
            bound_steps(LONGEST_STEP, gradient, curvature)
        to_score_units(sigma, gradient, curvature)
    return loss


@inline
def _sweep_list(
    source: float, s: Vector, sigma: float, first: Positions, last: Positions, x: Vector,
    query: Vector, table: Vector, top: int, row: Any, work: Matrix,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add all pairs by one sweep, those inside tied blocks by row if need be; return their loss."""
    m = s.size
    state = work[5:]
    if source == UNIT:
        state[UPPER, :m] = 1.0
        state[SHARE, :m] = 0.0
        state[LOWER, :m] = 0.0
        state[INSIDE, :m] = 1.0
    elif source == BY_ROW:
        state[INSIDE, :m] = 0.0
    # Where swaps change nothing, down the list, both parts are then zero, not just their sum.
    tail = state[LOWER, m - 1]
    for p in range(m):
        state[UPPER, p] += state[SHARE, p] * tail
        state[LOWER, p] -= tail
    loss = sweep_pairs(
        s, sigma, first, x, source == UNIT, True, state,
        PAIR_FORCES if gradient.size > 0 else PAIR_LOSSES, work, gradient, curvature,
    )  # fmt: skip
    if source == BY_ROW:
        loss += _push_blocks(
            top, first, last, x, query, table, row, state, work[0], gradient, curvature
        )
    return loss


@inline
def _sweep_grades(
    s: Vector, sigma: float, first: Positions, last: Positions, x: Vector, query: Vector,
    table: Vector, prepare: Any, work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs of any two grades by a sweep over the documents of these; return their loss."""
    state = work[5:9]
    scores = work[9]
    heads = work[10].view(np.int64)
    grades = work[11]
    places = work[12].view(np.int64)
    push = work[13]
    bend = work[14]
    loss = 0.0
    for high in range(1, int(x.max()) + 1):
        for low in range(high):
            prepare(high, low, first, last, x, query, table, state, scores)
            size = 0
            for p in range(x.size):
                if x[p] in (low, high):
                    tied = size > 0 and first[places[size - 1]] == first[p]
                    heads[size] = heads[size - 1] if tied else size
                    places[size] = p
                    scores[size] = s[p]
                    grades[size] = x[p]
                    for c in range(4):
                        state[c, size] = state[c, p]
                    size += 1
            n = size if gradient.size > 0 else 0
            push[:n] = 0.0
            bend[:n] = 0.0
            loss += sweep_pairs(
                scores[:size], sigma, heads[:size], grades[:size], True, True, state,
                PAIR_FORCES if n > 0 else PAIR_LOSSES, work, push[:n], bend[:n],
            )  # fmt: skip
            for t in range(n):
                gradient[places[t]] += push[t]
                curvature[places[t]] += bend[t]
    return loss


@inline
def push_row(
    i: int, labels: Vector, weights: Vector, up: Vector, scale: float,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs of document i with all below it, in units of σ; return their Σ|λ|."""
    push = 0.0
    bend = 0.0
    total = 0.0
    label = labels[i]
    # Unsigned indices need no wrap-around check, so that the loop vectorises.
    for j in range(np.uintp(i + 1), np.uintp(labels.size)):
        u = up[j] * scale
        inverse = 1.0 / (1.0 + u)
        difference = label - labels[j]
        below = weights[j] * inverse
        above = below * u
        signed = above if difference > 0 else (-below if difference < 0 else 0.0)
        bent = above * inverse if difference != 0 else 0.0
        push -= signed
        bend += bent
        total += abs(signed)
        gradient[j] += signed
        curvature[j] += bent
    gradient[i] += push
    curvature[i] += bend
    return total


@inline
def _push_blocks(
    top: int, first: Positions, last: Positions, x: Vector, query: Vector, table: Vector,
    row: Any, state: Matrix, weights: Vector, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add the pairs inside tied blocks, those of equal x together; return their loss."""
    total = 0.0
    begin = 0
    while begin < x.size and first[begin] < top:
        end = begin + 1
        while end < last[begin] and x[end] == x[begin]:
            end += 1
        if end < last[begin]:
            row(begin, top, first, last, x[: last[begin]], query, table, state, weights)
        push = 0.0
        for j in range(end, last[begin]):
            force = 0.5 * weights[j]
            push += force
            if gradient.size > 0:
                gradient[j] += force * (end - begin)
                curvature[j] += 0.5 * force * (end - begin)
        if gradient.size > 0:
            gradient[begin:end] -= push
            curvature[begin:end] += 0.5 * push
        total += 2 * push * (end - begin) * np.log(2.0)
        begin = end
    return total


@inline
def normalize_by_sum(total: float, sigma: float, gradient: Vector, curvature: Vector) -> None:
    """Multiply the query by log2(1 + S) / S, S = 2 total/σ the sum of |λ| over both documents."""
    total *= 2 / sigma
    if total > 0:
        factor = np.log2(1 + total) / total
        for i in range(gradient.size):
            gradient[i] *= factor
            # an expected delta of zero may round to less
            curvature[i] = max(curvature[i], 0.0) * factor
