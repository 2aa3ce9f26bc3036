"""LambdaRank (Burges, Ragno & Le 2006): against RankNet, on random cubic polynomials."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from benchmarks.artificial import cubic_queries
from benchmarks.named_rankers import ranker_from_name
from benchmarks.papers.lambda_functions import LAMBDA_FUNCTIONS, as_objective
from benchmarks.papers.net_pictures import draw_nets
from benchmarks.papers.nets import Net
from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.selection import best_on_validation, fits_of
from benchmarks.papers.settings import Settings
from benchmarks.papers.theory import LambdaCondition, check_lambdas
from benchmarks.papers.trainings import (
    Trainings,
    difference_rows,
    estimate,
    trainings_of,
    values_of,
)
from gbrank import NDCG, Queries
from gbrank.evaluation import Comparison, Dataset
from gbrank.objectives.objective import BoundObjective, Objective

__all__ = ["boosted_trees", "lambda_functions", "nets"]

PAPER = "LambdaRank"
GAINS = "gain=(0, 3, 7, 15, 31)"  # the paper's
NAMES = {"RankNet": "ranknet", "LambdaRank": f"lambda:ndcg({GAINS})"}
NETS = {"linear nets": 0, "two-layer nets": 10}  # hidden nodes
LEARNING_RATES = {"RankNet": (3e-5, 1e-4, 3e-4), "LambdaRank": (3e-3, 1e-2, 3e-2)}
N_QUERIES, N_EPOCHS, TRAININGS = 5000, 60, 5
N_FUNCTION_QUERIES, FUNCTION_RATES, N_FUNCTION_EPOCHS, N_POINTS = 1000, (1e-2, 1e-1), 20, 20
PLACES = {"between swaps": None, "where two documents swap": 1e-7}  # distance of two scores
ALPHAS = (0.0, 0.1)
MEASURES = tuple(NDCG(k=k, gain=(0, 3, 7, 15, 31)) for k in range(1, 11))
CHOSEN_BY = MEASURES[-1]

SIZES = "2,000 queries to train on, 1,000 to validate, 2,000 to test"
DEVIATIONS = (
    f"{SIZES} for the paper's 10K, 5K, 10K; {N_EPOCHS} epochs for 300; other η than the paper's "
    f"1e-7 to 0.01, as the notes say; η is chosen by one training; means over {TRAININGS} "
    "trainings; the 50 iterations without a lower cost, after which training begins anew, are "
    "taken for epochs"
)
FUNCTION_DEVIATIONS = (
    "the paper tried ten λ functions on data that were never public, and gives one: these are "
    f"ours, of the kinds that it names; {N_FUNCTION_EPOCHS} epochs; η of 0.01 and 0.1; Jacobians "
    f"and forces at {N_POINTS} lists of random scores"
)
TREE_DEVIATIONS = (
    f"{SIZES} for the paper's 10K, 5K, 10K; 300 trees of 31 leaves for its nets; means over "
    f"{TRAININGS} trainings"
)
PICTURES = {
    "lambdarank-figure-2": "LambdaRank lies above RankNet at every truncation level, and most at "
    "the first ones (figure 2, left)."
}


def lambda_functions(settings: Settings) -> Iterator[PaperRow]:
    """Yield whether λ functions of section 6.2's kinds have a cost, and NDCG@10 of linear nets."""
    data = cubic_queries(min(N_FUNCTION_QUERIES, settings.queries))
    (X, y, qid), valid, test = data.fold(1)
    for name in LAMBDA_FUNCTIONS:
        objective = as_objective(name)
        for where, gap in PLACES.items():
            found = [condition(objective, seed, gap) for seed in range(N_POINTS)]
            asymmetry = max(own.asymmetry for own in found)
            figure = f"asymmetry of the Jacobian of {name}, {where} (equation 5, section 6.2)"
            yield PaperRow(PAPER, "random", figure, asymmetry, "0 if there is a cost")
        force = max(
            abs(_bound(objective).gradients(_scores(seed))[0].sum()) for seed in range(N_POINTS)
        )
        figure = f"largest net force on a query of {name} (section 4, the third law)"
        yield PaperRow(PAPER, "random", figure, float(force), "0")
        fitted = [
            Net(objective, 0, rate, N_FUNCTION_EPOCHS).fit(
                X, y, qid=qid, eval_set=[valid[:2]], eval_qid=[valid[2]]
            )
            for rate in FUNCTION_RATES
        ]
        best = max(fitted, key=lambda net: CHOSEN_BY(valid[1], net.predict(valid[0]), qid=valid[2]))
        values = CHOSEN_BY.per_query(test[1], best.predict(test[0]), qid=test[2])
        figure = f"NDCG@10 of a linear net by {name} (section 6.2)"
        yield measured(PAPER, data.name, figure, [values], "not given")
    for alpha in ALPHAS:
        for where, gap in PLACES.items():
            found = [condition(objective, seed, gap, alpha) for seed in range(N_POINTS)]
            least = min(own.smallest_eigenvalue for own in found)
            figure = (
                f"least eigenvalue of the Jacobian of {name} + {alpha:g} s, {where} (section 4)"
            )
            yield PaperRow(PAPER, "random", figure, least, "> 0" if alpha else "not given")


