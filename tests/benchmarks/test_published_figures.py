"""Figures of NDCG in the prose of pages are those of a published result, by name."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.writing import RESULTS

DOCS = Path(__file__).parents[2] / "docs"
DEFAULT, PEER, LONG = "GBRanker()", "LGBMRanker()", "GBRanker(n_estimators=500)"
NOISY = "artificial, noisy labels"


def rows(study: str, **named: Any) -> list[dict[str, Any]]:
    """Return the rows of a study with these values."""
    found = json.loads((RESULTS / f"{study}.json").read_text(encoding="utf-8"))
    found = [row for row in found if row.items() >= named.items()]
    assert found, (study, named)
    return found


def lead(study: str, **named: Any) -> float:
    """Return the difference of one row from the first ranker, without its sign."""
    (row,) = rows(study, **named)
    return abs(row["difference"])


def p_of(study: str, **named: Any) -> float:
    """Return the p-value of one row."""
    (row,) = rows(study, **named)
    return float(row["p"])


def seconds(study: str, **named: Any) -> float:
    """Return the CPU seconds of one row."""
    (row,) = rows(study, **named)
    return float(row["cpu_seconds"])


def ratios_of_default() -> list[float]:
    """Return the default's CPU seconds beside LightGBM's, by data set and on the mean."""
    return [
        row["cpu_seconds"] / seconds("default_parameters", data=row["data"], ranker=PEER)
        for row in rows("default_parameters", ranker=DEFAULT)
        if "cpu_seconds" in row
    ]


def kinds_of_features() -> list[dict[str, Any]]:
    """Return the better of LightGBM's and XGBoost's rankers for each kind and size."""
    peers: dict[Any, list[dict[str, Any]]] = {}
    for row in rows("kinds_of_features"):
        if row["ranker"] != DEFAULT:
            peers.setdefault((row["data"], row["size"]), []).append(row)
    return [max(found, key=lambda row: row["ndcg@10"]) for found in peers.values()]


def of_defaults() -> list[str]:
    """Return the sentences of docs/defaults.md with figures."""
    counts = [-row["difference"] for row in kinds_of_features() if row["data"] == "counts"]
    leaves = [lead("leaves", data="artificial", ranker="31 leaves", size=size)
              for size in (10_000, 50_000, 200_000)]  # fmt: skip
    more = [lead("rounds", data=data, ranker=LONG, size=size)
            for data in ("artificial", NOISY) for size in (200_000, 700_000)]  # fmt: skip
    flights = {"data": "flights", "size": 133_000}
    *by_data, total = ratios_of_default()
    trees = {"ranker": "GBRanker(colsample=0.5, extra_trees=True)"}
    assert p_of("leaves", data="mean", size="all", ranker="31 leaves") > 0.05
    assert p_of("rounds", **flights, ranker=LONG) > 0.05
    assert p_of("sizes", **flights, **trees) > 0.05
    return [
        f"by {min(counts):.3f} to {max(counts):.3f} on artificial data",
        f"(+{lead('leaves', data='mean', size='all', ranker='31 leaves'):.4f} on average)",
        f"NDCG@10 is higher there by {min(leaves):.3f} to {max(leaves):.3f}",
        f"NDCG@10 increases by {min(more):.3f} to {max(more):.3f} on artificial data, "
        f"by {lead('rounds', **flights, ranker=LONG):.3f} (not significant) on 133,000",
        f"take {min(by_data):.1f} to {max(by_data):.1f} times the CPU seconds of LightGBM's ranker "
        f"on the five data sets, {total:.1f} times in total",
        f"by {lead('rounds', **flights, ranker=PEER):.3f} "
        f"(p = {p_of('rounds', **flights, ranker=PEER):.2f}), on 200,000 artificial documents by "
        f"{lead('rounds', data='artificial', size=200_000, ranker=PEER):.3f}, with label noise by "
        f"{lead('rounds', data=NOISY, size=200_000, ranker=PEER):.3f}",
        f"bring {lead('sizes', **flights, **trees):.3f} there (not significant), "
        f"{lead('sizes', data='artificial', size=200_000, **trees):.3f} and nothing",
    ]


def of_studies() -> list[str]:
    """Return the sentences of docs/studies/README.md whose figures are in a file of numbers."""
    total = seconds("default_parameters", data="mean", ranker=DEFAULT)
    ratios = [total / seconds("default_parameters", data="mean", ranker=ranker)
              for ranker in (PEER, "XGBRanker()")]  # fmt: skip
    equal = {"within": "equal seconds"}
    artificial, noisy = "artificial, 200,000 documents", "noisy, 200,000 documents"
    convex = [lead("larger", **equal, data=data, ranker=ranker)
              for data in (artificial, noisy) for ranker in ("ranknet", "listmle")]  # fmt: skip
    kinds = kinds_of_features()
    better = [row for row in kinds if row["difference"] < 0 and row["p"] < 0.05]
    most = -min(row["difference"] for row in better)
    few, many = (
        sorted(lead("rounds", data=data, ranker=LONG, size=size) for data in ("artificial", NOISY))
        for size in (10_000, 700_000)
    )
    return [
        f"in {ratios[0]:.1f} and {ratios[1]:.1f} times their seconds",
        f"bring {lead('price', data='mean', ranker=LONG):.3f}; 1,000 bring no more",
        f"by {lead('larger', **equal, data=artificial, ranker='noisy:ndcg'):.3f}, with label noise "
        f"by {lead('larger', **equal, data=noisy, ranker='noisy:ndcg'):.3f}, RankNet and ListMLE "
        f"by {min(convex):.3f} to {max(convex):.3f}",
        f"in {len(better)} of {len(kinds)} cases, by up to {most:.3f}",
        f"they bring {few[0]:.3f} to {few[1]:.3f} with 10,000 documents and "
        f"{many[0]:.3f} to {many[1]:.3f} with 700,000",
    ]


def of_few_labels() -> list[str]:
    """Return the lines of the table in docs/howto/few_labels.md."""
    names = {
        "best feature": "best column",
        "RRF of five": "RRF of the best five",
        "z-scores of five": "z-scores of the best five",
    }
    lines = []
    for ranker in (*names, DEFAULT, "LinearRanker(by_query=True)", PEER):
        cells = [
            row["ndcg@10"]
            for table in ("mean", "five retrievers, artificial")
            for row in rows("few_labels", table=table, ranker=ranker)
        ]
        figures = " | ".join(f"{value:.3f}".removeprefix("0") for value in cells)
        lines.append(f"| {names.get(ranker, f'`{ranker}`')} | {figures} |")
    return lines


PAGES = {
    "defaults": of_defaults,
    "which": list,
    "studies/README": of_studies,
    "howto/few_labels": of_few_labels,
}


@pytest.mark.parametrize("page", PAGES)
def test_figures_of_prose_are_published(page: str) -> None:
    """Rounded as they stand; docs/defaults.md and docs/which.md have no others."""
    text = " ".join((DOCS / f"{page}.md").read_text(encoding="utf-8").split())
    for sentence in PAGES[page]():
        assert sentence in text
        text = text.replace(sentence, "")
    if page in ("defaults", "which"):
        assert re.findall(r"0?\.\d{3,}", text) == []
