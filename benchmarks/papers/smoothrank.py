"""SmoothRank (Chapelle & Wu 2010): linear rankers under annealing, on OHSUMED."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem

from benchmarks.papers.nets import Net
from benchmarks.papers.paper_rows import AVERAGE, PaperRow, measured
from benchmarks.papers.pictures import draw_annealing, draw_by_truncation, draw_line
from benchmarks.papers.scaling import scaled_by_query
from benchmarks.papers.selection import (
    Outcome,
    best_on_validation,
    fits_of,
    means_of,
    values_by_fold,
)
from benchmarks.papers.settings import Settings
from benchmarks.papers.trainings import difference_rows
from gbrank import AP, NDCG, GBRanker, LinearRanker, Queries, SmoothRank, get_objective
from gbrank.evaluation import Dataset
from gbrank.measures.measure import Measure
from gbrank.schedules import geometric, staircase

__all__ = [
    "FEW",
    "PENALTIES",
    "SPARSE_PENALTIES",
    "Annealed",
    "Annealing",
    "BesideSum",
    "Line",
    "Regression",
    "anneal",
    "extensions",
    "figures",
    "line_through_optimum",
    "older_ohsumed",
    "smooth_ndcg",
    "tables",
]

Vector = NDArray[np.float64]

PAPER = "SmoothRank"
PENALTIES = tuple(10.0**power for power in range(-6, 4))
SPARSE_PENALTIES = PENALTIES[2::2]  # for other truncations and extensions: minutes
MAX_ITER, FEW = 200, 5  # iterations at each σ at most: to convergence, and stopped early
STOPPED_EARLY = ", stopped early"
UNPENALISED = 1e-9  # of the regression

DEVIATIONS = (
    "w0 is the regression of table 2, whose penalty and weights of documents its formula lacks"
)
FEW_DEVIATIONS = f"cg is stopped after {FEW} iterations at each σ; {DEVIATIONS}"
SPARSE = f"λ of {', '.join(f'{penalty:g}' for penalty in SPARSE_PENALTIES)} for the paper's ten"
SPARSE_DEVIATIONS = f"{SPARSE}; {DEVIATIONS}"
SPARSE_FEW_DEVIATIONS = f"{SPARSE}; {FEW_DEVIATIONS}"
BASELINE_DEVIATIONS = "λ from SmoothRank's grid, as the paper gives none"
FIGURE_DEVIATIONS = (
    f"cg has {MAX_ITER} iterations at each σ at most; λ is that of the tables; figure 1's random "
    "direction has the length of the weights, for a variance of 1 of each component; "
    f"{DEVIATIONS}"
)
OLD_DEVIATIONS = f"features scaled to [0, 1] by query; {FEW_DEVIATIONS}"
MAP_DEVIATIONS = (
    "not in the paper's tables; the map is learned from the features of all folds, without labels; "
    f"{SPARSE_FEW_DEVIATIONS}"
)
TREE_DEVIATIONS = (
    "not in the paper's tables; GBRanker with default parameters; Newton steps; steps that "
    "lengthen with the number of queries; random thresholds; half of the columns for each tree; "
    "begun with RankNet; σ annealed by round; as many trees as are best by NDCG@50 of the "
    "validation queries"
)
BOOSTED_DEVIATIONS = (
    "not in the paper's tables; trees of 15 leaves, as the paper's are not known; steps along the "
    "gradient; all columns; best thresholds; from the regression of table 2; σ from 2^6 halved "
    "every 10 trees to 2^-6; the rate of 0.3, 3, 30 that is best by NDCG@50 of the validation "
    "queries; as many trees as are best by NDCG@50 of the validation queries"
)
STARTS = {"": PENALTIES, " without a penalty": (UNPENALISED,)}  # of boosting: regressions
NET_RATES, NET_EPOCHS = (0.01, 0.1, 1.0), 50
NET_DEVIATIONS = (
    f"not in the paper's tables; 10 hidden nodes; {NET_EPOCHS} epochs; σ = 1; from random weights; "
    f"the η of {', '.join(f'{rate:g}' for rate in NET_RATES)} that is best by NDCG@50 of the "
    "validation queries; the epoch that is best by NDCG@50 of the validation queries"
)
STOPPED_DEVIATIONS = (
    "not in the paper's tables; σ is that of the best NDCG@50 of the validation queries; "
    f"{SPARSE_FEW_DEVIATIONS}"
)
START_DEVIATIONS = (
    f"{SPARSE}; cg is stopped after {FEW} iterations at each σ; w0 is a regression without a "
    "penalty"
)
SOFT_DEVIATIONS = (
    "not in the paper's tables; σ from 8 to 1/8 score units in 13 steps, as wide as SmoothRank's; "
    f"{SPARSE_FEW_DEVIATIONS}"
)

NDCG_AT = {k: NDCG(k=k, discount="letor") for k in (1, 5, 10, 50)}
LOG2 = NDCG(k=10)
TRUNCATED = tuple(NDCG(k=k, discount="letor") for k in range(1, 11))
CHOSEN_BY = str(NDCG_AT[50])
MEASURES = (*TRUNCATED, NDCG_AT[50], LOG2, AP())
DISCOUNT_NOTE = (
    "LETOR's evaluation script, which the paper's baselines come from, divides by log2(j) and "
    "leaves the first two positions undiscounted: the other measures are by that discount"
)

TABLE_3 = {  # training truncation -> NDCG@1, @5, @10
    50: (0.5608, 0.4750, 0.4570),
    10: (0.5834, 0.4723, 0.4496),
    5: (0.5397, 0.4691, 0.4470),
    1: (0.5365, 0.4622, 0.4369),
}
CHOSEN_PENALTIES = (1e-5, 1e-2, 100.0, 10.0, 1e-2)  # λ by fold that `tables` finds for NDCG@50
SIGMAS = (2.0**6, 1.0, 2.0**-6, 2.0**-14)  # of figure 1
MAPS = {"a linear kernel": lambda: PCA(), "an RBF kernel": lambda: Nystroem(random_state=0)}
SOFT_SIGMA = geometric(8.0, 0.125)
BOOSTED_RATES, TREES_A_SIGMA = (0.3, 3.0, 30.0), 10

TABLE_PICTURES = {
    "smoothrank-figure-3": "SmoothNDCG lies above regression, RankSVM and LETOR's baselines at "
    "most truncation levels (figure 3, bottom)."
}
OLD_PICTURES = {
    "smoothrank-figure-5": "on LETOR 2.0's OHSUMED SmoothNDCG is a bit better than FITC-Rank, "
    "whose implementation we do not have (figure 5)."
}
FIGURE_PICTURES = {
    "smoothrank-figure-1": "along a random direction through the trained weights, the objective is "
    "smooth for wide σ and jagged for narrow ones (figure 1).",
    "smoothrank-figure-2": "while σ falls, NDCG of the training queries rises; that of the test "
    "queries rises, saturates, and falls a little at the end (figure 2).",
}


def smooth_ndcg(k: int, max_iter: int) -> LinearRanker:
    """Return SmoothNDCG: σ from 2⁶ halved to 2⁻⁶."""
    return LinearRanker(SmoothRank(NDCG(k=k)), max_iter=max_iter, eval_metric=NDCG_AT[10])


class BesideSum(BaseEstimator):
    """A linear ranker whose penalty stands beside a sum, as in the paper, not beside a mean.

    Parameters
    ----------
    ranker : LinearRanker
    parameter : {"reg_lambda", "ridge"}
        The penalty: beside a sum over queries, or over documents.
    penalty : float
    """

    def __init__(self, ranker: LinearRanker, parameter: str, penalty: float) -> None:
        self.ranker, self.parameter, self.penalty = ranker, parameter, penalty

    def fit(self, X: Any, y: Any, *, qid: Any) -> "BesideSum":
        """Train on queries, with the penalty over their number, or over that of documents."""
        n = len(y) if self.parameter == "ridge" else len(np.unique(qid))
        ranker = clone(self.ranker).set_params(**{self.parameter: self.penalty / n})
        self.ranker_ = ranker.fit(X, y, qid=qid)
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row."""
        scores: Vector = self.ranker_.predict(X)
        return scores


