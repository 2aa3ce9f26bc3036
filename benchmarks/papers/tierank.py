"""TieRank: its own learner, and against LambdaMART and linear SmoothRank, on MQ2008."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.selection import best_on_validation, fits_of
from benchmarks.papers.settings import Settings
from benchmarks.papers.smoothrank import FEW, smooth_ndcg
from benchmarks.papers.trainings import Trainings, difference_row, mean_row, trainings_of
from gbrank import NDCG, GBRanker, TieRank
from gbrank.evaluation import Dataset, Outcome, ranker_from_name
from gbrank.measures.measure import Measure

__all__ = ["against_others", "own_learner", "papers_learner"]

PAPER = "TieRank"
TREES = {"TieRank, Newton trees": "tie:ndcg", "LambdaMART": "lambda:ndcg"}
SMOOTH = "linear SmoothRank"
PENALTIES = (1e-3, 1e-1, 10.0)
CHOSEN_BY = NDCG(k=5)
MEASURES = (NDCG(k=1), CHOSEN_BY, NDCG(k=10))
SEEDS = 5
DEPTHS, DEPTH = (2, 4, 6), 4
RATE, ROUNDS = 0.005, 500
SLOW = "ν = 0.001"
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "φ linear, d = 6": {"phi": "linear"},
    "φ spline, d = 2": {"sample": 2},
    "φ spline, all documents": {"sample": None},
}
SAID = dict(zip(VARIANTS, ("> 0, far", "> 0", "< 0"), strict=True))

DATA_NAME = "the paper calls its data MQ2007, and counts the queries and documents of MQ2008"
DEVIATIONS = (
    f"ν = {RATE} and at most {ROUNDS} trees for the paper's 0.001, and a number that it does not "
    f"say; leaves of one drawn document and more; means over {SEEDS} trainings, whose draws "
    f"differ; {DATA_NAME}"
)
NEWTON_DEVIATIONS = (
    f"Newton trees of gbrank's defaults for the paper's learner; {SEEDS} trainings; {DATA_NAME}"
)
SMOOTH_DEVIATIONS = f"{FEW} iterations of cg at each σ; λ of 0.001, 0.1, 10; {DATA_NAME}"


def papers_learner(depth: int, seed: int = 0, rate: float = RATE, **tie: Any) -> GBRanker:
    """Return the paper's own: first order, trees on the gradient of 6 documents of each label."""
    rounds = round(RATE / rate * ROUNDS)
    return GBRanker(
        TieRank("ndcg", **({"sample": 6, "seed": seed} | tie)), sigma=1.0, init="zero",
        curvature="unit", learning_rate=rate, n_estimators=rounds, early_stopping_rounds=rounds,
        max_depth=depth, num_leaves=2**depth, min_child_samples=1, colsample=1.0,
        extra_trees=False, eval_metric=CHOSEN_BY,
    )  # fmt: skip


