"""SmoothAP: average precision of soft ranks."""

from dataclasses import dataclass

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.program import Program
from gbrank.kernels.soft_precision import (
    LONGEST_DIRECT,
    SCRATCH,
    SmoothAPParameters,
    smooth_average_precision,
)
from gbrank.measures.average_precision import AP
from gbrank.objectives.kernel_objective import KernelObjective
from gbrank.objectives.objective import ANNEALED, Facts
from gbrank.objectives.objective_registry import register_objective


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
        fast=f"O(m log m) above {LONGEST_DIRECT:,} documents",
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
            smooth_average_precision, parameters=SmoothAPParameters(own), scratch=SCRATCH
        )
