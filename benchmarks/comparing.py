"""CPU seconds of comparing three rankers, beside SciPy's bootstrap and permutation test.

`compare_scores(...).summary()` computes the measure of each query, intervals, tests and the minimum
detectable difference; SciPy has one interval and one test of the same differences.

    python -m benchmarks.comparing
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.writing import markdown_table
from gbrank import compare_scores
from gbrank.common.checks import Vector
from gbrank.evaluation.statistics import common_queries

N_DOCUMENTS = 20
SIZES = (1_000, 10_000, 100_000)
LARGEST_OF_SCIPY = 10_000  # queries; more take minutes
NOISE = {"a": 1.0, "b": 1.02, "c": 0.98}


def make_scores(n_queries: int) -> tuple[dict[str, Vector], Vector, NDArray[np.int64]]:
    """Return scores of three rankers, labels and queries."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), N_DOCUMENTS)
    relevance = rng.normal(size=len(qid))
    y = np.clip(np.round(relevance + 0.5 * rng.normal(size=len(qid))), 0, 4)
    scores = {name: relevance + noise * rng.normal(size=len(qid)) for name, noise in NOISE.items()}
    return scores, y, qid


def scipys(differences: Vector) -> tuple[Any, float]:
    """Return SciPy's interval and p-value of a mean difference."""
    batch = 2**22 // len(differences)
    interval = stats.bootstrap(
        (differences,), np.mean, method="percentile", batch=batch, random_state=0
    ).confidence_interval
    test = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", batch=batch, random_state=0
    )
    return interval, float(test.pvalue)


def main() -> None:
    """Measure and print."""
    compare_scores(*make_scores(100)).summary()  # compiles
    rows = []
    for n_queries in SIZES:
        data = make_scores(n_queries)
        start = time.process_time()
        comparison = compare_scores(*data)
        comparison.summary()
        ours = time.process_time() - start
        theirs = ""
        if n_queries <= LARGEST_OF_SCIPY:
            values = common_queries(comparison.parts["test"].by_query("ndcg@10")[:, 0])
            start = time.process_time()
            scipys(values[1] - values[0])
            theirs = f"{time.process_time() - start:.2f}"
        rows.append([f"{n_queries:,}", f"{ours:.2f}", theirs])
    print(markdown_table(["queries", "three rankers, CPU s", "SciPy, a difference, CPU s"], rows))


if __name__ == "__main__":
    main()
