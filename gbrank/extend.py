"""Everything that a measure or an objective of your own needs.

`custom_objective` makes an objective from a function of one query.

A measure is a subclass of `Measure`, decorated with `register_measure`. A relaxation is a subclass
of `MeasureObjective`, any other objective one of `KernelObjective`, both decorated with
`register_objective`. The estimators, the hooks, the command line and the catalogue then know them.
`gbrank.kernels.contract` says what their compiled functions are given; docs/extending.md shows one
of each.
"""

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import inline, plain
from gbrank.kernels.contract import (
    MeasureFunctions,
    NoParameters,
    Query,
    Ranking,
    SeparableDelta,
    Swaps,
)
from gbrank.kernels.newton_steps import bound_steps, to_score_units
from gbrank.kernels.program import Program
from gbrank.measures.discounted import DiscountedMeasure
from gbrank.measures.measure import Measure, Terms
from gbrank.measures.measure_registry import register_measure
from gbrank.objectives.from_string import custom_objective
from gbrank.objectives.kernel_objective import KernelObjective, MeasureObjective
from gbrank.objectives.objective import Facts, Objective
from gbrank.objectives.objective_registry import register_objective

__all__ = [
    "DiscountedMeasure", "Facts", "KernelObjective", "Measure", "MeasureFunctions",
    "MeasureObjective", "NoParameters", "Objective", "Program", "Queries", "Query", "Ranking",
    "SeparableDelta", "Swaps", "Terms", "bound_steps", "custom_objective", "inline", "plain",
    "register_measure", "register_objective", "to_score_units",
]  # fmt: skip
