"""Rankers with default parameters on numbers, counts, ratings, zeros and missing values.

python -m benchmarks.studies.kinds_of_features
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.studies.default_parameters import RANKERS
from benchmarks.studies.fits import Case, Study, by_data
from benchmarks.writing import markdown_table
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
as are trained on. The last columns compare `GBRanker()` with the better of the others, paired by
query; p is that of the randomization test, not corrected.

```bash
{command}
```

{tables}
"""


def queries(kind: str, n_queries: int, size: int, seed: int) -> Case:
    """Return documents to train and to test on."""
    rng, n = np.random.default_rng(seed), 2 * n_queries * size
    qid = np.repeat(np.arange(2 * n_queries), size)
    Z = rng.normal(size=(n, N_FEATURES))
    weights = rng.normal(size=N_FEATURES) * (rng.random(N_FEATURES) < 0.6)
    relevance = Z @ weights + 0.5 * Z[:, 0] * Z[:, 1] - 0.5 * Z[:, 2] ** 2
    relevance += np.linalg.norm(weights) * rng.normal(size=n)
    y = np.digitize(relevance, np.quantile(relevance, [0.5, 0.75, 0.9, 0.97])).astype(float)
    X, known = KINDS[kind](Z, rng), qid < n_queries
    train, test = (
        LabeledDocuments(X[part], y[part], qid[part] + seed * 10**6) for part in (known, ~known)
    )
    return Case(kind, f"{n_queries:,} queries of {size} documents", seed, seed, train, test)


def cases() -> Iterator[Case]:
    """Yield each kind of features, in each size."""
    for n, size in SIZES:
        for kind in KINDS:
            for seed in range(SEEDS):
                yield queries(kind, n, size, seed)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows of one size: a line for each kind of features."""
    lines = []
    for kind in KINDS:
        first, *others = (row for row in rows if row["data"] == kind)
        better = max(others, key=lambda row: row["ndcg@10"])
        values = [f"{row['ndcg@10']:.4f}" for row in (first, *others)]
        lines.append([kind, *values, f"{-better['difference']:+.4f}", f"{better['p']:.4f}"])
    return markdown_table(["features", *(f"`{name}`" for name in NAMES), "difference", "p"], lines)


def main() -> None:
    """Run the study, and write its numbers and its page."""
    study = Study("kinds_of_features", __doc__)
    rows = by_data(study.rows(cases(), {name: RANKERS[name] for name in NAMES}))
    sizes = dict.fromkeys(row["size"] for row in rows)
    blocks = [f"{size}:\n\n{table([r for r in rows if r['size'] == size])}" for size in sizes]
    text = TEXT.format(seeds=SEEDS, n=N_FEATURES, command=study.command, tables="\n\n".join(blocks))
    study.publish(rows, text)


if __name__ == "__main__":
    main()
