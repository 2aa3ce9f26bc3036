"""XE-NDCG: cross entropy to noisy gains, a convex bound on NDCG."""

from dataclasses import dataclass

from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.program import Program
from gbrank.kernels.softmax import noisy_softmax_loss
from gbrank.measures.gains import Gain, check_gain, gain_values
from gbrank.measures.grades import labels_differ
from gbrank.objectives.kernel_objective import KernelObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class XENDCG(KernelObjective):
    """XE-NDCG: −Σ t_i log p_i with p = softmax(s/σ) and noisy targets t_i ∝ G(y_i) + 1 − γ_i.

    Every round draws each γ_i anew, uniformly from ]0, 1[; with exponential gains,
    G(y) + 1 − γ = 2^y − γ. The curvature is the Hessian's diagonal, p (1 − p)/σ², but at least
    |gradient|/σ. Queries whose labels are all equal take no part.

    LightGBM's ``rank_xendcg`` adds to the gradient the second and third order terms of a series
    for the Newton step; here it is the gradient of the loss, which trains as well.

    Parameters
    ----------
    gain : {"exp2", "linear"}, tuple or callable
        What a label is worth; see `gbrank.measures.gains.gain_values`.
    seed : int
        What the draws depend on, besides round and query.

    References
    ----------
    Bruch 2021, "An alternative cross entropy loss for learning-to-rank", the
    definition of XE-NDCG.

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = XENDCG().bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0], round=3)
    >>> bool(gradient[0] < 0 < gradient[1])
    True
    """

    name = "xendcg"
    declared = Facts(
        formula="−Σ_i t_i log p_i, t_i ∝ G(y_i) + 1 − γ_i, p = softmax(s/σ)",
        source="Bruch 2021, definition of XE-NDCG",
        convex=True,
        stochastic=True,
        cost="O(m)",
    )

    gain: Gain = "exp2"
    seed: int = 0

    def __post_init__(self) -> None:
        check_gain(self.gain)
        check_number(self.seed, "seed", integer=True)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the cross entropy to gains plus noise."""
        return Program(
            kernel=noisy_softmax_loss,
            labels=labels,
            x=gain_values(self.gain, labels),
            scale=labels_differ(labels, queries),
            scratch=2,
            seed=self.seed,
        )
