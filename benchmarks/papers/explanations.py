"""What agrees with each paper, and why rows differ from it."""

from collections.abc import Mapping, Sequence

from benchmarks.papers.paper_rows import PaperRow

__all__ = ["CONTRADICTIONS", "EXPLANATIONS", "VERDICTS", "explanation"]

# Texts name what was measured: {experiment | figure}, or {experiment | figure | field of the row}.
VERDICTS: Mapping[str, str] = {
    "SmoothRank": (
        "On OHSUMED, the numbers of tables 2 and 3 are within our intervals, and figures 1 and 2 "
        "have the paper's shape. SmoothNDCG is above regression at all truncation levels, as in "
        "figure 3, but not significantly. Not confirmed, within the noise of 106 queries: that it "
        "is above RankSVM at most levels, and that longer training truncations are better. "
        "Missing: HP2003, HP2004, NP2003, NP2004, TD2003 and TD2004, since our copy of LETOR "
        "lacks its collections of .gov pages, and other authors' programs. Figure 5 has no "
        "numbers to compare. The paper's h is SoftSort (Prillo & Eisenschlos 2020) with a squared "
        "distance."
    ),
    "ApproxRank": (
        "On OHSUMED, NDCG of sections 6.4 and 6.5 is within our intervals. Approximation errors "
        "are below the bounds of figures 1 and 3 (AP on OHSUMED, since we do not have TD2004). "
        "ApproxAP is close to ApproxNDCG, as in figure 5, though lower in NDCG@5 and NDCG@6 by "
        "intervals that are not corrected for ten positions. Not confirmed: that ApproxNDCG is "
        "above SoftRank at the top. Truncations are logistic in the soft ranks, whichever sigmoid "
        "these use (footnote 4). Missing: TD2003 and TD2004."
    ),
    "LambdaRank": (
        "As in figure 1, the factorized gradient is faster for all but the shortest lists, and "
        "more so for longer ones. Its time grows with a slope of {lambdarank-6.1 | slope of log "
        "time by log documents, factorised, linear net (figure 1)} (the paper: {lambdarank-6.1 | "
        "slope of log time by log documents, factorised, linear net (figure 1) | paper_value}), "
        "but of {lambdarank-6.1 | slope of log time by log documents from 32 on, factorised, "
        "linear net (figure 1)} from 32 documents on. As in figure 2, LambdaRank is above RankNet "
        "with linear nets, significantly at every truncation level. Not confirmed: the same of "
        "two layers, on a fifth of the paper's queries. Missing: web and intranet search, which "
        "were never public."
    ),
    "TieRank": (
        "The worked example agrees to rounding error, and the spline is better than the linear φ, "
        "though not by far. Not confirmed: that TieRank is above other rankers, and that more "
        "documents are better. Missing: its tables, which are lost, and TD2004. Trained on ERR, an "
        "extension that the paper names, TieRank has an ERR that is higher by {tierank-learner | "
        "ERR of TieRank of ERR less that of TieRank of NDCG, d = 2, both of depth 4 and leaves 20} "
        "than trained on NDCG, not significantly."
    ),
    "SLAM": (
        "The paper has no experiments. Its bounds hold on queries made for that purpose; the "
        "cumulative loss of an adversary's queries reaches {slam-perceptron | cumulative 1 − AP "
        "of 399 queries of an adversary (corollary 6)} (bound: {slam-perceptron | cumulative 1 − "
        "AP of 399 queries of an adversary (corollary 6) | paper_value}). If no weights rank all "
        "queries perfectly, theorem 5's bound is below the number of rounds with an error on "
        "queries of which few are shuffled, though not by the paper's factor; on OHSUMED it equals "
        "that number, and is uninformative."
    ),
}

FIRST = "one document of each of 106 queries decides; the interval contains the paper's number"
LESS_VISIBLE = (
    "the paper finds shorter training truncations worse, we find no significant difference from "
    "NDCG@50; the interval contains the paper's number"
)
LOG2 = (
    "another discount: with that of LETOR's script, this ranker agrees with the paper, which "
    "probably uses it"
)
TIMES = "times of another machine and of other code"
SUMS = (
    "other code on another machine: what a query costs by itself flattens the line for short "
    "lists, and the sum of λ over pairs steepens it for long ones"
)

_TABLE_3 = {
    "NDCG@1, trained on NDCG@50": FIRST,
    "NDCG@1, trained on NDCG@10": FIRST,
    "NDCG@1, trained on NDCG@5": FIRST,
    "NDCG@1, trained on NDCG@1": FIRST,
    "NDCG@5, trained on NDCG@10": LESS_VISIBLE,
    "NDCG@10, trained on NDCG@10": LESS_VISIBLE,
    "NDCG@5, trained on NDCG@5": LESS_VISIBLE,
    "NDCG@10, trained on NDCG@5": LESS_VISIBLE,
    "NDCG@5, trained on NDCG@1": LESS_VISIBLE,
    "NDCG@10, trained on NDCG@1": LESS_VISIBLE,
    "NDCG@1, trained on NDCG@50, stopped early": FIRST,
}
_WHOLE_LIST = {
    ("ohsumed25", "NDCG@n of ApproxNDCG, 1/log2(1 + j) (section 6.4)"),
    ("ohsumed25", "NDCG@n of ApproxNDCG, α=300, 1/log2(1 + j) (section 6.4)"),
    ("ohsumed", "NDCG@n of ApproxNDCG, α=300, 1/log2(1 + j) (section 6.4)"),
    ("ohsumed25", "NDCG@n of SoftRank, 1/log2(1 + j) (section 6.4)"),
    ("ohsumed25", "NDCG@n of ApproxAP, 1/log2(1 + j) (section 6.5)"),
}
_SLOPE = "slope of log time by log documents, {}, linear net (figure 1)"

