"""Data sets and their folds: which queries are trained on, validated on, and tested on."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Positions, Vector
from gbrank.common.checks import check_number, queries_needed, quoted
from gbrank.data.documents import Documents, take_rows
from gbrank.data.ids import as_list
from gbrank.data.lookup import warn_of_repeats
from gbrank.data.queries import Queries
from gbrank.data.splitting import Fold, LetorFolds
from gbrank.measures.judges import JUDGE, PEOPLE, with_judge


class LabelledDocuments(NamedTuple):
    """Documents of whole queries, as `GBRanker.fit` takes them."""

    X: Any
    y: Vector
    qid: NDArray[Any]


class Dataset:
    """Documents with labels, queries and folds.

    Parameters
    ----------
    name : str
        What the data set is called in results.
    X, y, qid
        Features, labels and queries, as for `GBRanker.fit`.
    folds : int, splitter or sequence of (train, valid, test) or (train, test)
        How many folds `LetorFolds` is to make; a splitter, such as
        `QueryTimeSeriesSplit`; or row numbers of your own. Where a fold has no rows to validate
        on, rankers are trained without.
    **columns
        What else rankers are trained on, as for `GBRanker.fit`: ``labels``, ``sample_weight``,
        ``query_weight``, ``init_score``, ``position``, ``categorical_feature``. Weights play no
        part in what queries are worth; initial scores are added to what rankers predict.
    judged_by : array-like, shape (n_documents,), optional
        Labels by a judge, such as a language model, for all documents. y may then be NaN in queries
        that people have not judged: rankers are trained on people's labels where there are any, and
        else on the judge's; both decide what they are worth (see `compare_scores`).
    docid : array-like, shape (n_documents,), optional
        What documents are called, for TREC runs that rankers are compared with.

    Attributes
    ----------
    y : ndarray, shape (n_documents,)
    queries : Queries
    splits : list of Fold
        The folds, as row numbers.

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable; among others, if a fold splits a query.

    Examples
    --------
    >>> from gbrank import make_cubic
    >>> from gbrank.evaluation import Dataset
    >>> data = Dataset("cubic", *make_cubic(30, random_state=0), folds=3)
    >>> [len(rows) for rows in data.splits[0]]
    [500, 500, 500]
    """

    def __init__(
        self,
        name: str,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike,
        folds: Any = 5,
        *,
        judged_by: ArrayLike | None = None,
        docid: ArrayLike | None = None,
        **columns: Any,
    ) -> None:
        if qid is None:
            raise queries_needed("Dataset", "qid= (one query id per row)")
        X = X if hasattr(X, "shape") else np.asarray(X)
        self.queries = Queries.resolve(X.shape[0], qid)
        self.docid, self.only_to_judge = docid, set[str]()  # labels that nothing is trained on
        warn_of_repeats(docid, self.queries)
        if judged_by is not None:
            self.only_to_judge = {PEOPLE, JUDGE}
            both = with_judge(y, judged_by, self.queries, columns.pop("labels", None))
            y, columns["labels"] = both["y"], both["labels"]
        self.name = name
        self.categorical_feature = columns.pop("categorical_feature", None)
        self.documents = Documents.checked(X, y, self.queries, **columns)
        self.X, self.y = self.documents.X, self.documents.y
        self.qid = self.queries.ids[self.queries.index]
        if isinstance(folds, int | np.integer):
            most = self.queries.n_queries
            folds = LetorFolds(check_number(folds, "folds", 3, most, integer=True))
        if hasattr(folds, "split"):
            folds = folds.split(self.X, self.y, self.qid)
        self.splits = [
            _check_fold(fold, self.queries, f"folds[{i}]") for i, fold in enumerate(folds)
        ]
        if not self.splits:
            raise ArgumentError("folds", "must hold at least one fold", "none")

    def fold(self, number: int) -> tuple[LabelledDocuments, LabelledDocuments, LabelledDocuments]:
        """Return the documents of a fold to train on, to validate on and to test on.

        Parameters
        ----------
        number : int
            Which fold, counted from 1.

        Returns
        -------
        train, valid, test
            Each has X, y and qid.

        Raises
        ------
        ValueError
            If there is no such fold.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> from gbrank.evaluation import Dataset
        >>> data = Dataset("cubic", *make_cubic(30, n_documents=10, random_state=0))
        >>> train, valid, test = data.fold(1)
        >>> ranker = GBRanker(n_estimators=10, n_jobs=1).fit(train.X, train.y, qid=train.qid)
        >>> 0 < ranker.score(test.X, test.y, test.qid) < 1
        True
        """
        check_number(number, "number", 1, len(self.splits), integer=True)
        train, valid, test = (
            LabelledDocuments(take_rows(self.X, rows), self.y[rows], self.qid[rows])
            for rows in self.splits[number - 1]
        )
        return train, valid, test

    def rows(self, *parts: Positions) -> Documents:
        """Return the rows of parts, whose queries are apart, with features as they were given."""
        rows, n_queries = np.concatenate(parts), self.queries.n_queries
        part = np.repeat(np.arange(len(parts)), list(map(len, parts)))
        queries = Queries.from_qid(part * n_queries + self.queries.index[rows])
        numbers = queries.ids % n_queries
        return self.documents.take(rows, replace(queries, ids=self.queries.ids[numbers]), numbers)


def _check_fold(fold: Any, queries: Queries, where: str) -> Fold:
    """Return a fold's rows, after a check that no row and no query is in it twice."""
    parts = [np.asarray(rows) for rows in fold] if hasattr(fold, "__len__") else []
    if len(parts) not in (2, 3):
        raise ArgumentError(where, "must be (train, valid, test) or (train, test)", quoted(fold))
    rows = np.concatenate(parts)
    outside = rows.dtype.kind not in "iu" or not np.isin(rows, queries.order).all()
    if outside or not all(map(len, parts)) or len(np.unique(rows)) < len(rows):
        last = queries.n_documents - 1
        demand = f"must hold rows from 0 to {last} in each part, each of them at most once"
        raise ArgumentError(where, demand, quoted(fold))
    together = np.concatenate([np.unique(queries.index[rows]) for rows in parts])
    query, count = np.unique(together, return_counts=True)
    if torn := query[count > 1].tolist():
        name = quoted(as_list(queries.ids)[torn[0]])
        raise ArgumentError(where, "must not split a query", f"query {name} in two of its parts")
    train, *valid, test = (rows.astype(np.int64) for rows in parts)
    return Fold(train, valid[0] if valid else np.zeros(0, np.int64), test)
