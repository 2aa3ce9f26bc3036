"""TieRank: against LambdaMART and linear SmoothRank, on MQ2008."""

from collections.abc import Iterator

import numpy as np

from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.selection import best_on_validation, fits_of, values_by_fold
from benchmarks.papers.settings import Settings
from benchmarks.papers.smoothrank import PENALTIES, smooth_ndcg
from gbrank import NDCG, GBRanker, TieRank, ranker_from_name

__all__ = ["against_lambdamart_and_smoothrank"]

PAPER = "TieRank"
OWN = "TieRank, its own learner"
TREES = {"TieRank": "tie:ndcg", "LambdaMART": "lambda:ndcg"}
CHOSEN_BY = NDCG(k=5)
MEASURES = (CHOSEN_BY, NDCG(k=1), NDCG(k=10))
SEEDS = 3
DEVIATIONS = (
    "TieRank and LambdaMART: Newton trees of gbrank's defaults, 3 seeds; its own learner: at most "
    "5,000 trees, the spline only; SmoothRank: 5 iterations of cg at each σ"
)
DEPTHS = (3, 4, 5, 6)
ROUNDS = 5000


def papers_learner(depth: int) -> GBRanker:
    """Return the paper's own: ν = 0.001, trees on the gradient, 6 documents of each label drawn."""
    return GBRanker(
        TieRank("ndcg", sample=6), sigma=1.0, init="zero", curvature="unit", learning_rate=0.001,
        n_estimators=ROUNDS, early_stopping_rounds=ROUNDS, max_depth=depth, num_leaves=2**depth,
        colsample=1.0, extra_trees=False, eval_metric=CHOSEN_BY,
    )  # fmt: skip


def against_lambdamart_and_smoothrank(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of TieRank on Newton trees and by its own learner, and of the others.

    The trees' number, the paper's learner's depth and SmoothRank's λ are chosen by NDCG@5 on the
    validation queries. The paper does not say how many trees it tried: here 5,000. It calls its
    data MQ2007, but counts the queries and documents of MQ2008.
    """
    data = settings.dataset("mq2008")
    trees = {name: ranker_from_name(text, eval_metric=CHOSEN_BY) for name, text in TREES.items()}
    boosted = settings.compare(trees, data, MEASURES, seeds=SEEDS)
    linear = {f"SmoothNDCG, λ={penalty:g}": smooth_ndcg(50, penalty) for penalty in PENALTIES}
    chosen = best_on_validation(settings.compare(linear, data, MEASURES), str(CHOSEN_BY))
    own = {f"depth {depth}": papers_learner(depth) for depth in DEPTHS}
    slow = best_on_validation(settings.compare(own, data, MEASURES), str(CHOSEN_BY))
    depths = ", ".join(fit.trial.ranker.removeprefix("depth ") for fit in slow)
    rounds = ", ".join(f"{fit.rounds:g}" for fit in slow)
    notes = {OWN: f"depth by fold: {depths}; trees: {rounds}"}
    fits = {name: fits_of(boosted, name) for name in trees}
    fits |= {OWN: slow, "linear SmoothRank": chosen}
    for measure in sorted(MEASURES, key=lambda measure: measure.k or 0):
        values = {name: values_by_fold(own, str(measure)) for name, own in fits.items()}
        title = str(measure).upper()
        for name, folds in values.items():
            note = notes.get(name, "")
            yield measured(PAPER, data.name, f"{title} of {name}", folds, None, note)
        for name in ("LambdaMART", "linear SmoothRank"):
            folds = [
                np.subtract(*pair) for pair in zip(values["TieRank"], values[name], strict=True)
            ]
            yield measured(
                PAPER, data.name, f"{title} of TieRank less that of {name}", folds, "> 0"
            )