def rank_svm(penalty: float) -> BesideSum:
    """Return RankSVM: the hinge loss of pairs plus λ ‖w‖²."""
    ranker = LinearRanker("ranksvm", init="zero", sigma=1.0, n_steps=1)
    return BesideSum(ranker, "reg_lambda", penalty)


def ridge_regression(penalty: float) -> BesideSum:
    """Return regression on the gains, relevant and irrelevant documents of equal total weight."""
    return BesideSum(LinearRanker("regression", balanced=True), "ridge", penalty)


class Regression(BaseEstimator):
    """The regression of table 2, with the penalty that ranks the validation queries best.

    Parameters
    ----------
    penalties : sequence of float
        Penalties to choose from, by NDCG@50.
    """

    def __init__(self, penalties: Sequence[float] = PENALTIES) -> None:
        self.penalties = penalties

    def fit(self, X: Any, y: Any, *, qid: Any, eval_set: Any, eval_qid: Any) -> "Regression":
        """Train on queries, with the penalty that is best on the first validation set."""
        (valid_X, valid_y), valid_qid = eval_set[0], eval_qid[0]
        fitted = [ridge_regression(penalty).fit(X, y, qid=qid) for penalty in self.penalties]
        self.ranker_ = max(
            (own.ranker_ for own in fitted),
            key=lambda own: NDCG_AT[50](valid_y, own.predict(valid_X), qid=valid_qid),
        )
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row."""
        scores: Vector = self.ranker_.predict(X)
        return scores


class Annealed(BaseEstimator):
    """A linear ranker from the regression of table 2, with λ beside a sum over queries.

    Parameters
    ----------
    ranker : LinearRanker
    penalty : float
        λ.
    starts : sequence of float
        Penalties of the regression to choose from.
    """

    def __init__(
        self, ranker: LinearRanker, penalty: float, starts: Sequence[float] = PENALTIES
    ) -> None:
        self.ranker, self.penalty, self.starts = ranker, penalty, starts

    def fit(self, X: Any, y: Any, *, qid: Any, eval_set: Any, eval_qid: Any) -> "Annealed":
        """Train on queries, from the regression that ranks the first validation set best."""
        valid = {"eval_set": eval_set, "eval_qid": eval_qid}
        start = Regression(self.starts).fit(X, y, qid=qid, **valid)
        ranker = clone(self.ranker).set_params(
            init=start.ranker_.coef_, reg_lambda=self.penalty / len(np.unique(qid))
        )
        self.ranker_ = ranker.fit(X, y, qid=qid, **valid)
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row."""
        scores: Vector = self.ranker_.predict(X)
        return scores


