"""Objectives on the same trees, each at the rate that suits it: NDCG@10 and CPU seconds.

python -m benchmarks.studies.fair --data mq2008 ohsumed flights nfcorpus --artificial
"""

from pathlib import Path

from benchmarks.artificial import cubic_queries
from benchmarks.best_rate import BestRate
from benchmarks.letor_folders import read_folds
from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.peers import PEERS
from benchmarks.studies.study import options, publish
from benchmarks.writing import SITE
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
RATES = (0.03, 0.06, 0.12)
OURS = ("noisy:ndcg", "approx:ndcg", "lambda:ndcg", "listmle", "ranknet")
THEIRS = [name for name in PEERS if not name.startswith("catboost")]
SIZES = ((1000, 50), (10_000, 50), (300, 400))  # queries, and documents in each


if __name__ == "__main__":
    parser = options(TEXT.splitlines()[0].lstrip("# "))
    parser.add_argument("--artificial", action="store_true", help="also on artificial data")
    arguments = parser.parse_args()
    datasets = [read_folds(folder) for folder in arguments.data]
    if arguments.artificial:
        datasets += [cubic_queries(n, m, f"{n} x {m}") for n, m in SIZES]
    comparison = compare_rankers(
        {name: BestRate(ranker_from_name(name), RATES) for name in (*OURS, *THEIRS)},
        datasets,
        seeds=2,
        n_jobs=arguments.jobs,
    )
    names = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.fair --data {names}"
    command += " --artificial" if arguments.artificial else ""
    publish("fair", TEXT, command, [comparison], folder=SITE)
    quality_by_seconds(comparison).savefig(SITE / "fair.png", dpi=120)
