"""The weights of constraints in a fit, which move with what the measures lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gbrank.common.warnings import warn_user
from gbrank.data.rows import Rows
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.constraints import (
    Constraint,
    ConstraintOutcome,
    get_constraints,
    refuse_unreachable,
)
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


@dataclass
class Goal:
    """A constraint in a fit, with the weight of the objective that raises its measure."""

    constraint: Constraint
    raised: Objective | None = None  # what raises the measure
    curve: Sequence[float] = ()  # what the measure was in each round of a fit for it alone
    multiplier: float = 0.0
    weight: float = 0.0

    @property
    def target(self) -> float:
        """What the measure has to reach."""
        return self.constraint.level * (self.curve[-1] if self.constraint.of_best else 1.0)

    def lack(self, values: Sequence[float]) -> float:
        """Return what the last of a measure's values lacks of what it must be in its round."""
        last = self.curve[-1]
        share = self.curve[min(len(values), len(self.curve)) - 1] / last if last > 0 else 1.0
        return self.target * share - values[-1]

    def weigh(self, lack: float) -> None:
        """Set the weight of the next round."""
        self.weight = max(0.0, self.multiplier + DAMPING * lack)


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

    References
    ----------
    M. Momma, A. Bagheri Garakani, Y. Sun. Multi-objective relevance ranking. SIGIR eCom 2019.
    """

    def __init__(self, constraints: Sequence[Constraint], watched: str, rounds: int) -> None:
        self.goals = [Goal(item) for item in constraints]
        self.watched = watched
        self._step = SUM_OF_STEPS / rounds

    @classmethod
    def of(cls, ranker: BoostedRanker, rows: Rows, valid: Sequence[Rows]) -> Multipliers | None:
        """Return those of a ranker's constraints, if it has some."""
        constraints = get_constraints(ranker.constraints)
        if not constraints:
            return None
        refuse_unreachable(constraints, valid[0] if valid else rows)
        return cls(constraints, "valid_0" if valid else "train", ranker.n_estimators)

    def mixture(self, objective: str | Objective | Callable[..., Any]) -> Mixture:
        """Return an objective mixed with those of the constraints, by the weights of the round."""
        objective = get_objective(objective)
        terms = terms_of(objective)
        own = [as_schedule(weight) for _, weight in terms]

        def weight_of(goal: Goal) -> Curve:
            def weight(round: int, rounds: int | None) -> float:
                return goal.weight * sum(weight_at(one, round, rounds) for one in own)

            return weight

        raised = [goal.constraint.objective(objective) for goal in self.goals]
        for goal, each in zip(self.goals, raised, strict=True):
            goal.raised = each
        return Mixture(
            [*(term for term, _ in terms), *raised],
            [*(weight for _, weight in terms), *map(weight_of, self.goals)],
        )

    def measures(self, others: Sequence[Measure]) -> list[Measure]:
        """Return what is to be measured in each round: the others, and those of the constraints."""
        known = {str(measure) for measure in others}
        own = [goal.constraint.of for goal in self.goals]
        return [*others, *(measure for measure in own if str(measure) not in known)]

    def resume(self, results: Results) -> None:
        """Go on from what a checkpoint has recorded."""
        for goal in self.goals if MULTIPLIERS in results else ():
            goal.multiplier = results[MULTIPLIERS][str(goal.constraint)][-1]
            goal.weigh(goal.lack(self._values(goal, results)))

    def end_round(self, results: Results) -> dict[str, str]:
        """Move the multipliers by the measures after a round; return what the bar shows."""
        for goal in self.goals:
            values = self._values(goal, results)
            lack = goal.lack(values)
            goal.multiplier = max(0.0, goal.multiplier + self._step * lack)
            goal.weigh(lack)
            violation = max(0.0, goal.target - values[-1])
            for kind, value in ((MULTIPLIERS, goal.multiplier), (VIOLATIONS, violation)):
                results.setdefault(kind, {}).setdefault(str(goal.constraint), []).append(value)
        return {f"weight of {goal.constraint}": f"{goal.multiplier:.3g}" for goal in self.goals}

    def merit(self, results: Results, round: int) -> float:
        """Return minus the largest violation: the best round is feasible, if there is one."""
        return -max(curve[round - 1] for curve in results[VIOLATIONS].values())

    def _values(self, goal: Goal, results: Results) -> list[float]:
        return results[self.watched][str(goal.constraint.measure)]

    def outcomes(self, results: Results, rounds: int) -> list[ConstraintOutcome]:
        """Return how each constraint ended after some rounds; warn of those that do not hold."""
        ends = [
            ConstraintOutcome(
                str(goal.constraint),
                goal.curve[-1],
                goal.target,
                self._values(goal, results)[rounds - 1],
                results[MULTIPLIERS][str(goal.constraint)][rounds - 1],
            )
            for goal in self.goals
        ]
        for end in ends:
            if end.value < end.target - TOLERANCE:
                warn_user(
                    f"the constraint {end.constraint} does not hold: it asks for {end.target:.4f}, "
                    f"and the model reaches {end.value:.4f} on the set {self.watched!r}; trained "
                    f"for this alone, it reaches {end.best:.4f}."
                )
        return ends
