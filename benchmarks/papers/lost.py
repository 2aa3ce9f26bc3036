"""Figures whose data are not at hand: the rows say so."""

from collections.abc import Iterator

from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.settings import Settings

__all__ = ["figures_without_data"]

LETOR_3 = ("HP2003", "HP2004", "NP2003", "NP2004", "TD2003", "TD2004")
FIGURES = [
    *(
        ("SmoothRank", data, f"{figure} (table 2)", value)
        for figure, values in {
            "NDCG@10 of SmoothNDCG": (0.833, 0.824, 0.784, 0.807, 0.336, 0.335),
            "MAP of SmoothNDCG": (0.764, 0.724, 0.676, 0.676, 0.270, 0.233),
            "NDCG@10 of regression": (0.822, 0.719, 0.802, 0.804, 0.330, 0.283),
            "MAP of regression": (0.749, 0.630, 0.682, 0.687, 0.243, 0.199),
            "NDCG@10 of RankSVM": (0.818, 0.772, 0.789, 0.795, 0.357, 0.291),
            "MAP of RankSVM": (0.764, 0.671, 0.688, 0.675, 0.265, 0.206),
        }.items()
        for data, value in zip(LETOR_3, values, strict=True)
    ),
    ("ApproxRank", "TD2003", "MAP of ApproxAP (section 6.3)", 0.233),
    ("ApproxRank", "TD2004", "MAP of ApproxAP (section 6.3)", 0.350),
    ("ApproxRank", "TD2003", "MAP of ApproxNDCG (section 6.5)", 0.238),
    ("ApproxRank", "TD2004", "MAP of ApproxNDCG (section 6.5)", 0.318),
    ("ApproxRank", "TD2004", "approximation error of AP by α (figure 1)", None),
    ("ApproxRank", "TD2004", "approximation error of AP by β (figure 2)", None),
    ("LambdaRank", "web search", "speed-up of RankNet's linear net (section 6.1)", 5.1),
    ("LambdaRank", "web search", "speed-up of RankNet's two-layer net (section 6.1)", 8.0),
    ("LambdaRank", "web search", "NDCG of LambdaRank less that of RankNet (section 6.4)", None),
    ("LambdaRank", "intranet", "NDCG of LambdaRank less that of RankNet (section 6.3.2)", None),
    ("TieRank", "TD2004", "NDCG of TieRank", None),
    ("SmoothRank", "mean of seven sets", "NDCG@10 and MAP of all methods (figure 4)", None),
    ("SmoothRank", "OHSUMED", "NDCG@10 of LETOR's other baselines (figure 3, top)", None),
    ("SmoothRank", "OHSUMED, LETOR 2.0", "NDCG@1 to 10 of FITC-Rank (figure 5)", None),
    ("ApproxRank", "OHSUMED", "NDCG@1 to 10 of AdaRank.NDCG (figure 4)", None),
    ("ApproxRank", "no data", "truncation by other sigmoids (footnote 4)", None),
    ("LambdaRank", "web search", "ten λ functions, of which one is given (section 6.2)", None),
]
REASONS = {
    "web search": "the data were never public",
    "intranet": "the data were never public",
    "mean of seven sets": "LETOR 3.0's other six sets are not at hand",
    "OHSUMED": "other people's programs made it",
    "OHSUMED, LETOR 2.0": "another program made it, and the paper only draws it",
    "no data": "too large: every measure, also a user's own, would take the sigmoid as an argument",
}


def figures_without_data(settings: Settings) -> Iterator[PaperRow]:
    """Yield the papers' figures on data that are lost or were never public."""
    for paper, data, figure, value in FIGURES:
        reason = REASONS.get(data, "LETOR's collections of .gov pages are not at hand")
        yield PaperRow(paper, data, figure, None, value, note=reason)
