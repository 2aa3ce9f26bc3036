"""Every objective on every measure: the names that several tests run through.

Most tests take every objective on every measure; the exhaustive ones also their variants: cut,
truncated, with other discounts.
`GBRANK_BATTERY=word` leaves only the names that contain the word, such as those of a plug-in.
"""

import os
from collections.abc import Callable, Iterable

from cases import Test, groups
from gbrank import get_objective, list_measures, list_objectives

# Variants by options of an objective, that have a kernel or a formula of their own.
OPTIONS = ["smoothap(as_printed=True)"] + [
    f"approx(sigmoid={sigmoid}):{name}"
    for sigmoid in ("erf", "arctan")
    for name in ("ndcg@3", "ap", "err", "kendall")
]
WORD = os.environ.get("GBRANK_BATTERY", "")
FLAT = {"hit_rate", "judged", "precision", "recall"}  # of a whole list, the same for all rankings


def possible(name: str) -> bool:
    """Return whether an objective can be made from a name."""
    try:
        get_objective(name)
    except ValueError:
        return False
    return True


def names() -> list[str]:
    """Return every objective on every measure, plain, cut and truncated, and with options."""
    found = []
    measures = [
        f"{item.name}{cut}"
        for item in list_measures()
        for cut in (["", "@3"] if item.truncated else [""])
        if cut or item.name not in FLAT
    ]
    for item in list_objectives():
        if not item.facts.takes_measure:
            found.append(item.name)
            continue
        found += [f"{item.name}:{measure}" for measure in measures]
        found += [
            f"{item.name}:ndcg(discount=linear)",
            f"{item.name}:ndcg@4(discount=geometric_discount(0.6))",
        ]
    found += OPTIONS
    found += [
        name.replace("lambda:", "lambda(truncation=4):") for name in found if "lambda:" in name
    ]
    return [name for name in found if possible(name)]


def kind(name: str) -> str:
    """Return which objective a name is of."""
    return name.split(":")[0].split("(")[0]


def base(name: str) -> str:
    """Return an objective on a measure, without cut and options, but those that are always cut."""
    measure = name.partition(":")[2].partition("@")[0].partition("(")[0]
    return f"{kind(name)}:{measure}" if measure else kind(name)


ALL = names()
NAMES = [name for name in ALL if WORD in name]
FACTS = {item.name: item.facts for item in list_objectives()}


def battery(chosen: Iterable[str], slow: Iterable[str] = ()) -> Callable[[Test], Test]:
    """Turn a test of one `name` into one for each objective that runs through its names.

    The first name of every objective on every measure is for all, the others are exhaustive;
    all names of an objective may be slow.
    """
    parts: dict[str, list[str]] = {}
    quick: set[str] = set()
    for name in chosen:
        part = f"{kind(name)}, variants" if base(name) in quick else kind(name)
        quick.add(base(name))
        parts.setdefault(part, []).append(name)
    exhaustive = [part for part in parts if "variants" in part]
    return groups("name", parts, exhaustive, slow) if parts else _not_tested


def _not_tested(test: Test) -> Test:
    """Leave out a test that none of the names is for."""
    test.__test__ = False  # type: ignore[attr-defined]
    return test
