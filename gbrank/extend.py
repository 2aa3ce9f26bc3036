"""Everything that a measure or an objective of your own needs.

`custom_objective` makes an objective from a function of one query, `autodiff_objective` from a loss
of JAX or PyTorch; `check_gradient` checks it,
and `GradientWatch` records its gradients while trees are trained.

A measure is a subclass of `Measure`, decorated with `register_measure`. A relaxation is a subclass
of `MeasureObjective`, any other objective one of `KernelObjective`, both decorated with
`register_objective`. The estimators, the hooks, the command line and the catalogue then know them.
`gbrank.engine.contract` says what their compiled functions are given; docs/extending.md shows one
of each. `Vector`, `Positions` and `Matrix` are the arrays that structures of work arrays declare.
"""

from .boosters.gradient_watch import GradientWatch, RoundGradients
from .common.checks import Matrix, Positions, Vector
from .data.queries import Queries
from .engine.compiling import inline, standalone
from .engine.contract import (
    Derivatives,
    MeasureFunctions,
    Nothing,
    Program,
    Query,
    Ranking,
    SeparableDelta,
    Swaps,
    Terms,
)
from .engine.numba_internals import slice_of, unpack
from .measures.custom_measure import CustomMeasure
from .measures.discounted import DiscountedMeasure
from .measures.gains import geometric_discount
from .measures.measure import Measure
from .measures.measure_registry import register_measure
from .numerics.vectors import bound_steps, size_as_curvature, to_score_units
from .objectives.autodiff import AutodiffObjective, autodiff_objective
from .objectives.check_gradient import check_gradient
from .objectives.objective import Facts, KernelObjective, MeasureObjective, Objective
from .objectives.objective_registry import CustomObjective, custom_objective, register_objective
from .objectives.on_label import OnLabel

__all__ = [
    "AutodiffObjective",
    "CustomMeasure",
    "CustomObjective",
    "Derivatives",
    "DiscountedMeasure",
    "Facts",
    "GradientWatch",
    "KernelObjective",
    "Matrix",
    "Measure",
    "MeasureFunctions",
    "MeasureObjective",
    "Nothing",
    "Objective",
    "OnLabel",
    "Positions",
    "Program",
    "Queries",
    "Query",
    "Ranking",
    "RoundGradients",
    "SeparableDelta",
    "Swaps",
    "Terms",
    "Vector",
    "autodiff_objective",
    "bound_steps",
    "check_gradient",
    "custom_objective",
    "geometric_discount",
    "inline",
    "register_measure",
    "register_objective",
    "size_as_curvature",
    "slice_of",
    "standalone",
    "to_score_units",
    "unpack",
]
