"""TieRank: its own learner, and against LambdaMART and linear SmoothRank, on MQ2008."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.named_rankers import ranker_from_name
from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.selection import Outcome, best_on_validation, fits_of
from benchmarks.papers.settings import Settings
from benchmarks.papers.smoothrank import (
    FEW,
    SPARSE_FEW_DEVIATIONS,
    SPARSE_PENALTIES,
    Annealed,
    smooth_ndcg,
)
from benchmarks.papers.tied_err import MAX_GRADE, PER_LABEL, tied_err_objective
from benchmarks.papers.trainings import Trainings, difference_rows, mean_row, trainings_of
from gbrank import ERR, NDCG, GBRanker, TieRank
from gbrank.evaluation import Dataset
from gbrank.measures.measure import Measure

__all__ = ["against_others", "own_learner", "papers_learner"]

PAPER = "TieRank"
TREES = {"TieRank, Newton trees": "tie:ndcg", "LambdaMART": "lambda:ndcg"}
SMOOTH = "linear SmoothRank"
CHOSEN_BY = NDCG(k=5)
MEASURES = (NDCG(k=1), CHOSEN_BY, NDCG(k=10))
SEEDS = 5
DEPTHS, DEPTH = (2, 4, 6), 4
LEAVES, LEAF = (1, 20, 60), 20
RATE, SLOW, ROUNDS = 0.02, 0.001, 500
JUDGED_BY_ERR = ERR(max_grade=MAX_GRADE)
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "φ linear, d = 6": {"phi": "linear"},
    "φ spline, d = 2": {"sample": 2},
    "φ spline, all documents": {"sample": None},
}
SAID = dict(zip(VARIANTS, ("> 0, far", "> 0", "< 0"), strict=True))

DATA_NAME = "the paper calls its data MQ2007, and counts the queries and documents of MQ2008"
DEVIATIONS = (
    f"ν = {RATE} for the paper's {SLOW}; at most {ROUNDS} trees, where the paper gives no number; "
    f"min_child_samples of {', '.join(map(str, LEAVES))}, chosen as the depth is; "
    f"means over {SEEDS} trainings, whose draws differ, or of one where nothing is drawn; "
    f"{DATA_NAME}"
)
ERR_DEVIATIONS = (
    f"d = {PER_LABEL} for 6, as all roundings are summed over; ν = {RATE} for {SLOW}; at most "
    f"{ROUNDS} trees; one training; {DATA_NAME}"
)
NEWTON_DEVIATIONS = (
    f"Newton trees of gbrank's defaults for the paper's learner; {SEEDS} trainings; {DATA_NAME}"
)
SMOOTH_DEVIATIONS = f"{SPARSE_FEW_DEVIATIONS}; {DATA_NAME}"


def papers_learner(
    depth: int, leaf: int, seed: int = 0, rate: float = RATE, **tie: Any
) -> GBRanker:
    """Return the paper's own: first order, trees on the gradient of 6 documents of each label."""
    rounds = _rounds(rate)
    return GBRanker(
        TieRank("ndcg", **({"sample": 6, "seed": seed} | tie)), sigma=1.0, init="zero",
        curvature="unit", learning_rate=rate, n_estimators=rounds, early_stopping_rounds=rounds,
        max_depth=depth, num_leaves=2**depth, min_child_samples=leaf, colsample=1.0,
        extra_trees=False, eval_metric=CHOSEN_BY,
    )  # fmt: skip


def _rounds(rate: float) -> int:
    return round(RATE / rate * ROUNDS)