BASELINES = {  # with NDCG@10 and MAP of table 2
    "regression": (ridge_regression, 0.444, 0.444),
    "RankSVM": (rank_svm, 0.450, 0.445),
}


def tables(settings: Settings) -> Iterator[PaperRow]:
    """Yield tables 2 and 3: SmoothNDCG by training truncation, and the paper's own baselines."""
    data = settings.dataset("ohsumed")
    fits = _truncated(settings, data, 50)
    yield from _trained_on(data, fits, 50)
    early = _stopped_early(settings, data)
    curves = {"SmoothNDCG": fits, f"SmoothNDCG{STOPPED_EARLY}": early}
    figure = "NDCG@10 by the discount 1/log2(1 + j), trained on NDCG@50 (table 3)"
    folds = values_by_fold(fits, str(LOG2))
    yield measured(PAPER, data.name, figure, folds, 0.4570, DISCOUNT_NOTE)
    folds = values_by_fold(fits, str(AP()))
    yield measured(PAPER, data.name, "MAP of SmoothNDCG (table 2)", folds, 0.448)
    for baseline, (make, ndcg, mean_ap) in BASELINES.items():
        curves[baseline] = _chosen(settings, data, baseline, make, PENALTIES)
        for measure, title, value in ((NDCG_AT[10], "NDCG@10", ndcg), (AP(), "MAP", mean_ap)):
            folds = values_by_fold(curves[baseline], str(measure))
            figure = f"{title} of {baseline} (table 2)"
            row = measured(PAPER, data.name, figure, folds, value)
            yield replace(row, deviations=BASELINE_DEVIATIONS)
        difference = f"SmoothNDCG{STOPPED_EARLY}, less that of {baseline} (figure 3)"
        for row in difference_rows(
            PAPER, data.name, difference, [early], [curves[baseline]], TRUNCATED, "> 0, mostly"
        ):
            yield replace(row, deviations=f"{FEW_DEVIATIONS}; {BASELINE_DEVIATIONS}")
    settings.save(draw_by_truncation(means_of(curves, TRUNCATED)), "smoothrank-figure-3")
    for row in _trained_on(data, early, 50, STOPPED_EARLY):
        yield replace(row, deviations=FEW_DEVIATIONS)
    for k in (10, 5, 1):
        for row in _trained_on(data, _truncated(settings, data, k, SPARSE_PENALTIES), k):
            yield replace(row, deviations=SPARSE_DEVIATIONS)