EXPLANATIONS: dict[tuple[str, str, str], str] = {  # of paper, data and figure
    **{("SmoothRank", "ohsumed", f"{row} (table 3)"): why for row, why in _TABLE_3.items()},
    **{("ApproxRank", *row): LOG2 for row in _WHOLE_LIST},
    ("LambdaRank", "random", _SLOPE.format("pair by pair")): TIMES,
    ("LambdaRank", "random", _SLOPE.format("factorised")): SUMS,
}  # fmt: skip


CONTRADICTIONS: Mapping[str, Sequence[str]] = {  # by experiment
    "smoothrank-tables": (
        "Figure 3: SmoothNDCG, stopped early, is above regression by {smoothrank-tables | NDCG@10 "
        "of SmoothNDCG, stopped early, less that of regression (figure 3)} in NDCG@10, not "
        "significantly. Our curves of RankSVM and SmoothNDCG cross.",
    ),
    "smoothrank-extensions": (
        "Boosted trees, which the paper only describes, start from a regression of NDCG@10 "
        "{smoothrank-extensions | NDCG@10 of the regression that boosting starts from (section 6)} "
        "and end at {smoothrank-extensions | NDCG@10 of SmoothNDCG with functional gradient "
        "boosting, from the regression (section 6)}; from one without a penalty, at "
        "{smoothrank-extensions | NDCG@10 of the regression without a penalty that boosting starts "
        "from (section 6)}, they reach {smoothrank-extensions | NDCG@10 of SmoothNDCG with "
        "functional gradient boosting, from the regression without a penalty (section 6)}. Neither "
        "gain is tested.",
    ),
    "approxrank-6.2": (
        "Figure 2: errors with β = 10 and β = 100 are alike; those with β = 1 are the smallest in "
        "the first iterations, and the largest afterwards. What remains is the error of the "
        "ranks, which β does not change.",
    ),
    "approxrank-6.4": (
        "ApproxNDCG is not significantly above SoftRank at the top positions. This SoftRank is "
        "exact, where the authors' program approximates the distribution of ranks. With 200 "
        "iterations in place of 40, it has {approxrank-6.4 | "
        "NDCG@n of SoftRank, 200 iterations, LETOR's discount (section 6.4)} in place of "
        "{approxrank-6.4 | NDCG@n of SoftRank, LETOR's discount (section 6.4)}.",
    ),
    "approxrank-6.5": (
        "The largest difference between ApproxAP and ApproxNDCG is {approxrank-6.5 | NDCG@1 of "
        "ApproxAP less that of ApproxNDCG (figure 5)}, at the first position.",
    ),
    "lambdarank-6.2": (
        "Between swaps the cost is convex without αs, too: its least eigenvalue is 0, since a "
        "constant added to all scores changes nothing; α makes it strictly convex. Where two "
        "documents swap, forces jump, and no α suffices: the eigenvalue's size is that of the "
        "step of the differences.",
        "Differences of NDCG break the third law: their forces on a query do not sum to 0, but to "
        "at most {lambdarank-6.2 | largest net force on a query of differences of NDCG (section "
        "4, the third law)} on our lists.",
    ),
    "lambdarank-6.3.1": (
        "With linear nets, LambdaRank's NDCG@1 is above RankNet's by {lambdarank-6.3.1 | NDCG@1 of "
        "LambdaRank less that of RankNet, linear nets (section 6.3.1)}, NDCG@10 by "
        "{lambdarank-6.3.1 | NDCG@10 of LambdaRank less that of RankNet, linear nets (section "
        "6.3.1)}. With two layers, none of the ten differences is significant, after a fifth of "
        "the paper's epochs, and at the smallest η that was tried. P-values are corrected for ten "
        "truncation levels. With boosted trees, RankNet is better (lambdarank-trees).",
    ),
    "tierank": (
        "TieRank does not differ significantly from the others, with gbrank's trees or the "
        "paper's own learner. None of the paper's baselines is LambdaMART.",
    ),
    "tierank-learner": (
        "φ: the spline's NDCG@10 is better by {tierank-learner | NDCG@10 of TieRank, φ spline, d "
        "= 6, less that of φ linear, d = 6, both of depth 4 and leaves 20}. The paper finds it "
        "far better.",
        "d: 6 documents of each label are not better than 2, and all are not better than 6.",
        "ν: the paper's, with twenty times as many trees, makes no significant difference from "
        "that of the other rows.",
        "The paper's scores stay between 0 and 1. Of 45 rankers of one search, the one that goes "
        "furthest has {tierank-learner | largest share of test documents with |score − 0.5| above "
        "0.5, of all 45 rankers of one search} of the test documents outside, and the largest "
        "|score − ½| is {tierank-learner | largest |score − 0.5| of test queries, of all 45 "
        "rankers of one search} (of training documents {tierank-learner | largest |score − 0.5| of "
        "training queries, of all 45 rankers of one search}). Clipping changes no NDCG@5.",
    ),
}


def explanation(row: PaperRow) -> str:
    """Return why a row is far from the paper's; nothing if it is near, or not explained."""
    return EXPLANATIONS.get((row.paper, row.data, row.figure), "") if row.is_far else ""