def own_learner(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of the paper's learner: depth and leaves searched, and each, φ and d by itself.

    The number of trees is chosen by NDCG@5 on the validation queries, as depth and leaves are.
    """
    data = settings.dataset("mq2008")
    fits = _grid(settings, data)
    yield from _means(data, "TieRank, searched", _searched(fits), None)
    for number, name in enumerate(("depth", "leaves")):
        values = sorted({key[number] for key in fits})
        own = {
            value: _searched({key: fits[key] for key in fits if key[number] == value})
            for value in values
        }
        for value, trained in own.items():
            yield from _means(data, f"TieRank, {name} {value}", trained, "not given", MEASURES[1:])
        title = f"TieRank, {name} {values[0]}, less that of {name} {values[-1]}"
        yield from _differences(data, title, own[values[0]], own[values[-1]], "not given")
    both = f"both of depth {DEPTH} and leaves {LEAF}"
    plain = fits[DEPTH, LEAF]
    slow = _trained(settings, data, DEPTH, LEAF, seeds=1, rate=SLOW)
    title = f"TieRank, ν = {SLOW}, less that of ν = {RATE}, {both}"
    slower = f"{DEVIATIONS}; ν = {SLOW} has one training of at most {_rounds(SLOW)} trees"
    yield from _named(slower, _differences(data, title, slow, plain, "> 0"))
    for name, tie in VARIANTS.items():
        title = f"TieRank, φ spline, d = 6, less that of {name}, {both}"
        variant = _trained(settings, data, DEPTH, LEAF, **tie)
        yield from _differences(data, title, plain, variant, SAID[name])
    yield from _reach(data)
    yield from _of_err(settings, data)


def _reach(data: Dataset) -> Iterator[PaperRow]:
    """Yield how far the scores of all rankers of a search are from their start, and what follows.

    They start midway between two integers. Clipped, they stay between these.
    """
    away: dict[str, list[NDArray[np.float64]]] = {"training": [], "test": []}
    gains: list[float] = []
    for number in range(1, len(data.splits) + 1):
        (X, y, qid), (Xv, yv, qv), (Xt, yt, qt) = data.fold(number)
        for depth, leaf in product(DEPTHS, LEAVES):
            ranker = papers_learner(depth, leaf)
            ranker.fit(X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv])
            scores = ranker.predict(Xt)
            away["training"].append(np.abs(ranker.predict(X)))
            away["test"].append(np.abs(scores))
            clipped = np.clip(scores, -0.5, 0.5)
            gains.append(CHOSEN_BY(yt, clipped, qid=qt) - CHOSEN_BY(yt, scores, qid=qt))
    named = f"of all {len(gains)} rankers of one search"
    for part, fits in away.items():
        largest = max(float(values.max()) for values in fits)
        figure = f"largest |score − 0.5| of {part} queries, {named}"
        yield PaperRow(PAPER, data.name, figure, largest, "at most 0.5")
        share = max(float(np.mean(values > 0.5)) for values in fits)
        figure = f"largest share of {part} documents with |score − 0.5| above 0.5, {named}"
        yield PaperRow(PAPER, data.name, figure, share, "0")
    largest = max(gains, key=abs)
    figure = f"largest change of NDCG@5 of test queries by clipping scores to [0, 1], {named}"
    yield PaperRow(PAPER, data.name, figure, largest, "not given")


def _of_err(settings: Settings, data: Dataset) -> Iterator[PaperRow]:
    """Yield ERR of TieRank of ERR less that of TieRank of NDCG, as many trees as ERR chooses."""
    objectives = {"ERR": tied_err_objective(), "NDCG": TieRank("ndcg", sample=PER_LABEL)}
    rankers = {
        f"TieRank of {name}": papers_learner(DEPTH, LEAF).set_params(
            objective=objective, eval_metric=JUDGED_BY_ERR
        )
        for name, objective in objectives.items()
    }
    comparison = settings.compare(rankers, data, [JUDGED_BY_ERR])
    ours, base = ([fits_of(comparison, name)] for name in rankers)
    title = (
        f"TieRank of ERR less that of TieRank of NDCG, d = {PER_LABEL}, both of depth {DEPTH} and "
        f"leaves {LEAF}"
    )
    yield from _named(
        ERR_DEVIATIONS,
        difference_rows(PAPER, data.name, title, ours, base, [JUDGED_BY_ERR], "not tried"),
    )


def against_others(settings: Settings) -> Iterator[PaperRow]:
    """Yield NDCG of TieRank, of its own learner and of Newton trees, less that of the others."""
    data = settings.dataset("mq2008")
    fits = _trees(settings, data)
    linear = {
        f"SmoothNDCG, λ={penalty:g}": Annealed(smooth_ndcg(50, FEW), penalty)
        for penalty in SPARSE_PENALTIES
    }
    chosen = settings.compare(linear, data, MEASURES)
    fits[SMOOTH] = [best_on_validation(chosen, str(CHOSEN_BY))]
    deviations = dict.fromkeys(TREES, NEWTON_DEVIATIONS) | {SMOOTH: SMOOTH_DEVIATIONS}
    for name, own in fits.items():
        yield from _named(deviations[name], _means(data, name, own, None))
    ours = {"TieRank, its own learner": _searched(_grid(settings, data))}
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


def _grid(settings: Settings, data: Dataset) -> dict[tuple[int, int], Trainings]:
    """Return the trainings of the paper's learner, by depth and leaves."""
    return {
        (depth, leaf): _trained(settings, data, depth, leaf) for depth in DEPTHS for leaf in LEAVES
    }


def _trained(
    settings: Settings, data: Dataset, depth: int, leaf: int, seeds: int = SEEDS, **options: Any
) -> Trainings:
    """Return the trainings of the paper's learner, each with other draws."""
    drawn = seeds if options.get("sample", 6) else 1  # with all documents, nothing is random
    rankers = {
        f"depth {depth} with leaves {leaf}, draws {seed}": papers_learner(
            depth, leaf, seed, **options
        )
        for seed in range(drawn)
    }
    comparison = settings.compare(rankers, data, MEASURES)
    return [fits_of(comparison, name) for name in rankers]


def _searched(fits: Mapping[Any, Trainings]) -> Trainings:
    """Return the trainings that are best on the validation queries of each fold."""
    return [
        [max(folds, key=_valid_mean) for folds in zip(*depths, strict=True)]
        for depths in zip(*fits.values(), strict=True)
    ]


def _valid_mean(fit: Outcome) -> float:
    return float(np.nanmean(fit.valid[str(CHOSEN_BY)]))


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
    kinds = Counter(fit.ranker.partition(",")[0] for own in fits for fit in own)
    found = ", ".join(f"{kind} in {kinds[kind]}" for kind in sorted(kinds))
    trees = np.median([fit.rounds for own in fits for fit in own])
    note = (
        f"{found} of {kinds.total()} fits; {trees:g} trees (median)"
        if name.endswith("searched")
        else ""
    )
    for measure in measures:
        figure = f"{str(measure).upper()} of {name}"
        yield mean_row(PAPER, data.name, figure, fits, str(measure), said, note)


def _differences(
    data: Dataset, title: str, ours: Trainings, base: Trainings, said: str
) -> Iterator[PaperRow]:
    """Yield by how much the first fits are above the second on the test queries."""
    yield from difference_rows(PAPER, data.name, title, ours, base, MEASURES, said)
