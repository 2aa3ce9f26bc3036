"""Which default: how far candidates lead the best peer, on queries that are not reported.

python -m benchmarks.studies.candidates --data mq2008 ohsumed
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.artificial import cubic_queries
from benchmarks.studies.flagship import ALL_PAIRS, all_pairs
from benchmarks.studies.study import ARTIFICIAL, QUERIES, UNSAMPLED, options
from benchmarks.writing import PAGES, RESULTS, markdown_table, rows_to_json
from gbrank import Comparison, compare_rankers, ranker_from_name, read_folds
from gbrank.datasets import make_cubic
from gbrank.evaluation.folds import Dataset, Fold

TEXT = """\
# Which default

NDCG@10 of candidates, and how far each leads the best of four peers where it leads least.
*Real*: the mean of the validation queries of both folders, five seeds. *Artificial*: 750
validation queries beside 1,500 to train on, three seeds. *Smaller*: six artificial data sets,
each of 1,000 queries to train on, 200 to stop by and 600 to judge by, without sampling, stopped
after 50 rounds without a better value. Smallest leads of 0.002 to 0.003 are level; between
TieRank's best mixture and noise's [larger data](larger.md) decided. Budgets are those of
[`benchmarks/studies/study.py`](../../benchmarks/studies/study.py).

```bash
python -m benchmarks.studies.candidates --data {folders}
```
"""

PEERS = ("lightgbm:lambdarank", "lightgbm:rank_xendcg", "xgboost:rank:ndcg")
TIE = "tie:ndcg@10"
NOISY = "perturbed:lambda:ndcg"
CANDIDATES = (
    "listmle",
    "ranknet",
    f"{TIE}+0.3*listmle+0.5*pointwise",
    f"{TIE}+0.7*ranknet+0.3*pointwise",
    *(f"{TIE}+{share}*listmle" for share in (0.6, 0.8)),
    *(f"{TIE}+{share}*ranknet" for share in (0.5, 0.65, 0.8)),
    *(f"tie:ndcg+{share}*ranknet" for share in (0.5, 0.7, 0.8)),
    f"{TIE}+0.6*listmle+0.2*ranknet",
    *(f"{TIE}+{share}*listmle+0.3*ranknet" for share in (0.4, 0.5, 0.6, 0.7)),
    f"{TIE}+0.4*listmle+0.5*ranknet",
    *(f"{NOISY}+{share}*ranknet" for share in (0.3, 0.5, 0.7)),
    f"{NOISY}@10+0.5*ranknet",
    f"{NOISY}+0.3*listmle+0.5*ranknet",
    f"{TIE}+0.5*{NOISY}+0.4*ranknet",
    "perturbed(draws=4):lambda:ndcg+0.5*ranknet",
    "perturbed(noise='gaussian'):lambda:ndcg+0.5*ranknet",
)


def smaller_data(seed: int) -> Dataset:
    """Return 1,800 queries of a random cubic polynomial, 1,000 of them to train on."""
    X, y, qid = make_cubic(1800, random_state=seed)
    part = np.searchsorted([1000, 1200], qid, side="right")
    fold = Fold(*(np.flatnonzero(part == i) for i in range(3)))
    return Dataset(f"small{seed}", X, y, qid, [fold])


def means(comparison: Comparison, part: str) -> dict[str, float]:
    """Return each ranker's mean over all data sets."""
    last = comparison.summary(part)[-1].data
    return {row.ranker: row.mean for row in comparison.summary(part) if row.data == last}


def leads(kinds: Mapping[str, Mapping[str, float]], peers: list[str]) -> dict[str, float]:
    """Return each ranker's lead over the best peer, on the kind of data where it is smallest."""
    best = {kind: max(found[peer] for peer in peers) for kind, found in kinds.items()}
    rankers = next(iter(kinds.values()))
    return {name: min(kinds[kind][name] - best[kind] for kind in kinds) for name in rankers}


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--results", help="folder that keeps what is done")
    arguments = parser.parse_args()
    peers = {ALL_PAIRS: all_pairs()}
    peers |= {name: ranker_from_name(name) for name in PEERS}
    rankers = peers | {name: ranker_from_name(name) for name in CANDIDATES}

    def compare(data: list[Dataset], seeds: int, part: str, **budget: Any) -> dict[str, float]:
        """Return the means on one kind of data."""
        built = {name: clone(ranker).set_params(**budget) for name, ranker in rankers.items()}
        return means(
            compare_rankers(
                built, data, seeds=seeds, results=arguments.results, n_jobs=arguments.jobs
            ),
            part,
        )

    kinds = {
        "real": compare([read_folds(folder) for folder in arguments.data], 5, "valid"),
        "artificial": compare([cubic_queries(QUERIES)], 3, "valid", **ARTIFICIAL),
        "smaller": compare([smaller_data(seed) for seed in range(11, 17)], 1, "test", **UNSAMPLED),
    }
    columns = {**kinds, "smallest lead": leads(kinds, list(peers))}
    rows = [
        {"ranker": name, **{title: values[name] for title, values in columns.items()}}
        for name in rankers
    ]
    lines = [
        [f"`{name}`", *(f"{mean:.4f}" for mean in own), f"{lead:+.4f}"]
        for name, *own, lead in (row.values() for row in rows)
    ]
    table = markdown_table(["ranker", *columns], lines)
    folders = " ".join(Path(folder).name for folder in arguments.data)
    page = f"{TEXT.format(folders=folders)}\n{table}\n"
    (PAGES / "candidates.md").write_text(page, encoding="utf-8")
    (RESULTS / "candidates.json").write_text(rows_to_json(rows), encoding="utf-8")
    print(page)
