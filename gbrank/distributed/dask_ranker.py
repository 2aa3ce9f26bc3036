"""DaskGBRanker, GBRanker on a Dask cluster."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from gbrank.common.checks import check_integer
from gbrank.common.runtime import import_optional
from gbrank.data.queries import Queries
from gbrank.fit.arguments import TableLike, validation_sets
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.known_elsewhere import explains_words
from gbrank.fit.storage import Saved
from gbrank.ranker import GBRanker

from .parts import Data, fit_part, portable
from .shards import Collection, distribute, is_dask, run_on_workers


class DaskGBRanker(GBRanker):
    """Gradient-boosted tree ranker, trained on the workers of a Dask cluster.

    Each worker holds some of the queries, whole, and computes their gradients; the boosters' own
    distributed algorithms grow one tree on all of them. Whatever depends on all queries (mean
    curvatures, widths, measures, the sampling of queries) is summed over the workers in every
    round, so that at equal scores all gradients are those of a fit on one machine, to the last
    bit. Trees may differ a little, as their histogram bins do.

    Its parameters and attributes are those of `GBRanker`; except in `fit`, it treats data that are
    not Dask's as `GBRanker` does. `n_jobs` are threads of each worker, by default those that it
    gives to Dask. It uses the current client.

    Raises
    ------
    ImportError
        If Dask is not installed.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from gbrank import make_cubic
    >>> from gbrank.distributed import DaskGBRanker
    >>> X, y, qid = (da.from_array(part, chunks=100) for part in make_cubic(40, n_documents=10))
    >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    ...     ranker = DaskGBRanker(n_estimators=5).fit(X, y, qid=qid)
    ...     scores = ranker.predict(X).compute()
    >>> scores.shape
    (400,)
    """

    @explains_words
    def fit(  # type: ignore[override]
        self,
        X: Collection,
        y: Collection,
        qid: Collection,
        *,
        sample_weight: Collection | None = None,
        query_weight: Collection | None = None,
        eval_set: Sequence[tuple[Collection, Collection]] | None = None,
        eval_qid: Sequence[Collection] | None = None,
        eval_init_score: Sequence[Collection] | None = None,
        labels: Mapping[str, Collection] | None = None,
        eval_labels: Sequence[Mapping[str, Collection]] | None = None,
        init_score: Collection | None = None,
        categorical_feature: Sequence[int | str] | None = None,
    ) -> "DaskGBRanker":
        """Train the ranker on the cluster.

        All data are Dask collections; those of one set have the same partitions. Rows may be in
        any order: where a query lies in several partitions, its rows are brought together.
        The same data, seed and number of workers give the same model.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_documents, n_features)
            Features; NaN is missing. Blocks of arrays may be sparse matrices.
        query_weight : Dask array or series, shape (n_documents,), optional
            The weight of each row's query.
        labels : mapping of str to Dask array or series, optional
            As for `GBRanker.fit`; `eval_labels` are those of the validation sets.
        y, qid, sample_weight, init_score, eval_set, eval_qid, eval_init_score, categorical_feature
            As for `GBRanker.fit`.

        Returns
        -------
        DaskGBRanker
            Itself.

        Raises
        ------
        ValueError, TypeError
            If an argument is not usable; the message names it.
        RuntimeError
            If a worker was lost. Workers that then wait for it in vain end, too: Dask's nannies
            start them anew.
        """
        client = import_optional("distributed", "dask").get_client()
        ranker: Any = portable(self.to_local())
        training = {
            "X": X,
            "y": y,
            "qid": qid,
            "sample_weight": sample_weight,
            "query_weight": query_weight,
            "init_score": init_score,
            "labels": labels,
        }
        sets = validation_sets(
            eval_set,
            eval_qid=[] if eval_set is not None and eval_qid is None else eval_qid,
            eval_init_score=eval_init_score,
            eval_labels=eval_labels,
        )
        columns = {name: values for name, values in training.items() if values is not None}
        fraction = ranker.validation_fraction
        shards = distribute(client, {"": columns, **sets}, fraction, ranker.random_state)

        def task(*parts: Data) -> FittedTrees:
            """Fit on this worker's rows."""
            from distributed import get_worker

            threads = get_worker().state.nthreads
            fitted = fit_part(ranker, threads, *parts, categorical_feature=categorical_feature)
            return fitted._fitted

        return self._publish(run_on_workers(client, task, shards))

    def predict(self, X: Collection, *, num_iteration: int | None = None) -> Any:
        """Score each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : Dask array or data frame, or what `GBRanker` takes, shape (n_documents, n_features)
        num_iteration : int, optional
            As for `GBRanker.predict`.

        Returns
        -------
        Dask array or series, or ndarray, shape (n_documents,)
            Of Dask collections lazily, partition by partition.
        """
        if not is_dask(X):
            return super().predict(X, num_iteration=num_iteration)
        check_integer(num_iteration, "num_iteration", 1, self.best_iteration_, optional=True)
        model = self.to_local()
        model.n_jobs = model.n_jobs or 1  # Dask runs a task in each thread already
        predict = partial(model.predict, num_iteration=num_iteration)
        if hasattr(X, "map_partitions"):
            import pandas as pd

            def series(block: TableLike) -> Any:
                return pd.Series(predict(block), index=block.index, name="score")

            return X.map_partitions(series, meta=("score", np.float64))
        blocks = X.rechunk({1: -1})
        return blocks.map_blocks(predict, drop_axis=1, meta=np.empty(0))

    def score(
        self,
        X: Collection,
        y: Collection,
        qid: Collection | None = None,
        *,
        query_weight: Collection | None = None,
        labels: Any = None,
        **others: Any,
    ) -> float:
        """Average the first `eval_metric` over queries.

        Parameters
        ----------
        X, y, qid, labels, **others
            As for `GBRanker.score`, or Dask collections. The scores that workers predict are
            brought together, with labels and queries, and judged here.
        query_weight
            Likewise; a Dask collection has the weight of each row's query.

        Returns
        -------
        float
        """
        if is_dask(query_weight):
            queries = Queries.from_qid(np.asarray(qid))
            query_weight = queries.one_each(np.asarray(query_weight), "query_weight")
        return super().score(X, y, qid, query_weight=query_weight, labels=labels, **others)

    def to_local(self) -> GBRanker:
        """Convert to a GBRanker, which needs no Dask."""
        local = GBRanker(**self.get_params(deep=False))
        if isinstance(self.init, DaskGBRanker):
            local.init = self.init.to_local()
        local._published = self._published
        return local

    def _to_saved(self) -> Saved:
        """Collect what a GBRanker would save: its `load` and `load_ranker` read it."""
        return self.to_local()._to_saved()
