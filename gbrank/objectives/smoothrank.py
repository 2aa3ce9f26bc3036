"""SmoothRank: measures of soft indicators."""

from dataclasses import dataclass

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.contract import MeasureFunctions
from gbrank.kernels.program import Program
from gbrank.kernels.soft_indicators import SCRATCH, SmoothParameters, smooth_measure
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class SmoothRank(MeasureObjective):
    """SmoothRank: minus a measure of soft indicators of which document is at which position.

    h_ij = softmax over i of −(s_i − s_d(j))²/σ says how far document i is at position j, where
    document d(j) is. With ḡ_j = Σ_i x_i h_ij in place of what the document at position j is worth,
    NDCG is Σ_j D(j) ḡ_j / Z; AP is Σ_j ḡ_j (Σ_{l ≤ j} ḡ_l)/j / R; RR and ERR are
    Σ_j ḡ_j/j Π_{l < j} (1 − ḡ_l). σ is in squared score units. (The paper's other
    smooth AP, of soft ranks, is `SmoothAP`.)

    Where all scores of a query are equal the gradient is zero: training needs initial scores. A
    query whose documents are all worth the same has loss 0. The curvature is |gradient| and its
    mean over the query, over the longest step: √σ, or less where that is beyond the scores' spread.

    Parameters
    ----------
    measure : Measure or str
        Any measure of what is at each position: NDCG, DCG, precision, recall, WTA, RBP, AP, RR,
        ERR. Its own `ties` and `no_relevant` play no part.

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
    needs = "by_position"
    wanted = "say what each position is worth for SmoothRank"
    declared = Facts(
        formula="−M(ḡ), ḡ_j = Σ_i x_i h_ij, h_ij = softmax_i(−(s_i − s_{d(j)})²/σ)",
        source="Chapelle & Wu 2010, eq. 7, 8",
        sigma_unit="squared score",
        sigma="geometric(0.1, 0.01, unit='spread')",  # widths of 0.3 to 0.1 spreads
        start="ranknet",
        needs_start=True,
        takes_measure=True,
        cost="O(m n) for n neighbours within 8√σ of a document",
        fast="O(m log m) where n is above 250",
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure of soft indicators."""
        return self.terms(labels, queries).program(
            smooth_measure,
            MeasureFunctions(by_position=type(self._measure).by_position),
            parameters=SmoothParameters(),
            scratch=SCRATCH,
            measure_scratch=self._measure.scratch,
        )
