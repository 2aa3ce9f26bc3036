"""What gbrank costs beside the boosters and SciPy, as ratios of one process, with a limit on each.

    python -m benchmarks.speed          # half a minute; ends with 1 where a limit is passed

Each figure is the least of several turns, which ours and theirs take one after the other, so that
other programs matter little. The limits are about twice what a quiet machine shows: they see what
has doubled. `.ci/run` calls this.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from scipy import stats

from benchmarks.comparing import make_scores
from benchmarks.writing import markdown_table
from gbrank import GBRanker, Queries, compare_scores, get_objective, make_cubic

TURNS = 7
REQUEST = 40  # documents


class Figure(NamedTuple):
    """Seconds of gbrank and of a booster or SciPy, and what their ratio may be."""

    name: str
    ours: float
    theirs: float
    limit: float

    @property
    def ratio(self) -> float:
        """How many times as long gbrank takes."""
        return self.ours / self.theirs


def least(
    ours: Callable[[], Any], theirs: Callable[[], Any], calls: int = 1
) -> tuple[float, float]:
    """Return the CPU seconds of a call of each: the least of some turns, without the first."""
    seconds = []
    for _ in range(TURNS):
        for function in (ours, theirs):
            start = time.process_time()
            for _ in range(calls):
                function()
            seconds.append((time.process_time() - start) / calls)
    return min(seconds[2::2]), min(seconds[3::2])


def figures() -> list[Figure]:
    """Measure a request, a default fit, a gradient and a comparison."""
    X, y, qid = make_cubic(300, n_documents=40, random_state=0)
    sizes = Queries.from_qid(qid).sizes
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(X.shape[1])])
    kinds = frame.assign(kind=pd.Categorical(np.array(list("abc"))[np.arange(len(X)) % 3]))
    made = []
    for name, data in (("numpy", X), ("pandas", frame), ("pandas with categories", kinds)):
        ranker = GBRanker(n_estimators=100, num_leaves=31, random_state=0, n_jobs=1)
        ranker.fit(data, y, group=sizes)
        peer = lgb.LGBMRanker(n_jobs=1, verbosity=-1).fit(data, y, group=sizes)
        request = data[:REQUEST]
        times = least(partial(ranker.predict, request), partial(peer.predict, request), 100)
        made.append(Figure(f"a request: {name}", *times, 1.5))
    fits = least(
        lambda: GBRanker(random_state=0, n_jobs=1).fit(X, y, group=sizes),
        lambda: lgb.LGBMRanker(n_jobs=1, verbosity=-1).fit(X, y, group=sizes),
    )
    made.append(Figure("a default fit", *fits, 3.0))
    made.append(Figure("a round of lambda:ndcg", *rounds(X, y, qid), 1.5))
    made.append(Figure("three rankers on 10,000 queries", *comparisons(), 5.0))
    return made


def rounds(X: Any, y: Any, qid: Any) -> tuple[float, float]:
    """Return the seconds of our gradient and of what XGBoost adds to a round by its own."""
    scores = np.random.default_rng(0).normal(size=len(y))
    bound = get_objective("lambda:ndcg").bind(y, Queries.from_qid(qid), n_jobs=1)
    data = xgb.DMatrix(X, y, qid=qid)
    stumps = {"max_depth": 1, "nthread": 1, "objective": "rank:ndcg"}
    booster = xgb.train(stumps | {"lambdarank_pair_method": "mean"}, data, 1)
    number = iter(range(1, 10**6))
    return least(
        lambda: bound.gradients(scores), lambda: booster.update(data, next(number)), calls=10
    )


def comparisons() -> tuple[float, float]:
    """Return the seconds of a comparison, and of a tenth of SciPy's bootstrap of a difference."""
    scores, y, qid = make_scores(10_000)
    differences = np.random.default_rng(0).normal(size=10_000)
    options: dict[str, Any] = {"n_resamples": 999, "batch": 400, "method": "percentile"}
    return least(
        lambda: compare_scores(scores, y, qid).summary(),
        lambda: stats.bootstrap((differences,), np.mean, **options),
    )


def main() -> None:
    """Print the figures; end with 1 where a ratio is above its limit."""
    made = figures()
    rows = [
        (item.name, f"{1e3 * item.ours:.3g}", f"{1e3 * item.theirs:.3g}", f"{item.ratio:.2f}",
         f"{item.limit:g}")
        for item in made
    ]  # fmt: skip
    print(markdown_table(["", "gbrank, ms", "theirs, ms", "ratio", "at most"], rows))
    if slow := [item.name for item in made if item.ratio > item.limit]:
        raise SystemExit(f"slower than allowed: {', '.join(slow)}")


if __name__ == "__main__":
    main()
