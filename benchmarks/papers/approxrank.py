"""ApproxRank (Qin, Liu & Li 2010): linear rankers by stochastic gradient, on OHSUMED."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.pictures import draw_errors
from benchmarks.papers.scaling import scale_by_query
from benchmarks.papers.selection import best_on_validation, values_by_fold
from benchmarks.papers.settings import Settings
from gbrank import NDCG, ApproxRank, Dataset, LinearRanker, Queries
from gbrank.data.rows import Rows
from gbrank.linear.solvers import StochasticGradient

__all__ = ["ALPHAS", "approx_ndcg", "approximation_errors", "section_6_2", "section_6_4"]

Matrix = NDArray[np.float64]

PAPER = "ApproxRank"
ALPHAS = (10.0, 50.0, 100.0)  # of section 6.2
FIRST = 10  # the iteration where the paper's figure begins
SEARCHED = (10.0, 20.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0)
N_ITERATIONS, LEARNING_RATE = 200, 0.01
MEASURE = NDCG(discount="letor")
DEVIATIONS = "LETOR's discount in measuring, 1/log2(1 + j) in training"
FIGURE_DEVIATIONS = (
    "α = 10, 50, 100 for the figure's 10, 50, 300; features scaled to [0, 1] by query"
)


def approx_ndcg(alpha: float) -> LinearRanker:
    """Return ApproxNDCG as in the paper: 200 iterations of 0.01, the best by validation NDCG."""
    return LinearRanker(
        ApproxRank(),
        solver="sgd",
        sigma=1 / alpha,
        n_steps=N_ITERATIONS,
        learning_rate=LEARNING_RATE,
        reg_lambda=0.0,
        init="zero",
        eval_metric=MEASURE,
        random_state=0,
    )


def section_6_4(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of the whole list, with the paper's 25 features and with LETOR 3.0's 45."""
    for data in (_with_25_features(settings), settings.dataset("ohsumed")):
        rankers = {f"ApproxNDCG, α={alpha:g}": approx_ndcg(alpha) for alpha in SEARCHED}
        fits = best_on_validation(settings.compare(rankers, data, [MEASURE]), str(MEASURE))
        note = "α by fold: " + ", ".join(fit.trial.ranker.partition("α=")[2] for fit in fits)
        figure = f"NDCG@n, {data.X.shape[1]} features (section 6.4)"
        folds = values_by_fold(fits, str(MEASURE))
        yield measured(PAPER, data.name, figure, folds, 0.6698, note)


def approximation_errors(data: Dataset, alpha: float, n_iterations: int = N_ITERATIONS) -> Matrix:
    """Return |smooth NDCG − NDCG| of the first fold's training queries after each iteration."""
    (X, y, qid), _, _ = data.fold(1)
    rows = Rows(X, y, Queries.from_qid(qid))
    coef = np.zeros(rows.X.shape[1])
    descend = StochasticGradient(ApproxRank(), rows, coef, 0.0, LEARNING_RATE, 0, n_iterations)
    smooth = ApproxRank().bind(rows.labels, rows.queries)
    exact = NDCG().bind(rows.labels, rows.queries)
    errors = []
    for iteration in range(n_iterations):
        coef = descend(coef, 1 / alpha, iteration)
        scores = rows.X @ coef
        errors.append(np.abs(-smooth.loss(scores, 1 / alpha) - exact.per_query(scores)))
    return np.array(errors)[:, exact.defined]


def section_6_2(settings: Settings) -> Iterator[PaperRow]:
    """Yield the largest approximation error in training, and draw all."""
    data = _with_25_features(settings)
    curves = {}
    for alpha in ALPHAS:
        errors = approximation_errors(data, alpha)
        curves[alpha] = errors.mean(axis=1)
        worst = FIRST - 1 + int(np.argmax(curves[alpha][FIRST - 1 :]))
        figure = (
            f"largest approximation error from iteration {FIRST} on, α = {alpha:g} (section 6.2)"
        )
        note = f"in iteration {worst + 1}; {curves[alpha][-1]:.4f} in the last"
        said = "< 0.055, less for larger α"
        yield measured(PAPER, data.name, figure, [errors[worst]], said, note)
    settings.save(draw_errors(curves), "approxrank-figure-3")


def _with_25_features(settings: Settings) -> Dataset:
    """Return the features of LETOR 2.0, which come unscaled."""
    data = settings.dataset("ohsumed25")
    return replace(data, X=scale_by_query(data.X, data.queries))