def own_learner(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of the paper's learner: its depth searched, and each depth, φ and d by itself.

    The number of trees is chosen by NDCG@5 on the validation queries, as the depth is.
    """
    data = settings.dataset("mq2008")
    fits = {depth: _trained(settings, data, depth) for depth in DEPTHS}
    yield from _means(data, "TieRank, depth searched", _searched(fits), None)
    for depth, own in fits.items():
        yield from _means(data, f"TieRank, depth {depth}", own, "searched", MEASURES[1:])
    shallow, deep = min(DEPTHS), max(DEPTHS)
    title = f"TieRank, depth {shallow}, less that of depth {deep}"
    yield from _differences(data, title, fits[shallow], fits[deep], "searched")
    slow = _trained(settings, data, DEPTH, seeds=1, rate=0.001)
    title = f"TieRank, {SLOW}, less that of ν = {RATE}, both of depth {DEPTH}"
    yield from _differences(data, title, slow, fits[DEPTH], "> 0")
    for name, tie in VARIANTS.items():
        title = f"TieRank, φ spline, d = 6, less that of {name}, both of depth {DEPTH}"
        variant = _trained(settings, data, DEPTH, **tie)
        yield from _differences(data, title, fits[DEPTH], variant, SAID[name])


def against_others(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of TieRank, of its own learner and of Newton trees, less that of the others."""
    data = settings.dataset("mq2008")
    fits = _trees(settings, data)
    linear = {f"SmoothNDCG, λ={penalty:g}": smooth_ndcg(50, penalty, FEW) for penalty in PENALTIES}
    chosen = settings.compare(linear, data, MEASURES)
    fits[SMOOTH] = [best_on_validation(chosen, str(CHOSEN_BY))]
    deviations = dict.fromkeys(TREES, NEWTON_DEVIATIONS) | {SMOOTH: SMOOTH_DEVIATIONS}
    for name, own in fits.items():
        yield from _named(deviations[name], _means(data, name, own, None))
    searched = _searched({depth: _trained(settings, data, depth) for depth in DEPTHS})
    ours = {"TieRank, its own learner": searched}
    ours |= {name: fits.pop(name) for name in list(TREES)[:1]}
    for name, own in ours.items():
        for base, other in fits.items():
            used = (deviations.get(name, DEVIATIONS), deviations[base])
            rows = _differences(data, f"{name}, less that of {base}", own, other, "> 0")
            yield from _named("; ".join(dict.fromkeys(used)), rows)


def _trees(settings: Settings, data: Dataset) -> dict[str, Trainings]:
    """Return the trainings of gbrank's own trees."""
    trees = {name: ranker_from_name(text, eval_metric=CHOSEN_BY) for name, text in TREES.items()}
    comparison = settings.compare(trees, data, MEASURES, seeds=SEEDS)
    return {name: trainings_of(fits_of(comparison, name)) for name in trees}


def _trained(
    settings: Settings, data: Dataset, depth: int, seeds: int = SEEDS, **options: Any
) -> Trainings:
    """Return the trainings of the paper's learner, each with other draws."""
    drawn = seeds if options.get("sample", 6) else 1  # with all documents, nothing is random
    rankers = {
        f"depth {depth}, draws {seed}": papers_learner(depth, seed, **options)
        for seed in range(drawn)
    }
    comparison = settings.compare(rankers, data, MEASURES)
    return [fits_of(comparison, name) for name in rankers]


def _searched(fits: Mapping[int, Trainings]) -> Trainings:
    """Return the trainings whose depth is best on the validation queries of each fold."""
    return [
        [max(folds, key=_valid_mean) for folds in zip(*depths, strict=True)]
        for depths in zip(*fits.values(), strict=True)
    ]


def _valid_mean(fit: Outcome) -> float:
    return float(np.nanmean(fit.valid.values[str(CHOSEN_BY)]))


def _named(deviations: str, rows: Iterator[PaperRow]) -> Iterator[PaperRow]:
    return (replace(row, deviations=deviations) for row in rows)


def _means(
    data: Dataset,
    name: str,
    fits: Trainings,
    said: str | None,
    measures: Sequence[Measure] = MEASURES,
) -> Iterator[PaperRow]:
    """Yield the means of the test queries."""
    depths = Counter(fit.trial.ranker.partition(",")[0] for own in fits for fit in own)
    found = ", ".join(f"{depth} in {depths[depth]}" for depth in sorted(depths))
    note = f"{found} of {depths.total()} fits" if name.endswith("searched") else ""
    for measure in measures:
        figure = f"{str(measure).upper()} of {name}"
        yield mean_row(PAPER, data.name, figure, fits, str(measure), said, note)


def _differences(
    data: Dataset, title: str, ours: Trainings, base: Trainings, said: str
) -> Iterator[PaperRow]:
    """Yield by how much the first fits are above the second on the test queries."""
    for measure in MEASURES:
        figure = f"{str(measure).upper()} of {title}"
        yield difference_row(PAPER, data.name, figure, ours, base, str(measure), said)
