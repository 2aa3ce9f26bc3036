"""Gradients of a training, round by round: what boosters are given, as numbers to look at."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gbrank.common.checks import Matrix, Vector
from gbrank.common.table import Table, Tabular
from gbrank.data.queries import Queries

AT_BOUND = 1 - 1e-9  # a step this close to the longest one is bounded like it
FIRST_RANKS = 10


class RoundGradients(NamedTuple):
    """Gradients and curvatures of one round, in the booster's scale, in order of rows.

    Parameters
    ----------
    number : int
        The round, from 0.
    objective : str
        That of the round: the start's, or the objective itself.
    sigma : float
    scores, gradient, curvature : ndarray, shape (n_documents,)
        Those of documents that the round does not train on are 0.
    queries : Queries
    """

    number: int
    objective: str
    sigma: float
    scores: Vector
    gradient: Vector
    curvature: Vector
    queries: Queries

    @property
    def zero(self) -> float:
        """The share of documents without a gradient."""
        return float(np.mean(self.gradient == 0.0))

    @property
    def at_longest_step(self) -> float:
        """The share of documents whose step, |gradient| / curvature, is the longest of the round.

        These are the clipped ones: curvature is raised where a step would be longer than the
        objective's bound. Where no step is bounded, it is one document, but while all scores tie
        it is every document that is better, or worse, than all it is compared with.
        """
        sizes = np.abs(self.gradient)
        steps = np.divide(sizes, self.curvature, out=np.zeros(len(sizes)), where=sizes > 0)
        return float(np.mean((steps > 0) & (steps >= AT_BOUND * steps.max(initial=0.0))))

    def by_rank(self) -> Vector:
        """Sum |gradient| over the documents at each rank; ties share theirs.

        Returns
        -------
        ndarray, shape (longest query,)
        """
        order = np.lexsort((-self.scores, self.queries.index))
        ranks = self.queries.places
        starts = np.flatnonzero((ranks == 0) | (np.diff(self.scores[order], prepend=np.nan) != 0))
        sizes = np.diff(starts, append=len(order))
        sums = np.add.reduceat(np.abs(self.gradient[order]), starts)
        return np.bincount(ranks, np.repeat(sums / sizes, sizes)).astype(np.float64)


Watch: TypeAlias = Callable[[RoundGradients], Any]


class GradientWatch(Tabular):
    """Records the gradients of each round; a callback of `GBRanker`, or the `watch=` of a hook.

    A row has the mean of |gradient|; the standard deviations of gradient and curvature; the shares
    of documents without a gradient, and with the longest step, to which others are clipped (see
    `RoundGradients.at_longest_step`); and the share of the sum of |gradient| in the first 10 ranks.
    `plots.gradients` draws them.

    Attributes
    ----------
    rows : list of dict
        The columns of the table for each round.
    by_rank : list of ndarray
        The sums of |gradient| by rank in each round (`RoundGradients.by_rank`).

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> from gbrank.extend import GradientWatch
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=5, random_state=0)
    >>> watch = GradientWatch()
    >>> ranker = GBRanker("approx:ndcg", n_estimators=4).fit(X, y, qid=qid, callbacks=[watch])
    >>> watch.to_pandas()["objective"].tolist()
    ['ranknet', 'ranknet', 'approx:ndcg', 'approx:ndcg']
    """

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.by_rank: list[Vector] = []

    def __call__(self, round: Any) -> None:
        """Record a round: `RoundGradients`, or what `GBRanker` gives to callbacks."""
        seen: RoundGradients | None = getattr(round, "gradients", round)
        if seen is None:  # the last round of a checkpoint
            return
        last = self.rows[-1]["round"] if self.rows else -1
        # A hook may see several data sets in one round, in cross-validation.
        if seen.number < last or (seen is not round and seen.number == last):  # another training
            self.rows = []
            self.by_rank = []
        ranks = seen.by_rank()
        at_first = ranks[:FIRST_RANKS].sum() / (ranks.sum() or 1.0)
        self.by_rank.append(ranks)
        self.rows.append(
            {
                "round": seen.number,
                "objective": seen.objective,
                "sigma": seen.sigma,
                "mean |gradient|": float(np.abs(seen.gradient).mean()),
                "spread": float(seen.gradient.std()),
                "curvature spread": float(seen.curvature.std()),
                "zero": seen.zero,
                "at longest step": seen.at_longest_step,
                f"first {FIRST_RANKS} ranks": float(at_first),
            }
        )

    def shares_by_rank(self, ranks: int) -> Matrix:
        """Compute each round's shares of |gradient| at the first ranks, shape (rounds, ranks)."""
        shares = np.zeros((len(self.by_rank), ranks))
        for row, sums in zip(shares, self.by_rank, strict=True):
            head = sums[:ranks]
            row[: len(head)] = head / (sums.sum() or 1.0)
        return shares

    def _table(self) -> Table:
        head = [*self.rows[0]] if self.rows else []
        return Table(head, [[*row.values()] for row in self.rows], words=(1,))
