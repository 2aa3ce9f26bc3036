"""SmoothRank: measures of soft indicators; and SmoothAP, average precision of soft ranks."""

from dataclasses import dataclass

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels import soft_indicators, soft_precision
from gbrank.kernels.contract import MeasureFunctions
from gbrank.kernels.program import Program
from gbrank.measures.average_precision import AP
from gbrank.objectives.kernel_objective import KernelObjective, MeasureObjective
from gbrank.objectives.objective import ANNEALED, Facts
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
    query whose documents are all worth the same has loss 0. The curvature is |gradient| plus its
    mean over the query, divided by the longest step: √σ, or less if the scores' spread is smaller.

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
        fast=f"O(m log m) where n is above {2 * soft_indicators.MOST_NEIGHBOURS}",
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure of soft indicators."""
        return self.terms(labels, queries).program(
            soft_indicators.smooth_measure,
            MeasureFunctions(by_position=type(self._measure).by_position),
            parameters=soft_indicators.SmoothParameters(),
            scratch=soft_indicators.SCRATCH,
            measure_scratch=self._measure.scratch,
        )


@register_objective
@dataclass(frozen=True)
class SmoothAP(KernelObjective):
    """SmoothAP: minus the mean, over relevant documents, of precision at their soft ranks.

    With p_ij = 1/(1 + exp((s_i − s_j)/σ)), how far document j is above i, the loss is
    −1/R Σ_i (1 + Σ_j p_ij)/(1 + Σ_k p_ik) over the R relevant documents i, the other relevant
    documents j ≠ i, and all other documents k ≠ i. It is the second of the two smooth forms of AP
    that come with SmoothRank, hence its other name, "smooth:ap-ranks"; the first, "smooth:ap",
    goes through soft indicators. Unlike that, it needs no initial scores.

    As printed, equation 9 counts a relevant document as half above itself, with which the limit
    σ → 0 is not AP, but AP less the mean of 1/(2 r_i) over relevant documents i; by default it
    counts in full, as in equation 4. A query whose documents are all
    relevant, or all irrelevant, has loss 0.

    Parameters
    ----------
    threshold : float
        The smallest label that counts as relevant.
    as_printed : bool
        Whether a relevant document counts as half above itself, as equation 9 reads.

    References
    ----------
    Chapelle & Wu 2010, "Gradient descent optimization of smoothed information retrieval
    metrics", equations 4, 5 and 9; Brown, Xie, Kalogeiton & Zisserman 2020, "Smooth-AP: smoothing
    the path towards large-scale image retrieval".

    Examples
    --------
    >>> from gbrank import Queries, SmoothAP
    >>> bound = SmoothAP().bind([1, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([3.0, 2.0, 1.0], sigma=1e-3).round(4)  # minus AP
    array([-0.8333])
    """

    name = "smoothap"
    aliases = ("smooth:ap-ranks",)
    declared = Facts(
        formula="−1/R Σ_i (1 + Σ_{j ≠ i} p_ij)/(1 + Σ_{k ≠ i} p_ik), i and j relevant, k any, "
        "p_ij = 1/(1 + exp((s_i − s_j)/σ))",
        source="Chapelle & Wu 2010, eq. 9; Brown et al. 2020",
        fast=f"O(m log m) above {soft_precision.LONGEST_DIRECT:,} documents",
        sigma=ANNEALED,
        start="ranknet",
    )

    threshold: float = 1.0
    as_printed: bool = False

    def __post_init__(self) -> None:
        AP(threshold=self.threshold)  # checks it
        check_choice(self.as_printed, "as_printed", [True, False])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return average precision of soft ranks."""
        terms = AP(threshold=self.threshold).terms(labels, queries)
        own = 0.5 if self.as_printed else 1.0
        return terms.program(
            soft_precision.smooth_average_precision,
            parameters=soft_precision.SmoothAPParameters(own),
            scratch=soft_precision.SCRATCH,
        )