def _truncated(
    settings: Settings, data: Dataset, k: int, penalties: Sequence[float] = PENALTIES
) -> list[Outcome]:
    """Return the fits that are trained on NDCG@k, to convergence."""
    make = partial(Annealed, smooth_ndcg(k, MAX_ITER))
    return _chosen(settings, data, f"SmoothNDCG@{k}", make, penalties)


def _stopped_early(settings: Settings, data: Dataset) -> list[Outcome]:
    make = partial(Annealed, smooth_ndcg(50, FEW))
    return _chosen(settings, data, f"SmoothNDCG@50{STOPPED_EARLY}", make, PENALTIES)


def older_ohsumed(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG@1 to 10 on the older OHSUMED, and draw figure 5."""
    data = scaled_by_query(settings.dataset("ohsumed25"))
    fits = _stopped_early(settings, data)
    for k, measure in enumerate(TRUNCATED, 1):
        folds = values_by_fold(fits, str(measure))
        figure = f"NDCG@{k} of SmoothNDCG (figure 5)"
        yield measured(PAPER, data.name, figure, folds, "drawn")
    settings.save(
        draw_by_truncation(means_of({"SmoothNDCG": fits}, TRUNCATED)), "smoothrank-figure-5"
    )


def extensions(settings: Settings) -> Iterator[PaperRow]:
    """Yield what the paper describes and does not measure: sections 3, 4.2, 5.2 and 6."""
    data = settings.dataset("ohsumed")
    few = smooth_ndcg(50, FEW)
    for name, make in MAPS.items():
        mapped = Dataset(data.name, make().fit_transform(data.X), data.y, data.qid, data.splits)
        fits = _extension(settings, mapped, f"SmoothNDCG@50, {name}", few)
        row = _extended(data, f"SmoothNDCG with {name} (section 6)", fits)
        yield replace(row, deviations=MAP_DEVIATIONS)
    stopped = clone(few).set_params(eval_metric=NDCG_AT[50], early_stopping_rounds=13)
    fits = _extension(settings, data, "SmoothNDCG@50, stopped σ", stopped)
    row = _extended(data, "SmoothNDCG, σ chosen as well (section 5.2)", fits, "unstable")
    yield replace(row, deviations=STOPPED_DEVIATIONS)
    name = "SmoothNDCG@50, from a regression without a penalty"
    fits = _extension(settings, data, name, few, starts=(UNPENALISED,))
    row = _extended(data, "SmoothNDCG from a regression without a penalty", fits, "not given")
    yield replace(row, deviations=START_DEVIATIONS)
    yield from _soft_measures(settings, data)
    yield from _boosted(settings, data)
    nets = {
        f"SmoothNDCG@50, net, η={rate:g}": Net(
            SmoothRank(NDCG(k=50)), 10, rate, NET_EPOCHS, NDCG_AT[50]
        )
        for rate in NET_RATES
    }
    fits = best_on_validation(settings.compare(nets, data, MEASURES), CHOSEN_BY)
    yield replace(
        _extended(data, "a net by SmoothNDCG (section 6)", fits), deviations=NET_DEVIATIONS
    )


def _extension(
    settings: Settings, data: Dataset, name: str, ranker: LinearRanker,
    starts: Sequence[float] = PENALTIES, chosen_by: str = CHOSEN_BY,
) -> list[Outcome]:  # fmt: skip
    make = partial(Annealed, ranker, starts=starts)
    return _chosen(settings, data, name, make, SPARSE_PENALTIES, chosen_by)


def _soft_measures(settings: Settings, data: Dataset) -> Iterator[PaperRow]:
    """Yield linear rankers of equation 5, of equation 9, and of AP by soft indicators."""
    for name, objective, measure, sigma in (
        ("the soft ranks of equation 5", "approx:ndcg@50", NDCG_AT[10], SOFT_SIGMA),
        ("SmoothAP by equation 9", "smoothap", AP(), SOFT_SIGMA),
        ("SmoothAP by soft indicators (section 4.2)", "smooth:ap", AP(), None),
    ):
        ranker = LinearRanker(objective, sigma=sigma, max_iter=FEW)
        chosen_by = str(measure) if isinstance(measure, AP) else CHOSEN_BY
        fits = _extension(settings, data, objective, ranker, chosen_by=chosen_by)
        row = _extended(data, f"a linear ranker of {name}", fits, "not tested", measure)
        yield replace(row, deviations=SOFT_DEVIATIONS)


class Boosted(BaseEstimator):
    """Trees that add to the scores of another ranker, which is fitted first."""

    def __init__(self, start: Any, trees: Any) -> None:
        self.start, self.trees = start, trees

    def fit(self, X: Any, y: Any, *, qid: Any, eval_set: Any, eval_qid: Any) -> "Boosted":
        """Train both on the same queries."""
        valid = {"eval_set": eval_set, "eval_qid": eval_qid}
        self.start_ = clone(self.start).fit(X, y, qid=qid, **valid)
        self.trees_ = clone(self.trees).fit(
            X, y, qid=qid, init_score=self.start_.predict(X),
            eval_init_score=[self.start_.predict(own) for own, _ in eval_set], **valid,
        )  # fmt: skip
        self.best_iteration_ = self.trees_.best_iteration_
        return self

    def predict(self, X: Any) -> Vector:
        """Return the sum of both scores."""
        scores: Vector = self.start_.predict(X) + self.trees_.predict(X)
        return scores


def _boosted(settings: Settings, data: Dataset) -> Iterator[PaperRow]:
    """Yield functional gradient boosting, as the paper has it and as gbrank does it."""
    rounds = 13 * TREES_A_SIGMA
    name = "SmoothNDCG with functional gradient boosting{} (section 6)"
    for start, penalties in STARTS.items():
        regression = Regression(penalties)
        rankers = {
            f"SmoothNDCG@50, boosted, rate {rate:g}": Boosted(regression, GBRanker(
                SmoothRank(NDCG(k=50)), sigma=staircase(64, 0.5, TREES_A_SIGMA), curvature="unit",
                learning_rate=rate, n_estimators=rounds,
                early_stopping_rounds=rounds, num_leaves=15, colsample=1.0, extra_trees=False,
                eval_metric=NDCG_AT[50],
            ))
            for rate in BOOSTED_RATES
        }  # fmt: skip
        fits = best_on_validation(settings.compare(rankers, data, MEASURES), CHOSEN_BY)
        row = _extended(data, name.format(f", from the regression{start}"), fits)
        yield replace(row, deviations=BOOSTED_DEVIATIONS)
        fits = fits_of(settings.compare({"regression": regression}, data, MEASURES))
        yield _extended(data, f"the regression{start} that boosting starts from (section 6)", fits)
    trees = GBRanker(SmoothRank(NDCG(k=50)), eval_metric=NDCG_AT[50], early_stopping_rounds=100)
    fits = fits_of(settings.compare({"SmoothNDCG@50, trees": trees}, data, MEASURES))
    row = _extended(data, name.format(" by gbrank's trees"), fits)
    yield replace(row, deviations=TREE_DEVIATIONS)


def _extended(
    data: Dataset, name: str, fits: Sequence[Outcome], said: str = "described",
    measure: Measure = NDCG_AT[10],
) -> PaperRow:  # fmt: skip
    title = "MAP" if isinstance(measure, AP) else "NDCG@10"
    folds = values_by_fold(fits, str(measure))
    return measured(PAPER, data.name, f"{title} of {name}", folds, said)


def _trained_on(
    data: Dataset, fits: list[Outcome], truncation: int, how: str = ""
) -> Iterator[PaperRow]:
    """Yield a row of table 3."""
    note = "λ by fold: " + ", ".join(f"{_penalty(fit):g}" for fit in fits)
    for k, value in zip((1, 5, 10), TABLE_3[truncation], strict=True):
        figure = f"NDCG@{k}, trained on NDCG@{truncation}{how} (table 3)"
        folds = values_by_fold(fits, str(NDCG_AT[k]))
        yield measured(PAPER, data.name, figure, folds, value, note)


def _penalty(fit: Outcome) -> float:
    return float(fit.ranker.partition("λ=")[2])


def _chosen(
    settings: Settings,
    data: Dataset,
    name: str,
    make: Callable[[float], Any],
    penalties: Sequence[float],
    chosen_by: str = CHOSEN_BY,
) -> list[Outcome]:
    """Return the fits whose λ is best on the validation queries."""
    rankers = {f"{name}, λ={penalty:g}": make(penalty) for penalty in penalties}
    return best_on_validation(settings.compare(rankers, data, MEASURES), chosen_by)


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


def anneal(data: Dataset, penalties: Sequence[float], max_iter: int = MAX_ITER) -> Annealing:
    """Return train and test NDCG@10 after each σ, with the λ of each fold."""
    curves = []
    measure = replace(NDCG_AT[10], no_relevant=0)
    for number in range(1, len(data.splits) + 1):
        (X, y, qid), *judged = data.fold(number)
        ranker = smooth_ndcg(50, max_iter).set_params(eval_metric=measure)
        annealed = Annealed(ranker, penalties[number - 1]).fit(
            X, y, qid=qid, eval_set=[(own, labels) for own, labels, _ in judged],
            eval_qid=[queries for *_, queries in judged],
        )  # fmt: skip
        results = annealed.ranker_.evals_result_
        curves.append([results[part][str(measure)] for part in ("train", "valid_1")])
    train, test = np.mean(curves, axis=0)
    return Annealing(annealed.ranker_.sigmas_, train, test)


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
    data: Dataset, penalty: float, sigmas: Sequence[float] = SIGMAS, n_points: int = 201
) -> Line:
    """Return the smooth NDCG@50 of the first fold's training queries along a random direction."""
    (X, y, qid), (valid_X, valid_y, valid_qid), _ = data.fold(1)
    annealed = Annealed(smooth_ndcg(50, MAX_ITER), penalty)
    annealed.fit(X, y, qid=qid, eval_set=[(valid_X, valid_y)], eval_qid=[valid_qid])
    ranker = annealed.ranker_
    bound = get_objective(ranker.objective).bind(y, Queries.from_qid(qid))
    direction = np.random.default_rng(0).normal(size=len(ranker.coef_))
    direction *= np.linalg.norm(ranker.coef_) / np.linalg.norm(direction)
    steps = np.linspace(-1, 1, n_points)
    scores = [X @ (ranker.coef_ + step * direction) for step in steps]
    return Line(
        steps, {sigma: np.array([-bound.loss(s, sigma).mean() for s in scores]) for sigma in sigmas}
    )


def figures(settings: Settings) -> Iterator[PaperRow]:
    """Yield what figures 1 and 2 show, and draw them."""
    data = settings.dataset("ohsumed")
    line = line_through_optimum(data, CHOSEN_PENALTIES[0])
    settings.save(draw_line(line.steps, line.values), "smoothrank-figure-1")
    for sigma in line.values:
        figure = f"local maxima along a random direction, σ = 2^{np.log2(sigma):g} (figure 1)"
        said = "many" if sigma == min(line.values) else "few"
        yield PaperRow(PAPER, data.name, figure, line.n_maxima(sigma), said)
    path = anneal(data, CHOSEN_PENALTIES)
    settings.save(draw_annealing(path.sigmas, path.train, path.test), "smoothrank-figure-2")
    for part, values, said in (
        ("training", path.train, "rises"),
        ("test", path.test, "saturates, then falls a little"),
    ):
        best = int(np.argmax(values))
        places = {"after σ = 64": 0, "at its best σ": best, "after σ = 1/64": len(values) - 1}
        for name, place in places.items():
            figure = f"NDCG@10 of {part} queries {name} (figure 2)"
            note = f"σ = {path.sigmas[place]:g}" if place == best else ""
            value = float(values[place])
            yield PaperRow(PAPER, data.name, figure, value, said, note=note, average=AVERAGE)
