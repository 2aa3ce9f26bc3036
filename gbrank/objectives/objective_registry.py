"""The registry of objectives."""

from dataclasses import dataclass
from typing import Any

from gbrank.measures.measure_registry import first_line, own_aliases, register
from gbrank.objectives.custom import CustomObjective
from gbrank.objectives.objective import Facts, Objective

OBJECTIVES: dict[str, Any] = {}


@dataclass(frozen=True)
class ObjectiveFacts:
    """What is known of a registered objective; `summary` is the first line of its docstring."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    facts: Facts
    cls: type[Objective]

    @property
    def usage(self) -> str:
        """How it is written, such as "lambda:MEASURE"."""
        return f"{self.name}:MEASURE" if self.facts.takes_measure else self.name


def register_objective(
    objective: type[Objective] | CustomObjective,
) -> type[Objective] | CustomObjective:
    """Make an objective known by its `name`; usable as a class decorator.

    Parameters
    ----------
    objective : type or CustomObjective
        A subclass of `Objective`, or a user's objective from `custom_objective`.

    Returns
    -------
    type or CustomObjective
        The objective itself.

    Raises
    ------
    ValueError
        If another objective has that name. (One made by running the same code again, as in a
        notebook, takes its place.)

    Examples
    --------
    >>> from gbrank import RankNet, register_objective
    >>> register_objective(RankNet) is RankNet
    True
    """
    register(objective.name, objective, OBJECTIVES)
    return objective


def list_objectives() -> list[ObjectiveFacts]:
    """Return the facts of every registered objective, by name.

    Returns
    -------
    list of ObjectiveFacts

    Examples
    --------
    >>> from gbrank import list_objectives
    >>> [item.name for item in list_objectives()][:2]
    ['approx', 'gbrank']
    """
    return [
        ObjectiveFacts(
            name,
            own_aliases(found),
            first_line(found),
            found.declared,
            found if isinstance(found, type) else type(found),
        )
        for name, found in sorted(OBJECTIVES.items())
    ]
