"""Constraints of a fit: measures that must reach a level while the objective is trained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from gbrank.common.argument_error import ArgumentError, ArgumentTypeError, found_in
from gbrank.common.checks import check_number, quoted
from gbrank.data.rows import Rows
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.measures.measure_registry import get_measure
from gbrank.objectives.lambdarank import LambdaRank
from gbrank.objectives.noisy_lambdarank import NoisyLambdaRank
from gbrank.objectives.objective import Objective
from gbrank.objectives.on_label import OnLabel

ROUNDING = 1e-9  # in what a perfect ranking has


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
    >>> from gbrank import Constraint
    >>> from gbrank.fit.constraints import get_constraint
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
        >>> from gbrank import LambdaRank
        >>> from gbrank.fit.constraints import get_constraint
        >>> str(get_constraint("ndcg@10[margin] >= 0.6").objective(LambdaRank()))
        'lambda:ndcg[margin]'
        """
        label = self.of.label
        discounted = getattr(self.of, "ranking_discount", None)
        alike = discounted is not None and discounted()[0] == "flat"
        whole: dict[str, Any] = {"k": None} if hasattr(self.of, "k") and not alike else {}
        trained = replace(self.of, label=None, **whole)
        for kind in (like, NoisyLambdaRank(), LambdaRank()):
            objective = kind.of_measure(trained)
            if objective is not None:
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
    >>> from gbrank.fit.constraints import get_constraint
    >>> get_constraint("map[bought] ≥ 0.3").level
    0.3
    """
    if isinstance(constraint, Constraint):
        return constraint
    if not isinstance(constraint, str):
        demand = "must be a text or a Constraint"
        raise ArgumentTypeError("a constraint", demand, quoted(constraint))
    match = re.fullmatch(r"\s*(.+?)\s*(?:>=|≥)\s*(\S+?)(\s+of\s+best)?\s*", constraint, re.DOTALL)
    try:
        level = float(match[2]) if match else None
    except ValueError:
        level = None
    if match is None or level is None:
        raise ArgumentError(
            "a constraint",
            "must be like 'ndcg@10[margin] >= 0.6' or 'ndcg@10[margin] >= 0.95 of best'",
            quoted(constraint),
            " (For a measure that should be small, name the label of the opposite, such as 1 - "
            "returned.)",
        )
    return Constraint(match[1], level, match[3] is not None)


def get_constraints(constraints: object, name: str = "constraints") -> list[Constraint]:
    """Return the constraints of a ranker, or say what is wrong with them."""
    if constraints is None:
        return []
    if isinstance(constraints, str | Constraint):
        constraints = [constraints]
    if not isinstance(constraints, Sequence):
        raise ArgumentTypeError(name, "must be a list of texts", quoted(constraints))
    with found_in(f"{name}: "):
        made = [get_constraint(item) for item in constraints]
    measures = [str(item.measure) for item in made]
    if len(set(measures)) < len(measures):
        raise ArgumentError(name, "must be of different measures", str(measures))
    return made


def refuse_unreachable(constraints: Sequence[Constraint], rows: Rows) -> None:
    """Refuse a constraint that a perfect ranking of the rows does not meet."""
    for item in constraints:
        own, chosen, _ = rows.with_label(item.of.label, f"constraint {item}")
        perfect = np.zeros(len(rows.y))
        perfect[chosen] = item.of.terms(own.y, own.queries).gains
        with found_in(f"constraints: {item}: "):
            best = bind_to_rows(item.of, rows).mean(perfect)
        if not item.of_best and item.level > best + ROUNDING:
            most = f"must be at most {best:.6g} in {str(item)!r}, which a perfect ranking has"
            raise ArgumentError("level", most, f"{item.level}", place="constraints: ")


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
