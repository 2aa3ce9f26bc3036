"""Objectives, their registry, and the grammar of their strings.

``"ranknet"`` names an objective, ``"lambda:ndcg@10"`` a relaxation and the measure it is applied
to, ``"lambda(truncation=30):ndcg"`` one with options, ``"lambda:ndcg+pointwise"`` a mixture,
``"perturbed:lambda:ndcg"`` an objective made of another; ``"perturbed:ndcg"`` applies to a measure
itself.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from gbrank.common.checks import refuse_taken, unknown_name
from gbrank.common.grammar import parse_options, split_outside
from gbrank.measures import Measure, get_measure, is_measure
from gbrank.objectives.approxrank import ApproxRank
from gbrank.objectives.custom import CustomObjective
from gbrank.objectives.gbrank import GBRank
from gbrank.objectives.lambdarank import LambdaRank
from gbrank.objectives.listmle import ListMLE
from gbrank.objectives.listnet import ListNet
from gbrank.objectives.mixture import Mixture
from gbrank.objectives.objective import BoundObjective, Facts, Objective
from gbrank.objectives.perturbed import Perturbed
from gbrank.objectives.pointwise import Pointwise
from gbrank.objectives.ranknet import RankNet
from gbrank.objectives.ranksvm import RankSVM
from gbrank.objectives.regression import GainRegression
from gbrank.objectives.slam import SLAM
from gbrank.objectives.smoothap import SmoothAP
from gbrank.objectives.smoothrank import SmoothRank
from gbrank.objectives.softrank import SoftRank
from gbrank.objectives.tierank import TieRank
from gbrank.objectives.xendcg import XENDCG

__all__ = [
    "DEFAULT_OBJECTIVE",
    "SLAM",
    "XENDCG",
    "ApproxRank",
    "BoundObjective",
    "CustomObjective",
    "Facts",
    "GBRank",
    "GainRegression",
    "LambdaRank",
    "ListMLE",
    "ListNet",
    "Mixture",
    "Objective",
    "ObjectiveFacts",
    "Perturbed",
    "Pointwise",
    "RankNet",
    "RankSVM",
    "SmoothAP",
    "SmoothRank",
    "SoftRank",
    "TieRank",
    "custom_objective",
    "get_objective",
    "list_objectives",
    "register_objective",
]

# Ahead on validation queries of every data set of the studies: see docs/defaults.md.
DEFAULT_OBJECTIVE = "perturbed:lambda:ndcg+0.5*ranknet"

OBJECTIVES: dict[str, Any] = {}
ALIASES = {"lambdarank": "lambda", "smooth:ap-ranks": "smoothap"}

GRAMMAR = re.compile(
    r"(?P<name>[a-z][a-z0-9_]*)(\((?P<options>[^:]*)\))?(:(?P<inner>.*))?", re.DOTALL
)


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
        taken = [what for what in ("measure", "objective") if getattr(self.facts, f"takes_{what}")]
        return " or ".join(f"{self.name}:{what.upper()}" for what in taken) or self.name


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
    >>> register_objective(RankNet) is RankNet
    True
    """
    known = {name: _origin(item) for name, item in OBJECTIVES.items()}
    refuse_taken(objective.name, _origin(objective), known, ALIASES)
    OBJECTIVES[objective.name] = objective
    return objective


def _origin(objective: Any) -> Any:
    return objective.function if isinstance(objective, CustomObjective) else objective


for _cls in (
    RankNet,
    LambdaRank,
    ApproxRank,
    SmoothRank,
    SmoothAP,
    TieRank,
    GainRegression,
    Pointwise,
    ListNet,
    ListMLE,
    XENDCG,
    RankSVM,
    GBRank,
    SLAM,
    SoftRank,
    Perturbed,
):
    register_objective(_cls)


