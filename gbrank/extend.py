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

from gbrank.boosters.gradient_watch import GradientWatch as GradientWatch
from gbrank.boosters.gradient_watch import RoundGradients as RoundGradients
from gbrank.common.values import Matrix as Matrix
from gbrank.common.values import Positions as Positions
from gbrank.common.values import Vector as Vector
from gbrank.engine.compiling import inline as inline
from gbrank.engine.compiling import standalone as standalone
from gbrank.engine.contract import Derivatives as Derivatives
from gbrank.engine.contract import MeasureFunctions as MeasureFunctions
from gbrank.engine.contract import Nothing as Nothing
from gbrank.engine.contract import Program as Program
from gbrank.engine.contract import Query as Query
from gbrank.engine.contract import Ranking as Ranking
from gbrank.engine.contract import SeparableDelta as SeparableDelta
from gbrank.engine.contract import Swaps as Swaps
from gbrank.engine.contract import Terms as Terms
from gbrank.engine.numba_internals import slice_of as slice_of
from gbrank.engine.numba_internals import unpack as unpack
from gbrank.measures.discounted import DiscountedMeasure as DiscountedMeasure
from gbrank.measures.measure import Measure as Measure
from gbrank.measures.measure_registry import custom_measure as custom_measure
from gbrank.measures.measure_registry import register_measure as register_measure
from gbrank.numerics.vectors import bound_steps as bound_steps
from gbrank.numerics.vectors import size_as_curvature as size_as_curvature
from gbrank.numerics.vectors import to_score_units as to_score_units
from gbrank.objectives.autodiff import autodiff_objective as autodiff_objective
from gbrank.objectives.check_gradient import check_gradient as check_gradient
from gbrank.objectives.objective import Facts as Facts
from gbrank.objectives.objective import KernelObjective as KernelObjective
from gbrank.objectives.objective import MeasureObjective as MeasureObjective
from gbrank.objectives.objective import Objective as Objective
from gbrank.objectives.objective_registry import custom_objective as custom_objective
from gbrank.objectives.objective_registry import register_objective as register_objective
