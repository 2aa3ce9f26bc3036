"""Why a ranker ranks documents as it does: a pair of them, or the list of a query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Matrix, Vector
from gbrank.common.checks import (
    check_choice,
    check_finite,
    check_jobs,
    check_labels,
    check_number,
    check_vector,
    quoted,
)
from gbrank.common.extras import needed
from gbrank.common.interrupts import interrupts_held
from gbrank.common.table import Table, Tabular
from gbrank.common.threads import usable_threads
from gbrank.data.ids import as_list, number_of
from gbrank.data.queries import Queries
from gbrank.data.rows import take_rows
from gbrank.data.schema import as_dense
from gbrank.fit.arguments import Ids, TableLike
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.fitted import FittedTrees
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure

N_REASONS = 3
SWAPS_AT_ONCE = 200_000  # documents


@dataclass(frozen=True, eq=False)
class PairExplanation(Tabular):
    """Why one document is above another: what each feature adds to the gap of their scores.

    It is a table with a row for each feature, the largest share first: `to_pandas`, `to_markdown`,
    HTML in notebooks, and `gbrank.plots.pair`.

    Parameters
    ----------
    features : list of str
        The names of the columns of X.
    first, second : list
        The values of both documents.
    shares : ndarray, shape (n_features,)
        What each feature adds to `gap`, of which they are the parts.
    scores : tuple of float
        Those of both documents.
    names : tuple of str
        What both documents are called.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> why = ranker.explain_pair(X, 3, 7, qid=qid)
    >>> bool(abs(why.shares.sum() - why.gap) < 1e-9)
    True
    >>> list(why.to_pandas())
    ['feature', 'first', 'second', 'share']
    """

    features: list[str]
    first: list[Any]
    second: list[Any]
    shares: Vector
    scores: tuple[float, float]
    names: tuple[str, str] = ("first", "second")

    @property
    def gap(self) -> float:
        """By how much the score of the first document is above that of the second."""
        return self.scores[0] - self.scores[1]

    def __str__(self) -> str:
        """Return both scores and their gap."""
        first, second = self.scores
        return f"{first:.4g} − {second:.4g} = {self.gap:+.4g}"

    def in_words(self) -> str:
        """Say what speaks for either document most, and its share of all that does.

        Returns
        -------
        str
        """
        sides, values = [], (self.first, self.second)
        for sign, name, own, other in zip(
            (1, -1), self.names, values, reversed(values), strict=True
        ):
            parts = [place for place in self.largest if sign * self.shares[place] > 0]
            total = float(np.abs(self.shares[parts]).sum())
            words = [
                f"{self.features[place]} ({short(own[place])} against {short(other[place])}; "
                f"{abs(self.shares[place]) / total:.0%})"
                for place in parts[:N_REASONS]
            ]
            sides.append(f"For {name}: {', '.join(words) or 'nothing'}.")
        return " ".join(sides)

    @property
    def largest(self) -> list[int]:
        """The features, by position, in order of falling size of their share."""
        order: list[int] = np.argsort(-np.abs(self.shares), kind="stable").tolist()
        return order

    def _table(self) -> Table:
        columns: dict[str, Sequence[Any]] = {
            "feature": self.features,
            self.names[0]: self.first,
            self.names[1]: self.second,
            "share": self.shares.tolist(),
        }
        ordered = {name: [values[i] for i in self.largest] for name, values in columns.items()}
        return Table.of(ordered, caption=str(self))


@dataclass(frozen=True, eq=False)
class QueryExplanation(Tabular):
    """Why the documents of a query are ranked as they are, and what better orders would bring.

    It is a table with a row for each document, by rank: `to_pandas`, `to_markdown`, HTML in
    notebooks, and `gbrank.plots.query`.

    Parameters
    ----------
    measure : str
        What orders are judged by; empty without labels.
    value : float
        The measure of this order; NaN without labels.
    rows : list of int
        The row in X of each document, by rank.
    labels : list of float, or None
    scores : list of float
    lifts, lowers : list of list of (str, float)
        The features that add most to the document's score, and take most from it, beside the mean
        of the query's documents, and by how much.
    names : list, optional
        What documents are called, by rank.
    other_ranks : list of int, optional
        The rank of each by the scores that it is compared with.
    swaps : list of (int or None, float)
        For each document, the rank of the wrongly ordered one with which it should swap, and what
        that alone would add to the measure; (None, NaN) where no swap helps. Empty without labels.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> list(ranker.explain_query(X, y, qid=qid, query=3).to_pandas())
    ['rank', 'row', 'label', 'score', 'lifts', 'lowers', 'swap with', 'gain']
    """

    measure: str
    value: float
    rows: list[int]
    labels: list[float] | None
    scores: list[float]
    lifts: list[list[tuple[str, float]]]
    lowers: list[list[tuple[str, float]]]
    swaps: list[tuple[int | None, float]]
    names: list[Any] | None = None
    other_ranks: list[int] | None = None

    def __str__(self) -> str:
        """Return the measure of the order."""
        return f"{len(self.rows)} documents" + (
            "" if np.isnan(self.value) else f", {self.measure} {self.value:.4f}"
        )

    def _table(self) -> Table:
        columns: dict[str, list[Any]] = {
            "rank": list(range(1, len(self.rows) + 1)),
            "row": self.rows,
        }
        if self.names is not None:
            columns["document"] = self.names
        if self.other_ranks is not None:
            columns["other rank"] = self.other_ranks
        if self.labels is not None:
            columns["label"] = self.labels
        columns |= {"score": self.scores, "lifts": self.lifts, "lowers": self.lowers}
        if self.labels is not None:
            columns["swap with"] = ["" if rank is None else rank for rank, _ in self.swaps]
            columns["gain"] = [gain for _, gain in self.swaps]
        return Table.of(columns, caption=str(self))


def short(value: object) -> str:
    """Return a value of a feature as a picture or a sentence has it."""
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class ExplainedRanker(BoostedRanker):
    """A ranker of trees that says what its features are, and why it ranks as it does."""

    def _of_rows(
        self, fitted: FittedTrees, X: TableLike, function: Callable[..., Matrix], *options: Any
    ) -> Matrix:
        """Return what a function of the model returns for rows, deferring Ctrl-C."""
        threads, matrix = usable_threads(check_jobs(self.n_jobs)), fitted.schema.transform(X)
        with interrupts_held():
            return function(matrix, fitted.schema, threads, *options)

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
            If shap is asked for and not installed.

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
        return needed("shap", "shap").Explanation(
            values=shares[:, :-1],
            base_values=shares[:, -1],
            data=np.array(self._values(X), kind),
            feature_names=self._schema.feature_names,
        )

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
    ) -> PairExplanation:
        """Say why one document of a query is above another, or below.

        The gap of their scores is split into what each feature adds to it: the difference of its
        shares in both scores (see `explain`).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            All documents of the query, and perhaps of others.
        first, second : int, or what `docid` holds
            Both documents: their rows, from 0; with `query` alone, their ranks, from 1; with
            `docid`, their names.
        qid, group
            The queries, as for `fit`; with neither, all rows are one query.
        query : object, optional
            The query whose ranks, or names, are meant.
        docid : array-like, shape (n_documents,), optional
            What documents are called.

        Returns
        -------
        PairExplanation

        Raises
        ------
        ValueError
            If the documents are of two queries; or as `explain`.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> why = ranker.explain_pair(X, 3, 7, qid=qid)
        >>> why.features[why.largest[0]] in ("f0", "f1", "f2", "f3")
        True
        """
        n = self._fitted.schema.transform(X).shape[0]
        queries = Queries.resolve(n, qid, group)
        given = {"first": first, "second": second}
        names = ("first", "second") if docid is None else (str(first), str(second))
        if docid is not None:
            inside = np.arange(n) if query is None else _rows_of(query, queries)
            pair = [_row_of(value, name, docid, inside) for name, value in given.items()]
        elif query is not None:
            listed = _rows_of(query, queries)
            for name, value in given.items():
                check_number(value, name, 1, len(listed), integer=True)
            ranks = self.rank(take_rows(X, listed), group=[len(listed)]).tolist()
            pair = [listed[ranks.index(rank)] for rank in given.values()]
            names = (f"rank {first}", f"rank {second}")
        else:
            pair = [check_number(row, name, 0, n - 1, integer=True) for name, row in given.items()]
        one, other = queries.index[pair]
        if one != other:
            both = " and ".join(map(repr, queries.ids[[one, other]].tolist()))
            raise ArgumentError("first and second", "must be rows of one query", f"those of {both}")
        shares, scores, values = self._of_documents(take_rows(X, np.array(pair)))
        above, below = scores.tolist()
        parts = shares[0] - shares[1]
        sizes = np.abs(parts)
        # XGBoost computes in single precision: what rounding takes from the gap is shared out.
        parts += (above - below - parts.sum()) * sizes / (sizes.sum() or 1.0)
        return PairExplanation(
            self._schema.feature_names, values[0], values[1], parts, (above, below), names
        )

    def explain_query(
        self,
        X: TableLike,
        y: ArrayLike | None = None,
        *,
        qid: Ids | None = None,
        group: ArrayLike | None = None,
        query: object = None,
        docid: ArrayLike | None = None,
        against: ArrayLike | None = None,
    ) -> QueryExplanation:
        """Say why the documents of a query are ranked as they are.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            All documents of the query, and perhaps of others.
        y : array-like, shape (n_documents,), optional
            Relevance labels: with these the table says for each document which swap with a wrongly
            ordered one raises the measure most, and by how much: the first `eval_metric` that is of
            y and of no column of X, ndcg@10 where there is none. All swaps are tried: with a
            measure of the whole list, lists of more than 1,000 documents take minutes.
        qid, group
            The queries, as for `fit`; with neither, all rows are one query.
        query : object, optional
            Which of several queries: its id, or its number with `group`.
        docid : array-like, shape (n_documents,), optional
            What documents are called.
        against : array-like, shape (n_documents,), optional
            Scores of another model, as from `gbrank.evaluation.scores_from`: the table then has
            the rank that each document has there.

        Returns
        -------
        QueryExplanation

        Raises
        ------
        ValueError
            If there are several queries and `query` is none of them; or as `explain`.

        Examples
        --------
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
        >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
        >>> why = ranker.explain_query(X, y, qid=qid, query=3)
        >>> why.scores == sorted(why.scores, reverse=True)
        True
        """
        n = self._fitted.schema.transform(X).shape[0]
        queries = Queries.resolve(n, qid, group)
        labels = None if y is None else check_labels(y, "y", n)
        rows = _rows_of(query, queries)
        called = None if docid is None else np.asarray(docid, dtype=object)
        if called is not None and called.shape != (n,):
            raise ArgumentError("docid", f"must have {n} entries", f"shape {called.shape}")
        others = None
        if against is not None:
            theirs = check_finite(check_vector(against, "against", n), "against")[rows]
            others = np.argsort(np.argsort(-theirs, kind="stable")) + 1
        ranks = self.rank(take_rows(X, rows), group=[len(rows)])
        places = np.argsort(ranks).tolist()
        rows = rows[places]
        shares, scores, _ = self._of_documents(take_rows(X, rows))
        beside = shares - shares.mean(axis=0)
        names = self._schema.feature_names

        def most(order: Vector, sign: int) -> list[tuple[str, float]]:
            chosen = np.argsort(-sign * order, kind="stable")[:N_REASONS]
            return [(names[i], float(order[i])) for i in chosen if sign * order[i] > 0]

        measure, value = "", np.nan
        swaps: list[tuple[int | None, float]] = []
        if labels is not None:
            judged_by = self._measure_of_y()
            measure, (value, swaps) = str(judged_by), best_swaps(labels[rows], judged_by)
        return QueryExplanation(
            measure=measure,
            value=value,
            rows=rows.tolist(),
            labels=None if labels is None else labels[rows].tolist(),
            scores=scores.tolist(),
            lifts=[most(own, 1) for own in beside],
            lowers=[most(own, -1) for own in beside],
            swaps=swaps,
            names=None if called is None else called[rows].tolist(),
            other_ranks=None if others is None else others[places].tolist(),
        )

    def _measure_of_y(self) -> Measure:
        """Return the first measure of y alone that a ranker is judged by, else the usual one."""
        measures: list[Measure] = self._measures()
        of_y = (one for one in measures if one.label is None and not getattr(one, "columns", ()))
        return next(of_y, get_measure("ndcg@10"))

    def _of_documents(self, X: Any) -> tuple[Matrix, Vector, list[list[Any]]]:
        """Return the shares, scores and values of some documents."""
        return self._shares(X)[:, :-1], self.predict(X), self._values(X)

    def _shares(self, X: Any) -> Matrix:
        """Return what each feature adds to the score of each row, and the mean score."""
        fitted = self._fitted
        if not isinstance(fitted.init, ExplainedRanker | None):
            raise ArgumentError(
                "init", "must be a GBRanker for scores to be explained", repr(fitted.init)
            )
        shares: Matrix = self._of_rows(fitted, X, fitted.model.contributions)
        if fitted.init is None:
            return shares
        own, theirs = fitted.schema.feature_names, fitted.init._schema.feature_names
        if None in (fitted.schema.names, fitted.init._schema.names):
            theirs = own  # columns of an array are known by their order
        shares[:, [*map(own.index, theirs), -1]] += fitted.init._shares(X)
        return shares

    def _values(self, X: Any) -> list[list[Any]]:
        """Return the values of all features, categories included."""
        values: list[list[Any]] = as_dense(self._fitted.schema.transform(X)).tolist()
        for column, known in self._fitted.schema.categories.items():
            for row in values:
                row[column] = None if np.isnan(row[column]) else known[int(row[column])]
        return values


def _rows_of(query: object, queries: Queries) -> NDArray[np.signedinteger]:
    """Return the rows of the query that was asked for; of a single one, none need be."""
    single = query is None and queries.n_queries == 1
    number = 0 if single else number_of(query, queries.ids)
    if number is None:
        raise ArgumentError(
            "query",
            f"must be one of the {queries.n_queries} queries of X, such as "
            f"{as_list(queries.ids)[0]!r}",
            quoted(query),
        )
    return queries.rows(number)


def _row_of(name: object, argument: str, docid: Any, inside: NDArray[Any]) -> int:
    """Return the row of a document, by its name."""
    called = list(map(str, np.asarray(docid, dtype=object).tolist()))
    found = [row for row in inside.tolist() if called[row] == str(name)]
    if len(found) != 1:
        demand = "must be the name of one document" + (" of the query" if found else "")
        raise ArgumentError(argument, demand, f"{quoted(name)}, of {len(found)} rows")
    return int(found[0])


def best_swaps(labels: Vector, measure: Measure) -> tuple[float, list[tuple[int | None, float]]]:
    """Return the measure of labels in rank order, and for each document its most useful swap."""
    m = len(labels)
    ranks = -np.arange(m, dtype=np.float64)
    value = measure.bind(labels, Queries.from_sizes([m]), 1).per_query(ranks).item()
    upper, lower = np.nonzero(labels[:, None] < labels)
    k = getattr(measure, "k", None)
    wrong = (upper < lower) & (upper < (k or m))  # below rank k a swap changes nothing
    upper, lower = upper[wrong], lower[wrong]
    best = np.zeros(m)
    partner = np.full(m, -1)
    step = max(1, SWAPS_AT_ONCE // m)
    for start in range(0, 0 if np.isnan(value) else len(upper), step):
        one, other = upper[start : start + step], lower[start : start + step]
        lists, pairs = np.tile(labels, (len(one), 1)), np.arange(len(one))
        lists[pairs, one], lists[pairs, other] = labels[other], labels[one]
        bound = measure.bind(lists.ravel(), Queries.from_sizes([m] * len(one)))
        gains = bound.per_query(np.tile(ranks, len(one))) - value
        for own, others in ((one, other), (other, one)):
            order = np.argsort(gains, kind="stable")  # of a document, the best pair is written last
            better = order[gains[order] > best[own[order]]]
            best[own[better]], partner[own[better]] = gains[better], others[better]
    found = zip(partner.tolist(), best.tolist(), strict=True)
    return value, [(None, np.nan) if rank < 0 else (rank + 1, gain) for rank, gain in found]
