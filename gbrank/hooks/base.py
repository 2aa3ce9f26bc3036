"""What the hooks of all boosters share."""

import sys
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gbrank._checks import check_number
from gbrank.kernels.driver import SMALLEST_CURVATURE
from gbrank.objectives import BoundObjective, Objective, get_objective
from gbrank.schedules import Sigma, as_schedule, sigma_at

__all__ = ["GradientHook", "PerObject", "caller"]

Vector = NDArray[np.float64]
T = TypeVar("T")


class PerObject(Generic[T]):
    """Values made once for each object, such as a data set, and dropped with it."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[weakref.ref[Any], T]] = {}

    def get(self, key: Any, make: Callable[[], T]) -> T:
        """Return the value of an object, made when it is first seen."""
        found = self._values.get(id(key))
        if found is not None and found[0]() is key:
            return found[1]
        value = make()
        place = id(key)
        self._values[place] = (weakref.ref(key, lambda _: self._values.pop(place, None)), value)
        return value


def caller(kind: type[T]) -> T | None:
    """Return the object of a class whose method is calling us, however indirectly.

    Boosters do not tell a custom objective which round it is. The booster that is calling does:
    nothing that counts calls can be right in cross-validation, on continuation from a model, and
    when a data set is used again.
    """
    frame = sys._getframe(1)
    while frame is not None:
        owner = frame.f_locals.get("self") if "self" in frame.f_code.co_varnames else None
        if isinstance(owner, kind):
            return owner
        frame = frame.f_back  # type: ignore[assignment]
    return None


class GradientHook:
    """Turns scores into what boosters take: the part that is the same for all of them.

    Parameters
    ----------
    objective : str, Objective or callable
        What to train.
    sigma : float, schedule, callable or str
        Width of the smoothing by round.
    rounds : int, optional
        Total number of rounds, for schedules that need it.
    n_jobs : int, optional
        Threads for the gradient; all by default.

    Attributes
    ----------
    sigmas : dict of int to float
        The sigma that was used in each round.
    """

    def __init__(
        self,
        objective: str | Objective | Callable[..., Any] = "lambdarank",
        sigma: Sigma = 1.0,
        *,
        rounds: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.objective = get_objective(objective)
        self.schedule = as_schedule(sigma)
        self.rounds = check_number(rounds, "rounds", 1, integer=True, optional=True)
        self.n_jobs = n_jobs
        self.sigmas: dict[int, float] = {}
        self._bound: PerObject[BoundObjective] = PerObject()
        sigma_at(self.schedule, 0, self.rounds)

    def __deepcopy__(self, memo: dict[int, Any]) -> "GradientHook":
        """Return itself: boosters copy their parameters, but the record is the user's."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what belongs to this process's data sets."""
        return {**self.__dict__, "_bound": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the parameters."""
        self.__dict__.update(state, _bound=PerObject())

    def derivatives(
        self, bound: BoundObjective, scores: Vector, round: int | None
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature for a round, in the booster's scale.

        Both are multiplied by the power of two that brings the mean curvature nearest to 1, so
        that min_child_weight and min_sum_hessian_in_leaf count documents, as they do for squared
        loss. Newton steps stay the same.

        Parameters
        ----------
        bound : BoundObjective
        scores : ndarray, shape (n_documents,)
        round : int or None
            The round, or None if it is not known, which only a constant sigma allows.

        Returns
        -------
        gradient, curvature : ndarray, shape (n_documents,)
        """
        sigma = sigma_at(self.schedule, 0 if round is None else round, self.rounds)
        if round is None:
            if sigma_at(self.schedule, 1, self.rounds) != sigma:
                raise ValueError(
                    "the round is not known, and sigma depends on it: the hook was called from "
                    "outside the booster's training. Pass round=."
                )
        else:
            self.sigmas[round] = sigma
        try:
            gradient, curvature = bound.gradients(scores, sigma)
        except (RuntimeError, ValueError) as error:
            where = f"round {'unknown' if round is None else round} of {self.objective!r}"
            raise type(error)(f"{where}: {error}") from error
        if self.objective.rescaled:
            rescale_to_unit_mean(gradient, curvature)
        return gradient, curvature


def rescale_to_unit_mean(gradient: Vector, curvature: Vector) -> None:
    """Multiply both, in place, by the power of two that brings the mean curvature nearest to 1.

    Parameters
    ----------
    gradient, curvature : ndarray, shape (n_documents,)

    Examples
    --------
    >>> g, h = np.array([1.0, -1.0]), np.array([0.25, 0.25])
    >>> rescale_to_unit_mean(g, h)
    >>> g, h
    (array([ 4., -4.]), array([1., 1.]))
    """
    mean = float(np.mean(curvature))
    scale = float(np.exp2(-np.round(np.log2(mean))))
    if np.isfinite(scale):
        gradient *= scale
        curvature *= scale
        np.maximum(curvature, SMALLEST_CURVATURE, out=curvature)