def custom_objective(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    normalize: Any = None,
    facts: Facts | None = None,
) -> CustomObjective:
    """Make an objective from a function of one query.

    Parameters
    ----------
    function : callable
        ``function(scores, labels, sigma) -> (loss, gradient, curvature)`` for ONE query, plain
        Python or compiled with `numba.njit` (then it runs on all threads). Documents come best
        first: by falling score, equal scores by falling label. `loss` is a number, to be
        minimised; `gradient` and `curvature` have one entry per document, the curvature none
        below 0.
    name : str, optional
        Registers the objective, so that strings and the command line know it.
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.
    facts : Facts, optional
        What is known of it, such as convexity.

    Returns
    -------
    CustomObjective
        Usable wherever a built-in objective is; grouping, threads, weights, checks and sigma
        are taken care of.

    Raises
    ------
    TypeError
        If `function` cannot be called.
    ValueError
        If the name is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank import Queries, custom_objective
    >>> def regression(scores, labels, sigma):
    ...     error = scores - labels
    ...     return 0.5 * (error @ error), error, np.ones_like(error)
    >>> bound = custom_objective(regression).bind([0, 1], Queries.from_sizes([2]))
    >>> bound.gradients([0.0, 0.0])[0].tolist()
    [0.0, -1.0]
    """
    options: dict[str, Any] = {} if facts is None else {"facts": facts}
    objective = CustomObjective(function, name or _name_of(function), normalize, **options)
    if name is not None:
        register_objective(objective)
    return objective


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", "custom"))


def get_objective(objective: str | Objective | Callable[..., Any]) -> Objective:
    """Return an objective from its string.

    Parameters
    ----------
    objective : str, Objective or callable
        ``"name"`` or ``"name:measure"``, such as "ranknet", "lambda:ndcg@10" or "lambdarank";
        options follow the name, as in "lambda(truncation=30):ndcg"; ``"+"`` mixes two, as in
        "lambda:ndcg+pointwise", "lambda:ndcg+0.8*pointwise" or, with a share that is a schedule,
        "listnet+linear(0,1)*lambda:ndcg". "perturbed" takes a measure or an objective, as in
        "perturbed:ndcg", "perturbed:lambda:ndcg" and "perturbed:(lambda:ndcg+pointwise)" (where a
        name is registered as both, the objective). An objective is returned as it is; a callable
        is taken as by `custom_objective`.

    Returns
    -------
    Objective

    Raises
    ------
    ValueError
        If there is no such objective or measure; the message lists those that exist.

    Examples
    --------
    >>> get_objective("lambda:map")
    LambdaRank(measure=AP(), truncation=None, normalize=None, ties='expected')
    """
    if isinstance(objective, Objective):
        return objective
    if not isinstance(objective, str):
        if callable(objective):
            return custom_objective(objective)
        raise TypeError(f"objective must be a name, an Objective or a function, got {objective!r}.")
    text = objective.strip()
    *firsts, last = split_outside(text, "+")
    if firsts:
        *share, second = split_outside(last, "*")
        mixed: Any = {"share": "*".join(share)} if share else {}
        return Mixture(get_objective("+".join(firsts)), get_objective(second), **mixed)
    if text.startswith("(") and text.endswith(")"):
        return get_objective(text[1:-1])
    text = ALIASES.get(text, text)
    match = GRAMMAR.fullmatch(text)
    name = match["name"] if match else text
    found = OBJECTIVES.get(ALIASES.get(name, name))
    if match is None or found is None:
        usages = (item.usage for item in list_objectives())
        raise unknown_name("objective", name, [*usages, *ALIASES])
    options = parse_options(match["options"] or "", objective)
    if match["inner"] is not None:
        if found.facts.takes_objective:
            options["objective"] = _objective_or_measure(match["inner"])
        elif found.facts.takes_measure:
            options["measure"] = get_measure(match["inner"])
        else:
            raise ValueError(f"objective {name!r} takes no measure, got {objective!r}.")
    made: Objective = _make(found, options, objective)
    return made


def _objective_or_measure(text: str) -> Objective | Measure:
    name = text.split(":")[0].split("(")[0].strip()
    if name not in OBJECTIVES and is_measure(text):
        return get_measure(text)
    return get_objective(text)


def _make(found: Any, options: dict[str, Any], objective: str) -> Any:
    accepted = [item.name for item in fields(found)]
    for option in options:
        if option not in accepted:
            raise ValueError(f"objective {objective!r} takes {accepted}, got {option!r}.")
    return replace(found, **options) if isinstance(found, CustomObjective) else found(**options)


def list_objectives() -> list[ObjectiveFacts]:
    """Return the facts of every registered objective, by name.

    Returns
    -------
    list of ObjectiveFacts

    Examples
    --------
    >>> [item.name for item in list_objectives()][:2]
    ['approx', 'gbrank']
    """
    return [
        ObjectiveFacts(
            name,
            tuple(alias for alias, target in ALIASES.items() if target == name),
            (found.__doc__ or "").strip().split("\n")[0],
            found.facts,
            found if isinstance(found, type) else type(found),
        )
        for name, found in sorted(OBJECTIVES.items())
    ]
