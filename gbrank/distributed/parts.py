"""What Dask and Spark share: the queries of one worker, all whole, and its part of a fit.

A cluster brings each worker its queries and the address at which all meet; `take_part` does the
rest. Dask and Spark differ in how rows move, and in how a result or an error comes back.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from gbrank.boosters.xgboost.rabit import meeting
from gbrank.data.queries import Queries
from gbrank.fit.arguments import Table
from gbrank.fit.boosted_ranker import tree_settings
from gbrank.fit.start import is_fitted
from gbrank.objectives.objective_registry import get_objective
from gbrank.parallel.collective import BoosterError, WorkersLostError
from gbrank.ranker import GBRanker

Column: TypeAlias = NDArray[Any]
LABEL = "label: "  # begins the names of columns that are other labels than y
# How long workers get to end by themselves once one of them is lost or its booster has failed.
GRACE_SECONDS = 10


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows with all that belongs to them, as the user gave it."""

    X: Table
    qid: Column
    y: Column | None = None
    init_score: Column | None = None
    sample_weight: Column | None = None
    query_weight: Column | None = None
    labels: Column | None = None  # by name: a structured array

    def arguments(self) -> dict[str, Any]:
        """Return what both `fit` and `score` take."""
        return {
            "X": self.X,
            "y": self.y,
            "qid": self.qid,
            "sample_weight": self.sample_weight,
            "query_weight": self._weight_of_queries(),
            "labels": self.named_labels(),
        }

    def named_labels(self) -> dict[str, Column] | None:
        """Return the labels by their names."""
        if self.labels is None:
            return None
        return {name: self.labels[name] for name in self.labels.dtype.names or ()}

    def _weight_of_queries(self) -> NDArray[Any] | None:
        """Return the weight of each query, in the order in which they first appear."""
        if self.query_weight is None:
            return None
        queries = Queries.from_qid(self.qid)
        first = queries.order[queries.offsets[:-1]]
        weights: Column = self.query_weight[first]
        differs = weights[queries.index] != self.query_weight
        if differs.any():
            row = int(np.argmax(differs))
            raise ValueError(
                "query_weight must be the same in all rows of a query, got "
                f"{weights[queries.index[row]]} and {self.query_weight[row]} in query "
                f"{self.qid[row]!r}."
            )
        return weights


def part_of(columns: Mapping[str, Any]) -> Part:
    """Return a part, with the columns of labels in one array."""
    labels = {name: values for name, values in columns.items() if name.startswith(LABEL)}
    others = {name: values for name, values in columns.items() if name not in labels}
    if not labels:
        return Part(**others)
    kinds = [(name.removeprefix(LABEL), np.float64) for name in labels]
    together = np.empty(len(others["qid"]), kinds)
    for name, values in labels.items():
        together[name.removeprefix(LABEL)] = values
    return Part(**others, labels=together)


def portable(ranker: GBRanker) -> tuple[GBRanker, int]:
    """Check a ranker's parameters; return it with what workers must agree on, and its seed."""
    settings = tree_settings(ranker)
    ranker.set_params(
        objective=ranker.objective if settings.built_in else get_objective(ranker.objective),
        eval_metric=ranker._measures(),
        random_state=settings.seed,
    )
    init = ranker.init
    if isinstance(init, BaseEstimator) and not isinstance(init, GBRanker) and not is_fitted(init):
        raise ValueError(f"init must be fitted, or a GBRanker, to be distributed, got {init!r}.")
    return ranker, settings.seed


def take_part(
    task: Callable[..., Any], arguments: dict[str, Any], rank: int, host: str, *parts: object
) -> Any:
    """Do one worker's part, once all have met; the first one returns the result."""
    with meeting(arguments, rank, host):
        result = task(*parts)
    return result if rank == 0 else None


def fit_part(
    ranker: GBRanker, n_jobs: int, training: Part, *validation: Part, **others: Any
) -> GBRanker:
    """Fit on one worker's rows, with those of the others; `n_jobs` where the ranker has none."""
    if ranker.n_jobs is None:
        ranker.n_jobs = n_jobs
    if validation:
        others["eval_set"] = [(part.X, part.y) for part in validation]
        others["eval_qid"] = [part.qid for part in validation]
        others["eval_init_score"] = [part.init_score for part in validation]
        if training.labels is not None:
            others["eval_labels"] = [part.named_labels() for part in validation]
    return ranker.fit(**training.arguments(), init_score=training.init_score, **others)


def true_cause(errors: Iterable[BaseException]) -> BaseException:
    """Return the error that ended a fit: a worker's own, else a booster's, else a lost worker's."""
    kinds = (BoosterError, WorkersLostError)
    return min(errors, key=lambda error: sum(isinstance(error, kind) for kind in kinds))
