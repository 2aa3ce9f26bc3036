"""Objectives that are computed by a kernel, and those of a measure."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from gbrank.common.arrays import Vector
from gbrank.data.queries import Queries
from gbrank.kernels.driver import Runner
from gbrank.kernels.program import Program
from gbrank.measures.discounted import NDCG
from gbrank.measures.measure import Measure, Terms
from gbrank.measures.measure_registry import get_measure
from gbrank.objectives.mixture import Summand


class KernelObjective(Summand):
    """Base class of objectives that are computed by a kernel.

    A subclass has a `name`, declares its facts (`declared`) and makes a `program`.
    """

    @abstractmethod
    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the kernel and its constants for these labels, which are checked."""

    def runner(
        self, labels: Vector, queries: Queries, n_jobs: int | None, rounds: int | None
    ) -> Any:
        """Return the runner of the kernel."""
        return Runner(self.program(labels, queries), queries, n_jobs)


@dataclass(frozen=True)
class MeasureObjective(KernelObjective):
    """Base class of relaxations: objectives of a measure.

    A subclass sets `needs`, what a measure must declare, such as "swaps", or overrides `takes`; and
    `wanted`, which completes the error "measure must {wanted}, got ...".

    Parameters
    ----------
    measure : Measure or str
        Its own `ties` and `no_relevant` play no part.
    """

    needs: ClassVar[str]
    wanted: ClassVar[str]

    measure: Measure | str = field(default_factory=NDCG)

    def __post_init__(self) -> None:
        measure = get_measure(self.measure)
        object.__setattr__(self, "measure", measure)
        if not self.takes(measure):
            raise ValueError(f"measure must {self.wanted}, got {measure}.")

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Say whether the measure declares what is needed of it."""
        return getattr(type(measure), cls.needs) is not None

    @property
    def _measure(self) -> Measure:
        return cast(Measure, self.measure)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return the measure's constants for these labels."""
        return self._measure.terms(labels, queries)
