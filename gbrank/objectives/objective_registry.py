"""The registry of objectives."""

from dataclasses import dataclass
from typing import Any

from gbrank.common.checks import refuse_taken
from gbrank.measures.measure_registry import by_alias, first_line, own_aliases
from gbrank.objectives.custom import CustomObjective
from gbrank.objectives.objective import Facts, Objective

OBJECTIVES: dict[str, Any] = {}


@dataclass(frozen=True)
class ObjectiveFacts:
    """What is known of a registered objective; `summary` begins its documentation."""

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
    known = {name: _origin(item) for name, item in (OBJECTIVES | by_alias(OBJECTIVES)).items()}
    for name in (objective.name, *own_aliases(objective)):
        refuse_taken(name, _origin(objective), known)
    OBJECTIVES[objective.name] = objective
    return objective


def facts_of(objective: Any) -> Facts:
    """Return what a registered class, or an author of an objective of one's own, declares."""
    facts: Facts = getattr(objective, "declared" if isinstance(objective, type) else "facts")
    return facts


def _origin(objective: Any) -> Any:
    return objective.function if isinstance(objective, CustomObjective) else objective


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
            facts_of(found),
            found if isinstance(found, type) else type(found),
        )
        for name, found in sorted(OBJECTIVES.items())
    ]
