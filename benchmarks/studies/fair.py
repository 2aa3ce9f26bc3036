"""Objectives on the same trees, each at the rate that suits it: NDCG@10 and CPU seconds.

python -m benchmarks.studies.fair --data mq2008 ohsumed flights nfcorpus --artificial
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.artificial import cubic_queries
from benchmarks.best_rate import BestRate
from benchmarks.named_rankers import PEERS, ranker_from_name
from benchmarks.studies.study import HEAD, cells, flat_rows, options
from benchmarks.writing import RESULTS, SITE, markdown_table, rows_to_json
from gbrank import compare_rankers
from gbrank.evaluation import read_letor_folds
from gbrank.plots import quality_by_seconds

TEXT = """\
# On the same trees, four of gbrank's objectives are better than LightGBM's and XGBoost's

Objectives are compared on the same trees, each at its best learning rate.

- **Trees.** All objectives use trees of 15 leaves with at least 20 documents per leaf, 80% of the
  documents and 70% of the features per tree. A fit stops after 100 rounds without an improvement of
  NDCG@10 on the validation queries, or after 5,000 rounds, which only the fits on 10,000 queries
  reach. In each fold, every ranker uses the learning rate among 0.03, 0.06 and 0.12 that is best on
  the validation queries.
- **Data.** Artificial data (`make_cubic`) are named by the number of queries and of documents per
  query: two fifths of the queries are for training, one for validation, two for testing. "Pooled"
  is the mean over data sets, weighted equally.
- **Time.** CPU seconds are for the fit at the chosen rate, on one thread. They include compilation
  where a process trains an objective for the first time (visible for ApproxRank and ListMLE on
  MQ2008).
- **Seeds.** There are two. Their influence is largest on the artificial lists of 400 documents,
  where six seeds of `noisy:ndcg` range from 0.513 to 0.579 on validation queries.
- **Selection.** The test queries were evaluated before, with the first seed, and with a version of
  `noisy:ndcg` restricted to pairs with a document among the first 256 ranks.
- On OHSUMED the best round of ApproxNDCG is in its first half, which trains RankNet, so the two are
  identical there. CatBoost, whose trees are symmetric, is in
  [the comparison with default parameters](default_parameters.md).

![NDCG@10 against CPU seconds](fair.png)
"""
POOLED = """\
Pooled over the data sets, on test queries: differences from `noisy:ndcg`, with 95% bootstrap
intervals over queries. p-values are those of the paired randomization test, corrected for the
number of rankers (Holm); the intervals are not corrected. "rounds" is the mean number of rounds
retained.
"""
BY_DATA = """\
By data set, on test queries; \\* marks a difference from `noisy:ndcg` with a corrected p of less
than 0.05. Queries without a relevant document are skipped. [The JSON
file](../../benchmarks/results/fair.json) adds validation queries, intervals, deviations over seeds
and seconds.
"""
RATES = (0.03, 0.06, 0.12)
OURS = ("noisy:ndcg", "approx:ndcg", "lambda:ndcg", "listmle", "ranknet")
THEIRS = [name for name in PEERS if not name.startswith("catboost")]
LEVEL = 0.05
SIZES = ((1000, 50), (10_000, 50), (300, 400))  # queries, and documents in each


def page(rows: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the page, of test queries."""
    test = [row for row in rows if row["part"] == "test"]
    labels = list(dict.fromkeys(row["data"] for row in test))
    cell = {(row["data"], row["ranker"]): row for row in test}

    def value(row: Mapping[str, Any]) -> str:
        p = row["p_randomization"]
        return f"{row['mean']:.4f}" + (r"\*" if p is not None and p < LEVEL else "")

    pooled = [row for row in test if row["data"] == labels[-1]]
    lines = [
        [f"`{row['ranker']}`", *(value(cell[label, row["ranker"]]) for label in labels[:-1])]
        for row in pooled
    ]
    counts = ["queries", *(f"{cell[label, OURS[0]]['n_queries']:,}" for label in labels[:-1])]
    blocks = [TEXT, f"```bash\n{command}\n```", POOLED, markdown_table(HEAD, map(cells, pooled))]
    blocks += [BY_DATA, markdown_table(["NDCG@10", *labels[:-1]], [*lines, counts])]
    return "\n\n".join(block.strip() for block in blocks) + "\n"


if __name__ == "__main__":
    parser = options(TEXT.splitlines()[0].lstrip("# "))
    parser.add_argument("--artificial", action="store_true", help="also on artificial data")
    arguments = parser.parse_args()
    datasets = [read_letor_folds(folder) for folder in arguments.data]
    if arguments.artificial:
        datasets += [cubic_queries(n, m, f"{n} x {m}") for n, m in SIZES]
    comparisons = compare_rankers(
        {name: BestRate(ranker_from_name(name), RATES) for name in (*OURS, *THEIRS)},
        datasets,
        seeds=2,
        n_jobs=arguments.jobs,
    )
    names = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.fair --data {names}"
    command += " --artificial" if arguments.artificial else ""
    rows = list(flat_rows(comparisons))
    (RESULTS / "fair.json").write_text(rows_to_json(rows), encoding="utf-8")
    (SITE / "fair.md").write_text(page(rows, command), encoding="utf-8")
    quality_by_seconds(*comparisons).savefig(SITE / "fair.png", dpi=120)
