"""TieRank: its own learner, and against LambdaMART and linear SmoothRank, on MQ2008."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.papers.paper_rows import PaperRow, measured
from benchmarks.papers.selection import best_on_validation, fits_of, values_by_fold
from benchmarks.papers.settings import Settings
from benchmarks.papers.smoothrank import FEW, smooth_ndcg
from gbrank import NDCG, Dataset, GBRanker, TieRank, ranker_from_name
from gbrank.evaluation import Outcome

__all__ = ["against_others", "own_learner", "papers_learner"]

PAPER = "TieRank"
TREES = {"TieRank, Newton trees": "tie:ndcg", "LambdaMART": "lambda:ndcg"}
SMOOTH = "linear SmoothRank"
PENALTIES = (1e-3, 1e-1, 10.0)
CHOSEN_BY = NDCG(k=5)
MEASURES = (NDCG(k=1), CHOSEN_BY, NDCG(k=10))
SEEDS = 3
DEPTHS, DEPTH = (3, 4, 6), 4
ROUNDS = 2500
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "φ linear, d = 6": {"phi": "linear"},
    "φ spline, d = 2": {"sample": 2},
    "φ spline, all documents": {"sample": None},
}

DEVIATIONS = f"at most {ROUNDS:,} trees, the paper's number not being known; one seed"
NEWTON_DEVIATIONS = f"Newton trees of gbrank's defaults for the paper's learner; {SEEDS} seeds"
SMOOTH_DEVIATIONS = f"{FEW} iterations of cg at each σ; λ of 0.001, 0.1, 10"


def papers_learner(depth: int, **tie: Any) -> GBRanker:
    """Return the paper's own: ν = 0.001, trees on the gradient, 6 documents of each label drawn."""
    return GBRanker(
        TieRank("ndcg", **({"sample": 6} | tie)), sigma=1.0, init="zero", curvature="unit",
        learning_rate=0.001, n_estimators=ROUNDS, early_stopping_rounds=ROUNDS, max_depth=depth,
        num_leaves=2**depth, colsample=1.0, extra_trees=False, eval_metric=CHOSEN_BY,
    )  # fmt: skip


def own_learner(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of the paper's learner: its depth searched, and each depth, φ and d by itself.

    The number of trees is chosen by NDCG@5 on the validation queries, as the depth is. The paper
    calls its data MQ2007, but counts the queries and documents of MQ2008.
    """
    data = settings.dataset("mq2008")
    fits = _searched(settings, data)
    yield from _means(data, "TieRank, depth searched", fits, None)
    by_depth = settings.compare(_depths(), data, MEASURES)
    for depth in DEPTHS:
        own = fits_of(by_depth, f"depth {depth}")
        yield from _means(data, f"TieRank, depth {depth}", own, "searched", MEASURES[1:])
    base = fits_of(by_depth, f"depth {DEPTH}")
    variants = {name: papers_learner(DEPTH, **tie) for name, tie in VARIANTS.items()}
    comparison = settings.compare(variants, data, MEASURES)
    said = dict(zip(VARIANTS, ("> 0, far", "> 0", "< 0"), strict=True))
    for name in VARIANTS:
        title = f"TieRank, φ spline, d = 6, less that of {name}, both of depth {DEPTH}"
        yield from _differences(data, title, (base, fits_of(comparison, name)), said[name])


def against_others(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of TieRank, of its own learner and of Newton trees, less that of the others."""
    data = settings.dataset("mq2008")
    trees = {name: ranker_from_name(text, eval_metric=CHOSEN_BY) for name, text in TREES.items()}
    boosted = settings.compare(trees, data, MEASURES, seeds=SEEDS)
    linear = {f"SmoothNDCG, λ={penalty:g}": smooth_ndcg(50, penalty, FEW) for penalty in PENALTIES}
    fits = {name: fits_of(boosted, name) for name in trees}
    chosen = settings.compare(linear, data, MEASURES)
    fits[SMOOTH] = best_on_validation(chosen, str(CHOSEN_BY))
    deviations = dict.fromkeys(TREES, NEWTON_DEVIATIONS) | {SMOOTH: SMOOTH_DEVIATIONS}
    for name, own in fits.items():
        yield from _named(deviations[name], _means(data, name, own, None))
    ours = {"TieRank, its own learner": _searched(settings, data)}
    ours |= {name: fits.pop(name) for name in list(TREES)[:1]}
    for name, own in ours.items():
        for base, other in fits.items():
            used = dict.fromkeys(deviations[one] for one in (name, base) if one in deviations)
            rows = _differences(data, f"{name}, less that of {base}", (own, other), "> 0")
            yield from _named(
                "; ".join([*used, *([DEVIATIONS] if name not in TREES else [])]), rows
            )


def _depths() -> dict[str, GBRanker]:
    return {f"depth {depth}": papers_learner(depth) for depth in DEPTHS}


def _searched(settings: Settings, data: Dataset) -> list[Outcome]:
    """Return the paper's learner, its depth chosen on the validation queries of each fold."""
    return best_on_validation(settings.compare(_depths(), data, MEASURES), str(CHOSEN_BY))


def _named(deviations: str, rows: Iterator[PaperRow]) -> Iterator[PaperRow]:
    return (replace(row, deviations=deviations) for row in rows)


def _means(
    data: Dataset,
    name: str,
    fits: Sequence[Outcome],
    said: str | None,
    measures: Sequence[NDCG] = MEASURES,
) -> Iterator[PaperRow]:
    """Yield NDCG of the test queries."""
    depths = ", ".join(fit.trial.ranker.removeprefix("depth ") for fit in fits)
    rounds = ", ".join(f"{fit.rounds:g}" for fit in fits)
    note = f"depth by fold: {depths}; trees: {rounds}" if name.endswith("searched") else ""
    for measure in measures:
        folds = values_by_fold(fits, str(measure))
        yield measured(PAPER, data.name, f"NDCG@{measure.k} of {name}", folds, said, note)


def _differences(
    data: Dataset, title: str, fits: tuple[Sequence[Outcome], Sequence[Outcome]], said: str
) -> Iterator[PaperRow]:
    """Yield by how much the first fits are above the second on the test queries."""
    for measure in MEASURES:
        both = [values_by_fold(own, str(measure)) for own in fits]
        folds = [np.subtract(*pair) for pair in zip(*both, strict=True)]
        yield measured(PAPER, data.name, f"NDCG@{measure.k} of {title}", folds, said)
