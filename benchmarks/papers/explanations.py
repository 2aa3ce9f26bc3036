"""What agrees with each paper, and why rows differ from it."""

from collections.abc import Mapping, Sequence

from benchmarks.papers.paper_rows import PaperRow

__all__ = ["CONTRADICTIONS", "EXPLANATIONS", "VERDICTS", "explanation"]

# Texts name what was measured: {experiment | figure}, or {experiment | figure | field of the row}.
VERDICTS: Mapping[str, str] = {
    "SmoothRank": (
        "On OHSUMED, the numbers of tables 2 and 3 are within our intervals, and figures 1 and 2 "
        "have the paper's shape. SmoothNDCG is above regression, as in figure 3, a difference "
        "that we did not test. Not confirmed, within the noise of 106 queries: that it is above "
        "RankSVM at most truncation levels, and that longer training truncations are better. "
        "Missing: HP2003, HP2004, NP2003, NP2004, TD2003 and TD2004, LETOR's collections of .gov "
        "pages, which we do not have, and other authors' programs. Figure 5 has no numbers to "
        "compare. The paper's h is SoftSort (Prillo & Eisenschlos 2020) with a squared distance."
    ),
    "ApproxRank": (
        "On OHSUMED, NDCG of sections 6.4 and 6.5 is within our intervals. Approximation errors "
        "are below the bounds of figures 1 and 3 (AP on OHSUMED, since we do not have TD2004). "
        "ApproxAP and ApproxNDCG do not differ significantly, in line with figure 5. Not "
        "confirmed: that ApproxNDCG is above SoftRank at the top. Truncations are logistic in the "
        "soft ranks, whichever sigmoid these use (footnote 4). Missing: TD2003 and TD2004."
    ),
    "LambdaRank": (
        "As in figure 1, the factorized gradient is faster, and more so for longer lists. Not "
        "confirmed: how its time grows with the number of documents; our slope is {lambdarank-6.1 "
        "| slope of log time by log documents, factorised, linear net (figure 1)}, the paper's "
        "{lambdarank-6.1 | slope of log time by log documents, factorised, linear net (figure 1) "
        "| paper_value}. Inconclusive: nets, on a twenty-fifth of the paper's queries. LambdaRank "
        "is above RankNet with linear nets and below it with two layers, and p-values are not "
        "corrected for ten truncation levels. Missing: web and intranet search, which were never "
        "public."
    ),
    "TieRank": (
        "The worked example agrees to rounding error, and the spline is better than the linear φ, "
        "though not by far. Not confirmed: that TieRank is above other rankers, and that more "
        "documents are better. Missing: its tables, which are lost, and TD2004. ERR, an extension "
        "that the paper names, was in gbrank up to revision 721ba46; trees trained on its exact "
        "expectation had no higher ERR than trees trained on NDCG "
        "([table](../benchmarks/results/measures.md))."
    ),
    "SLAM": (
        "The paper has no experiments. Its bounds hold on queries made for that purpose; the "
        "cumulative loss of an adversary's queries reaches {slam-perceptron | cumulative 1 − AP "
        "of 399 queries of an adversary (corollary 6)} (bound: {slam-perceptron | cumulative 1 − "
        "AP of 399 queries of an adversary (corollary 6) | paper_value}). If no weights rank all "
        "queries perfectly, theorem 5's bound is below the number of rounds with an error on "
        "queries of which few are shuffled; on OHSUMED it equals that number, and is "
        "uninformative."
    ),
}

