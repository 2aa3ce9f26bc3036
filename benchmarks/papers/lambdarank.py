"""LambdaRank (Burges, Ragno & Le 2006): against RankNet, on random cubic polynomials."""

from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.selection import best_on_validation, fits_of, values_by_fold
from benchmarks.papers.settings import Settings
from gbrank import NDCG, Dataset, LinearRanker, ranker_from_name
from gbrank.evaluation import Outcome
from gbrank.evaluation.statistics import t_test

__all__ = ["boosted_trees", "linear_net", "linear_nets"]

PAPER = "LambdaRank"
NAMES = {"RankNet": "ranknet", "LambdaRank": "lambda:ndcg"}
LEARNING_RATES = (1e-5, 1e-4, 1e-3, 1e-2)
N_EPOCHS = 20
DEVIATIONS = (
    f"{N_EPOCHS} epochs for 300; a fixed rate for ×0.8 decay and restarts; zero weights at first; "
    "η from 1e-5 to 1e-2 for 1e-7 to 1e-2; no two-layer nets"
)
TREE_DEVIATIONS = "300 trees of 31 leaves for the paper's nets"
CHOSEN_BY = NDCG(k=10)
MEASURES = tuple(NDCG(k=k) for k in range(1, 11))


def linear_net(objective: str, learning_rate: float) -> LinearRanker:
    """Return a net of one layer, trained query by query, as in the paper."""
    return LinearRanker(
        objective,
        solver="sgd",
        n_steps=N_EPOCHS,
        learning_rate=learning_rate,
        reg_lambda=0.0,
        init="zero",
        eval_metric=CHOSEN_BY,
    )


def linear_nets(settings: Settings) -> Iterator[PaperRow]:
    """Yield by how much LambdaRank is above RankNet, by truncation: the paper's linear nets.

    The learning rates and the numbers of epochs are chosen by NDCG@10 on the validation queries.
    """
    data = settings.cubic()
    fits = {}
    for name, objective in NAMES.items():
        nets = {f"{name}, η={rate:g}": linear_net(objective, rate) for rate in LEARNING_RATES}
        fits[name] = best_on_validation(settings.compare(nets, data, MEASURES), str(CHOSEN_BY))
    yield from _differences(data, "linear nets", fits)


def boosted_trees(settings: Settings) -> Iterator[PaperRow]:
    """Yield the same of boosted trees, which the paper does not have."""
    data = settings.cubic()
    trees = {
        name: ranker_from_name(objective, n_estimators=300, learning_rate=0.1, num_leaves=31)
        for name, objective in NAMES.items()
    }
    comparison = settings.compare(trees, data, MEASURES)
    yield from _differences(
        data, "boosted trees", {name: fits_of(comparison, name) for name in trees}
    )


def _differences(
    data: Dataset, learner: str, fits: Mapping[str, list[Outcome]]
) -> Iterator[PaperRow]:
    sizes = "/".join(str(len(np.unique(data.queries.index[rows]))) for rows in data.splits[0])
    said = "> 0" if learner == "linear nets" else "not tried"
    for measure in map(str, MEASURES):
        ((base, ours),) = zip(*(values_by_fold(fits[name], measure) for name in NAMES), strict=True)
        (p,) = t_test([(ours - base)[None]])
        yield measured(
            PAPER,
            f"cubic, {sizes} queries",
            f"{measure.upper()} of LambdaRank less that of RankNet, {learner} (section 6.3.1)",
            [ours - base],
            said,
            f"{np.nanmean(ours):.4f} and {np.nanmean(base):.4f}; paired t test p = {p:.2g}",
        )
