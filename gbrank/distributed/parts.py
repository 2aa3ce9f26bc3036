"""The part of one worker in a fit, of whole queries, which Dask and Spark share.

A cluster brings each worker its queries and the address at which all meet; `take_part` does the
rest. Dask and Spark differ in how rows move, and in how a result or an error comes back.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from gbrank.boosters.xgboost.rabit import meeting
from gbrank.common.checks import Function
from gbrank.common.collective import BoosterError, WorkersLostError
from gbrank.data.documents import fit_arguments
from gbrank.data.queries import Queries
from gbrank.fit.boosted_ranker import tree_settings
from gbrank.objectives.objective_registry import get_objective
from gbrank.ranker import GBRanker, opened_init

# How long workers get to end by themselves once one of them is lost or its booster has failed.
GRACE_SECONDS = 10

Data: TypeAlias = dict[str, Any]  # columns by the names of the arguments of `fit`


def each_column(function: Function, *parts: Data) -> Data:
    """Apply a function to each column: its name, and its values in all parts."""

    def made(name: str, values: list[Any]) -> Any:
        if isinstance(values[0], Mapping):  # labels
            return {key: made(name, [labels[key] for labels in values]) for key in values[0]}
        return function(name, *values)

    return {name: made(name, [part[name] for part in parts]) for name in parts[0]}


def with_query_weights(part: Data) -> Data:
    """Reduce the weights that rows repeat to one a query, as `fit` needs them."""
    if "query_weight" not in part:
        return part
    queries = Queries.from_qid(part["qid"])
    return part | {"query_weight": queries.one_each(part["query_weight"], "query_weight")}


def portable(ranker: GBRanker) -> GBRanker:
    """Check a ranker's parameters; return it with what workers must agree on."""
    settings = tree_settings(ranker)
    return ranker.set_params(
        objective=get_objective(ranker.objective),
        eval_metric=ranker._measures(),
        random_state=settings.seed,
        init=opened_init(ranker.init),
    )


def take_part(
    task: Function, arguments: dict[str, Any], rank: int, host: str, *parts: object
) -> Any:
    """Do one worker's part, once all have met; the first one returns the result."""
    with meeting(arguments, rank, host):
        result = task(*parts)
    return result if rank == 0 else None


def fit_part(
    ranker: GBRanker, n_jobs: int, training: Data, *validation: Data, **others: Any
) -> GBRanker:
    """Fit on one worker's rows, with those of the others; `n_jobs` where the ranker has none."""
    if ranker.n_jobs is None:
        ranker.n_jobs = n_jobs
    return ranker.fit(**fit_arguments(with_query_weights(training), *validation), **others)


def true_cause(errors: Iterable[BaseException]) -> BaseException:
    """Find the error that ended a fit: a worker's own, else a booster's, else a lost worker's."""
    kinds = (BoosterError, WorkersLostError)
    return min(errors, key=lambda error: sum(isinstance(error, kind) for kind in kinds))
