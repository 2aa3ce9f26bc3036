"""QueryContext, a scikit-learn transformer that adds features relative to the query."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from gbrank.data.schema import Features, Schema
from gbrank.fit.arguments import Ids, TableLike
from gbrank.fit.context import Context, Kinds, column_names_of, needed_queries


class QueryContext(TransformerMixin, BaseEstimator):
    """Adds to each document what it is beside the others of its query.

    Its output has the columns of X, and after them those that are added. It is what
    ``GBRanker(context=...)`` has inside; of use by itself with other estimators.

    Parameters
    ----------
    kinds : str, sequence of str, or mapping of str to columns
        What to add for all columns of numbers, or a mapping from each kind to its columns, by
        position or name, None for all. In the order in which they are added:

        - ``"difference"``: the value less its mean over the query;
        - ``"rank"``: the rank from the smallest value, 1, over the number of values, so that the
          largest of all is 1; equal values share the mean of their ranks;
        - ``"zscore"``: the difference in standard deviations; 0 where all values are equal;
        - ``"mean"``: the mean over the query;
        - ``"gap"``: the value less the largest of the query;
        - ``"size"``: the number of the query's documents, once.

    Attributes
    ----------
    added_features_ : list of str
        The names of what is added: ``rank(bm25)``, ..., ``size``.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where X was a data frame.

    Notes
    -----
    Missing values (NaN) do not count, and what would be computed of them is missing. Numbers are
    rounded to single precision; the order of rows changes no bit of them. Where scikit-learn's
    metadata routing is enabled, pipelines and `ColumnTransformer` pass `qid` on by themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank import QueryContext
    >>> X, qid = np.array([[3.0], [1.0], [5.0], [7.0]]), ["a", "a", "a", "b"]
    >>> context = QueryContext(["difference", "rank", "size"])
    >>> context.fit_transform(X, qid=qid).round(2).tolist()
    [[3.0, 0.0, 0.67, 3.0], [1.0, -2.0, 0.33, 3.0], [5.0, 2.0, 1.0, 3.0], [7.0, 0.0, 1.0, 1.0]]
    >>> context.get_feature_names_out().tolist()
    ['x0', 'difference(x0)', 'rank(x0)', 'size']
    """

    __metadata_request__transform: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(self, kinds: Kinds = "difference") -> None:
        self.kinds = kinds

    def fit(self, X: TableLike, y: object = None) -> QueryContext:
        """Learn the columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            Numbers only; NaN is missing.
        y : ignored

        Returns
        -------
        QueryContext
            Itself.

        Raises
        ------
        ValueError, TypeError
            If X has categories (choose the columns of numbers with a `ColumnTransformer`), or
            `kinds` is not as described.
        """
        schema = Schema.learn(X)
        if schema.categorical:
            name = column_names_of(schema)[schema.categorical[0]]
            raise ValueError(
                f"X must hold numbers, got the categorical column {name!r}: choose columns of "
                "numbers with a ColumnTransformer."
            )
        self._context, self._schema = Context.of(self.kinds, schema, "kinds"), schema
        self.n_features_in_ = schema.n_features
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(
        self, X: TableLike, *, qid: Ids | None = None, group: ArrayLike | None = None
    ) -> Features:
        """Return the columns of X and what is added.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame
            As for `fit`.
        qid : array-like, shape (n_documents,)
            The query of each row, in any order.
        group : array-like of int, shape (n_queries,)
            Instead of qid: sizes of consecutive queries, ``[len(X)]`` for a single list.

        Returns
        -------
        ndarray, sparse matrix, or what `set_output` asks for, shape (n_documents, n_columns)

        Raises
        ------
        ValueError
            If there is neither qid nor group, or X has not the columns of `fit`.
        """
        check_is_fitted(self)
        matrix = self._schema.transform(X)
        return self._context.widen(
            matrix, needed_queries("QueryContext", matrix.shape[0], qid, group)
        )

    def fit_transform(
        self,
        X: TableLike,
        y: object = None,
        *,
        qid: Ids | None = None,
        group: ArrayLike | None = None,
    ) -> Features:
        """Return ``fit(X).transform(X, qid=qid, group=group)``.

        Parameters
        ----------
        X, y, qid, group
            As for `fit` and `transform`.

        Returns
        -------
        ndarray, sparse matrix, or what `set_output` asks for, shape (n_documents, n_columns)
        """
        return self.fit(X, y).transform(X, qid=qid, group=group)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Return the names of the columns of the output.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of X, by default those of its data frame, or x0, x1, ...

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        own = _check_feature_names_in(self, input_features).tolist()
        return np.array([*own, *self._context.names(own)], dtype=object)

    @property
    def added_features_(self) -> list[str]:
        """The names of what is added."""
        return self.get_feature_names_out().tolist()[self.n_features_in_ :]

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether the columns are known."""
        return hasattr(self, "_context")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what data the transformer takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags._skip_test = True  # scikit-learn's checks call transform without queries
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Tell scikit-learn before 1.6 the same."""
        return {"allow_nan": True, "_skip_test": True}
