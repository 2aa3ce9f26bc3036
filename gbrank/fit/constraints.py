"""Constraints of a fit: measures that must reach a level while the objective is trained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from gbrank.common.argument_error import found_in
from gbrank.common.checks import check_number, quoted
from gbrank.common.warnings import warn_user
from gbrank.fit.evals_result import MULTIPLIERS, VIOLATIONS
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure
from gbrank.objectives.lambdarank import LambdaRank
from gbrank.objectives.noisy_lambdarank import NoisyLambdaRank
from gbrank.objectives.objective import Mixture, Objective, terms_of
from gbrank.objectives.on_label import OnLabel
from gbrank.schedules import Curve, as_schedule, weight_at

# What a multiplier moves by in all rounds together, for each unit that the measure lacks, and what
# it has beside that. Chosen on validation queries: docs/studies/goals.md.
SUM_OF_STEPS = 600.0
DAMPING = 40.0
TOLERANCE = 0.005  # what a measure may lack at the end without a warning

Results: TypeAlias = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Constraint:
    """A measure that must reach a level.

    Parameters
    ----------
    measure : Measure or str
        What is measured, of the label that it names.
    level : float
        The smallest value; or, with `of_best`, the smallest share of the best one.
    of_best : bool
        Whether the level is a share of what a ranker reaches that is trained for this measure
        alone.

    Examples
    --------
    >>> from gbrank import Constraint, get_constraint
    >>> get_constraint("ndcg@10[margin] >= 0.95 of best")
    Constraint(measure=NDCG(k=10, label='margin'), level=0.95, of_best=True)
    >>> str(Constraint("ndcg@10[margin]", 0.6))
    'ndcg@10[margin] >= 0.6'
    """

    measure: Measure | str
    level: float
    of_best: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", get_measure(self.measure))
        high = 1.0 if self.of_best else float("inf")
        level = check_number(self.level, "level", 0, high, open_low=True)
        object.__setattr__(self, "level", level)

    def __str__(self) -> str:
        """Return the text from which `get_constraint` makes the same constraint again."""
        return f"{self.measure} >= {self.level!r}" + (" of best" if self.of_best else "")

    def objective(self, like: Objective) -> Objective:
        """Return the objective that raises the measure.

        Where the measure stops at rank k, all ranks are trained, unless all count alike up to k.

        Parameters
        ----------
        like : Objective
            Whose kind it has, if that can train the measure.

        Returns
        -------
        Objective

        Raises
        ------
        ValueError
            If the measure declares no swaps.

        Examples
        --------
        >>> from gbrank import LambdaRank, get_constraint
        >>> str(get_constraint("ndcg@10[margin] >= 0.6").objective(LambdaRank()))
        'lambda:ndcg[margin]'
        """
        label = self.of.label
        discounted = getattr(self.of, "ranking_discount", None)
        alike = discounted is not None and discounted()[0] == "flat"
        whole: dict[str, Any] = {"k": None} if hasattr(self.of, "k") and not alike else {}
        trained = replace(self.of, label=None, **whole)
        own: list[Any] = [type(term) for term, _ in terms_of(like) if term.facts.takes_measure]
        for kind in (*own, NoisyLambdaRank, LambdaRank):
            if kind.takes(trained):
                objective = kind(trained)
                return objective if label is None else OnLabel(objective, label)
        raise ValueError(
            f"constraints must be of measures that can be trained, got {self}: {self.of} declares "
            "no swaps."
        )

    @property
    def of(self) -> Measure:
        """The measure."""
        return cast(Measure, self.measure)


def get_constraint(constraint: str | Constraint) -> Constraint:
    """Return a constraint from its text.

    Parameters
    ----------
    constraint : str or Constraint
        ``"measure >= level"`` or ``"measure >= share of best"``, such as "ndcg@10[margin] >= 0.62"
        or "ndcg@10[margin] >= 0.95 of best".

    Returns
    -------
    Constraint

    Raises
    ------
    ValueError
        If it is not written so, or there is no such measure.

    Examples
    --------
    >>> from gbrank import get_constraint
    >>> get_constraint("map[bought] ≥ 0.3").level
    0.3
    """
    if isinstance(constraint, Constraint):
        return constraint
    if not isinstance(constraint, str):
        raise TypeError(f"a constraint must be a text or a Constraint, got {quoted(constraint)}.")
    match = re.fullmatch(r"\s*(.+?)\s*(?:>=|≥)\s*(\S+?)(\s+of\s+best)?\s*", constraint, re.DOTALL)
    try:
        level = float(match[2]) if match else None
    except ValueError:
        level = None
    if match is None or level is None:
        raise ValueError(
            "a constraint must be like 'ndcg@10[margin] >= 0.6' or 'ndcg@10[margin] >= 0.95 of "
            f"best', got {quoted(constraint)}. (For a measure that should be small, name the label "
            "of the opposite, such as 1 - returned.)"
        )
    return Constraint(match[1], level, match[3] is not None)


def get_constraints(constraints: object) -> list[Constraint]:
    """Return the constraints of a ranker, or say what is wrong with them."""
    if constraints is None:
        return []
    if isinstance(constraints, str | Constraint):
        constraints = [constraints]
    if not isinstance(constraints, Sequence):
        raise TypeError(f"constraints must be a list of texts, got {quoted(constraints)}.")
    with found_in("constraints: "):
        made = [get_constraint(item) for item in constraints]
    measures = [str(item.measure) for item in made]
    if len(set(measures)) < len(measures):
        raise ValueError(f"constraints must be of different measures, got {measures}.")
    return made


@dataclass(frozen=True)
class ConstraintOutcome:
    """How a fit ended for one constraint; see `GBRanker.constraints_`.

    Parameters
    ----------
    constraint : str
        The constraint.
    best : float
        What the ranker reached that was trained for this measure alone.
    target : float
        What the measure had to reach.
    value : float
        What it is, on the queries by which the multiplier was set.
    multiplier : float
        The weight of the constraint's objective at the end; that of the ranker's own is 1.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> ranker = GBRanker(n_estimators=10, constraints=["ndcg[margin] >= 0.9 of best"])
    >>> (end,) = ranker.fit(X, y, qid=qid, labels={"margin": abs(X[:, 0])}).constraints_
    >>> end.target == 0.9 * end.best
    True
    """

    constraint: str
    best: float
    target: float
    value: float
    multiplier: float


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
    curves : sequence of list of float
        What each measure was in each round of a fit for it alone.
    watched : str
        The set whose measures count.
    rounds : int
        How many rounds there are to be.

    References
    ----------
    M. Momma, A. Bagheri Garakani, Y. Sun. Multi-objective relevance ranking. SIGIR eCom 2019.
    """

    def __init__(
        self,
        constraints: Sequence[Constraint],
        curves: Sequence[Sequence[float]],
        watched: str,
        rounds: int,
    ) -> None:
        self._constraints = constraints
        self._curves = curves
        self._watched = watched
        self._step = SUM_OF_STEPS / rounds
        self._multipliers = [0.0] * len(constraints)
        self._weights = [0.0] * len(constraints)
        self._targets = [
            item.level * (curve[-1] if item.of_best else 1.0)
            for item, curve in zip(constraints, curves, strict=True)
        ]

    def mixture(self, objective: Objective) -> Mixture:
        """Return an objective mixed with those of the constraints, by the weights of the round."""
        terms = terms_of(objective)
        own = [as_schedule(weight) for _, weight in terms]

        def weight_of(place: int) -> Curve:
            def weight(round: int, rounds: int | None) -> float:
                return self._weights[place] * sum(weight_at(one, round, rounds) for one in own)

            return weight

        raised = [item.objective(objective) for item in self._constraints]
        return Mixture(
            [*(term for term, _ in terms), *raised],
            [*(weight for _, weight in terms), *map(weight_of, range(len(raised)))],
        )

    def resume(self, results: Results) -> None:
        """Go on from what a checkpoint has recorded."""
        if MULTIPLIERS in results:
            self._multipliers = [results[MULTIPLIERS][str(item)][-1] for item in self._constraints]
            self._weigh(self._lacking(results))

    def end_round(self, results: Results) -> float:
        """Move the multipliers by the measures after a round; return the largest violation."""
        lacking = self._lacking(results)
        for place, lack in enumerate(lacking):
            moved = self._multipliers[place] + self._step * lack
            self._multipliers[place] = max(0.0, moved)
        self._weigh(lacking)
        short = [
            target - values[-1]
            for target, values in zip(self._targets, self._measured(results), strict=True)
        ]
        for item, multiplier, lack in zip(self._constraints, self._multipliers, short, strict=True):
            for kind, value in ((MULTIPLIERS, multiplier), (VIOLATIONS, max(0.0, lack))):
                results.setdefault(kind, {}).setdefault(str(item), []).append(value)
        return max(0.0, *short)

    def _measured(self, results: Results) -> list[list[float]]:
        return [results[self._watched][str(item.measure)] for item in self._constraints]

    def _lacking(self, results: Results) -> list[float]:
        """Return what each measure lacks of what it must reach in the last round."""
        return [
            target * self._progress(curve, len(values)) - values[-1]
            for target, curve, values in zip(
                self._targets, self._curves, self._measured(results), strict=True
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
                self._constraints, self._curves, self._targets, self._measured(results), strict=True
            )
        ]
        for end in ends:
            if end.value < end.target - TOLERANCE:
                warn_user(
                    f"the constraint {end.constraint} does not hold: it asks for {end.target:.4f}, "
                    f"and the model reaches {end.value:.4f} on the set {self._watched!r}; trained "
                    f"for this alone, it reaches {end.best:.4f}."
                )
        return ends
