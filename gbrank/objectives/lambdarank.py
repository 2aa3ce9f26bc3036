"""LambdaRank: RankNet's pairs weighted by what swapping them would change, for any measure."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Program
from gbrank.kernels.logistic_pairs import FEW_GRADES, LONGEST, pair_program
from gbrank.measures import NDCG, BPref, Measure, get_measure
from gbrank.objectives.objective import Facts, Objective

__all__ = ["LambdaRank"]

BUILT_INS = ("lightgbm", "xgboost")


@dataclass(frozen=True)
class LambdaRank(Objective):
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
    normalize : {None, "query", "lightgbm", "xgboost"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.
        ``"lightgbm"`` and ``"xgboost"`` do all that these libraries' built-in objectives do:
        divide |ΔM| by 0.01 + |s_i − s_j|, take the ideal DCG at `truncation`, multiply the query
        by log2(1 + S) / S, S = Σ|λ| over pairs, leave the overall scale alone, and (xgboost) double
        the curvature.
    ties : {"expected", "order"}
        ``"order"`` takes documents of equal score in the order of the rows; it exists to
        reproduce the built-ins.

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
    facts = Facts(
        formula="λ_ij = −|ΔM_ij| / (σ (1 + exp((s_i − s_j)/σ))), y_i > y_j",
        source="Burges, Ragno & Le 2006, eq. 9",
        differentiable=False,
        takes_measure=True,
        cost="O(m²), with a truncation O(m truncation), with pair-wise correct and Kendall's τ "
        "O(m² log g) for g distinct labels",
        fast=f"O(m log m) {LONGEST}, with ERR + O(n t g²) for n tied documents of g labels, t of "
        f"which a user is likely to go through, with pair-wise correct and Kendall's τ O(m g²), "
        f"above {FEW_GRADES} labels O(m log² m), but not with a truncation; not with a gain that "
        "falls somewhere or the normalisation of a booster",
    )

    measure: Measure | str = field(default_factory=NDCG)
    truncation: int | None = None
    normalize: Literal["query", "lightgbm", "xgboost"] | None = None
    ties: Literal["expected", "order"] = "expected"

    def __post_init__(self) -> None:
        measure = get_measure(self.measure)
        object.__setattr__(self, "measure", measure)
        check_number(self.truncation, "truncation", 1, integer=True, optional=True)
        check_choice(self.normalize, "normalize", [None, "query", *BUILT_INS])
        check_choice(self.ties, "ties", ["expected", "order"])
        if type(measure).swaps is None:
            raise ValueError(f"measure must have a swap delta for LambdaRank, {measure} has none.")
        if isinstance(measure, BPref) and self.truncation and self.ties == "expected":
            raise ValueError(
                "truncation must be None for BPref with ties='expected': the chance that a pair "
                "touches the top depends on how many irrelevant documents precede it. BPref "
                "already ignores all but the first R irrelevant documents."
            )

    @property
    def rescaled(self) -> bool:
        """Whether hooks may scale gradient and curvature: not when reproducing a built-in."""
        return self.normalize not in BUILT_INS

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs weighted by the measure's swap delta."""
        assert isinstance(self.measure, Measure)
        terms = self.measure.terms(labels, queries)
        columns = terms.query
        built_in = self.normalize in BUILT_INS
        if built_in and self.truncation and hasattr(self.measure, "k"):
            cut: Any = replace(cast(Any, self.measure), k=self.truncation)
            columns = cut.terms(labels, queries).query
        return pair_program(
            labels,
            queries,
            swaps=type(self.measure).swaps,
            separable_between=type(self.measure).separable_between,
            counts_flips=type(self.measure).counts_flips,
            x=terms.x,
            columns=columns,
            table=terms.table,
            top=self.truncation,
            built_in=built_in,
            boost=2.0 if self.normalize == "xgboost" else 1.0,
            tied=self.ties == "expected",
            query_norm=self.normalize == "query",
        )
