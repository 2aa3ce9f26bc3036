"""An objective around another one, for ideas that are tried in the studies only."""

from dataclasses import dataclass

from gbrank import Objective
from gbrank.common.arrays import Vector
from gbrank.engine.driver import Runner
from gbrank.objectives.objective import Facts, Judged

__all__ = ["Wrapped", "Wrapper"]


class Wrapper(Runner):
    """A runner that passes on what another one computes; subclasses change it."""

    def __init__(self, objective: "Wrapped", inner: Runner) -> None:
        self.objective = objective
        self.inner = inner
        self.queries = inner.queries

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the inner objective's loss of each query."""
        return self.inner.values(scores, sigma, round)


@dataclass(frozen=True)
class Wrapped(Objective):
    """An objective whose gradients a `Wrapper` changes."""

    objective: Objective

    @property
    def facts(self) -> Facts:
        """Those of the inner objective."""
        return self.objective.facts

    def __str__(self) -> str:
        """Return a description."""
        return f"{self.name} of {self.objective}"

    def runner(self, judged: Judged) -> Runner:
        """Return the wrapper around the inner objective's runner."""
        return self.wrap(self.objective.runner(judged))

    def wrap(self, inner: Runner) -> Runner:
        """Return the wrapper."""
        raise NotImplementedError
