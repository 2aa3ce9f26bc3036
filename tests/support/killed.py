"""A script: a fit that is killed again and again, until it is done; see test_checkpoint.py.

    python killed.py BOOSTER FOLDER KILLS SEED

The folder gets the models "whole", of a fit left in peace, and "killed_0", "killed_1", ..., and the
script prints how often each of these was killed.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gbrank import GBRanker, Queries, get_objective, make_cubic
from gbrank.boosters import BOOSTERS
from gbrank.schedules import geometric

X, Y, QID = make_cubic(40, n_documents=12, n_features=6, random_state=0)
TRAIN, VALID = QID < 25, QID >= 25


def fit(booster: str, model: Path, checkpoint: Path | None) -> None:
    """Fit a ranker in which everything that may be random or scheduled is, and save it."""
    ranker = GBRanker(
        "approx:ndcg",
        booster=booster,
        n_estimators=25,
        subsample=0.6,
        colsample=0.7,
        sigma=geometric(1.0, 0.1, unit="spread"),
        init="regression",
        early_stopping_rounds=12,
        random_state=3,
        n_jobs=1,
        min_child_samples=3,
    )
    ranker.fit(
        X[TRAIN],
        Y[TRAIN],
        qid=QID[TRAIN],
        eval_set=[(X[VALID], Y[VALID])],
        eval_qid=[QID[VALID]],
        checkpoint=checkpoint,
        checkpoint_rounds=2,
    )
    ranker.save(model)


def die_after(moments: int, booster: str) -> None:
    """Kill this process after so many moments: before a tree, and at each step of a writing."""
    left = iter(range(moments))

    def dying(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def wrapped(*arguments: Any) -> Any:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments)

        setattr(owner, name, wrapped)

    dying(BOOSTERS[booster].trainer, "step")
    dying(BOOSTERS[booster].trainer, "state")
    dying(os, "fsync")
    dying(os, "replace")


def in_child(booster: str, model: Path, checkpoint: Path | None, moments: int | None) -> bool:
    """Fit in a process of its own, and say whether it lived."""
    child = os.fork()
    if child == 0:
        try:
            if moments is not None:
                die_after(moments, booster)
            fit(booster, model, checkpoint)
        finally:
            os._exit(int(sys.exc_info()[0] is not None))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return False
    assert status == 0, "the fit failed"
    return True


def main(booster: str, folder: Path, kills: int, seed: int) -> None:
    """Kill one fit after the other until there were enough kills; forks share what is loaded."""
    assert BOOSTERS[booster].trainer
    for name in ("approx:ndcg", "ranknet", "regression"):
        get_objective(name).bind(Y, Queries.from_qid(QID), n_jobs=1).gradients(X[:, 0])
    in_child(booster, folder / "whole", None, None)
    random = np.random.default_rng(seed)
    number = 0
    while kills > 0:
        deaths = 0
        places = folder / f"killed_{number}", folder / f"checkpoint_{number}"
        while not in_child(booster, *places, int(random.integers(4, 25))):
            deaths += 1
        print(deaths)
        kills -= deaths
        number += 1


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
