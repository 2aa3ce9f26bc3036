"""SmoothRank (Chapelle & Wu 2010): linear rankers under annealing, on OHSUMED."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.pictures import draw_annealing, draw_line
from benchmarks.papers.selection import best_on_validation, values_by_fold
from benchmarks.papers.settings import Settings
from gbrank import AP, NDCG, Dataset, LinearRanker, Queries, SmoothRank, get_objective
from gbrank.evaluation import Outcome

__all__ = [
    "PENALTIES",
    "Annealing",
    "Line",
    "anneal",
    "figures",
    "line_through_optimum",
    "smooth_ndcg",
    "table_2",
    "table_3",
]

Vector = NDArray[np.float64]

PAPER = "SmoothRank"
PENALTIES = tuple(10.0**power for power in range(-6, 4))
# Twice as many at each sigma do not raise NDCG@10: measured, on training and validation queries.
MAX_ITER = 5

DEVIATIONS = (
    f"cg is stopped after {MAX_ITER} iterations at each σ; measured by LETOR's discount; "
    "λ from 1e-6 to 1000 beside a mean over queries"
)
BASELINE_DEVIATIONS = "measured by LETOR's discount; the penalty from SmoothRank's grid"
FIGURE_DEVIATIONS = f"cg is stopped after {MAX_ITER} iterations at each σ; λ = 0.001, not chosen"

NDCG_AT = {k: NDCG(k=k, discount="letor") for k in (1, 5, 10, 50)}
CHOSEN_BY = str(NDCG_AT[50])
MEASURES = (*NDCG_AT.values(), AP())

TABLE_3 = {  # training truncation -> NDCG@1, @5, @10
    50: (0.5608, 0.4750, 0.4570),
    10: (0.5834, 0.4723, 0.4496),
    5: (0.5397, 0.4691, 0.4470),
    1: (0.5365, 0.4622, 0.4369),
}


SIGMAS = (2.0**6, 1.0, 2.0**-6, 2.0**-14)  # of figure 1


def smooth_ndcg(k: int, reg_lambda: float) -> LinearRanker:
    """Return SmoothNDCG as in the paper: from a regression, σ from 2⁶ halved to 2⁻⁶."""
    measure = NDCG_AT[10]
    return LinearRanker(
        SmoothRank(NDCG(k=k)), reg_lambda=reg_lambda, max_iter=MAX_ITER, eval_metric=measure
    )


def rank_svm(reg_lambda: float) -> LinearRanker:
    """Return RankSVM: the hinge loss of pairs plus λ ‖w‖²."""
    return LinearRanker("ranksvm", reg_lambda=reg_lambda, init="zero", sigma=1.0, n_steps=1)


def ridge_regression(ridge: float) -> LinearRanker:
    """Return regression on the gains, relevant and irrelevant documents of equal total weight."""
    return LinearRanker("regression", ridge=ridge, balanced=True)


BASELINES = {"regression": (ridge_regression, 0.444), "RankSVM": (rank_svm, 0.450)}


def table_3(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG by training truncation, and MAP of the longest."""
    data = settings.dataset("ohsumed")
    for truncation, values in TABLE_3.items():
        fits = _chosen(settings, data, f"SmoothNDCG@{truncation}", partial(smooth_ndcg, truncation))
        note = "λ by fold: " + ", ".join(fit.trial.ranker.partition("λ=")[2] for fit in fits)
        for k, value in zip((1, 5, 10), values, strict=True):
            figure = f"NDCG@{k}, trained on NDCG@{truncation} (table 3)"
            folds = values_by_fold(fits, str(NDCG_AT[k]))
            yield measured(PAPER, data.name, figure, folds, value, note)
        if truncation == 50:
            folds = values_by_fold(fits, str(AP()))
            yield measured(PAPER, data.name, "MAP, trained on NDCG@50 (table 2)", folds, 0.448)


