"""Objectives on the same trees, each at the rate that suits it: NDCG@10 and CPU seconds.

python -m benchmarks.studies.fair --data mq2008 ohsumed flights nfcorpus --artificial
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.artificial import cubic_queries
from benchmarks.best_rate import BestRate
from benchmarks.letor_folders import read_folds
from benchmarks.named_rankers import PEERS, ranker_from_name
from benchmarks.studies.study import HEAD, cells, flat_rows, options
from benchmarks.writing import RESULTS, SITE, markdown_table, rows_to_json
from gbrank import compare_rankers
from gbrank.plots import quality_by_seconds

TEXT = """\
# On the same trees four of gbrank's objectives are ahead of all of LightGBM's and XGBoost's

Trees of 15 leaves, at least 20 documents a leaf, 80% of the documents and 70% of the features per
tree. A fit ends after 100 rounds without a better NDCG@10 on the validation queries, or after 5,000
rounds, which only the fits on 10,000 queries reach. In each fold, every ranker gets the learning
rate of 0.03, 0.06 and 0.12 that is best on the validation queries. Artificial data (`make_cubic`)
are named by their queries and the documents of each: two fifths of the queries are to train on, one
to validate, two to test. CPU seconds are those of the fit at the chosen rate, on one thread,
including compilation where a process trains an objective for the first time (visible for
ApproxRank and ListMLE on MQ2008). CatBoost, whose trees are symmetric, is among
[the rankers as they come](as_they_come.md). "Pooled" is the mean
over data sets, each with the same weight.

Two seeds. Seeds matter most on the artificial lists of 400: six seeds of `noisy:ndcg` at the rate
of 0.12 end between 0.513 and 0.579 on validation queries. Test queries were read before, with the
first of the seeds alone, and when `noisy:ndcg` took only pairs with a document among the first 256
ranks. On OHSUMED the best round of ApproxNDCG is in its first half, which trains RankNet: there the
two are one.

![NDCG@10 against CPU seconds](fair.png)
"""
POOLED = """\
Pooled over the data sets, on test queries: differences from `noisy:ndcg`, with 95% bootstrap
intervals over queries; p is that of the paired randomisation test, corrected for the number of
rankers (Holm), which intervals are not. "rounds" is the mean number of rounds kept.
"""
BY_DATA = """\
By data set, on test queries; \\* differs from `noisy:ndcg` with a corrected p below 0.05. A query
without a relevant document is skipped. [The numbers](../../benchmarks/results/fair.json) have also
validation queries, intervals, deviations over seeds and seconds.
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
        p = row["p_randomisation"]
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
    datasets = [read_folds(folder) for folder in arguments.data]
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
