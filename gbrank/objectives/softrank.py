"""SoftRank: the expected measure when scores have Gaussian noise."""

from dataclasses import dataclass

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.kernels.program import Program
from gbrank.kernels.rank_distributions import SCRATCH, SoftRankParameters, accuracy_of, soft_rank
from gbrank.kernels.rank_exponentials import fit_discounts
from gbrank.measures.measure import Measure
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import ANNEALED, Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class SoftRank(MeasureObjective):
    """SoftRank: minus the expected measure when scores have independent Gaussian noise.

    The loss is −Z⁻¹ Σ_i G_i Σ_r P_i(r) D(r), where P_i(r) is the probability that document i has
    rank r when noise of standard deviation σ is added to each score. Unlike the paper, which takes
    the pairs of a document for independent, the distributions of ranks are exact: given the noisy
    score of document i, the others are above it independently, and this is integrated over.

    Discounts that are sums of exponentials of the rank, as log2, LETOR's, reciprocal, geometric and
    linear ones are to within 1e-7, need no distribution of ranks, and are much faster. Others, such
    as those that are cut at a rank, need it.

    Parameters
    ----------
    measure : DiscountedMeasure or str
        A measure of the form Z⁻¹ Σ G(y) D(r): NDCG, DCG, precision, recall, WTA, RBP. Its own
        `ties` and `no_relevant` play no part.
    tolerance : float
        By how much the value may be off, relative to the measure of the best order, and the
        gradient, relative to that per σ; between 1e-10 and 1e-3.

    References
    ----------
    Taylor, Guiver, Robertson & Minka 2008, "SoftRank: optimizing non-smooth rank metrics".

    Examples
    --------
    >>> from gbrank import Queries, SoftRank
    >>> bound = SoftRank("ndcg").bind([1, 0], Queries.from_sizes([2]))
    >>> bound.loss([0.0, 0.0]).round(4)  # minus the mean of NDCG over both orders
    array([-0.8155])
    """

    name = "soft"
    wanted = "be of the form Σ G(y) D(r) for SoftRank, such as 'ndcg' or 'precision@5'"
    declared = Facts(
        formula="−Z⁻¹ Σ_i G_i Σ_r P(rank of i = r) D(r), scores with noise N(0, σ²)",
        source="Taylor, Guiver, Robertson & Minka 2008, eq. 8, with exact distributions of ranks",
        cost="O(m log m); if the measure has a k, O(n k √k) for every n documents within 10 σ of "
        "each other",
        sigma=ANNEALED,
        start="ranknet",
        takes_measure=True,
    )

    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.tolerance, "tolerance", 1e-10, 1e-3)

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Say whether the measure is a sum of gains times discounts."""
        return measure.form == "discounted"

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure's gains and discounts."""
        terms = self.terms(labels, queries)
        rates, drops = fit_discounts(terms.table, queries, self.tolerance)
        return terms.program(
            soft_rank,
            parameters=SoftRankParameters(rates, drops, accuracy_of(self.tolerance)),
            scratch=SCRATCH,
        )