def table_2(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG@10 of the paper's own baselines."""
    data = settings.dataset("ohsumed")
    for name, (make, value) in BASELINES.items():
        folds = values_by_fold(_chosen(settings, data, name, make), str(NDCG_AT[10]))
        yield measured(PAPER, data.name, f"NDCG@10 of {name} (table 2)", folds, value)


def _chosen(
    settings: Settings, data: Dataset, name: str, make: Callable[[float], LinearRanker]
) -> list[Outcome]:
    """Return the fits whose λ is best on the validation queries."""
    rankers = {f"{name}, λ={penalty:g}": make(penalty) for penalty in PENALTIES}
    return best_on_validation(settings.compare(rankers, data, MEASURES), CHOSEN_BY)


@dataclass(frozen=True, eq=False)
class Annealing:
    """How good rankings become while σ falls (figure 2).

    Parameters
    ----------
    sigmas : ndarray, shape (n_steps,)
    train, test : ndarray, shape (n_steps,)
        NDCG@10 of training and test queries, means over folds.
    """

    sigmas: Vector
    train: Vector
    test: Vector


def anneal(data: Dataset, reg_lambda: float = 1e-3, n_jobs: int | None = None) -> Annealing:
    """Return train and test NDCG@10 after each σ."""
    curves = []
    for number in range(1, len(data.splits) + 1):
        (X, y, qid), _, (Xt, yt, qt) = data.fold(number)
        ranker = smooth_ndcg(50, reg_lambda).set_params(n_jobs=n_jobs)
        ranker.fit(X, y, qid=qid, eval_set=[(Xt, yt)], eval_qid=[qt])
        results = ranker.evals_result_
        curves.append([results[part][str(NDCG_AT[10])] for part in ("train", "valid_0")])
    train, test = np.mean(curves, axis=0)
    return Annealing(ranker.sigmas_, train, test)


@dataclass(frozen=True, eq=False)
class Line:
    """The smooth NDCG along a line through a trained ranker's weights (figure 1).

    Parameters
    ----------
    steps : ndarray, shape (n_points,)
        How far from the weights, in lengths of the weights.
    values : dict of float to ndarray, shape (n_points,)
        By σ, the mean over training queries.
    """

    steps: Vector
    values: dict[float, Vector]

    def n_maxima(self, sigma: float) -> int:
        """Return how many local maxima there are."""
        inner = self.values[sigma][1:-1]
        left, right = self.values[sigma][:-2], self.values[sigma][2:]
        return int(((inner > left) & (inner > right)).sum())


def line_through_optimum(
    data: Dataset, sigmas: Sequence[float] = SIGMAS, n_points: int = 201, n_jobs: int | None = None
) -> Line:
    """Return the smooth NDCG@50 of the first fold's training queries along a random direction."""
    (X, y, qid), _, _ = data.fold(1)
    ranker = smooth_ndcg(50, 1e-3).set_params(n_jobs=n_jobs).fit(X, y, qid=qid)
    bound = get_objective(ranker.objective).bind(y, Queries.from_qid(qid), n_jobs=n_jobs)
    direction = np.random.default_rng(0).normal(size=len(ranker.coef_))
    direction *= np.linalg.norm(ranker.coef_) / np.linalg.norm(direction)
    steps = np.linspace(-1, 1, n_points)
    scores = [X @ (ranker.coef_ + step * direction) for step in steps]
    return Line(
        steps, {sigma: np.array([-bound.loss(s, sigma).mean() for s in scores]) for sigma in sigmas}
    )


def figures(settings: Settings) -> Iterator[PaperRow]:
    """Yield what the paper's two pictures show, and draw them."""
    data = settings.dataset("ohsumed")
    line = line_through_optimum(data, n_jobs=settings.n_jobs)
    settings.save(draw_line(line.steps, line.values), "smoothrank-figure-1")
    for sigma in line.values:
        figure = f"local maxima along a random direction, σ = 2^{np.log2(sigma):g} (figure 1)"
        said = "many" if sigma == min(line.values) else "few"
        yield PaperRow(PAPER, data.name, figure, line.n_maxima(sigma), said)
    path = anneal(data, n_jobs=settings.n_jobs)
    settings.save(draw_annealing(path.sigmas, path.train, path.test), "smoothrank-figure-2")
    figure = "NDCG@10 after σ = 1/64 less that after σ = 64, {} queries (figure 2)"
    for part, values, said in (
        ("training", path.train, "rises"),
        ("test", path.test, "saturates, then falls a little"),
    ):
        note = f"highest after σ = {path.sigmas[np.argmax(values)]:g}"
        gained = float(values[-1] - values[0])
        yield PaperRow(PAPER, data.name, figure.format(part), gained, said, note=note)
