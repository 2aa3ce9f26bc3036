"""The rows of a comparison's summary: means, intervals and tests, computed from the outcomes."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Matrix, Vector
from gbrank.evaluation.power import queries_needed_for, smallest_difference
from gbrank.evaluation.statistics import Both, compared, holm
from gbrank.evaluation.trial import Outcome, by_judge
from gbrank.measures.judges import PEOPLE

POOLED = "pooled"

Cube = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """What one ranker is worth on one data set, by one measure; NaN where there is no number."""

    data: str  # or "pooled": all of them, each with the same weight
    measure: str
    ranker: str
    n_queries: int  # that count
    n_skipped: int  # as the measure is undefined there, such as without a relevant document
    mean: float  # over the queries of all folds, of scores averaged over seeds
    low: float  # the ends of its 95% bootstrap interval over queries
    high: float
    seed_deviation: float  # standard deviation, over seeds, of the mean over queries
    difference: float  # of the mean from the baseline's
    difference_low: float  # the ends of its 95% bootstrap interval over queries
    difference_high: float
    p_randomisation: float  # of paired tests of the difference
    p_t: float
    rounds: float  # mean number of rounds kept
    cpu_seconds: float  # mean CPU seconds of a fit
    # Of both p-values, for the number of rankers compared with the baseline; intervals have none.
    p_correction: str = field(default="Holm", init=False)
    smallest: float = math.nan  # difference that these queries tell: power 0.8, level 0.05
    n_needed: float = math.nan  # queries that tell the difference that was asked for
    n_worth: float = math.nan  # queries that people need not judge, thanks to the judge


def summarise(
    outcomes: Sequence[Outcome],
    measures: Sequence[str],
    baseline: str,
    part: str,
    asked: float = 0.01,
) -> list[Row]:
    """Return a row per data set, measure and ranker, and those of all data sets together."""
    by_data: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if getattr(outcome, part).queries:
            by_data.setdefault(outcome.trial.data, []).append(outcome)
    groups = {data: [fits] for data, fits in by_data.items()}
    if len(groups) > 1:
        groups[POOLED] = list(by_data.values())
    return [
        row
        for data, strata in groups.items()
        for measure in measures
        for row in _rows(data, measure, strata, baseline, part, asked)
    ]


def _rows(
    data: str, measure: str, strata: list[list[Outcome]], baseline: str, part: str, asked: float
) -> list[Row]:
    """Return the row of each ranker, in the order of its first outcome."""
    rankers = list(dict.fromkeys(outcome.trial.ranker for outcome in strata[0]))
    all_cubes = [_cube(outcomes, measure, part) for outcomes in strata]
    cubes = [cube[:, :, ~np.isnan(cube).any(axis=(0, 1))] for cube in all_cubes]
    n_queries, n_all = (sum(cube.shape[2] for cube in some) for some in (cubes, all_cubes))
    values: list[Matrix | Both] = [cube.mean(axis=1) for cube in cubes]
    if PEOPLE in getattr(strata[0][0], part).values:  # beside whom a judge stands
        values = [_both(outcomes, measure, part) for outcomes in strata]
    figures = _figures(cubes, values, rankers.index(baseline), asked)
    return [
        Row(
            data=data,
            measure=measure,
            ranker=ranker,
            n_queries=n_queries,
            n_skipped=n_all - n_queries,
            **{name: float(values[place]) for name, values in figures.items()},
            **_costs([fit for fits in strata for fit in fits if fit.trial.ranker == ranker]),
        )
        for place, ranker in enumerate(rankers)
    ]


def _both(outcomes: list[Outcome], measure: str, part: str) -> Both:
    """Return the values of each ranker, averaged over seeds, by people and by the judge."""
    people, judge, judged = (
        _cube(outcomes, name, part) for name in (measure, by_judge(measure), PEOPLE)
    )
    return Both(people.mean(axis=1), judge.mean(axis=1), judged[0, 0] > 0)


def _figures(
    cubes: list[Cube], values: list[Matrix | Both], reference: int, asked: float
) -> dict[str, Vector]:
    """Return what a row says of scores, by its names; each with a value for every ranker."""
    nothing = np.full(cubes[0].shape[:2], np.nan)  # where people have judged no query
    by_seed = np.mean([cube.mean(axis=2) if cube.size else nothing for cube in cubes], axis=0)
    deviation = np.full(len(by_seed), np.nan)
    if by_seed.shape[1] > 1:
        deviation = by_seed.std(axis=1, ddof=1)
    found, n_queries = compared(values, reference), sum(cube.shape[2] for cube in cubes)
    errors = list(zip(found.error.tolist(), found.freedom.tolist(), strict=True))
    return {
        **found.means._asdict(),
        "seed_deviation": deviation,
        "p_randomisation": holm(found.p_randomisation),
        "p_t": holm(found.p_t),
        "smallest": np.array([smallest_difference(*own) for own in errors]),
        "n_needed": np.array(
            [queries_needed_for(asked, error * math.sqrt(n_queries)) for error, _ in errors]
        ),
        "n_worth": found.worth,
    }


def _costs(fits: list[Outcome]) -> dict[str, float]:
    """Return what a row says of the fits of one ranker, by its names."""
    return {
        "rounds": _mean(fit.rounds for fit in fits),
        "cpu_seconds": _mean(fit.cpu_seconds for fit in fits),
    }


def _mean(values: Iterable[float | None]) -> float:
    return float(np.mean([np.nan if value is None else value for value in values]))


def _cube(outcomes: list[Outcome], measure: str, part: str) -> Cube:
    """Return scores, shape (n_rankers, n_seeds, n_queries), averaged over folds."""
    rankers, seeds, queries = (
        {key: place for place, key in enumerate(dict.fromkeys(keys))}
        for keys in (
            (outcome.trial.ranker for outcome in outcomes),
            (outcome.trial.seed for outcome in outcomes),
            (query for outcome in outcomes for query in getattr(outcome, part).queries),
        )
    )
    total = np.zeros((len(rankers), len(seeds), len(queries)))
    count = np.zeros(total.shape)
    for outcome in outcomes:
        scores = getattr(outcome, part)
        cell = rankers[outcome.trial.ranker], seeds[outcome.trial.seed]
        columns = [queries[query] for query in scores.queries]
        total[cell][columns] += scores.values[measure]
        count[cell][columns] += 1
    return total / count
