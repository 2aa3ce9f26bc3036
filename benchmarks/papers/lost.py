"""Figures whose data are not at hand: the rows say so."""

from collections.abc import Iterator

from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.settings import Settings

__all__ = ["figures_without_data"]

LETOR_3 = ("HP2003", "HP2004", "NP2003", "NP2004", "TD2003", "TD2004")
FIGURES = [
    *(
        ("SmoothRank", data, f"{measure} of SmoothNDCG (table 2)", value)
        for measure, values in {
            "NDCG@10": (0.833, 0.824, 0.784, 0.807, 0.336, 0.335),
            "MAP": (0.764, 0.724, 0.676, 0.676, 0.270, 0.233),
        }.items()
        for data, value in zip(LETOR_3, values, strict=True)
    ),
    ("ApproxRank", "TD2003", "MAP of ApproxAP (section 6.3)", 0.233),
    ("ApproxRank", "TD2004", "MAP of ApproxAP (section 6.3)", 0.350),
    ("ApproxRank", "TD2003", "MAP of ApproxNDCG (section 6.5)", 0.238),
    ("ApproxRank", "TD2004", "MAP of ApproxNDCG (section 6.5)", 0.318),
    ("LambdaRank", "web search", "NDCG of LambdaRank less that of RankNet (section 6.4)", None),
    ("LambdaRank", "intranet", "NDCG of LambdaRank less that of RankNet (section 6.3.2)", None),
    ("TieRank", "TD2004", "NDCG of TieRank", None),
]


def figures_without_data(settings: Settings) -> Iterator[PaperRow]:
    """Yield the papers' figures on data that are lost or were never public."""
    for paper, data, figure, value in FIGURES:
        yield PaperRow(paper, data, figure, None, value, note="the data are not at hand")
