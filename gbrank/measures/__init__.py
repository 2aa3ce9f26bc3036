"""Exact ranking measures as immutable values, their registry and their names.

``NDCG(k=10)`` prints as ``ndcg@10``, and ``get_measure("ndcg@10")`` reads it back.
"""

import re
from dataclasses import dataclass, fields

from gbrank.common.checks import refuse_taken, unknown_name
from gbrank.common.grammar import parse_options
from gbrank.measures.average_precision import AP
from gbrank.measures.bpref import BPref
from gbrank.measures.discounted import DCG, NDCG, RBP, WTA, DiscountedMeasure, Precision, Recall
from gbrank.measures.expected_reciprocal_rank import ERR
from gbrank.measures.gains import DISCOUNT_CALLS
from gbrank.measures.measure import BoundMeasure, Measure, Terms
from gbrank.measures.pairwise import KendallTau, PairwiseCorrect
from gbrank.measures.reciprocal_rank import RR

__all__ = [
    "AP",
    "DCG",
    "ERR",
    "NDCG",
    "RBP",
    "RR",
    "WTA",
    "BPref",
    "BoundMeasure",
    "DiscountedMeasure",
    "KendallTau",
    "Measure",
    "MeasureFacts",
    "PairwiseCorrect",
    "Precision",
    "Recall",
    "Terms",
    "get_measure",
    "is_measure",
    "list_measures",
    "register_measure",
]

MEASURES: dict[str, type[Measure]] = {}
ALIASES = {"map": "ap", "mrr": "rr", "p": "precision", "auc": "pairwise", "tau": "kendall"}

GRAMMAR = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(@(?P<k>\d+))?(\((?P<options>.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class MeasureFacts:
    """What is known of a registered measure.

    Parameters
    ----------
    name : str
        Its name in strings such as "ndcg@10".
    aliases : tuple of str
        Other names for it.
    summary : str
        The first line of its documentation.
    cls : type
        Its class.
    truncated : bool
        Whether it takes a last rank k.
    swaps : bool
        Whether LambdaRank can train on it.
    """

    name: str
    aliases: tuple[str, ...]
    summary: str
    cls: type[Measure]
    truncated: bool
    swaps: bool

    @property
    def usage(self) -> str:
        """How it is written, such as "ndcg[@K]"."""
        return self.name + ("[@K]" if self.truncated else "")


def register_measure(cls: type[Measure]) -> type[Measure]:
    """Make a measure known by its `name`; usable as a class decorator.

    Parameters
    ----------
    cls : type
        A subclass of `Measure`.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    ValueError
        If another measure has that name. (One made by running the same code again, as in a
        notebook, takes its place.)

    Examples
    --------
    >>> register_measure(NDCG) is NDCG
    True
    """
    refuse_taken(cls.name, cls, MEASURES, ALIASES)
    MEASURES[cls.name] = cls
    return cls


for _cls in (
    NDCG, DCG, AP, RR, ERR, Precision, Recall, WTA, PairwiseCorrect, BPref, RBP, KendallTau,
):  # fmt: skip
    register_measure(_cls)


def is_measure(text: str) -> bool:
    """Say whether a string names a measure, whatever its options.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_measure("map@5"), is_measure("ranknet")
    (True, False)
    """
    match = GRAMMAR.fullmatch(text.strip())
    return match is not None and ALIASES.get(match["name"], match["name"]) in MEASURES


def get_measure(measure: str | Measure) -> Measure:
    """Return a measure from its string.

    Parameters
    ----------
    measure : str or Measure
        ``"name"``, ``"name@k"`` or ``"name@k(option=value, ...)"``, such as "ndcg@10", "map",
        "err@20", "ndcg@5(gain='linear')" or "ndcg(discount=mix(log2, linear, 0.5))". A measure
        is returned as it is.

    Returns
    -------
    Measure

    Raises
    ------
    ValueError
        If there is no such measure (the message lists those that exist), or it does not take
        the options.

    Examples
    --------
    >>> get_measure("map@5")
    AP(k=5)
    >>> str(get_measure("p@3(threshold=2)"))
    'precision@3(threshold=2)'
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise TypeError(f"measure must be a name or a Measure, got {measure!r}.")
    match = GRAMMAR.fullmatch(measure.strip())
    name = match["name"] if match else measure
    cls = MEASURES.get(ALIASES.get(name, name))
    if match is None or cls is None:
        raise unknown_name("measure", name, [*MEASURES, *ALIASES])
    options = parse_options(match["options"] or "", measure, DISCOUNT_CALLS)
    if match["k"] is not None:
        options["k"] = int(match["k"])
    accepted = [item.name for item in fields(cls)]
    for option in options:
        if option not in accepted:
            raise ValueError(f"measure {measure!r}: {name} takes {accepted}, got {option!r}.")
    return cls(**options)


def list_measures() -> list[MeasureFacts]:
    """Return the facts of every registered measure, by name.

    Returns
    -------
    list of MeasureFacts

    Examples
    --------
    >>> [facts.name for facts in list_measures()][:3]
    ['ap', 'bpref', 'dcg']
    """
    return [_facts(name, cls) for name, cls in sorted(MEASURES.items())]


def _facts(name: str, cls: type[Measure]) -> MeasureFacts:
    aliases = tuple(alias for alias, target in ALIASES.items() if target == name)
    truncated = any(item.name == "k" for item in fields(cls))
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    return MeasureFacts(name, aliases, summary, cls, truncated, cls.swaps is not None)
