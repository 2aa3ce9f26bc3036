"""An objective around another one, for ideas that are tried in the studies only."""

from dataclasses import dataclass

from gbrank.common.arrays import Vector
from gbrank.engine.driver import Runner
from gbrank.extend import Objective
from gbrank.objectives.objective import Binding, Facts

__all__ = ["Wrapped", "Wrapper"]


class Wrapper(Runner):
    """A runner whose gradients the objective changes; it passes on the other one's values."""

    def __init__(self, objective: "Wrapped", inner: Runner) -> None:
        self.objective = objective
        self.inner = inner
        self.queries = inner.queries

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the inner objective's loss of each query."""
        return self.inner.values(scores, sigma, round)

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return what the objective makes of the inner one's."""
        return self.objective.gradients(self.inner, scores, sigma, round, weights)


@dataclass(frozen=True)
class Wrapped(Objective):
    """An objective around another one; subclasses override `gradients`, or `wrap`."""

    objective: Objective

    @property
    def facts(self) -> Facts:
        """Those of the inner objective."""
        return self.objective.facts

    def __str__(self) -> str:
        """Return a description."""
        return f"{self.name} of {self.objective}"

    def runner(self, binding: Binding) -> Runner:
        """Return the wrapper around the inner objective's runner."""
        return self.wrap(self.objective.runner(binding))

    def wrap(self, inner: Runner) -> Runner:
        """Return the wrapper."""
        return Wrapper(self, inner)

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature, from those of the inner objective."""
        raise NotImplementedError
