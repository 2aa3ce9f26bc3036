"""The registry of measures, and their names.

``NDCG(k=10)`` prints as ``ndcg@10``, and ``get_measure("ndcg@10")`` reads it back.
"""

import re
from dataclasses import dataclass, fields

from gbrank.common.checks import refuse_taken, unknown_name
from gbrank.common.grammar import parse_options
from gbrank.measures.gains import DISCOUNT_CALLS
from gbrank.measures.measure import Measure

__all__ = [
    "MEASURES",
    "MeasureFacts",
    "get_measure",
    "is_measure",
    "list_measures",
    "register_measure",
]

MEASURES: dict[str, type[Measure]] = {}

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


def _own_aliases(cls: type[Measure]) -> tuple[str, ...]:
    found: tuple[str, ...] = vars(cls).get("aliases", ())  # a subclass has others
    return found


def _aliases() -> dict[str, type[Measure]]:
    return {alias: cls for cls in MEASURES.values() for alias in _own_aliases(cls)}


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
    >>> from gbrank import NDCG, register_measure
    >>> register_measure(NDCG) is NDCG
    True
    """
    for name in (cls.name, *_own_aliases(cls)):
        refuse_taken(name, cls, MEASURES | _aliases())
    MEASURES[cls.name] = cls
    return cls


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
    >>> import gbrank.measures
    >>> is_measure("map@5"), is_measure("ranknet")
    (True, False)
    """
    match = GRAMMAR.fullmatch(text.strip())
    return match is not None and match["name"] in MEASURES | _aliases()


def get_measure(measure: str | Measure) -> Measure:
    """Return a measure from its string.

    Parameters
    ----------
    measure : str or Measure
        ``"name"``, ``"name@k"`` or ``"name@k(option=value, ...)"``, such as "ndcg@10", "map",
        "err@20" or "ndcg@5(gain='linear')". A measure is returned as it is.

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
    known = MEASURES | _aliases()
    cls = known.get(name)
    if match is None or cls is None:
        raise unknown_name("measure", name, known)
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
    truncated = any(item.name == "k" for item in fields(cls))
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    return MeasureFacts(name, _own_aliases(cls), summary, cls, truncated, cls.swaps is not None)
