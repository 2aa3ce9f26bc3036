"""LambdaRank: RankNet's pairs weighted by what swapping them would change, for any measure."""

from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.logistic_pairs import FEW_GRADES, LONGEST, direct_pairs, with_pairs
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
        Only pairs of which one document is among the first `truncation` ranks take part; all by
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
