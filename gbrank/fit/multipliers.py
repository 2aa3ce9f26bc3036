"""The weights of constraints in a fit, which move with what the measures lack."""

from collections.abc import Callable, Sequence
from typing import Any

from gbrank.common.warnings import warn_user
from gbrank.fit.constraints import Constraint, ConstraintOutcome
from gbrank.fit.loop import Results
from gbrank.fit.rounds import MULTIPLIERS, VIOLATIONS
from gbrank.measures.measure import Measure
from gbrank.objectives.objective import Mixture, Objective, terms_of
from gbrank.objectives.objective_registry import get_objective
from gbrank.schedules import Curve, as_schedule, weight_at

# What a multiplier moves by in all rounds together, for each unit that the measure lacks, and what
# it has beside that. Chosen on validation queries: docs/studies/goals.md.
SUM_OF_STEPS = 600.0
DAMPING = 40.0
TOLERANCE = 0.005  # what a measure may lack at the end without a warning


class Multipliers:
    """The weights of the constraints in a fit: each grows while its measure is too small.

    The objective is mixed with those of the constraints by the weights 1, w₁, w₂, ... With d_t what
    a measure lacks after round t of T,

        λ_t = max(0, λ_{t−1} + (600 / T) d_t),    w_{t+1} = max(0, λ_t + 40 d_t),

    an augmented Lagrangian. What a measure must reach in a round is its target, times what the
    ranker for this measure alone had in that round over what it had at its end: early rounds, in
    which all values are low, ask for less.

    Parameters
    ----------
    constraints : sequence of Constraint
    watched : str
        The set whose measures count.
    rounds : int
        How many rounds there are to be.
    curves : sequence of list of float
        What each measure was in each round of a fit for it alone: set before the first round.

    References
    ----------
    M. Momma, A. Bagheri Garakani, Y. Sun. Multi-objective relevance ranking. SIGIR eCom 2019.
    """

    def __init__(
        self,
        constraints: Sequence[Constraint],
        watched: str,
        rounds: int,
        curves: Sequence[Sequence[float]] = (),
    ) -> None:
        self.constraints = constraints
        self.curves = curves
        self.raised: list[Objective] = []  # the objectives of the constraints
        self.watched = watched
        self._step = SUM_OF_STEPS / rounds
        self._multipliers = [0.0] * len(constraints)
        self._weights = [0.0] * len(constraints)

    @property
    def _targets(self) -> list[float]:
        """What each measure has to reach."""
        return [
            item.level * (curve[-1] if item.of_best else 1.0)
            for item, curve in zip(self.constraints, self.curves, strict=True)
        ]

    def mixture(self, objective: str | Objective | Callable[..., Any]) -> Mixture:
        """Return an objective mixed with those of the constraints, by the weights of the round."""
        objective = get_objective(objective)
        terms = terms_of(objective)
        own = [as_schedule(weight) for _, weight in terms]

        def weight_of(place: int) -> Curve:
            def weight(round: int, rounds: int | None) -> float:
                return self._weights[place] * sum(weight_at(one, round, rounds) for one in own)

            return weight

        self.raised = [item.objective(objective) for item in self.constraints]
        return Mixture(
            [*(term for term, _ in terms), *self.raised],
            [*(weight for _, weight in terms), *map(weight_of, range(len(self.raised)))],
        )

    def measures(self, others: Sequence[Measure]) -> list[Measure]:
        """Return what is to be measured in each round: the others, and those of the constraints."""
        known = {str(measure) for measure in others}
        return [*others, *(item.of for item in self.constraints if str(item.of) not in known)]

    def resume(self, results: Results) -> None:
        """Go on from what a checkpoint has recorded."""
        if MULTIPLIERS in results:
            self._multipliers = [results[MULTIPLIERS][str(item)][-1] for item in self.constraints]
            self._weigh(self._lacking(results))

    def end_round(self, results: Results) -> dict[str, str]:
        """Move the multipliers by the measures after a round; return what the bar shows."""
        lacking = self._lacking(results)
        for place, lack in enumerate(lacking):
            moved = self._multipliers[place] + self._step * lack
            self._multipliers[place] = max(0.0, moved)
        self._weigh(lacking)
        short = [
            target - values[-1]
            for target, values in zip(self._targets, self._measured(results), strict=True)
        ]
        for item, multiplier, lack in zip(self.constraints, self._multipliers, short, strict=True):
            for kind, value in ((MULTIPLIERS, multiplier), (VIOLATIONS, max(0.0, lack))):
                results.setdefault(kind, {}).setdefault(str(item), []).append(value)
        weights = zip(self.constraints, self._multipliers, strict=True)
        return {f"weight of {item}": f"{multiplier:.3g}" for item, multiplier in weights}

    def merit(self, results: Results, round: int) -> float:
        """Return minus the largest violation: the best round is feasible, if there is one."""
        return -max(curve[round - 1] for curve in results[VIOLATIONS].values())

    def _measured(self, results: Results) -> list[list[float]]:
        return [results[self.watched][str(item.measure)] for item in self.constraints]

    def _lacking(self, results: Results) -> list[float]:
        """Return what each measure lacks of what it must reach in the last round."""
        return [
            target * self._progress(curve, len(values)) - values[-1]
            for target, curve, values in zip(
                self._targets, self.curves, self._measured(results), strict=True
            )
        ]

    @staticmethod
    def _progress(curve: Sequence[float], round: int) -> float:
        """Return the share of its last value that a curve has after a round."""
        return curve[min(round, len(curve)) - 1] / curve[-1] if curve[-1] > 0 else 1.0

    def _weigh(self, lacking: Sequence[float]) -> None:
        self._weights = [
            max(0.0, multiplier + DAMPING * lack)
            for multiplier, lack in zip(self._multipliers, lacking, strict=True)
        ]

    def outcomes(self, results: Results, rounds: int) -> list[ConstraintOutcome]:
        """Return how each constraint ended after some rounds; warn of those that do not hold."""
        ends = [
            ConstraintOutcome(
                str(item),
                curve[-1],
                target,
                values[rounds - 1],
                results[MULTIPLIERS][str(item)][rounds - 1],
            )
            for item, curve, target, values in zip(
                self.constraints, self.curves, self._targets, self._measured(results), strict=True
            )
        ]
        for end in ends:
            if end.value < end.target - TOLERANCE:
                warn_user(
                    f"the constraint {end.constraint} does not hold: it asks for {end.target:.4f}, "
                    f"and the model reaches {end.value:.4f} on the set {self.watched!r}; trained "
                    f"for this alone, it reaches {end.best:.4f}."
                )
        return ends
