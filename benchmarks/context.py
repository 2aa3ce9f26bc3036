"""Nanoseconds per value of features relative to the query, on one thread, by kind.

200,000 documents of 20 features, in queries of several lengths: CPU seconds of `QueryContext`'s
computation, the least of some repeats, over the number of values. The last row has all kinds.

    python -m benchmarks.context
"""

import time

import numpy as np

from benchmarks.writing import markdown_table
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema
from gbrank.fit.context import KINDS, Context

DOCUMENTS, FEATURES, REPEATS = 200_000, 20, 5
LENGTHS = (10, 40, 120, 1000)


def nanoseconds(context: Context, length: int) -> float:
    """Return the nanoseconds per value with queries of this length."""
    n_queries = DOCUMENTS // length
    X = np.random.default_rng(0).normal(size=(n_queries * length, FEATURES))
    queries = Queries.from_sizes(np.full(n_queries, length))
    least = np.inf
    for _ in range(REPEATS):
        start = time.process_time()
        for _ in context.numbers(X, queries):
            pass
        least = min(least, time.process_time() - start)
    return float(least / X.size * 1e9)


if __name__ == "__main__":
    schema = Schema.learn(np.zeros((1, FEATURES)))
    rows = [
        [name, *(f"{nanoseconds(Context.of(kinds, schema), length):.0f}" for length in LENGTHS)]
        for name, kinds in [*((kind, kind) for kind in KINDS), ("all", KINDS)]
    ]
    print(markdown_table(["", *(f"queries of {length}" for length in LENGTHS)], rows))
