"""ApproxRank: measures of soft ranks."""

from dataclasses import dataclass
from typing import Literal

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.contract import MeasureFunctions
from gbrank.kernels.program import Program
from gbrank.kernels.soft_ranks import (
    LONGEST_DIRECT,
    SCRATCH,
    ApproxParameters,
    SigmoidParameters,
    approximate_measure,
    sigmoid_measure,
)
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import ANNEALED, Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class ApproxRank(MeasureObjective):
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
    sigmoid : {"logistic", "arctan", "erf"}
        What the soft ranks sum, f(z) in place of 1/(1 + exp(z)), z = (s_i − s_j)/σ: ½ −
        arctan(πz/4)/π, or ½ erfc(√π z/4), whose slope at 0 is the same. These two take O(m²) at
        any length. The paper's hyperbolic tangent is the logistic function:
        ½ (1 − tanh(z/2)) = 1/(1 + exp(z)).

    References
    ----------
    Qin, Liu & Li 2010, "A general approximation framework for direct optimization of information
    retrieval measures", equations 20 to 22 and footnote 3; Wu et al. 2009.

    Examples
    --------
    >>> from gbrank import ApproxRank, Queries
    >>> bound = ApproxRank("ndcg").bind([2, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([3.0, 2.0, 1.0], sigma=1e-3).round(4)  # minus NDCG
    array([-0.9639])
    """

    name = "approx"
    needs = "by_rank"
    wanted = "be a function of ranks for ApproxRank"
    declared = Facts(
        formula="−M(r̂), r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ))",
        source="Qin, Liu & Li 2010, eq. 20 to 22",
        sigma=ANNEALED,
        start="ranknet",
        takes_measure=True,
        cost="O(m²); with RR and ERR + O(n²) for the n documents that a user is likely to reach",
        fast=f"O(m log m) in place of O(m²) above {LONGEST_DIRECT:,} documents; sums over pairs of "
        "ranks (AP, pair-wise correct, Kendall's τ) from a few hundred",
    )

    beta: float = 10.0
    sigmoid: Literal["logistic", "arctan", "erf"] = "logistic"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.beta, "beta", 0, open_low=True)
        check_choice(self.sigmoid, "sigmoid", ["logistic", "arctan", "erf"])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure at soft ranks."""
        if not self._measure.known_at_real_ranks:
            raise ValueError(
                f"discount must be one known by name for ApproxRank, which needs it at real ranks; "
                f"got {self.measure!r}."
            )
        logistic = self.sigmoid == "logistic"
        others = SigmoidParameters(self.beta, self.sigmoid == "arctan")
        return self.terms(labels, queries).program(
            approximate_measure if logistic else sigmoid_measure,
            MeasureFunctions(by_rank=type(self._measure).by_rank),
            parameters=ApproxParameters(self.beta) if logistic else others,
            scratch=SCRATCH,
            measure_scratch=self._measure.scratch,
        )
