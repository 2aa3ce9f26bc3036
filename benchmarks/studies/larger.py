"""Quality against seconds on larger data: every objective and peer, trained on 500,000 documents.

python -m benchmarks.studies.larger
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.artificial import cubic_queries
from benchmarks.studies.objectives import MEASURED, OTHERS
from benchmarks.studies.peers import ALL_PAIRS, PEERS, all_pairs
from benchmarks.studies.study import UNSAMPLED, publish
from benchmarks.writing import PAGES
from gbrank import Comparison, compare_rankers, ranker_from_name
from gbrank.plots.style import BLUE, ORANGE

REST = ("smoothap", "noisy:ndcg", "noisy:ndcg+ranknet")

TEXT = """\
# Larger data: quality against seconds

Artificial data of the size of the LambdaRank paper's: {train:,} queries to train on, {valid:,} to
validate, {test:,} to test, each of 50 documents with 50 features, labelled by a random polynomial
of degree three (`make_cubic`). 300 rounds of 31 leaves at a learning rate of 0.1, one thread,
stopped after 50 rounds without a better validation NDCG@10. The picture has the median seconds of a
fit, validation included, across, and the test NDCG@10 upwards.

![NDCG@10 against seconds](larger.png)
"""


def draw(comparison: Comparison) -> None:
    """Write the picture."""
    rows = [row for row in comparison.summary() if row.data == "cubic"]
    rows.sort(key=lambda row: row.mean)
    figure, axes = plt.subplots(figsize=(11, 7), layout="constrained")
    for row, height in zip(rows, np.linspace(0, 1, len(rows)), strict=True):
        ours = row.ranker.partition(":")[0] not in ("lightgbm", "xgboost", "catboost")
        color = BLUE if ours else ORANGE
        axes.plot(row.seconds, row.mean, "o", color=color)
        axes.annotate(
            row.ranker, (row.seconds, row.mean), xytext=(1.04, height), textcoords="axes fraction",
            fontsize=8, color=color, verticalalignment="center",
            arrowprops={"arrowstyle": "-", "color": color, "alpha": 0.3, "relpos": (0, 0.5)},
        )  # fmt: skip
    for color, label in ((BLUE, "an objective of gbrank"), (ORANGE, "built into a booster")):
        axes.plot([], [], "o", color=color, label=label)
    axes.legend(loc="lower center")
    axes.set_xscale("log")
    axes.set_xlabel("seconds of a fit")
    axes.set_ylabel("NDCG@10")
    axes.grid(alpha=0.3)
    figure.savefig(PAGES / "larger.png", dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000, help="to train on, and to test on")
    parser.add_argument("--results", help="folder that keeps what is done")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    n = arguments.queries
    names = [*PEERS, *(f"{name}:ndcg" for name in MEASURED), *OTHERS, *REST]
    rankers = {name: ranker_from_name(name, **UNSAMPLED) for name in names}
    rankers[ALL_PAIRS] = all_pairs().set_params(**UNSAMPLED)
    comparison = compare_rankers(
        rankers,
        [cubic_queries(2 * n + n // 2)],
        seeds=1,
        results=arguments.results,
        n_jobs=arguments.jobs,
    )
    text = TEXT.format(train=n, valid=n // 2, test=n)
    command = f"python -m benchmarks.studies.larger --queries {n}"
    publish("larger", text, command, [comparison])
    draw(comparison)
