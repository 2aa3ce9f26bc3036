"""What Dask and Spark share: the queries of one worker, all whole, and its part of a fit.

A cluster brings each worker its queries and the address at which all meet; `take_part` does the
rest. Dask and Spark differ in how rows move, and in how a result or an error comes back.
"""

from collections.abc import Callable, Iterable
from typing import Any

from gbrank.boosters.xgboost.rabit import meeting
from gbrank.common.collective import BoosterError, WorkersLostError
from gbrank.data.columns import Data, fit_arguments, is_of_queries
from gbrank.data.queries import Queries
from gbrank.fit.boosted_ranker import tree_settings
from gbrank.objectives.objective_registry import get_objective
from gbrank.ranker import GBRanker, opened_init

# How long workers get to end by themselves once one of them is lost or its booster has failed.
GRACE_SECONDS = 10


def with_query_columns(part: Data) -> Data:
    """Return a part with one value a query, as `fit` takes it, of what its rows repeat."""
    repeated = {name: values for name, values in part.items() if is_of_queries(name)}
    if not repeated:
        return part
    queries = Queries.from_qid(part["qid"])
    return part | {name: queries.one_each(values, name) for name, values in repeated.items()}


def portable(ranker: GBRanker) -> tuple[GBRanker, int]:
    """Check a ranker's parameters; return it with what workers must agree on, and its seed."""
    settings = tree_settings(ranker)
    ranker.set_params(
        objective=get_objective(ranker.objective),
        eval_metric=ranker._measures(),
        random_state=settings.seed,
        init=opened_init(ranker.init),
    )
    return ranker, settings.seed


def take_part(
    task: Callable[..., Any], arguments: dict[str, Any], rank: int, host: str, *parts: object
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
    return ranker.fit(**fit_arguments(with_query_columns(training), validation), **others)


def true_cause(errors: Iterable[BaseException]) -> BaseException:
    """Return the error that ended a fit: a worker's own, else a booster's, else a lost worker's."""
    kinds = (BoosterError, WorkersLostError)
    return min(errors, key=lambda error: sum(isinstance(error, kind) for kind in kinds))
