"""The rows of a comparison's summary: means, intervals and tests."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.evaluation.power import queries_needed_for, smallest_difference
from gbrank.evaluation.query_values import QueryValues, by_judge
from gbrank.evaluation.statistics import JudgedValues, compared, compared_with_judge, holm


@dataclass(frozen=True)
class Row:
    """The value of one ranker by one measure, and its difference; NaN where there is no number."""

    data: str
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

    @property
    def is_compared(self) -> bool:
        """Whether it is compared with the baseline."""
        return not (math.isnan(self.p_randomisation) and math.isnan(self.p_t))


def figures(
    scores: QueryValues, measure: str, reference: int, asked: float
) -> dict[str, NDArray[Any]]:
    """Return counts, means and tests, named as in `Row`; each has a number for every ranker."""
    every = scores.by_query(measure)
    cube = every[:, :, ~np.isnan(every).any(axis=(0, 1))]
    if scores.judged is None:
        tests = compared(cube.mean(axis=1), reference)
    else:
        judge = scores.by_query(by_judge(measure)).mean(axis=1)
        people = JudgedValues(every.mean(axis=1), judge, scores.judged)
        tests = compared_with_judge(people, reference)
    n_rankers, n_seeds, n_queries = cube.shape
    deviation = np.full(n_rankers, np.nan)
    if n_seeds > 1 and n_queries:
        deviation = cube.mean(axis=2).std(axis=1, ddof=1)
    errors = list(zip(tests.error.tolist(), tests.freedom.tolist(), strict=True))
    return {
        "n_queries": np.full(n_rankers, n_queries),
        "n_skipped": np.full(n_rankers, every.shape[2] - n_queries),
        **tests.means._asdict(),
        "seed_deviation": deviation,
        "p_randomisation": holm(tests.p_randomisation),
        "p_t": holm(tests.p_t),
        "smallest": np.array([smallest_difference(*pair) for pair in errors]),
        "n_needed": np.array(
            [queries_needed_for(asked, error * math.sqrt(n_queries)) for error, _ in errors]
        ),
        "n_worth": tests.worth,
    }