def condition(
    objective: Objective, seed: int, gap: float | None, alpha: float = 0.0
) -> LambdaCondition:
    """Return what the Jacobian of λ + αs is at random scores, the first two so far apart."""
    bound, scores = _bound(objective), _scores(seed)
    if gap is not None:
        scores[1] = scores[0] + gap
    return check_lambdas(lambda own: bound.gradients(own)[0] + alpha * own, scores)


def _bound(objective: Objective) -> BoundObjective:
    return objective.bind([4, 0, 1, 2, 0, 3, 1, 0], Queries.from_sizes([8]))


def _scores(seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=8)


def nets(settings: Settings) -> Iterator[PaperRow]:
    """Yield by how much LambdaRank is above RankNet, by truncation and net, and draw figure 2."""
    data = cubic_queries(min(N_QUERIES, settings.queries))
    curves = {}
    for learner, hidden in NETS.items():
        fits = {}
        for name, objective in NAMES.items():
            candidates = {
                f"{name}, {learner}, η={rate:g}": Net(objective, hidden, rate, N_EPOCHS)
                for rate in LEARNING_RATES[name]
            }
            searched = settings.compare(candidates, data, MEASURES)
            yield _search(data, f"{name}, {learner}", searched)
            (best,) = best_on_validation(searched, str(CHOSEN_BY))
            chosen = {best.ranker: candidates[best.ranker]}
            comparison = settings.compare(chosen, data, MEASURES, seeds=TRAININGS)
            fits[name] = trainings_of(fits_of(comparison))
            curves[f"{name}, {learner}"] = [
                estimate(values_of(fits[name], str(measure))) for measure in MEASURES
            ]
        yield from _differences(data, learner, fits)
    settings.save(draw_nets(curves), "lambdarank-figure-2")


def _search(data: Dataset, name: str, searched: Comparison) -> PaperRow:
    """Return the best validation NDCG@10, and that of each rate."""
    found = {
        fit.ranker.rpartition("η=")[2]: float(fit.valid[str(CHOSEN_BY)].mean())
        for fit in fits_of(searched)
    }
    note = ", ".join(f"{value:.4f} with η = {rate}" for rate, value in found.items())
    figure = f"validation NDCG@10 of {name}, by which η is chosen (section 6.3.1)"
    return PaperRow(PAPER, _sizes(data), figure, max(found.values()), "not given", note=note)


def boosted_trees(settings: Settings) -> Iterator[PaperRow]:
    """Yield the same of boosted trees, which the paper does not have."""
    data = cubic_queries(min(N_QUERIES, settings.queries))
    trees = {
        name: ranker_from_name(objective, n_estimators=300, learning_rate=0.1, num_leaves=31)
        for name, objective in NAMES.items()
    }
    comparison = settings.compare(trees, data, MEASURES, seeds=TRAININGS)
    fits = {name: trainings_of(fits_of(comparison, name)) for name in trees}
    yield from _differences(data, "boosted trees", fits)


def _differences(data: Dataset, learner: str, fits: Mapping[str, Trainings]) -> Iterator[PaperRow]:
    said = "> 0" if learner in NETS else "not tried"
    figure = f"LambdaRank less that of RankNet, {learner} (section 6.3.1)"
    both = fits["LambdaRank"], fits["RankNet"]
    yield from difference_rows(PAPER, _sizes(data), figure, *both, MEASURES, said)


def _sizes(data: Dataset) -> str:
    sizes = (len(np.unique(data.queries.index[rows])) for rows in data.splits[0])
    return f"cubic, {'/'.join(map(str, sizes))} queries"
