"""ApproxRank (Qin, Liu & Li 2010): linear rankers by stochastic gradient, on OHSUMED."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.paper_rows import PaperRow, as_letor, measured
from benchmarks.papers.pictures import draw_by_truncation, draw_errors
from benchmarks.papers.scaling import scaled_by_query
from benchmarks.papers.selection import (
    Outcome,
    best_on_validation,
    fits_of,
    means_of,
    values_by_fold,
)
from benchmarks.papers.settings import Settings
from gbrank import AP, NDCG, ApproxRank, LinearRanker, Queries, SoftRank, get_measure
from gbrank.data.documents import Documents
from gbrank.evaluation import Dataset
from gbrank.linear.solvers import stochastic_gradient
from gbrank.measures.measure import Measure
from gbrank.objectives.objective import Objective

__all__ = ["approx_ndcg", "approximation_errors", "section_6_2", "section_6_4", "section_6_5"]

Matrix = NDArray[np.float64]

PAPER = "ApproxRank"
FIGURE_3 = (10.0, 50.0, 300.0)  # α
FIGURE_1, FIGURE_2 = (10.0, 50.0, 100.0), (1.0, 10.0, 100.0)  # α; β
FIRST = 10  # the iteration where figure 3 begins
NDCG_ALPHAS = (10.0, 20.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0)
AP_ALPHAS, BETAS = (10.0, 20.0, 50.0, 100.0), (1.0, 10.0, 20.0, 50.0, 100.0)
SOFTRANK_SIGMAS, SOFTRANK_ITERATIONS = (0.03, 0.1, 0.3), 40
N_ITERATIONS, LEARNING_RATE = 200, 0.01
ERROR_AVERAGE = "over the first fold's training queries with a relevant document"

LETOR, LOG2 = NDCG(discount="letor"), NDCG()
DISCOUNTS = {"LETOR's discount": LETOR, "1/log2(1 + j)": LOG2}
TRUNCATED = tuple(NDCG(k=k, discount="letor") for k in range(1, 11))
MEASURES = (LETOR, LOG2, *TRUNCATED)

SCALED = "features scaled to [0, 1] by query"
PROCESSORS = (
    "sums are added in another order on other processors, and small errors with large α differ: "
    "for α = 300 another computer had 0.0035 in iteration 43"
)
ERROR_DEVIATIONS = f"{SCALED}; {PROCESSORS}"
AP_ERROR_DEVIATIONS = (
    "OHSUMED for TD2004, which is not at hand; labels 1 and 2 are relevant; α and β of the paper's "
    f"legends are lost; {SCALED}"
)
FIXED_DEVIATIONS = f"α = 300 in all folds, not chosen; {SCALED}"
LETOR_3_DEVIATIONS = (
    "α = 300 in all folds, not chosen; LETOR 3.0's 45 features, unscaled, for LETOR 2.0's 25"
)
SOFTRANK_DEVIATIONS = (
    "gbrank's SoftRank for its authors' tool; at most "
    f"{SOFTRANK_ITERATIONS} iterations of {LEARNING_RATE}; σ of "
    f"{', '.join(map(str, SOFTRANK_SIGMAS))}, chosen as α is; {SCALED}"
)
LONGER_DEVIATIONS = (
    f"gbrank's SoftRank for its authors' tool; σ as it is chosen after {SOFTRANK_ITERATIONS} "
    f"iterations; {SCALED}"
)
AP_DEVIATIONS = f"labels 1 and 2 are relevant; {SCALED}"
ERROR_PICTURES = {
    "approxrank-figure-3": "from iteration 10 on the error stays below 0.055 for α = 10, 50 and "
    "300, and it is smaller for larger α (figure 3).",
    "approxrank-figure-1": "AP's error is below 0.05 for all α, and below 0.02 for α = 100 "
    "(figure 1).",
    "approxrank-figure-2": "AP's error is smaller for larger β (figure 2).",
}
PICTURES = {
    "approxrank-figure-4": "ApproxNDCG lies above SoftRank, above all at the top positions, and "
    "SoftRank above AdaRank.NDCG (figure 4)."
}
AP_PICTURES = {
    "approxrank-figure-5": "ApproxAP, measured by NDCG, is comparable with ApproxNDCG (figure 5)."
}


def approx_ndcg(alpha: float) -> LinearRanker:
    """Return ApproxNDCG as in the paper: 200 iterations of 0.01, the best by validation NDCG."""
    return _linear(ApproxRank(), 1 / alpha, LETOR)


def approx_ap(alpha: float, beta: float) -> LinearRanker:
    """Return ApproxAP as in the paper, the best iteration by validation MAP."""
    return _linear(ApproxRank(AP(), beta=beta), 1 / alpha, AP())


def soft_rank(sigma: float) -> LinearRanker:
    """Return SoftRank, trained as ApproxNDCG is."""
    return _linear(SoftRank(), sigma, LETOR).set_params(n_steps=SOFTRANK_ITERATIONS)


def _linear(objective: Objective, sigma: float, eval_metric: Measure) -> LinearRanker:
    return LinearRanker(
        objective,
        solver="sgd",
        sigma=sigma,
        n_steps=N_ITERATIONS,
        learning_rate=LEARNING_RATE,
        reg_lambda=0.0,
        init="zero",
        eval_metric=eval_metric,
        random_state=0,
    )


def section_6_4(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of ApproxNDCG and SoftRank: of the whole list by both discounts, and figure 4."""
    data = scaled_by_query(settings.dataset("ohsumed25"))
    searched = {f"ApproxNDCG, α={alpha:g}": approx_ndcg(alpha) for alpha in NDCG_ALPHAS}
    comparison = settings.compare(searched, data, MEASURES)
    chosen = best_on_validation(comparison, str(LETOR))
    yield from _whole_list(data, "ApproxNDCG", chosen, 0.6698, SCALED)
    steepest = f"ApproxNDCG, α={max(NDCG_ALPHAS):g}"
    fixed = fits_of(comparison, steepest)
    yield from _whole_list(data, steepest, fixed, 0.6698, FIXED_DEVIATIONS)
    letor_3 = settings.dataset("ohsumed")
    fits = fits_of(settings.compare({steepest: searched[steepest]}, letor_3, MEASURES))
    yield from _whole_list(letor_3, steepest, fits, 0.6698, LETOR_3_DEVIATIONS)
    soft = {f"SoftRank, σ={sigma:g}": soft_rank(sigma) for sigma in SOFTRANK_SIGMAS}
    others = best_on_validation(settings.compare(soft, data, MEASURES), str(LETOR))
    yield from _whole_list(data, "SoftRank", others, 0.6680, SOFTRANK_DEVIATIONS)
    yield _longer(data, others)
    yield from _by_truncation(
        data, "figure 4", {"ApproxNDCG": chosen, "SoftRank": others}, "> 0", SOFTRANK_DEVIATIONS
    )
    curves = means_of({"ApproxNDCG": chosen, "SoftRank": others}, TRUNCATED)
    settings.save(draw_by_truncation(curves), "approxrank-figure-4")


