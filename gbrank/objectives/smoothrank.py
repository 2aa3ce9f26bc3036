"""SmoothRank: measures of soft indicators."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import NO_ROWS, Vector
from gbrank.kernels.driver import Program
from gbrank.kernels.soft_indicators import MOST_NEIGHBOURS, SCRATCH, smooth_measure
from gbrank.measures import NDCG, Measure, get_measure
from gbrank.objectives.objective import Facts, Objective

__all__ = ["SmoothRank"]


@dataclass(frozen=True)
class SmoothRank(Objective):
    """SmoothRank: minus a measure of soft indicators of which document is at which position.

    h_ij = softmax over i of −(s_i − s_d(j))²/σ says how far document i is at position j, where
    document d(j) is. With ḡ_j = Σ_i x_i h_ij in place of what the document at position j is worth,
    NDCG is Σ_j D(j) ḡ_j / Z; AP is Σ_j ḡ_j (Σ_{l ≤ j} ḡ_l)/j / R; RR and ERR are
    Σ_j ḡ_j/j Π_{l < j} (1 − ḡ_l). σ is in squared score units. (The paper's other
    smooth AP, of soft ranks, is `SmoothAP`.)

    Where all scores of a query are equal the gradient is zero: training needs initial scores. A
    query whose documents are all worth the same has loss 0.

    Parameters
    ----------
    measure : Measure or str
        Any measure of what is at each position: NDCG, DCG, precision, recall, WTA, RBP, AP, RR,
        ERR. Its own `ties` and `no_relevant` play no part.
    floor : float
        How much of its query's mean curvature every document gets.
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.

    References
    ----------
    Chapelle & Wu 2010, "Gradient descent optimization of smoothed information retrieval
    metrics", equations 7, 8 and 10, and section 4.2.

    Examples
    --------
    >>> from gbrank import Queries, SmoothRank
    >>> bound = SmoothRank("ndcg").bind([2, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([3.0, 2.0, 1.0], sigma=1e-3).round(4)  # minus NDCG
    array([-0.9639])
    """

    name = "smooth"
    facts = Facts(
        formula="−M(ḡ), ḡ_j = Σ_i x_i h_ij, h_ij = softmax_i(−(s_i − s_d(j))²/σ)",
        source="Chapelle & Wu 2010, eq. 7, 8",
        sigma_unit="squared score",
        sigma="geometric(3, 1, rounds=150, unit='spread')",
        needs_start=True,
        takes_measure=True,
        cost="O(m n) for n neighbours within 8√σ of a document",
        fast="O(m log m) where n is above 250",
    )

    measure: Measure | str = field(default_factory=NDCG)
    floor: float = 0.2
    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        measure = get_measure(self.measure)
        object.__setattr__(self, "measure", measure)
        check_number(self.floor, "floor", 0)
        check_choice(self.normalize, "normalize", [None, "query"])
        if type(measure).by_place is None:
            raise ValueError(
                f"measure must say what each position is worth for SmoothRank, got {measure}."
            )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure of soft indicators."""
        assert isinstance(self.measure, Measure)
        by_place = type(self.measure).by_place
        assert by_place is not None
        terms = self.measure.terms(labels, queries)
        return Program(
            kernel=smooth_measure,
            documents=terms.x[None, :],
            queries=terms.query,
            table=terms.table,
            params=np.array([self.floor, MOST_NEIGHBOURS]),
            rows=(by_place, NO_ROWS[1]),
            scratch=SCRATCH,
            query_norm=self.normalize == "query",
        )
