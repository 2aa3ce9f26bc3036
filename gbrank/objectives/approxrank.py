"""ApproxRank: measures of soft ranks."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import NO_ROWS, Vector
from gbrank.kernels.discounts import UNKNOWN
from gbrank.kernels.driver import Program
from gbrank.kernels.soft_ranks import LONGEST_DIRECT, SCRATCH, approximate_measure
from gbrank.measures import NDCG, DiscountedMeasure, Measure, get_measure
from gbrank.objectives.objective import Facts, Objective

__all__ = ["ApproxRank"]


@dataclass(frozen=True)
class ApproxRank(Objective):
    """ApproxRank: minus a measure, its ranks replaced by soft ranks.

    Soft ranks are r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ)); what depends on a truncation,
    or on which of two documents comes first, is a logistic function of soft ranks with steepness
    β. σ is 1/α in the paper. A query whose documents are all worth the same has loss 0.

    Parameters
    ----------
    measure : Measure or str
        Any measure that can be written in ranks: NDCG, DCG, precision, recall, WTA, RBP, AP, RR,
        ERR, pair-wise correct, Kendall's τ. Its own `ties` and `no_relevant` play no part.
    beta : float
        Steepness of truncations, per rank.
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.

    References
    ----------
    Qin, Liu & Li 2010, "A general approximation framework for direct optimization of information
    retrieval measures", equations 20 to 22; Wu et al. 2009.

    Examples
    --------
    >>> from gbrank import ApproxRank, Queries
    >>> bound = ApproxRank("ndcg").bind([2, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([3.0, 2.0, 1.0], sigma=1e-3).round(4)  # minus NDCG
    array([-0.9639])
    """

    name = "approx"
    facts = Facts(
        formula="−M(r̂), r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ))",
        source="Qin, Liu & Li 2010, eq. 20 to 22",
        takes_measure=True,
        cost="O(m²); with RR and ERR + O(n²) for the n documents that a user is likely to reach",
        fast=f"O(m log m) in place of O(m²) above {LONGEST_DIRECT:,} documents; sums over pairs of "
        "ranks (AP, pair-wise correct, Kendall's τ) from a few hundred",
    )

    measure: Measure | str = field(default_factory=NDCG)
    beta: float = 10.0
    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        measure = get_measure(self.measure)
        object.__setattr__(self, "measure", measure)
        check_number(self.beta, "beta", 0, open_low=True)
        check_choice(self.normalize, "normalize", [None, "query"])
        if type(measure).by_rank is None:
            raise ValueError(f"measure must be a function of ranks for ApproxRank, got {measure}.")

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure at soft ranks."""
        assert isinstance(self.measure, Measure)
        by_rank = type(self.measure).by_rank
        assert by_rank is not None
        terms = self.measure.terms(labels, queries)
        if isinstance(self.measure, DiscountedMeasure) and (terms.query[:, 2::3] == UNKNOWN).any():
            raise ValueError(
                f"discount must be one known by name for ApproxRank, which needs it at real ranks; "
                f"got {self.measure!r}."
            )
        return Program(
            kernel=approximate_measure,
            documents=terms.x[None, :],
            queries=terms.query,
            table=terms.table,
            params=np.array([self.beta, 1.0]),
            rows=(by_rank, NO_ROWS[1]),
            scratch=SCRATCH,
            query_norm=self.normalize == "query",
        )
