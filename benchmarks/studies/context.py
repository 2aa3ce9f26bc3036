"""Features relative to the query: what each kind brings, alone and together, and to the peers.

python -m benchmarks.studies.context --data mq2008 ohsumed flights nfcorpus wikiqa
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from benchmarks.studies.study import flat_rows, options, publish
from benchmarks.writing import SITE, markdown_table
from gbrank import GBRanker, Queries, QueryContext, compare_rankers
from gbrank.evaluation import read_folds

TABLES = """\
# Features relative to the query: all tables

[What came out](../../docs/studies/context.md).
"""
LINK = "[Intervals, p-values and CPU seconds](../../benchmarks/results/context.md)."
TEXT = """\
# Seeing how a document compares with its list brings 0.003 NDCG@10

`GBRanker(context=...)` with each kind alone and with several, and LightGBM's and XGBoost's rankers
as they come, with and without the same columns. Five folds, two seeds. In the tables, `GBRanker()`
has its mean NDCG@10 and the others the difference from it; a star stands where p of the paired
randomisation test, corrected for the number of rankers (Holm), is at most 0.05. CPU seconds are
multiples of those of `GBRanker()`, the mean over data sets.

Validation queries, on which a kind may be chosen:

{valid}

Test queries:

{test}

What came out:

- The z-score is the first to try: +0.0029 on validation queries and +0.0031 on test queries, the
  mean of five data sets, at 1.3 times the seconds, and never behind by more than 0.0017. Together
  with rank, mean and size it has 0.0035 and 0.0017, at 1.9 times.
- No kind is ahead on all five sets beyond chance, once p is corrected for the number of rankers.
  On MQ2008 and OHSUMED, pooled, the z-score brings 0.0056 on validation queries and 0.0083 on
  test queries; the rank 0.0060 and 0.0078.
- Which kind helps depends on the data. Web search and abstracts (MQ2008, OHSUMED) gain from
  nearly every kind. On flights only the query's mean helps, which says what kind of trip is asked
  for; ranks, which forget how large differences are, cost 0.002 to 0.005. On nfcorpus nothing
  helps.
- The gap to the best document is the worst kind: it depends on a single document.
- The same columns bring LightGBM's and XGBoost's rankers less: 0.0012 and 0.0002 on test queries.

A choice by validation is not worth its seconds: with a quarter of the training queries set aside,
and the better of none and the z-score trained again on all, the mean of five data sets rises by
0.0024 on validation queries and 0.0011 on test queries, for two more fits
(`benchmarks.studies.context_choice`). So gbrank has no `context="auto"`.
"""
KINDS = (
    None, "difference", "rank", "zscore", "mean", "gap", "size",
    ("difference", "mean"), ("difference", "rank"), ("rank", "zscore", "mean", "size"),
)  # fmt: skip
PEERS = {"LGBMRanker": lgb.LGBMRanker, "XGBRanker": xgb.XGBRanker}


class AsItComes(BaseEstimator):
    """Another library's ranker with its own defaults, on features with context."""

    def __init__(self, peer: str, kinds: Any = None, random_state: int = 0) -> None:
        self.peer = peer
        self.kinds = kinds
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike, **_: Any) -> "AsItComes":
        """Train on rows in the order that the library wants; validation data are not used."""
        queries = Queries.from_qid(qid)
        rows = queries.order
        given: Any = {"group": queries.sizes}
        self.ranker_ = PEERS[self.peer](random_state=self.random_state, n_jobs=1, verbosity=-1)
        if self.peer == "XGBRanker":
            given = {"qid": queries.index[rows]}
            self.ranker_.set_params(verbosity=0)
        self.ranker_.fit(self._widened(X, qid)[rows], np.asarray(y)[rows], **given)
        return self

    def predict(self, X: ArrayLike, *, qid: ArrayLike) -> Any:
        """Return scores."""
        return self.ranker_.predict(self._widened(X, qid))

    def _widened(self, X: ArrayLike, qid: ArrayLike) -> Any:
        if self.kinds is None:
            return np.asarray(X)
        return QueryContext(self.kinds).fit_transform(X, qid=qid)


def summary(content: Mapping[str, Any], part: str) -> str:
    """Return a table of differences from none, by data set, and of CPU seconds."""
    rows = [row for row in flat_rows([content]) if row["part"] == part]
    cell = {(row["data"], row["ranker"]): row for row in rows}
    labels = list(dict.fromkeys(row["data"] for row in rows))
    first = named(None)

    def line(ranker: str) -> list[str]:
        own = [cell[label, ranker] for label in labels]
        if ranker == first:
            return [f"`{ranker}`", *(f"{row['mean']:.4f}" for row in own), "1"]
        differences = [
            f"{row['difference']:+.4f}" + ("" if row["p_randomisation"] > 0.05 else "*")
            for row in own
        ]
        times = [row["cpu_seconds"] / cell[row["data"], first]["cpu_seconds"] for row in own[:-1]]
        return [f"`{ranker}`", *differences, f"{np.mean(times):.1f}"]

    rankers = dict.fromkeys(row["ranker"] for row in rows)
    return markdown_table(["", *labels, "CPU seconds"], map(line, rankers))


def named(kinds: Any) -> str:
    """Return the call that makes a ranker with this context."""
    if kinds is None:
        return "GBRanker()"
    return f"GBRanker(context={kinds if isinstance(kinds, str) else list(kinds)!r})"


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--results", help="folder that keeps what is done")
    arguments = parser.parse_args()
    rankers: dict[str, Any] = {
        named(kinds): GBRanker(
            context=kinds if kinds is None or isinstance(kinds, str) else list(kinds)
        )
        for kinds in KINDS
    }
    for peer in PEERS:
        rankers[f"{peer}()"] = AsItComes(peer)
        rankers[f"{peer}(), difference and mean"] = AsItComes(peer, ["difference", "mean"])
    comparison = compare_rankers(
        rankers,
        [read_folds(folder) for folder in arguments.data],
        seeds=2,
        results=arguments.results,
        n_jobs=arguments.jobs,
    )
    names = " ".join(Path(folder).name for folder in arguments.data)
    content = comparison.to_json()
    text = TEXT.format(**{part: summary(content, part) for part in ("valid", "test")})
    command = f"python -m benchmarks.studies.context --data {names}"
    publish("context", TABLES, command, [comparison])
    page = f"{text.strip()}\n\n```bash\n{command}\n```\n\n{LINK}\n"
    (SITE / "context.md").write_text(page, encoding="utf-8")
