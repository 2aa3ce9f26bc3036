"""What compiled functions are given: the contract of kernels and measures.

A *kernel* computes the loss of one query and its derivatives:
``kernel(query, measure, parameters, gradient, curvature) -> loss``. `query` is a `Query`, `measure`
holds the `MeasureFunctions` that its program names, `parameters` is the kernel's own named tuple,
and `gradient` and `curvature` are written to: they come zeroed, or empty where only the loss is
asked for.

A *measure* takes part by functions of a `Ranking`, each declared on its class where it has one:

================ ==================================================================================
value            ``value(ranking) -> float``: the measure, averaged over tied documents
swaps            a `Swaps`: by how much the measure changes when two documents swap ranks
by_rank          ``by_rank(ranking, ranks, beta, direct, slopes) -> float``: the measure of real
                 ranks, its derivatives by them written to `slopes`; β is the steepness, per rank,
                 of what is logistic in ranks; `direct` is a factor on the sizes up to which pairs
                 are summed one by one (1; 0 for never, infinity for always)
by_position      ``by_position(ranking, means, slopes) -> float``: the measure of the mean x at each
                 position, its derivatives by these means written to `slopes`
================ ==================================================================================

Rows of scratch are uninitialised, and one entry longer than the longest list. A kernel has as many
as its `Program` declares, a measure as many as its class declares (`Measure.scratch`); neither sees
the other's.
"""

from typing import Any, NamedTuple

from numba import types

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.kernels.compiled import Function, inline


class Ranking(NamedTuple):
    """A query as a measure sees it: m documents, best score first.

    Parameters
    ----------
    x : ndarray, shape (m,)
        What each document is worth to the measure; tied documents are in order of falling x.
    first, last : ndarray of int, shape (m,)
        Position of the first document of the same score, and that after the last one.
    table : ndarray, shape (m,)
        Constants of each position, such as discounts; or empty.
    scale : float
        Factor on the whole value.
    cut : float
        The last rank that counts; infinity if all do.
    constants : ndarray
        The measure's own constants of the query, in the order of its `terms`.
    scratch : ndarray, shape (rows, longest list + 1)
        The measure's own.
    """

    x: Vector
    first: Positions
    last: Positions
    table: Vector
    scale: float
    cut: float
    constants: Vector
    scratch: Matrix


class Query(NamedTuple):
    """A query as a kernel sees it: m documents, best score first.

    Parameters
    ----------
    scores, labels : ndarray, shape (m,)
        Documents of equal score are in order of falling label; all else that is known of a document
        is a function of its label.
    ranking : Ranking
    sigma : float
        Width of the smoothing, in score units.
    number : int
        Which query it is, from 0.
    noise : int
        The seed of the query's random numbers: a hash of (seed, round, query id).
    scratch : ndarray, shape (rows, longest list + 1)
        The kernel's own.
    """

    scores: Vector
    labels: Vector
    ranking: Ranking
    sigma: float
    number: int
    noise: int
    scratch: Matrix


class SeparableDelta(NamedTuple):
    """The swap delta of documents a above b: |x_a − x_b| (U_a + P_a V_b); C_a |x_a − x_b| if tied.

    Parameters
    ----------
    upper, share, lower, inside : ndarray, shape (m,)
        U, P, V and C.
    """

    upper: Vector
    share: Vector
    lower: Vector
    inside: Vector


@inline
def delta_in(scratch: Matrix) -> SeparableDelta:
    """Return the first four rows of a scratch as the parts of a delta."""
    return SeparableDelta(scratch[0], scratch[1], scratch[2], scratch[3])


class Swaps(NamedTuple):
    """Expected changes of a measure when two documents swap ranks, over all orders of ties.

    `top` limits pairs to those with a document among the first `top` positions. A measure gives one
    of: `separable` for all pairs; `separable` for pairs of different scores, and `row` for any; or
    `row`, and `grades` if its x are 0, 1, ... without gaps and the delta between any two of these
    x is separable.

    Parameters
    ----------
    separable : function, optional
        ``separable(ranking, top, delta)`` fills a `SeparableDelta`.
    row : function, optional
        ``row(ranking, i, stop, top, out)`` writes the deltas of pairs (i, j), i < j < stop. It
        finds what `separable` or `prepare` left in the measure's scratch.
    prepare : function, optional
        ``prepare(ranking, top)`` is called once before `row`.
    grades : function, optional
        ``grades(ranking, low, high, delta)`` fills the delta of documents of these two x.
    """

    separable: Function | None = None
    row: Function | None = None
    prepare: Function | None = None
    grades: Function | None = None


class MeasureFunctions(NamedTuple):
    """The functions of a measure that a kernel calls: those above, and those of `Swaps`.

    A kernel must be given all that its code names.
    """

    value: Any = None
    by_rank: Any = None
    by_position: Any = None
    separable: Any = None
    row: Any = None
    prepare: Any = None
    grades: Any = None


class NoParameters(NamedTuple):
    """The parameters of kernels that have none."""


def _named(cls: Any, *fields: Any) -> Any:
    return types.BaseTuple.from_types(fields, cls)


_real, _integer = types.float64, types.int64
_vector, _matrix, _positions = types.float64[::1], types.float64[:, ::1], types.int64[::1]
_ranking = _named(Ranking, _vector, _positions, _positions, _vector, _real, _real, _vector, _matrix)
_delta = _named(SeparableDelta, _vector, _vector, _vector, _vector)

# The types of `MeasureFunctions`.
SIGNATURES = MeasureFunctions(
    value=_real(_ranking),
    by_rank=_real(_ranking, _vector, _real, _real, _vector),
    by_position=_real(_ranking, _vector, _vector),
    separable=types.void(_ranking, _integer, _delta),
    row=types.void(_ranking, _integer, _integer, _integer, _vector),
    prepare=types.void(_ranking, _integer),
    grades=types.void(_ranking, _integer, _integer, _delta),
)


def _no_separable(ranking: Any, top: int, delta: Any) -> None:
    return


def _no_row(ranking: Any, i: int, stop: int, top: int, out: Any) -> None:
    return


def _no_preparation(ranking: Any, top: int) -> None:
    return


def _no_grades(ranking: Any, low: int, high: int, delta: Any) -> None:
    return


_NO_SWAPS = Swaps(_no_separable, _no_row, _no_preparation, _no_grades)


def functions_of(swaps: Swaps | None) -> MeasureFunctions:
    """Return the functions of swaps, with ones that do nothing for those that are missing."""
    given = {name: own for name, own in (swaps or Swaps())._asdict().items() if own}
    return MeasureFunctions(**(_NO_SWAPS._asdict() | given))