FIRST = (
    "one document of each of 106 queries decides, so that the interval is wide; it contains the "
    "paper's number"
)
LESS_VISIBLE = (
    "the paper finds shorter training truncations worse, we find no significant difference from "
    "NDCG@50; the interval contains the paper's number"
)
LOG2 = (
    "another discount: evaluated with that of LETOR's script, this ranker agrees with the paper, "
    "so that its numbers probably use that"
)
TIMES = "times of another machine and of other code"
SUMS = (
    "with only 50 inputs per document, the remaining sum of λ over pairs takes most of the time "
    "on long lists"
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
        "Figure 3: our curves of RankSVM and SmoothNDCG cross. Their difference is not tested.",
    ),
    "smoothrank-extensions": (
        "These rows have λ beside a mean, and a penalty of 0.01 in the regression of w0. With the "
        "paper's penalties, SmoothNDCG that is stopped early has an NDCG@10 of {smoothrank-tables "
        "| NDCG@10, trained on NDCG@50, stopped early (table 3)}.",
        "Boosted trees, which the paper only describes, are not above the regression with a "
        "penalty that they start from ({smoothrank-extensions | NDCG@10 of SmoothNDCG with "
        "functional gradient boosting, from a regression with a penalty of 0.01 (section 6)} as "
        "in the paper, {smoothrank-extensions | NDCG@10 of SmoothNDCG with functional gradient "
        "boosting by gbrank's trees (section 6)} with gbrank's trees, from {smoothrank-extensions "
        "| NDCG@10 of the regression with a penalty of 0.01 that boosting starts from (section "
        "6)}), but above one without ({smoothrank-extensions | NDCG@10 of SmoothNDCG with "
        "functional gradient boosting, from a regression without a penalty (section 6)}, from "
        "{smoothrank-extensions | NDCG@10 of the regression without a penalty that boosting "
        "starts from (section 6)}). No difference is tested.",
    ),
    "approxrank-6.2": (
        "Figure 2: errors with β = 10 and β = 100 are alike; those with β = 1 are the smallest in "
        "the first iterations, and the largest afterwards. What remains is the error of the "
        "ranks, which β does not change.",
    ),
    "approxrank-6.4": (
        "ApproxNDCG is not above SoftRank at the top positions: no difference is significant with "
        "106 queries. This SoftRank is exact, where the authors' program approximates the "
        "distribution of ranks. With 200 iterations in place of 40, it has {approxrank-6.4 | "
        "NDCG@n of SoftRank, 200 iterations, LETOR's discount (section 6.4)} in place of "
        "{approxrank-6.4 | NDCG@n of SoftRank, LETOR's discount (section 6.4)}.",
    ),
    "approxrank-6.5": (
        "ApproxAP is comparable with ApproxNDCG, as in the paper: no difference is significant "
        "with 106 queries. The largest is {approxrank-6.5 | NDCG@1 of ApproxAP less that of "
        "ApproxNDCG (figure 5)}, at the first position.",
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
        "With two layers, RankNet is better at most truncation levels, as it is with boosted "
        "trees on more queries (lambdarank-trees). p-values include the variation between "
        "trainings, and are not corrected for ten truncation levels. The paper's nets saw 25 "
        "times as many queries, for twice as many epochs: inconclusive.",
    ),
    "tierank": (
        "TieRank does not differ significantly from the others, with gbrank's trees or with the "
        "paper's own learner. The paper compares with the best of LETOR's baselines of its time, "
        "of which none is LambdaMART.",
    ),
    "tierank-learner": (
        "φ: the spline's NDCG@10 is better by {tierank-learner | NDCG@10 of TieRank, φ spline, d "
        "= 6, less that of φ linear, d = 6, both of depth 4 and leaves 20}. The paper finds it "
        "far better.",
        "d: 6 documents of each label are not better than 2, and all are not better than 6.",
        "ν: a quarter of the rate with four times as many trees makes no significant difference, "
        "in one training. The paper's rate, which takes twenty times as many trees, was not run.",
        "The paper's scores stay in [0, 1], at most 0.5 from where they start. Ours move further "
        "for a few documents: by up to {tierank-learner | largest |score − 0.5| of training "
        "queries, of depth 6 and leaves 1, of one training} in training, and by up to "
        "{tierank-learner | largest |score − 0.5| of test queries, of depth 4 and leaves 1, of "
        "one training} on test queries, at depths 4 and 6.",
    ),
}


def explanation(row: PaperRow) -> str:
    """Return why a row is far from the paper's; nothing if it is near, or not explained."""
    return EXPLANATIONS.get((row.paper, row.data, row.figure), "") if row.is_far else ""
