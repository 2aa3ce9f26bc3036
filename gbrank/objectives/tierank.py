"""TieRank: the expected measure when scores are rounded at random to integers, which ties them."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gbrank._checks import check_choice
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Program
from gbrank.kernels.tierank import SCRATCH, tied_expectation
from gbrank.measures import NDCG, Measure, get_measure
from gbrank.measures.discounted import DiscountedMeasure
from gbrank.objectives.base import Facts, Objective
from gbrank.queries import Queries

__all__ = ["TieRank"]


@dataclass(frozen=True)
class TieRank(Objective):
    """TieRank."""

    name = "tie"
    facts = Facts(
        formula="−E[tied M(⌊x⌋ + b)], x = s/σ + ½, P(b_i = 0) = φ(x_i − ⌊x_i⌋), P(b_i = 1) = 1 − φ",
        source="TieRank",
        shift_invariant=False,
        cost="O(m²)",
        takes_measure=True,
    )

    measure: Measure | str = field(default_factory=NDCG)
    phi: Literal["spline", "linear"] = "spline"
    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        measure = get_measure(self.measure)
        object.__setattr__(self, "measure", measure)
        check_choice(self.phi, "phi", ["spline", "linear"])
        check_choice(self.normalize, "normalize", [None, "query"])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the exact expectation over all roundings."""
        assert isinstance(self.measure, DiscountedMeasure)
        terms = self.measure.terms(labels, queries)
        return Program(
            kernel=tied_expectation,
            documents=np.stack([labels, terms.x]),
            queries=terms.query,
            table=np.concatenate([[0.0], np.cumsum(terms.table)]),
            params=np.array([self.phi == "linear", 0.2]),
            scratch=SCRATCH,
            query_norm=self.normalize == "query",
        )
