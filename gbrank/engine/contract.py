"""The contract of kernels and measures: arguments and results of compiled functions.

A *kernel* computes the loss of one query and its derivatives:
``kernel(query, measure, out) -> loss``. `query` is a `Query`, `measure` holds the functions of the
program's measure, and `out` is what the kernel writes: `Derivatives` that come zeroed, or empty
where only the loss is requested.

A *measure* takes part by functions of a `Ranking`, each declared on its class where it has one:

================ ==================================================================================
value            ``value(ranking) -> float``: the measure, averaged over tied documents
swaps            a `Swaps`: by how much the measure changes when two documents swap ranks
by_rank          ``by_rank(ranking, ranks, beta, slopes) -> float``: the measure of real ranks, its
                 derivatives by them written to `slopes`; β is the steepness, per rank, of what is
                 logistic in ranks
by_position      ``by_position(ranking, gains, slopes) -> float``: the measure of the mean gain at
                 each position, its derivatives by these means written to `slopes`
================ ==================================================================================

Both declare the arrays that they work with as a named tuple, whose `Vector`s and `Positions` are
one entry longer than the longest list, and come uninitialised. A kernel finds its own in
``query.work``. A measure finds its own, and its constants of the query, by
``unpack(ranking.memory, Work)`` and ``unpack(ranking.constants, Constants)``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_type_hints

import numpy as np
from numba import types

from gbrank.common.checks import Function, Mask, Matrix, Positions, Vector

from .numba_internals import INTEGER, MATRIX, POSITIONS, REAL, VECTOR, tuple_type


class Nothing(NamedTuple):
    """The parameters, work arrays or constants of what has none."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A measure's constants for one set of labels.

    Parameters
    ----------
    gains : ndarray, shape (n_documents,)
        What a document is worth to the measure: gain, 0/1 relevance, grade, ... It never falls
        as the label grows (unless a gain does), and equal labels have equal gains.
    defined : ndarray of bool, shape (n_queries,), optional
        Whether the query has what the measure needs (a relevant document, mostly).
    scale : ndarray, shape (n_queries,), optional
        Factor on the whole value; 1 by default.
    cut : float
        The last rank that counts, the same for every query; infinity if all do.
    constants : named tuple of ndarray, shape (n_queries,)
        What else the measure's functions need of a query.
    discounts : ndarray, shape (n_documents,)
        What each position is worth, query by query; or empty.
    """

    gains: Vector
    defined: Mask | None = None
    scale: Vector | None = None
    cut: float = np.inf
    constants: Any = Nothing()
    discounts: Vector = field(default_factory=lambda: np.empty(0))


class Ranking(NamedTuple):
    """One query's share of `Terms`: m documents, best score first.

    Parameters
    ----------
    gains : ndarray, shape (m,)
        What each document is worth; tied documents are in order of falling gains.
    first, last : ndarray of int, shape (m,)
        Position of the first document of the same score, and that after the last one.
    discounts : ndarray, shape (m,)
        What each position is worth; or empty.
    scale, cut : float
        Factor on the whole value, and the last rank that counts.
    constants : ndarray
        The measure's constants of the query, for `unpack`.
    memory : ndarray
        The measure's work arrays, for `unpack`.
    """

    gains: Vector
    first: Positions
    last: Positions
    discounts: Vector
    scale: float
    cut: float
    constants: Vector
    memory: Matrix


class Query(NamedTuple):
    """A query as a kernel sees it: m documents, best score first.

    Parameters
    ----------
    scores, key : ndarray, shape (m,)
        Documents of equal score are in order of falling key, a label or a gain; all else that is
        known of a document is a function of its key.
    ranking : Ranking
    sigma : float
        Width of the smoothing, in score units.
    number : int
        Which query it is, from 0.
    noise : int
        The seed of the query's random numbers: a hash of (seed, round, query id).
    parameters : number or named tuple
        The kernel's own parameters.
    work : named tuple
        Its arrays.
    """

    scores: Vector
    key: Vector
    ranking: Ranking
    sigma: float
    number: int
    noise: int
    parameters: Any
    work: Any


class Derivatives(NamedTuple):
    """Gradient and curvature of each document of a query, by its score.

    Parameters
    ----------
    gradient, curvature : ndarray, shape (m,)
        First and second derivatives of the loss, best score first.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank.extend import Derivatives
    >>> Derivatives(gradient=np.array([-1.0, 1.0]), curvature=np.ones(2)).gradient.tolist()
    [-1.0, 1.0]
    """

    gradient: Vector
    curvature: Vector


class SeparableDelta(NamedTuple):
    """The swap delta of documents a above b: |g_a − g_b| (U_a + P_a V_b); C_a |g_a − g_b| if tied.

    A function that fills it writes all four for every document.

    Parameters
    ----------
    upper, share, lower, inside : ndarray, shape (m,)
        U, P, V and C; g are the gains.
    """

    upper: Vector
    share: Vector
    lower: Vector
    inside: Vector


def prepare_nothing(ranking: Ranking, top: int) -> None:
    """Leave nothing to rows."""


class Swaps(NamedTuple):
    """Expected changes of a measure when two documents swap ranks, over all orders of ties.

    `top` limits pairs to those with a document among the first `top` positions; of a tied block
    that reaches over it, some orders have it there. A measure gives one of: `separable` for all
    pairs; `separable` for pairs of different scores, and `row` for those of equal scores; or `row`
    for all.

    Parameters
    ----------
    separable : function, optional
        ``separable(ranking, top, delta)`` fills a `SeparableDelta`.
    row : function, optional
        ``row(ranking, i, stop, top, out)`` writes the deltas of pairs (i, j), i < j < stop. It
        finds what `separable` or `prepare` left in the measure's work arrays.
    prepare : function
        ``prepare(ranking, top)`` is called once before `row`; by default it does nothing.
    """

    separable: Function | None = None
    row: Function | None = None
    prepare: Function = prepare_nothing


class MeasureFunctions(NamedTuple):
    """The functions of a measure: those of the table above, and those of `Swaps`.

    A kernel may call only those that the measure has.

    Parameters
    ----------
    value, by_rank, by_position, separable, row, prepare : function, optional
        Compiled functions; None is one that the measure lacks.

    Examples
    --------
    >>> from gbrank.extend import MeasureFunctions
    >>> MeasureFunctions(value=None).by_rank is None
    True
    """

    value: Any = None
    by_rank: Any = None
    by_position: Any = None
    separable: Any = None
    row: Any = None
    prepare: Any = None


_ranking = tuple_type(Ranking, VECTOR, POSITIONS, POSITIONS, VECTOR, REAL, REAL, VECTOR, MATRIX)
_delta = tuple_type(SeparableDelta, VECTOR, VECTOR, VECTOR, VECTOR)

# The types of `MeasureFunctions`.
SIGNATURES = MeasureFunctions(
    value=REAL(_ranking),
    by_rank=REAL(_ranking, VECTOR, REAL, VECTOR),
    by_position=REAL(_ranking, VECTOR, VECTOR),
    separable=types.void(_ranking, INTEGER, _delta),
    row=types.void(_ranking, INTEGER, INTEGER, INTEGER, VECTOR),
    prepare=types.void(_ranking, INTEGER),
)


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel with all that it runs on, for one set of queries.

    Parameters
    ----------
    kernel : function
        Python function of the kernel's signature, compiled when first run.
    key : ndarray, shape (n_documents,)
        The label or gain of each document, in input order. Documents of equal score are sorted by
        it, and all else that is known of a document must be a function of it.
    terms : Terms, optional
        The measure's constants; by default every document is worth its key.
    measure : MeasureFunctions
        The functions of the measure that the kernel calls.
    memory : type
        The named tuple of arrays that the measure's functions work with.
    parameters : number or named tuple
        The kernel's own parameters: numbers, or arrays that all queries share.
    work : type
        The named tuple of arrays that the kernel works with.
    rows : mapping of str to int
        Which fields of work arrays are matrices, and how many rows they have.
    lists : int
        How many lists long work arrays are.
    tied : bool
        Whether documents of equal score form blocks. If not, each stands alone, in the order of
        `order`.
    order : {"descending", "ascending", "input"}
        How documents of equal score are sorted: by their keys, or by row.
    seed : int
        What the kernel's random numbers depend on, besides round and query.
    other_kernel : function, optional
        What runs in place of `kernel`, with the same arrays, for some queries, such as long lists.
    others : ndarray of bool, shape (n_queries,)
        Which queries these are; by default none. A kernel without queries is not compiled.
    others_for_values : bool
        Whether `other_kernel` computes values too; if not, `kernel` does for all queries.
    """

    kernel: Function
    key: Vector
    terms: Terms | None = None
    measure: MeasureFunctions = MeasureFunctions()
    memory: type = Nothing
    parameters: Any = Nothing()
    work: type = Nothing
    rows: Mapping[str, int] = field(default_factory=dict)
    lists: int = 1
    tied: bool = True
    order: Literal["descending", "ascending", "input"] = "descending"
    seed: int = 0
    other_kernel: Function | None = None
    others: Mask | Literal[False] = False
    others_for_values: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", _as_declared(self.parameters))


def _as_declared(value: Any, kind: Any = None) -> Any:
    """Return parameters in the types that they declare: an int for a float is another type."""
    if isinstance(value, tuple):
        hints = get_type_hints(type(value))
        items = value._asdict().items()  # type: ignore[attr-defined]
        return type(value)(**{name: _as_declared(item, hints.get(name)) for name, item in items})
    return kind(value) if kind in (float, int, bool) else value
