"""What benchmarks of all objectives measure: the registry, with one measure of each kind."""

from gbrank import get_objective, list_objectives

__all__ = ["objective_names"]

# Sums over positions, sums over relevant documents, users who stop, pairs.
MEASURES = ["ndcg", "ap", "err", "kendall"]


def objective_names() -> list[str]:
    """Return the strings of all registered objectives, applied to the measures that they take."""
    names = ["lambda(truncation=30):ndcg"]
    for item in list_objectives():
        if not item.facts.takes_measure:
            names.append(item.name)
            continue
        for measure in MEASURES:
            try:
                get_objective(f"{item.name}:{measure}")
            except ValueError:
                continue
            names.append(f"{item.name}:{measure}")
    return names
