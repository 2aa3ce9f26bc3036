"""Every objective on every measure: the list that several tests run through."""

from gbrank import get_objective, list_measures, list_objectives


def possible(name: str) -> bool:
    """Return whether an objective can be made from a name."""
    try:
        get_objective(name)
    except ValueError:
        return False
    return True


def names() -> list[str]:
    """Return every objective on every measure, plain, cut, normalised and truncated."""
    found = []
    for item in list_objectives():
        if item.facts.takes_objective or not item.facts.takes_measure:
            found += [item.name, f"{item.name}(normalize='query')"]
        if not item.facts.takes_measure:
            continue
        flat = ("precision", "recall")  # of the whole list, the same for every ranking
        for measure in list_measures():
            cuts = ["", "@3"] if measure.truncated else [""]
            found += [
                f"{item.name}:{measure.name}{k}" for k in cuts if k or measure.name not in flat
            ]
        found += [
            f"{item.name}(normalize='query'):ndcg@3",
            f"{item.name}:ndcg(discount=linear)",
            f"{item.name}:ndcg@4(discount=mix(log2,linear,0.5))",
        ]
    found += [
        name.replace("lambda:", "lambda(truncation=4):") for name in found if "lambda:" in name
    ]
    return [name for name in found if possible(name)]


NAMES = names()
PLAIN = [name for name in NAMES if "normalize" not in name]
FACTS = {item.name: item.facts for item in list_objectives()}


def kind(name: str) -> str:
    """Return which objective a name is of."""
    return name.split(":")[0].split("(")[0]
