"""The registry of objectives."""

from dataclasses import dataclass
from typing import Any

from gbrank.common.checks import refuse_taken
from gbrank.objectives.custom import CustomObjective
from gbrank.objectives.objective import Facts, Objective

__all__ = [
    "OBJECTIVES",
    "ObjectiveFacts",
    "aliases",
    "facts_of",
    "list_objectives",
    "register_objective",
]

OBJECTIVES: dict[str, Any] = {}


@dataclass(frozen=True)
class ObjectiveFacts:
    """What is known of a registered objective.

    Parameters
    ----------
    name : str
        Its name in strings such as "lambda:ndcg".
    aliases : tuple of str
        Other names for it.
    summary : str
        The first line of its documentation.
    facts : Facts
        What it declares.
    cls : type
        Its class.
    """

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
    known = {name: _origin(item) for name, item in (OBJECTIVES | aliases()).items()}
    for name in (objective.name, *_own_aliases(objective)):
        refuse_taken(name, _origin(objective), known)
    OBJECTIVES[objective.name] = objective
    return objective


def aliases() -> dict[str, Any]:
    """Return the objectives by their other names."""
    return {alias: found for found in OBJECTIVES.values() for alias in _own_aliases(found)}


def facts_of(objective: Any) -> Facts:
    """Return what a registered class, or an author of an objective of one's own, declares."""
    facts: Facts = getattr(objective, "declared" if isinstance(objective, type) else "facts")
    return facts


def _own_aliases(objective: Any) -> tuple[str, ...]:
    cls = objective if isinstance(objective, type) else type(objective)
    found: tuple[str, ...] = vars(cls).get("aliases", ())  # a subclass has others
    return found


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
            _own_aliases(found),
            (found.__doc__ or "").strip().split("\n")[0],
            facts_of(found),
            found if isinstance(found, type) else type(found),
        )
        for name, found in sorted(OBJECTIVES.items())
    ]
