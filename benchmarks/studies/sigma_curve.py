"""SmoothRank's figure 2, in trees: training and validation measure against sigma.

python -m benchmarks.studies.sigma_curve --data mq2008 ohsumed
"""

import matplotlib.pyplot as plt
import numpy as np
from joblib import Parallel, delayed

from benchmarks.letor_folders import read_folds
from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import options
from benchmarks.writing import RESULTS
from gbrank.evaluation import Dataset
from gbrank.schedules import constant

OBJECTIVES = ("approx:ndcg", "smooth:ndcg", "tie:ndcg")
WIDTHS = 2.0 ** np.arange(-6, 7)
ROUNDS = 100


def ends(data: Dataset, fold: int, objective: str, width: float) -> tuple[float, float]:
    """Return NDCG@10 of the training and of the validation queries after all rounds."""
    ranker = ranker_from_name(objective, n_estimators=ROUNDS).set_params(
        sigma=constant(width, unit="spread"), early_stopping_rounds=None, n_jobs=1, random_state=0
    )
    train, valid, _ = data.fold(fold)
    ranker.fit(train.X, train.y, qid=train.qid)
    return ranker.score(*train), ranker.score(*valid)


if __name__ == "__main__":
    arguments = options(__doc__).parse_args()
    datasets = [read_folds(folder) for folder in arguments.data]
    figure, grid = plt.subplots(
        len(datasets), len(OBJECTIVES), figsize=(4 * len(OBJECTIVES), 3.2 * len(datasets)),
        sharex=True, sharey="row", squeeze=False, layout="constrained",
    )  # fmt: skip
    for row, data in zip(grid, datasets, strict=True):
        for axes, objective in zip(row, OBJECTIVES, strict=True):
            found = Parallel(n_jobs=arguments.jobs)(
                delayed(ends)(data, fold, objective, width)
                for width in WIDTHS
                for fold in range(1, len(data.splits) + 1)
            )
            train, valid = np.reshape(found, (len(WIDTHS), -1, 2)).mean(axis=1).T
            axes.plot(WIDTHS, train, "o-", label="training")
            axes.plot(WIDTHS, valid, "s-", label="validation")
            axes.set_xscale("log", base=2)
            axes.set_title(f"{objective}, {data.name}")
            axes.grid(alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel("σ, in standard deviations of the scores")
    for axes in grid[:, 0]:
        axes.set_ylabel(f"NDCG@10 after {ROUNDS} rounds")
    grid[0, 0].legend()
    figure.savefig(RESULTS / "sigma.png", dpi=120)
