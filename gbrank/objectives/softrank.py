"""SoftRank: the expected measure when scores have Gaussian noise."""

from dataclasses import dataclass

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.program import Program
from gbrank.kernels.rank_distributions import LONGEST_DIRECT, SCRATCH, SoftRankParameters, soft_rank
from gbrank.kernels.rank_exponentials import fit_discounts, make_tables
from gbrank.measures.measure import Measure
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import ANNEALED, Facts
from gbrank.objectives.objective_registry import register_objective

__all__ = ["SoftRank"]


@register_objective
@dataclass(frozen=True)
class SoftRank(MeasureObjective):
    """SoftRank: minus the expected measure when scores have independent Gaussian noise.

    The loss is −Z⁻¹ Σ_i G_i Σ_r P_i(r) D(r), where P_i(r) is the probability that document i has
    rank r when noise of standard deviation σ is added to each score. Unlike the paper, which takes
    the pairs of a document for independent, the distributions of ranks are exact: given the noisy
    score of document i, the others are above it independently, and this is integrated over. Value
    and gradient are accurate to 1e-10 of the largest value of the measure.

    Longer lists do without distributions of ranks, if the discount is a sum of exponentials of the
    rank to a millionth: as log2, LETOR's, reciprocal
    , geometric and linear ones
    are. Value and gradient are then accurate to 1e-6 of their largest entry (as measured, to 1e-8),
    the curvature to 5e-3: there, gains that differ by less than 1/64 of the largest are not all
    told apart. A discount that is cut at a rank k needs distributions only where few documents are
    above, and is exact for lists of any length.

    Parameters
    ----------
    measure : DiscountedMeasure or str
        A measure of the form Z⁻¹ Σ G(y) D(r): NDCG, DCG, precision, recall, WTA, RBP. Its own
        `ties` and `no_relevant` play no part.

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
        cost="O(n²) for every n documents within 15 σ of each other, each at √n points of "
        "integration",
        fast=f"O(m log m) above {LONGEST_DIRECT:,} documents; O(n k √k) if the measure has a k",
        sigma=ANNEALED,
        start="ranknet",
        takes_measure=True,
    )

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Say whether the measure is a sum of gains times discounts."""
        return measure.form == "discounted"

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure's gains and discounts."""
        terms = self.terms(labels, queries)
        rates, drops = fit_discounts(terms.table, queries, LONGEST_DIRECT)
        return terms.program(
            soft_rank,
            parameters=SoftRankParameters(rates, drops, make_tables(rates), LONGEST_DIRECT),
            scratch=SCRATCH,
        )
