"""Position bias estimated from a click log, and labels made from clicks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.csgraph import connected_components

from .common.checks import (
    ArgumentError,
    Matrix,
    Positions,
    Vector,
    check_labels,
    check_number,
    check_weights,
)
from .common.table import Table, Tabular
from .data.documents import check_positions
from .data.queries import Queries

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PositionReport", "clicks_to_labels", "position_report"]

# Standard deviations of the prior: of eta, of a position's deviation from the curve, of a
# context's eta and rate.
CURVE = 1.0
DEVIATION = 0.3
CONTEXT = 0.5
RATE = 1.0
STEPS = 100
GROUPS: dict[str, Any] = {
    "by": ["query", "document"],
    "sort": False,
    "dropna": False,
    "observed": True,
}
MOST_SLOTS = 500  # the time grows with the cube of their number
# Of more, positions from 100 on share a slot with those up to 2% further down.
STARTS = np.unique([*range(1, 100), *np.ceil(100 * 1.02 ** np.arange(1500))])


@dataclass(frozen=True, eq=False)
class Slots:
    """Where documents were shown: distinct positions, or pairs of a position and its context."""

    names: list[Any]  # int, or tuple of int, the position first
    index: Positions  # of each row
    first: Positions  # of the same context
    prior: Matrix  # covariance of their biases


def merge_positions(position: Matrix) -> Matrix:
    """Merge positions far down, the first column, with their neighbours if there are too many."""
    if len(np.unique(position, axis=0)) <= MOST_SLOTS:
        return position
    starts = STARTS[np.searchsorted(STARTS, position[:, 0], side="right") - 1]
    return np.column_stack([starts, position[:, 1:]])


def find_slots(position: Matrix) -> Slots:
    """Find the slots of checked positions."""
    columns = position.reshape(len(position), -1)
    names, index = np.unique(merge_positions(columns), axis=0, return_inverse=True)
    curve = np.log(names[:, 0])
    contexts = names[:, 1:]
    prior = DEVIATION**2 * np.eye(len(names)) + CURVE**2 * np.outer(curve, curve)
    same = (contexts[:, None] == contexts).all(axis=2)
    if contexts.size:
        prior += same * (RATE**2 + CONTEXT**2 * np.outer(curve, curve))
    named = names.astype(int).tolist()
    labels = [tuple(name) if contexts.size else name[0] for name in named]
    return Slots(labels, index.ravel(), same.argmax(axis=1), prior)


@dataclass(frozen=True)
class PositionReport(Tabular):
    """The effects of positions on clicks, one entry each; made by `position_report`.

    Parameters
    ----------
    positions : list of int or tuple
        The positions, in order; with contexts, tuples of the position and its context. Of more than
        500, those from 100 on share one with those up to 2% further down, which is the first.
    impressions, clicked : list of float
        The number of impressions at each position, and of clicks on them.
    bias : list of float
        The logarithm of the attention that a position gets, less that of the first (of its
        context).
    error : list of float
        Standard errors of `bias`.
    identified : list of float
        The share of the prior variance of `bias` that the log removes: 0 where the log has no
        information on a position, 1 where it determines the bias.
    group : list of int
        Positions with the same number are connected by documents that were shown at both, or by
        a chain of such documents.
    documents : int
        The number of documents, without those of weight 0.
    shared_fraction : float
        The fraction of them shown at two or more positions.

    Examples
    --------
    >>> from gbrank.clicks import position_report
    >>> report = position_report([7, 7, 8, 8], [1, 2, 2, 3], [1, 0, 1, 1])
    >>> report.group, report.shared_fraction, report.connected
    ([0, 0, 0], 1.0, True)
    """

    positions: list[Any]
    impressions: list[float]
    clicked: list[float]
    bias: list[float]
    error: list[float]
    identified: list[float]
    group: list[int]
    documents: int
    shared_fraction: float

    @classmethod
    def restored(cls, positions: list[Any], **others: Any) -> PositionReport:
        """Restore a report from JSON, which has no tuples."""
        names = [tuple(name) if isinstance(name, list) else name for name in positions]
        return cls(positions=names, **others)

    @property
    def connected(self) -> bool:
        """Whether documents connect all positions, but for those of weight 0."""
        impressions = zip(self.group, self.impressions, strict=True)
        return len({group for group, number in impressions if number > 0}) <= 1

    @property
    def attention(self) -> dict[Any, float]:
        """How much attention each position gets, relative to the first."""
        return dict(zip(self.positions, np.exp(self.bias).tolist(), strict=True))

    def _table(self) -> Table:
        names = ("impressions", "clicked", "bias", "error", "identified", "group")
        columns = {name: getattr(self, name) for name in names}
        caption = (
            f"{self.shared_fraction:.1%} of {self.documents} documents were shown at 2 or more "
            "positions"
        )
        return Table.of({"position": self.positions, **columns}, caption=caption)


def position_report(
    documents: ArrayLike | Sequence[object],
    position: ArrayLike | Mapping[str, ArrayLike],
    clicks: ArrayLike,
    weights: ArrayLike | None = None,
) -> PositionReport:
    r"""Estimate the effect of each position on clicks, and how well a log identifies it.

    The number of clicks on document d at position p is expected to be
    :math:`n_{dp} \gamma_d e^{b_p}`: how often it was shown there, times how good it is, times how
    much attention the position gets. The worth of a document cancels in the distribution of its
    clicks over positions, so only documents shown at several positions carry information; nothing
    else is assumed about clicks (a Poisson model with fixed effects, which needs no Poisson
    distribution). The prior is a curve :math:`r^{-\eta}` with :math:`\eta \sim N(0, 1)`, plus an
    independent deviation of each position, of standard deviation 0.3: with few clicks the estimate
    is a curve, with none it is no bias. Standard errors are robust (sandwich).

    Parameters
    ----------
    documents : array-like, shape (n_shown,)
        Which document of which query was shown.
    position : array-like of int, shape (n_shown,), or mapping of str to such
        Where it was shown, from 1; or a mapping of names: the position first, then what else
        attention depends on, such as the device, also numbered from 1.
    clicks : array-like, shape (n_shown,)
        Whether it was clicked, or how often.
    weights : array-like, shape (n_shown,), optional
        How much each row counts.

    Returns
    -------
    PositionReport

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    References
    ----------
    A. Agarwal, I. Zaitsev, X. Wang, C. Li, M. Najork, T. Joachims. Estimating position bias without
    intrusive interventions. WSDM 2019 (documents at several positions). J. Wooldridge.
    Distribution-free estimation of some nonlinear panel data models. Journal of Econometrics 90,
    1999 (fixed effects). P. Hager, O. Zoeter, M. de Rijke. Unidentified and confounded?
    Understanding two-tower models for unbiased learning to rank. arXiv:2506.20501 (connection).

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank.clicks import position_report
    >>> rng = np.random.default_rng(0)
    >>> documents, position = np.repeat(np.arange(500), 8), np.tile([1, 2, 3, 4], 1000)
    >>> clicks = rng.random(4000) < 0.5 / position
    >>> report = position_report(documents, position, clicks)
    >>> np.round([*report.attention.values()], 1)
    array([1. , 0.5, 0.4, 0.3])
    """
    known = Queries.from_qid(documents, "documents")
    rank = np.argsort(np.argsort(known.id_keys, kind="stable"))
    document = rank[known.index]
    n = known.n_documents
    slots = find_slots(check_positions(position, "position", n))
    values = check_labels(clicks, "clicks", n)
    counts = check_weights(weights, "weights", n, "row")
    counts = np.ones(n) if counts is None else counts
    if not counts.any():
        raise ArgumentError("weights", "must have at least one positive entry", "only zeros")
    # Sums do not depend on the order of rows.
    order = np.lexsort((values, counts, slots.index, document))
    cells = (document[order], slots.index[order])
    shape = (len(rank), len(slots.names))
    shown = sp.csr_array((counts[order], cells), shape)
    clicked = sp.csr_array(((counts * values)[order], cells), shape)
    weighted = shown.sum(axis=1) > 0
    shown = shown[weighted]
    clicked = clicked[weighted]
    bias, error, identified = _estimate(shown, clicked, slots)
    seen = sp.csr_array(shown > 0, dtype=np.float64)
    together = (seen.T @ seen).toarray()  # dense: SciPy 1.11 misreads indices of 64 bits
    return PositionReport(
        positions=slots.names,
        impressions=shown.sum(axis=0).tolist(),
        clicked=clicked.sum(axis=0).tolist(),
        bias=bias.tolist(),
        error=error.tolist(),
        identified=identified.tolist(),
        group=connected_components(together, directed=False)[1].tolist(),
        documents=int(weighted.sum()),
        shared_fraction=float((seen.sum(axis=1) > 1).mean()),
    )


def _estimate(shown: Any, clicked: Any, slots: Slots) -> tuple[Vector, Vector, Vector]:
    """Estimate the bias of each slot, its standard error, and the share of it identified."""

    def variance_of_differences(covariance: Matrix) -> Vector:
        """Compute that of each difference from the first slot of the same context."""
        variance = np.diagonal(covariance)
        with_first = covariance[np.arange(len(first)), first]
        return np.maximum(variance + variance[first] - 2 * with_first, 0)

    first = slots.first
    precision = np.linalg.inv(slots.prior)
    bias = np.zeros(len(slots.names))
    clicks = clicked.sum(axis=1)
    for _ in range(STEPS):
        attention = shown * np.exp(bias)
        share = attention / attention.sum(axis=1)[:, np.newaxis]
        expected = share * clicks[:, np.newaxis]
        information = np.diag(expected.sum(axis=0)) - (share.T @ expected).toarray()
        gradient = clicked.sum(axis=0) - expected.sum(axis=0) - precision @ bias
        step = np.clip(np.linalg.solve(information + precision, gradient), -1, 1)
        bias = bias + step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    residual = clicked - expected
    posterior = np.linalg.inv(information + precision)
    robust = posterior @ ((residual.T @ residual).toarray() + precision) @ posterior
    prior_variance = variance_of_differences(slots.prior)
    posterior_variance = variance_of_differences(posterior)
    remaining = np.ones(len(bias))
    np.divide(posterior_variance, prior_variance, out=remaining, where=prior_variance > 0)
    identified = np.clip((1 - remaining).round(9), 0, 1)
    np.maximum.at(identified, first, identified.copy())
    error = np.sqrt(variance_of_differences(robust))
    return bias - bias[first], error, identified


def clicks_to_labels(
    log: pd.DataFrame, *, attention: Mapping[Any, float] | None = None
) -> pd.DataFrame:
    r"""Estimate a label, and its certainty, from the clicks on each document of each query.

    A document clicked C times, where an average one would have been clicked E times (the sum of
    the attention of its positions), is worth

    .. math:: w = \frac{C + a}{E + a}, \qquad y = \log_2(1 + w)

    and its label is :math:`y`, whose gain :math:`2^y - 1` is w: 1 is the average. a shrinks the
    worth of documents with few impressions (a gamma prior, fitted to the log by moments).

    Parameters
    ----------
    log : pandas.DataFrame
        One row per impression, with columns ``query``, ``document``, ``click``, and ``position``
        (from 1).
    attention : mapping of int to float, optional
        The attention of each position; estimated from the log by default (`position_report`).

    Returns
    -------
    pandas.DataFrame
        A row for each document of each query, in the order in which they first appear:
        ``query``, ``document``, ``impressions``, ``clicked``, ``label``, and ``weight``, from 0 to
        1: E / (E + a), the share of w that comes from the document's own clicks.

    Raises
    ------
    ValueError
        If a column is not as described, or there is no click.

    References
    ----------
    N. Craswell, O. Zoeter, M. Taylor, B. Ramsey. An experimental comparison of click position-bias
    models. WSDM 2008 (the position-based model). W. DuMouchel. Bayesian data mining in large
    frequency tables. American Statistician 53, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank.clicks import clicks_to_labels
    >>> log = pd.DataFrame(
    ...     {
    ...         "query": ["shoes"] * 6,
    ...         "document": list("abbaab"),
    ...         "position": [1, 2] * 3,
    ...         "click": [1, 0, 1, 1, 1, 0],
    ...     }
    ... )
    >>> clicks_to_labels(log)[["document", "impressions", "clicked"]].values.tolist()
    [['a', 3, 3.0], ['b', 3, 1.0]]
    """
    position = check_positions(log["position"], "log['position']", len(log))
    clicks = check_labels(log["click"], "log['click']", len(log))
    if not clicks.any():
        raise ArgumentError("log['click']", "must have at least one click", "only zeros")
    if attention is None:
        documents = log.groupby(**GROUPS).ngroup()
        attention = position_report(documents, position, clicks).attention
        position = merge_positions(position[:, np.newaxis])[:, 0]
    positions, index = np.unique(position, return_inverse=True)
    attentions = [
        check_number(attention.get(number), f"attention[{number}]", above=0)
        for number in positions.astype(int).tolist()
    ]
    chance = np.array(attentions)[index]
    rows = log.assign(click=clicks, expected=chance * clicks.sum() / chance.sum())
    table = rows.groupby(**GROUPS).agg(
        impressions=("click", "size"), clicked=("click", "sum"), expected=("expected", "sum")
    )
    expected = np.array(table.pop("expected"))
    clicked = np.array(table["clicked"])
    total = clicks.sum()
    # Worths of mean 1 and variance 1/a make clicks vary as much as they do.
    spread = (expected * (clicked / expected - 1) ** 2).sum() - (len(expected) - 1)
    prior = (total - (expected**2).sum() / total) / max(spread, 1e-9 * total)
    worth = (clicked + prior) / (expected + prior)
    return table.assign(
        label=np.log2(1 + worth), weight=expected / (expected + prior)
    ).reset_index()
