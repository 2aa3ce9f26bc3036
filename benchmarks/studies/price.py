"""NDCG@10 against CPU seconds for 50 to 1,000 rounds of GBRanker, on validation queries.

python -m benchmarks.studies.price --data mq2008 ohsumed flights nfcorpus wikiqa
"""

from functools import partial
from typing import Any

import matplotlib.pyplot as plt

from benchmarks.artificial import cubic_queries
from benchmarks.studies.default_parameters import (
    DEFAULT,
    RANKERS,
    by_seconds,
    gbrank_scores,
    outcomes,
)
from benchmarks.studies.fits import Study
from benchmarks.writing import RESULTS, markdown_table
from gbrank import GBRanker
from gbrank.evaluation import read_letor_folds
from gbrank.plots.style import BLUE, ORANGE

ROUNDS = (50, 100, 150, 200, 300, 500, 1000)
PEER = "LGBMRanker()"
TEXT = """\
# More rounds buy 0.003 NDCG@10 for three times the seconds

`GBRanker(n_estimators=...)`, all else by default, and `LGBMRanker()`: NDCG@10 on
the validation queries of five folds (artificial data: one fold), and CPU seconds of a fit on one
thread, in brackets as multiples of LightGBM's. `GBRanker()` has 150 rounds. The mean is over data
sets, each with the same weight; differences are from `GBRanker()`, paired by query, with p of the
randomization test, not corrected for the number of rows.

![NDCG@10 against CPU seconds](price.png)
"""


def named(rounds: int) -> str:
    """Return the call that makes a ranker of so many rounds."""
    return DEFAULT if rounds == GBRanker().n_estimators else f"GBRanker(n_estimators={rounds})"


CURVE: dict[str, Any] = {
    named(rounds): partial(gbrank_scores, n_estimators=rounds) for rounds in ROUNDS
}
COMPARED = {DEFAULT: CURVE[DEFAULT], PEER: RANKERS[PEER], **CURVE}


def page(rows: list[dict[str, Any]], command: str) -> str:
    """Return the page."""
    labels = list(dict.fromkeys(row["data"] for row in rows))
    cell = {(row["data"], row["ranker"]): row for row in rows}

    def line(ranker: str) -> list[str]:
        cells = []
        for label in labels:
            own, peer = cell[label, ranker], cell[label, PEER]
            times = own["cpu_seconds"] / peer["cpu_seconds"]
            cells.append(f"{own['ndcg@10']:.4f} ({times:.1f}×)")
        mean = cell["mean", ranker]
        change = "" if mean["p"] is None else f"{mean['difference']:+.4f} (p = {mean['p']:.4f})"
        return [f"`{ranker}`", *cells, change]

    table = markdown_table(["", *labels, "difference of the mean"], map(line, [PEER, *CURVE]))
    return "\n\n".join([TEXT.strip(), f"```bash\n{command}\n```", table]) + "\n"


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw NDCG@10 against CPU seconds, a panel for each data set."""
    labels = [label for label in dict.fromkeys(row["data"] for row in rows) if label != "mean"]
    figure, panels = plt.subplots(1, len(labels), figsize=(2.6 * len(labels), 3), squeeze=False)
    for axes, label in zip(panels[0], labels, strict=True):
        own = {row["ranker"]: row for row in rows if row["data"] == label}
        curve = [own[ranker] for ranker in CURVE]
        seconds, values = ([row[name] for row in curve] for name in ("cpu_seconds", "ndcg@10"))
        axes.plot(seconds, values, "o-", color=BLUE, label="GBRanker, 50 to 1,000 rounds")
        first = own[DEFAULT]
        axes.plot(first["cpu_seconds"], first["ndcg@10"], "s", color=BLUE, ms=9, label=DEFAULT)
        peer = own[PEER]
        axes.plot(peer["cpu_seconds"], peer["ndcg@10"], "o", color=ORANGE, label=PEER)
        by_seconds(axes, label)
    panels[0, 0].set_ylabel("NDCG@10, validation queries")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.set_layout_engine("constrained")
    figure.savefig(RESULTS / "price.png", dpi=110)


if __name__ == "__main__":
    study = Study("price", __doc__, "--data")
    datasets = [*map(read_letor_folds, study.folders), cubic_queries(2000)]
    rows = outcomes(study, datasets, "valid", COMPARED)
    study.publish(rows, page(rows, study.command))
    draw(rows)
