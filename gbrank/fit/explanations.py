"""Why a ranker ranks documents as it does: what features add to scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    ArgumentError,
    Matrix,
    Positions,
    Vector,
    check_choice,
    check_integer,
    check_jobs,
    quoted,
)
from gbrank.common.runtime import import_optional, interrupts_held, usable_threads
from gbrank.common.table import Table, Tabular
from gbrank.common.words import apart
from gbrank.data.documents import take_rows
from gbrank.data.feature_matrix import Features, as_dense, n_rows
from gbrank.data.ids import find_matches
from gbrank.data.lookup import by_rank, document_names
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema

from .arguments import Ids, TableLike
from .boosted_ranker import BoostedRanker
from .pretrained import PretrainedRanker

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
        """Return both scores and their difference."""
        first, second = self.scores
        mean = f" ({self.names[1]})" if self.second is None else ""
        return f"{first:.4g} against {second:.4g}{mean}, difference {self.gap:+.4g}"

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
        parts = [feature for feature in self.largest if sign * self.shares[feature] > 0]
        total = float(np.abs(self.shares[parts]).sum())
        words = [
            f"{self.features[feature]} ({' against '.join(self.values(feature)[::sign])}; "
            f"{abs(self.shares[feature]) / total:.0%})"
            for feature in parts[:N_REASONS]
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
        columns: dict[str, list[Any]] = {"feature": self.features}
        for name, values in zip(self.names, (self.first, self.second), strict=True):
            if values is not None:
                columns[apart(name, [*columns, "share"])] = values
        columns["share"] = self.shares.tolist()
        largest = {name: [values[i] for i in self.largest] for name, values in columns.items()}
        return Table.of(largest, caption=str(self))


def short(value: object) -> str:
    """Return a value of a feature as a picture or a sentence has it."""
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def explain_scores(ranker: BoostedRanker, X: TableLike, output: str) -> Any:
    """Compute what each feature adds to the score of each row; as an array or for shap."""
    check_choice(output, "output", ["array", "shap"])
    schema = ranker._schema
    shares = np.empty((0, schema.n_features + 1))
    features = shares[:, :-1]
    if n_rows(X):
        features = schema.transform(X)
        shares = _shares(ranker, features, ranker.n_jobs)
    if output == "array":
        return shares
    kind = object if schema.categories else np.float64
    return import_optional("shap", "shap").Explanation(
        values=shares[:, :-1],
        base_values=shares[:, -1],
        data=np.array(_values(schema, features), kind).reshape(features.shape),
        feature_names=schema.feature_names,
    )


def explain_gap(
    ranker: BoostedRanker,
    X: TableLike,
    documents: Mapping[str, object],
    *,
    qid: Ids | None,
    group: ArrayLike | None,
    query: object,
    docid: ArrayLike | None,
) -> Explanation:
    """Explain the gap between two documents, or between one and the mean of its query's."""
    schema = ranker._schema
    queries = Queries.resolve(n_rows(X), qid, group)
    rows, names = _find_rows(ranker, X, documents, queries, query=query, docid=docid)
    beside = rows[1:] or queries.rows(queries.index[rows[0]]).tolist()
    table = take_rows(X, np.array([rows[0], *beside]))
    features = schema.transform(table)
    first, *second = _values(schema, features[: len(rows)])
    shares = _shares(ranker, features, ranker.n_jobs)[:, :-1]
    scores = ranker.predict(table)
    parts = shares[0] - shares[1:].mean(axis=0)
    above = float(scores[0])
    below = float(scores[1:].mean())
    sizes = np.abs(parts)
    # XGBoost computes in single precision: what rounding takes from the gap is shared out.
    parts += (above - below - parts.sum()) * sizes / (sizes.sum() or 1.0)
    return Explanation(
        features=schema.feature_names,
        first=first,
        second=second[0] if second else None,
        shares=parts,
        scores=(above, below),
        names=(names[0], names[1] if second else "the mean of its list"),
    )


def _find_rows(
    ranker: BoostedRanker,
    X: TableLike,
    requested: Mapping[str, object],
    queries: Queries,
    *,
    query: object,
    docid: Any,
) -> tuple[list[int], list[str]]:
    """Find the rows of documents of one query, and the documents' names.

    They are requested by name with `docid`; else by rank from 1 with `query`; else by row.
    """
    rows = np.arange(queries.n_documents)
    if query is not None:
        known = queries.id_list
        try:
            ((query_number,),) = find_matches([query], known)
        except (TypeError, ValueError):  # of what is no id, of no query's, or of several
            raise ArgumentError(
                "query",
                f"must be one of the {len(known)} queries of X, such as {known[0]!r}",
                quoted(query),
            ) from None
        rows = queries.rows(query_number)
    if docid is not None:
        chosen = _rows_by_name(requested, rows, document_names(docid, queries))
        names = [str(name) for name in requested.values()]
    else:
        first, kind = 0, "row"
        if query is not None:
            first, kind = 1, "rank"
            rows = by_rank(rows, ranker.predict(take_rows(X, rows)))
        numbers = [
            check_integer(number, name, first, len(rows) - 1 + first)
            for name, number in requested.items()
        ]
        chosen = [int(rows[number - first]) for number in numbers]
        names = [f"{kind} {number}" for number in numbers]
    if len({*queries.index[chosen].tolist()}) > 1:
        ids = queries.id_list
        raise ArgumentError(
            " and ".join(requested),
            "must be of the same query",
            " and ".join(repr(ids[queries.index[row]]) for row in chosen),
        )
    return chosen, names


def _rows_by_name(requested: Mapping[str, object], rows: Positions, names: list[Any]) -> list[int]:
    matches = find_matches([*requested.values()], [names[row] for row in rows], str)
    for (argument, name), matching in zip(requested.items(), matches, strict=True):
        if len(matching) != 1:
            unit = "document of the query" if matching else "document"
            raise ArgumentError(
                argument,
                f"must be the name of one {unit}",
                f"{quoted(name)}, which {len(matching)} rows have",
            )
    return [int(rows[index]) for (index,) in matches]


def _shares(
    ranker: BoostedRanker | PretrainedRanker, features: Features, n_jobs: int | None
) -> Matrix:
    """Compute what each feature adds to the score of each row, and the mean score."""
    with interrupts_held():
        shares = ranker._model.contributions(features, usable_threads(check_jobs(n_jobs)))
    if (init := ranker.init_) is None:
        return shares
    schema = ranker._schema
    inner = init._schema
    if isinstance(init, PretrainedRanker) and schema.categories and not inner.categories:
        raise ArgumentError(
            "init",
            "must be a GBRanker to explain scores with categories, whose codes a booster hides",
            quoted(init),
            " Train on codes of your own, as numbers, or explain the booster by itself.",
        )
    columns = inner.columns_in(schema)
    shares[:, [*columns, -1]] += _shares(init, inner.convert(features, schema), n_jobs)
    return shares


def _values(schema: Schema, features: Features) -> list[list[Any]]:
    """List the values of all features, categories included."""
    values: list[list[Any]] = as_dense(features).tolist()
    for column, known in schema.categories.items():
        for row in values:
            row[column] = None if np.isnan(row[column]) else known[int(row[column])]
    return values
