"""Rankers with default parameters on numbers, counts, ratings, zeros and missing values.

python -m benchmarks.studies.kinds_of_features
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.studies.default_parameters import RANKERS
from benchmarks.studies.fits import MEASURE
from benchmarks.writing import RESULTS, markdown_table
from gbrank.evaluation import LabeledDocuments

N_FEATURES, SEEDS = 12, 3
SIZES = ((50, 20), (300, 20), (100, 100), (2000, 10))  # training queries, documents in each
NAMES = ("GBRanker()", "LGBMRanker()", "XGBRanker()")
Table = NDArray[Any]
KINDS: dict[str, Callable[[Table, np.random.Generator], Table]] = {
    "numbers": lambda Z, _: Z,
    "yes or no": lambda Z, _: np.where(Z > 0.3, 1.0, 0.0),
    "five ratings": lambda Z, _: np.clip(np.round(Z + 2), 0, 4),
    "half are missing": lambda Z, rng: np.where(rng.random(Z.shape) < 0.5, np.nan, Z),
    "most are zero": lambda Z, _: np.where(Z > 0.5, Z, 0.0),
    "counts": lambda Z, _: np.floor(np.exp(Z)),
    "counts, more skewed": lambda Z, _: np.floor(np.exp(1.7 * Z)),
    "prices": lambda Z, _: np.round(np.exp(Z + 3)) - 0.01,
}
TEXT = """\
# What features hold, and how rankers with default parameters use it

NDCG@10 of test queries, without a parameter but seed and threads; the mean of {seeds} seeds. {n}
features are drawn from standard normal numbers z, and are these, or what the table says of them:
counts are ⌊e^z⌋ and ⌊e^1.7z⌋, prices e^(z + 3) with 99 cents. Relevance is a linear function of the
numbers with a product, a square and as much noise; labels are 0 to 4. As many queries are tested on
as are trained on.

```bash
python -m benchmarks.studies.kinds_of_features
```

{tables}
"""


def queries(
    kind: str, n_queries: int, size: int, seed: int
) -> tuple[LabeledDocuments, LabeledDocuments]:
    """Return documents to train and to test on."""
    rng, n = np.random.default_rng(seed), 2 * n_queries * size
    qid = np.repeat(np.arange(2 * n_queries), size)
    Z = rng.normal(size=(n, N_FEATURES))
    weights = rng.normal(size=N_FEATURES) * (rng.random(N_FEATURES) < 0.6)
    relevance = Z @ weights + 0.5 * Z[:, 0] * Z[:, 1] - 0.5 * Z[:, 2] ** 2
    relevance += np.linalg.norm(weights) * rng.normal(size=n)
    y = np.digitize(relevance, np.quantile(relevance, [0.5, 0.75, 0.9, 0.97])).astype(float)
    X, known = KINDS[kind](Z, rng), qid < n_queries
    return (
        LabeledDocuments(X[known], y[known], qid[known]),
        LabeledDocuments(X[~known], y[~known], qid[~known]),
    )


def lines(n_queries: int, size: int) -> Iterator[list[str]]:
    """Yield a line for each kind of features."""
    for kind in KINDS:
        values: list[Any] = []
        for seed in range(SEEDS):
            train, test = queries(kind, n_queries, size, seed)
            scores = [RANKERS[name](train, test, seed) for name in NAMES]
            values.append([MEASURE(test.y, own, qid=test.qid) for own in scores])
        means = np.mean(values, axis=0)
        print(n_queries, size, kind, means.round(4), flush=True)
        yield [kind, *(f"{mean:.4f}" for mean in means), f"{means[0] - means[1:].max():+.4f}"]


if __name__ == "__main__":
    head = ["features", *(f"`{name}`" for name in NAMES), "GBRanker less the better one"]
    tables = (
        f"{n:,} queries of {size} documents:\n\n{markdown_table(head, lines(n, size))}"
        for n, size in SIZES
    )
    text = TEXT.format(seeds=SEEDS, n=N_FEATURES, tables="\n\n".join(tables))
    (RESULTS / "kinds_of_features.md").write_text(text, encoding="utf-8")
