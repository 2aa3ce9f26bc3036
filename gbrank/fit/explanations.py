"""Why a ranker ranks documents as it does: what features add to scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import check_choice, check_jobs
from gbrank.common.errors import ArgumentError
from gbrank.common.runtime import import_optional, interrupts_held, usable_threads
from gbrank.common.table import Table, Tabular
from gbrank.common.values import Matrix, Positions, Vector
from gbrank.common.words import apart
from gbrank.data.documents import take_rows
from gbrank.data.feature_matrix import Features, as_dense
from gbrank.data.lookup import by_rank, find_rows
from gbrank.data.queries import Queries
from gbrank.fit.arguments import Ids, TableLike, n_documents
from gbrank.fit.boosted_ranker import BoostedRanker

N_REASONS = 3


@dataclass(frozen=True, eq=False)
class Explanation(Tabular):
    """Shares of each feature in the gap between two scores.

    They are of two documents, or of one and the mean of its query's. It is a table with a row for
    each feature, the largest share first: `to_pandas`, `to_markdown`, HTML in notebooks, and
    `gbrank.plots.explanation`.

    Parameters
    ----------
    features : list of str
        The names of the columns of X.
    first : list
        The values of the document.
    second : list or None
        Those of the other one, if there are two.
    shares : ndarray, shape (n_features,)
        What each feature adds to `gap`, of which they are the parts.
    scores : tuple of float
        Those of both documents, or of the document and of the mean.
    names : tuple of str
        What they are called.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> why = ranker.explain_pair(X, 3, 7, qid=qid)
    >>> bool(abs(why.shares.sum() - why.gap) < 1e-9)
    True
    >>> list(why.to_pandas())
    ['feature', 'row 3', 'row 7', 'share']
    """

    features: list[str]
    first: list[Any]
    second: list[Any] | None
    shares: Vector
    scores: tuple[float, float]
    names: tuple[str, str] = ("first", "second")

    @property
    def gap(self) -> float:
        """By how much the first score is above the second."""
        return self.scores[0] - self.scores[1]

    def __str__(self) -> str:
        """Return both scores and their gap."""
        first, second = self.scores
        mean = f" ({self.names[1]})" if self.second is None else ""
        return f"{first:.4g} − {second:.4g}{mean} = {self.gap:+.4g}"

    def in_words(self) -> str:
        """Return the features that speak for either document most, or for and against one, as text.

        Each feature has its share of all that does.

        Returns
        -------
        str
        """
        against = f"Against {self.names[0]}" if self.second is None else f"For {self.names[1]}"
        return f"{self._side(1, f'For {self.names[0]}')} {self._side(-1, against)}"

    def _side(self, sign: int, title: str) -> str:
        """Return the features that speak for one side, as text."""
        parts = [place for place in self.largest if sign * self.shares[place] > 0]
        total = float(np.abs(self.shares[parts]).sum())
        words = [
            f"{self.features[place]} ({' against '.join(self.values(place)[::sign])}; "
            f"{abs(self.shares[place]) / total:.0%})"
            for place in parts[:N_REASONS]
        ]
        return f"{title}: {', '.join(words) or 'nothing'}."

    def values(self, feature: int) -> list[str]:
        """Return the values of a feature, by its position, as texts."""
        return [short(row[feature]) for row in (self.first, self.second) if row is not None]

    @property
    def largest(self) -> list[int]:
        """The features, by position, in order of falling size of their share."""
        return np.argsort(-np.abs(self.shares), kind="stable").tolist()

    def _table(self) -> Table:
        head, columns = ["feature", "share"], [self.features]
        for name, values in zip(self.names, (self.first, self.second), strict=True):
            if values is not None:
                head.insert(-1, apart(name, head))
                columns.append(values)
        rows = [[*(column[i] for column in columns), float(self.shares[i])] for i in self.largest]
        return Table(head, rows, caption=str(self))


def short(value: object) -> str:
    """Return a value of a feature as a picture or a sentence has it."""
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class ExplainedRanker(BoostedRanker):
    """A ranker of trees that says what its features are, and why it ranks as it does."""

    def explain(self, X: TableLike, *, output: str = "array") -> Any:
        r"""Return what each feature adds to the score of each row (SHAP values).

        They are the booster's own, exact for its trees: a feature's share is its mean effect on
        the score over all orders in which the features may become known. Those of an `init` that
        is a GBRanker are added.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
        output : {"array", "shap"}
            ``"shap"`` gives what the pictures of the package shap take.

        Returns
        -------
        ndarray, shape (n_documents, n_features + 1), or shap.Explanation
            One column for each feature, and the mean score of the training documents in the last.
            A row's sum is its score, up to rounding.

        Raises
        ------
        ValueError
            If `init` gave a model that is not a GBRanker; or as `predict`.
        ImportError
            If shap is requested and not installed.

        References
        ----------
        S. Lundberg, G. Erion, S.-I. Lee. Consistent individualized feature attribution for tree
        ensembles. arXiv:1802.03888, 2018.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> shares = ranker.explain(X)
        >>> shares.shape
        (200, 5)
        >>> bool(abs(shares.sum(axis=1) - ranker.predict(X)).max() < 1e-9)
        True
        """
        check_choice(output, "output", ["array", "shap"])
        shares = self._shares(X)
        if output == "array":
            return shares
        kind = object if self._fitted.schema.categories else np.float64
        return import_optional("shap", "shap").Explanation(
            values=shares[:, :-1],
            base_values=shares[:, -1],
            data=np.array(self._values(X), kind),
            feature_names=self._schema.feature_names,
        )

    def explain_document(
        self,
        X: TableLike,
        document: Any,
        *,
        qid: Ids | None = None,
        group: ArrayLike | None = None,
        query: object = None,
        docid: ArrayLike | None = None,
    ) -> Explanation:
        """Explain the rank of a document among those of its query.

        The gap between its score and the mean score of its query's documents is split into what
        each feature adds to it: its share in the score (see `explain`), beside the mean share.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            All documents of the query, and perhaps of others.
        document : int, or what `docid` holds
            The document: its row, from 0; with `query` alone, its rank, from 1; with `docid`, its
            name.
        qid, group
            The queries, as for `fit`; with neither, all rows are one query.
        query : object, optional
            The query whose rank, or name, is meant.
        docid : array-like, shape (n_documents,), optional
            What documents are called.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            If there is no such document or query; or as `explain`.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> why = ranker.explain_document(X, 1, qid=qid, query=0)  # the first of query 0
        >>> why.gap > 0
        True
        """
        return self._explained(X, qid, group, query, docid, document=document)

    def explain_pair(
        self,
        X: TableLike,
        first: Any,
        second: Any,
        *,
        qid: Ids | None = None,
        group: ArrayLike | None = None,
        query: object = None,
        docid: ArrayLike | None = None,
    ) -> Explanation:
        """Explain why one document of a query is above another, or below.

        The gap of their scores is split into what each feature adds to it: the difference of its
        shares in both scores (see `explain`).

        Parameters
        ----------
        X, qid, group, query, docid
            As for `explain_document`.
        first, second : int, or what `docid` holds
            Both documents: their rows, from 0; with `query` alone, their ranks, from 1; with
            `docid`, their names.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            If the documents are of two queries; or as `explain_document`.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> why = ranker.explain_pair(X, 3, 7, qid=qid)
        >>> why.features[why.largest[0]] in ("f0", "f1", "f2", "f3")
        True
        """
        return self._explained(X, qid, group, query, docid, first=first, second=second)

    def _explained(
        self, X: Any, qid: Any, group: Any, query: object, docid: Any, **asked: object
    ) -> Explanation:
        """Explain the gap between two documents, or between one and the mean of its query's."""
        queries = Queries.resolve(n_documents(X), qid, group)

        def ranked(rows: Positions) -> Positions:
            return by_rank(rows, self.predict(take_rows(X, rows)))

        rows, names = find_rows(asked, queries, query, docid, ranked)
        first, *second = self._values(take_rows(X, np.array(rows)))
        beside = rows[1:] or queries.rows(queries.index[rows[0]]).tolist()
        table = take_rows(X, np.array([rows[0], *beside]))
        shares, scores = self._shares(table)[:, :-1], self.predict(table)
        parts, above, below = shares[0] - shares[1:].mean(axis=0), scores[0], scores[1:].mean()
        sizes = np.abs(parts)
        # XGBoost computes in single precision: what rounding takes from the gap is shared out.
        parts += (above - below - parts.sum()) * sizes / (sizes.sum() or 1.0)
        return Explanation(
            self._schema.feature_names,
            first,
            second[0] if second else None,
            parts,
            (float(above), float(below)),
            (names[0], names[1] if second else "the mean of its list"),
        )

    def _shares(self, X: Any) -> Matrix:
        """Return what each feature adds to the score of each row, and the mean score."""
        return self._shares_of(self._schema.transform(X))

    def _shares_of(self, features: Features) -> Matrix:
        fitted, init = self._fitted, self._fitted.init
        if not isinstance(init, ExplainedRanker | None):
            raise ArgumentError("init", "must be a GBRanker for scores to be explained", repr(init))
        threads = usable_threads(check_jobs(self.n_jobs))
        with interrupts_held():
            shares = fitted.model.contributions(features, threads)
        if init is not None:
            columns = init._schema.columns_in(fitted.schema)
            inner = init._shares_of(init._schema.convert(features, fitted.schema))
            shares[:, [*columns, -1]] += inner
        return shares

    def _values(self, X: Any) -> list[list[Any]]:
        """Return the values of all features, categories included."""
        values: list[list[Any]] = as_dense(self._fitted.schema.transform(X)).tolist()
        for column, known in self._fitted.schema.categories.items():
            for row in values:
                row[column] = None if np.isnan(row[column]) else known[int(row[column])]
        return values
