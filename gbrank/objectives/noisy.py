"""NoisyLambdaRank: LambdaRank whose swap deltas are means over noisy rankings."""

from dataclasses import dataclass

import numpy as np

from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.contract import NO_SWAPS, MeasureFunctions
from gbrank.kernels.noisy_pairs import NOISY_SCRATCH, NoisyParameters, noisy_pairs
from gbrank.kernels.program import Program
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class NoisyLambdaRank(MeasureObjective):
    """NoisyLambdaRank: LambdaRank with the mean of |ΔM| over noisy rankings.

    In every round each query is ranked `draws` times by s_i + σ z_i, z standard Gumbel noise. For
    every pair y_i > y_j, with p = 1/(1 + exp((s_i − s_j)/σ)) at the scores without noise: gradient
    ∓E|ΔM| p/σ and curvature E|ΔM| p (1 − p)/σ², E the mean over these rankings.

    The noise depends on (seed, round, query) and on the rank of the document before it is added;
    the numbers that a document draws for the rankings of a round are evenly apart, modulo 1,
    before they are made Gumbel. Documents of equal score and label share a mean derivative.

    Parameters
    ----------
    measure : Measure or str
        Any measure with a swap delta. Its own `ties` and `no_relevant` play no part.
    draws : int
        Number of noisy rankings in each round.
    truncation : int, optional
        Only pairs of which one document is among the first `truncation` of a noisy ranking take
        part; None for all pairs, whose number grows with the square of a list's length.
    seed : int
        What the noise depends on, besides round and query.

    References
    ----------
    Gumbel noise as in YetiRank (Gulin, Kuralenok & Pavlov 2011, "Winning the transfer learning
    track of Yahoo!'s learning to rank challenge with YetiRank"), which has it in p as well.

    Examples
    --------
    >>> from gbrank import NoisyLambdaRank, Queries
    >>> bound = NoisyLambdaRank("ndcg").bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0])
    >>> gradient.round(4).tolist()  # half of 1 − 1/log2(3), whichever is first
    [-0.1845, 0.1845]
    """

    name = "noisy"
    needs = "swaps"
    wanted = "have a swap delta for NoisyLambdaRank"
    declared = Facts(
        formula="λ_ij = −E|ΔM_ij| / (σ (1 + exp((s_i − s_j)/σ))), y_i > y_j, ΔM in rankings by "
        "s + σz, z Gumbel",
        source="Burges, Ragno & Le 2006, eq. 9; noise as in Gulin, Kuralenok & Pavlov 2011",
        differentiable=False,
        stochastic=True,
        takes_measure=True,
        cost="O(m (log m + truncation)) for each draw, O(m²) without a truncation",
    )

    draws: int = 2
    truncation: int | None = 256
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.draws, "draws", 1, integer=True)
        check_number(self.truncation, "truncation", 1, integer=True, optional=True)
        check_number(self.seed, "seed", integer=True)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs weighted by the measure's swap deltas in noisy rankings."""
        swaps = type(self._measure).swaps
        assert swaps is not None
        given = {name: function for name, function in swaps._asdict().items() if function}
        return self.terms(labels, queries).program(
            noisy_pairs,
            MeasureFunctions(**(NO_SWAPS._asdict() | given)),
            labels=labels,
            parameters=NoisyParameters(
                self.draws,
                self.truncation or np.inf,
                by_row=swaps.separable is None,
                by_rank=swaps.separable is not None and self._measure.form == "discounted",
            ),
            scratch=NOISY_SCRATCH + self.draws + 1,
            measure_scratch=self._measure.scratch,
            seed=self.seed,
        )
