"""TieRank: the expected measure when scores are rounded at random to integers, which ties them."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.program import Program
from gbrank.kernels.tied_cascade import CASCADE_SCRATCH, cascade_parameters, tied_cascade
from gbrank.kernels.tied_expectation import SCRATCH, TieParameters, tied_expectation
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import ANNEALED, Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class TieRank(MeasureObjective):
    """TieRank: minus the expected measure when scores are rounded to integers at random.

    With x = s/σ + ½, a document is rounded down to ⌊x⌋ with probability φ(x − ⌊x⌋), up to ⌊x⌋ + 1
    otherwise, and documents on the same integer are tied: they share the mean of their discounts.
    The half puts 0, where scores start, midway between two integers; on an integer the slope is
    zero. The expectation over all roundings is exact, and so is its gradient. A score's distance
    from the integers matters: only multiples of σ can be added to all scores with no change.

    The curvature is |gradient| plus its mean over the query, divided by σ: steps are below σ.

    Parameters
    ----------
    measure : Measure or str
        A measure of the form Σ G(y) D(r)/Z (NDCG, DCG, precision, recall, WTA, RBP), AP, RR or
        ERR. Its own `ties` and `no_relevant` play no part.
    phi : {"spline", "linear"}
        φ(t) is 2t³ − 3t² + 1, or 1 − t, whose slope jumps at integers x (it is that to the right).
    sample : int, optional
        Draw up to this many documents of each label anew in every round, and rank only these; the
        paper draws 6, the default is all. Except for RR and ERR, the measure is scaled so that the
        best order keeps its value: NDCG and AP are those of the drawn documents.

    References
    ----------
    "TieRank" (the paper's sections 2.2 and 2.3); tied measures as in McSherry & Najork 2008,
    "Computing information retrieval performance measures efficiently in the presence of tied
    scores".

    Examples
    --------
    >>> from gbrank import NDCG, Queries, TieRank
    >>> bound = TieRank(NDCG(gain="linear")).bind([3, 1], Queries.from_sizes([2]))
    >>> bound.loss([-0.2, 0.1]).round(5)  # the paper's example: 0.3 and 0.6 less the half
    array([-0.85444])
    """

    name = "tie"
    needs = "form"
    wanted = "be AP, RR, ERR or have the form Σ G(y) D(r)/Z, such as NDCG, for TieRank"
    declared = Facts(
        formula="−E[M of ⌊x⌋ + b, tied], x = s/σ + ½, P(b = 0) = φ(x − ⌊x⌋), P(b = 1) = 1 − φ",
        source="TieRank, section 2.3",
        shift_invariant=False,
        sigma=ANNEALED,
        start="ranknet",
        cost="O(m√m); RR and ERR O(m²)",
        takes_measure=True,
    )

    phi: Literal["spline", "linear"] = "spline"
    sample: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(self.phi, "phi", ["spline", "linear"])
        check_number(self.sample, "sample", 1, integer=True, optional=True)

    @property
    def facts(self) -> Facts:
        """The facts of the objective, which is stochastic if documents are drawn."""
        return replace(self.declared, stochastic=self.sample is not None)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the expectation over all roundings."""
        form = self._measure.form
        rounding = TieParameters(
            paired=form == "paired",
            linear=self.phi == "linear",
            per_label=self.sample or np.inf,
        )
        cascade = form == "cascade"
        return self.terms(labels, queries).program(
            tied_cascade if cascade else tied_expectation,
            labels=labels,
            parameters=cascade_parameters(rounding, 2 * int(queries.sizes.max()))
            if cascade
            else rounding,
            scratch=CASCADE_SCRATCH if cascade else SCRATCH,
        )