def _longer(data: Dataset, fits: Sequence[Outcome]) -> PaperRow:
    """Return NDCG of SoftRank with as many iterations as ApproxNDCG, by the same σ."""
    values, kept = [], []
    for fit in fits:
        (X, y, qid), (valid_X, valid_y, valid_qid), (test_X, test_y, test_qid) = data.fold(fit.fold)
        ranker = soft_rank(float(fit.ranker.partition("σ=")[2])).set_params(n_steps=N_ITERATIONS)
        ranker.fit(X, y, qid=qid, eval_set=[(valid_X, valid_y)], eval_qid=[valid_qid])
        scores = ranker.predict(test_X)
        values.append(as_letor(LETOR.per_query(test_y, scores, qid=test_qid)))
        kept.append(str(ranker.best_iteration_))
    figure = f"NDCG@n of SoftRank, {N_ITERATIONS} iterations, LETOR's discount (section 6.4)"
    note = f"iterations that are kept, by fold: {', '.join(kept)}"
    return replace(
        measured(PAPER, data.name, figure, values, "not given", note), deviations=LONGER_DEVIATIONS
    )


def section_6_5(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of ApproxAP, chosen by MAP, and figure 5."""
    data = scaled_by_query(settings.dataset("ohsumed25"))
    searched = {
        f"ApproxAP, α={alpha:g} β={beta:g}": approx_ap(alpha, beta)
        for alpha in AP_ALPHAS
        for beta in BETAS
    }
    chosen = best_on_validation(settings.compare(searched, data, (AP(), *MEASURES)), str(AP()))
    ndcg = {f"ApproxNDCG, α={alpha:g}": approx_ndcg(alpha) for alpha in NDCG_ALPHAS}
    others = best_on_validation(settings.compare(ndcg, data, MEASURES), str(LETOR))
    yield from _whole_list(data, "ApproxAP", chosen, 0.6693, AP_DEVIATIONS, "section 6.5")
    yield from _by_truncation(
        data, "figure 5", {"ApproxAP": chosen, "ApproxNDCG": others}, "comparable", AP_DEVIATIONS
    )
    curves = means_of({"ApproxNDCG": others, "ApproxAP": chosen}, TRUNCATED)
    settings.save(draw_by_truncation(curves), "approxrank-figure-5")


def _whole_list(
    data: Dataset,
    name: str,
    fits: Sequence[Outcome],
    paper_value: float,
    deviations: str,
    where: str = "section 6.4",
) -> Iterator[PaperRow]:
    """Yield NDCG of the whole list, by LETOR's discount and by the paper's equation."""
    parameters = [fit.ranker.partition(", ")[2] for fit in fits]
    by_fold = "" if len(set(parameters)) == 1 else f"by fold: {', '.join(parameters)}"
    for discount, measure in DISCOUNTS.items():
        figure = f"NDCG@n of {name}, {discount} ({where})"
        row = measured(
            PAPER, data.name, figure, values_by_fold(fits, str(measure)), paper_value, by_fold
        )
        yield replace(row, deviations=deviations)


def _by_truncation(
    data: Dataset, where: str, fits: Mapping[str, Sequence[Outcome]], said: str, deviations: str
) -> Iterator[PaperRow]:
    """Yield by how much the first is above the second, NDCG at 1 to 10."""
    (name, first), (base, second) = fits.items()
    for measure in TRUNCATED:
        both = [values_by_fold(own, str(measure)) for own in (first, second)]
        means = [float(np.mean([np.mean(fold) for fold in folds])) for folds in both]
        row = measured(
            PAPER,
            data.name,
            f"NDCG@{measure.k} of {name} less that of {base} ({where})",
            [ours - other for ours, other in zip(*both, strict=True)],
            said,
            f"{means[0]:.4f} and {means[1]:.4f}",
        )
        yield replace(row, deviations=deviations)


def approximation_errors(
    data: Dataset, objective: ApproxRank, alpha: float, n_iterations: int = N_ITERATIONS
) -> Matrix:
    """Return |smooth measure − measure| of the first fold's training queries by iteration."""
    (X, y, qid), _, _ = data.fold(1)
    rows = Documents(X, y, Queries.from_qid(qid))
    coef = np.zeros(rows.X.shape[1])
    params = {"learning_rate": LEARNING_RATE, "reg_lambda": 0.0, "seed": 0}
    descend = stochastic_gradient(objective, rows, coef, n_iterations, params)
    smooth = objective.bind(rows.y, rows.queries)
    exact = get_measure(objective.measure).bind(rows.y, rows.queries)
    errors = []
    for iteration in range(n_iterations):
        coef = descend(coef, 1 / alpha, iteration)
        scores = rows.X @ coef
        errors.append(np.abs(-smooth.loss(scores, 1 / alpha) - exact.per_query(scores)))
    return np.array(errors)[:, exact.defined]


def section_6_2(settings: Settings) -> Iterator[PaperRow]:
    """Yield the largest approximation errors in training, and draw all."""
    data = scaled_by_query(settings.dataset("ohsumed25"))
    ndcg = {f"α = {alpha:g}": (ApproxRank(), alpha) for alpha in FIGURE_3}
    yield from _largest_errors(settings, data, "figure 3", ndcg, "< 0.055, less for larger α")
    by_alpha = {f"α = {alpha:g}": (ApproxRank(AP()), alpha) for alpha in FIGURE_1}
    said = "< 0.05, less for larger α"
    for row in _largest_errors(settings, data, "figure 1", by_alpha, said):
        yield replace(row, deviations=AP_ERROR_DEVIATIONS)
    by_beta = {f"β = {beta:g}": (ApproxRank(AP(), beta=beta), FIGURE_1[-1]) for beta in FIGURE_2}
    for row in _largest_errors(settings, data, "figure 2", by_beta, "less for larger β"):
        yield replace(row, deviations=AP_ERROR_DEVIATIONS)


def _largest_errors(
    settings: Settings,
    data: Dataset,
    where: str,
    variants: Mapping[str, tuple[ApproxRank, float]],
    said: str,
) -> Iterator[PaperRow]:
    """Yield the largest error of each variant, and draw its curve."""
    curves = {}
    for name, (objective, alpha) in variants.items():
        errors = approximation_errors(data, objective, alpha)
        curves[name] = errors.mean(axis=1)
        worst = FIRST - 1 + int(np.argmax(curves[name][FIRST - 1 :]))
        figure = f"largest approximation error from iteration {FIRST} on, {name} ({where})"
        note = f"in iteration {worst + 1}; {curves[name][-1]:.4f} in the last"
        yield measured(PAPER, data.name, figure, [errors[worst]], said, note, ERROR_AVERAGE)
    measure = "NDCG" if where == "figure 3" else "AP"
    settings.save(draw_errors(curves, measure), f"approxrank-{where.replace(' ', '-')}")
