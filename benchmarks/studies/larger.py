"""Quality against seconds on larger data: every objective and peer, trained on 500,000 documents.

python -m benchmarks.studies.larger
"""

import argparse

from benchmarks.artificial import cubic_queries
from benchmarks.studies.objectives import MEASURED, OTHERS
from benchmarks.studies.peers import PEERS
from benchmarks.studies.study import UNSAMPLED, publish
from benchmarks.writing import SITE
from gbrank import compare_rankers
from gbrank.evaluation import ranker_from_name
from gbrank.plots import quality_by_seconds

SLOW = ("catboost:StochasticRank", "soft:")
REST = ("smoothap", "noisy:ndcg", "noisy:ndcg+ranknet")

TEXT = """\
# With 500,000 documents LightGBM's own objective is ahead of gbrank's default by 0.004

Artificial data of the size of the LambdaRank paper's: {train:,} queries to train on, {valid:,} to
validate, {test:,} to test, each of 50 documents with 50 features, labelled by a random polynomial
of degree three (`make_cubic`). 300 rounds of 31 leaves at a learning rate of 0.1, one thread,
stopped after 50 rounds without a better validation NDCG@10. The picture shows test NDCG@10
against the mean CPU seconds of a fit, validation included. SoftRank and CatBoost's
StochasticRank are left out: a fit of either takes over twenty minutes.

![NDCG@10 against seconds](larger.png)
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000, help="to train on, and to test on")
    parser.add_argument("--results", help="folder that keeps what is done")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    n = arguments.queries
    names = [*PEERS, *(f"{name}:ndcg" for name in MEASURED), *OTHERS, *REST]
    names = [name for name in names if not name.startswith(SLOW)]
    rankers = {name: ranker_from_name(name, **UNSAMPLED) for name in names}
    comparison = compare_rankers(
        rankers,
        [cubic_queries(2 * n + n // 2)],
        seeds=1,
        results=arguments.results,
        n_jobs=arguments.jobs,
    )
    text = TEXT.format(train=n, valid=n // 2, test=n)
    command = f"python -m benchmarks.studies.larger --queries {n}"
    publish("larger", text, command, [comparison], folder=SITE)
    quality_by_seconds(comparison).savefig(SITE / "larger.png", dpi=120)
