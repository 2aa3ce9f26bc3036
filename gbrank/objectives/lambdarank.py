"""LambdaRank: RankNet's pairs weighted by what swapping them would change, for any measure.

The change is that in the ranking by scores (LambdaRank), or the mean over noisy rankings.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.contract import functions_of
from gbrank.kernels.logistic_pairs import FEW_GRADES, LONGEST, direct_pairs, with_pairs
from gbrank.kernels.noisy_pairs import NOISY_SCRATCH, TOP, WHOLE, NoisyParameters, noisy_pairs
from gbrank.kernels.program import Program
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class LambdaRank(MeasureObjective):
    """LambdaRank: pair gradients weighted by |ΔM|, the measure's change when the two swap ranks.

    For every pair y_i > y_j, with p = 1/(1 + exp((s_i − s_j)/σ)): gradient ∓|ΔM| p/σ and curvature
    |ΔM| p (1 − p)/σ². Documents of equal score take the mean of |ΔM| over all their orders, so
    that the order of rows never matters.

    Parameters
    ----------
    measure : Measure or str
        Any measure with a swap delta. Its own `ties` and `no_relevant` play no part.
    truncation : int, optional
        Only pairs with a document among the first `truncation` ranks take part; all by
        default. It is separate from the measure's k.
    normalize : {None, "lightgbm", "xgboost"}
        ``"lightgbm"`` and ``"xgboost"`` do what these libraries' built-in objectives do: divide
        |ΔM| by 0.01 + |s_i − s_j|, take the ideal DCG at `truncation`, multiply the query by
        log2(1 + S) / S, S = Σ|λ| over pairs, leave the scale alone, and (xgboost) double curvature.
    ties : {"expected", "order"}
        ``"order"`` takes documents of equal score as the rows come, to reproduce the built-ins.

    References
    ----------
    Burges, Ragno & Le 2006, "Learning to rank with nonsmooth cost functions", section 6.2.

    Examples
    --------
    >>> from gbrank import AP, LambdaRank, Queries
    >>> bound = LambdaRank(AP()).bind([0, 1, 0], Queries.from_sizes([3]))
    >>> gradient, curvature = bound.gradients([2.0, 1.0, 0.0])
    >>> gradient.round(4).tolist()
    [0.3655, -0.4104, 0.0448]
    """

    name = "lambda"
    aliases = ("lambdarank",)
    needs = "swaps"
    wanted = "have a swap delta for LambdaRank"
    declared = Facts(
        formula="λ_ij = −|ΔM_ij| / (σ (1 + exp((s_i − s_j)/σ))), y_i > y_j",
        source="Burges, Ragno & Le 2006, eq. 9",
        differentiable=False,
        takes_measure=True,
        cost="O(m²), with a truncation O(m truncation), with pair-wise correct and Kendall's τ "
        "O(m² log g) for g distinct labels",
        fast=f"O(m log m) {LONGEST}, with ERR + O(n t g²) for n tied documents of g labels, t of "
        f"which a user is likely to go through, with pair-wise correct and Kendall's τ O(m g²) up "
        f"to {FEW_GRADES} labels, but not with a truncation; not with a gain that falls somewhere "
        "or the normalisation of a booster",
    )

    truncation: int | None = None
    normalize: Literal["lightgbm", "xgboost"] | None = None
    ties: Literal["expected", "order"] = "expected"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.truncation, "truncation", 1, integer=True, optional=True)
        check_choice(self.normalize, "normalize", [None, "lightgbm", "xgboost"])
        check_choice(self.ties, "ties", ["expected", "order"])
        if not self._measure.truncatable and self.truncation and self.ties == "expected":
            raise ValueError(
                f"truncation must be None for {self.measure} with ties='expected': the chance that "
                "a pair touches the top depends on which documents precede it."
            )

    @property
    def rescaled(self) -> bool:
        """Whether hooks may scale gradient and curvature: not when reproducing a built-in."""
        return self.normalize is None

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs weighted by the measure's swap delta."""
        terms = self.terms(labels, queries)
        built_in = self.normalize is not None
        if built_in and self.truncation and hasattr(self.measure, "k"):
            cut: Any = replace(cast(Any, self.measure), k=self.truncation)
            terms = replace(terms, scale=cut.terms(labels, queries).scale)
        tied = self.ties == "expected"
        program = terms.program(
            direct_pairs,
            labels=labels,
            measure_scratch=self._measure.scratch,
            tied=tied,
            order="descending" if tied else "input",
        )
        return with_pairs(
            program,
            queries.sizes,
            type(self._measure).swaps,
            top=self.truncation,
            built_in=built_in,
            boost=2.0 if self.normalize == "xgboost" else 1.0,
        )


@register_objective
@dataclass(frozen=True)
class NoisyLambdaRank(MeasureObjective):
    """NoisyLambdaRank: LambdaRank with the mean of |ΔM| over noisy rankings.

    In every round each query is ranked `draws` times by s_i + σ z_i, z standard Gumbel noise. For
    every pair y_i > y_j, with p = 1/(1 + exp((s_i − s_j)/σ)) at the scores without noise: gradient
    ∓E|ΔM| p/σ and curvature E|ΔM| p (1 − p)/σ², E the mean over these rankings.

    The noise depends on (seed, round, query) and on the rank of the document without noise. A
    document's draws in a round are stratified: Gumbel noise from uniform numbers that are evenly
    spaced modulo 1. Documents of equal score and label get the mean of their derivatives.

    Parameters
    ----------
    measure : Measure or str
        Any measure with a swap delta. Its own `ties` and `no_relevant` play no part.
    draws : int
        Number of noisy rankings in each round.
    truncation : int, optional
        Only pairs with a document among the first `truncation` of a noisy ranking take part;
        by default 192 in lists of more than 700 documents, and all pairs in the others.
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
        cost="O(m (log m + truncation)) for each draw",
    )

    draws: int = 2
    truncation: int | None = None
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
        return self.terms(labels, queries).program(
            noisy_pairs,
            functions_of(swaps),
            labels=labels,
            parameters=NoisyParameters(
                self.draws,
                self.truncation or TOP,
                0 if self.truncation else WHOLE,
                by_row=swaps.separable is None,
                by_rank=swaps.separable is not None and self._measure.form == "discounted",
            ),
            scratch=NOISY_SCRATCH + self.draws + 1,
            measure_scratch=self._measure.scratch,
            seed=self.seed,
        )
