"""Data of a report: documents and models with values of queries; what describes them."""

import platform
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from itertools import chain, groupby, zip_longest
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import stats

from gbrank.common.checks import Matrix, Positions, Vector, as_json
from gbrank.common.table import number_names
from gbrank.common.version import __version__
from gbrank.data.documents import Documents, take_rows
from gbrank.data.feature_matrix import Features, dense_column
from gbrank.data.frames import as_frame
from gbrank.data.lookup import by_rank, count_repeated_names, count_repeated_rows, of_all
from gbrank.data.schema import Schema
from gbrank.evaluation import statistics
from gbrank.evaluation.comparison import Comparison, Row
from gbrank.fit.best_feature import best_feature, difference_of
from gbrank.fit.pretrained import PretrainedRanker
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.plots.fitted_ranker import learning_curves
from gbrank.ranker import GBRanker, of_booster

from . import page
from .page import NONE

MOST_GROUPS = 10
SAMPLE = 500  # documents whose scores are explained, at 3 ms each
SHOWN = 20  # features, and parameters; the others are folded away
MOST_FEATURES = 200  # in a table
LISTS = 500  # queries in which features are shuffled
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "matplotlib")


@dataclass(frozen=True, eq=False)
class ReportData:
    """Documents, and one model or two; their labels are a judge's where people have none."""

    rows: Documents  # with the columns that the first model sees
    schema: Schema  # of the first model's columns
    features: Features  # what it sees
    training: Features | None  # what it saw in training
    names: Sequence[str]  # of the models
    rankers: Sequence[Any]  # None where there are scores alone
    scores: Sequence[Vector]
    measures: Sequence[Measure]  # the first decides
    comparison: Comparison  # with the second model, if there are two
    values: Matrix  # of queries by the first measure, a row for each model; NaN for none
    by: dict[str, Sequence[Any]]  # values of columns, one a query
    documents: Sequence[Any]  # what they are called, in a column of this name; or their rows
    docid: str | None

    @property
    def main(self) -> Row:
        """The first model by the measure that decides."""
        return self.comparison.blocks()[0][0]

    @property
    def kinds(self) -> list[str]:
        """The class of each model."""
        return [NONE if ranker is None else type(ranker).__name__ for ranker in self.rankers]

    @cached_property
    def label_names(self) -> dict[float, str]:
        """The names of labels, in order."""
        labels = np.unique(self.rows.y).tolist()
        return dict(zip(labels, number_names(labels), strict=True))

    @cached_property
    def n_relevant(self) -> Positions:
        """How many documents of each query have a label above 0."""
        return self.rows.queries.count(self.rows.y > 0)

    def orders(self, query: int) -> list[Positions]:
        """Order the rows of a query by each model."""
        rows = self.rows.queries.rows(query)
        return [by_rank(rows, scores[rows]) for scores in self.scores]

    @cached_property
    def trees(self) -> GBRanker | None:
        """The first model, or the trees of the booster that it is; None if it has none."""
        ranker = self.rankers[0]
        if isinstance(ranker, PretrainedRanker):
            with suppress(ValueError):  # of boosters that are no sum of trees
                ranker = of_booster(ranker)
        return ranker if isinstance(ranker, GBRanker) else None

    def shares(self, rows: Positions) -> Matrix:
        """Compute what each feature adds to the first model's scores of some rows."""
        if self.trees is None:
            raise ValueError("it has no trees")
        return self.trees.explain(take_rows(self.rows.X, rows))[:, :-1]

    @cached_property
    def moved(self) -> Vector | str:
        """The mean move of a first model's score by each feature, or why it is not known."""
        n = self.rows.queries.n_documents
        sample = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False))
        try:
            return np.abs(self.shares(sample)).mean(axis=0)
        except ValueError as error:  # without trees, or of an `init` that cannot be explained
            return str(error)


def groups(values: Sequence[Any]) -> tuple[list[str], Positions]:
    """Group values, and name the groups; None is missing.

    Numbers are in order of size, and in few ranges if many differ; texts in order of frequency.
    """
    counts = Counter(value for value in values if value is not None)
    if all(type(value) in (int, float) for value in counts):
        names, codes = _ranges(counts)
    else:
        texts = [text for text, _ in counts.most_common()]
        shown = texts if len(texts) <= MOST_GROUPS + 1 else texts[:MOST_GROUPS]
        alike = Counter([*map(str, shown), "missing"])  # 1 and "1" are two groups
        names = [repr(text) if alike[str(text)] > 1 else str(text) for text in shown]
        if others := texts[len(shown) :]:
            names.append(f"{len(others):,} others")
        codes = {text: min(code, len(shown)) for code, text in enumerate(texts)}
    if None in values:
        codes[None] = len(names)
        names.append("missing")
    return names, np.array([codes[value] for value in values])


def _ranges(counts: Counter[Any]) -> tuple[list[str], dict[Any, int]]:
    """Group numbers in ranges, and name these.

    Few numbers are by themselves; of many, 0 is apart, and others are in quarters.
    """
    values = sorted(counts)
    tops = values
    if len(values) > MOST_GROUPS:
        others = [value for value in counts.elements() if value]
        tops = np.quantile(others, [0.25, 0.5, 0.75, 1.0], method="lower").tolist()
        if 0 in counts:
            tops += [value for value in values if value <= 0][-2:]
    tops = sorted({*tops})
    codes = {value: bisect_left(tops, value) for value in values}
    parts = [list(part) for _, part in groupby(values, codes.get)]
    called = iter(number_names([part[end] for part in parts for end in (0, -1)]))
    names = [" to ".join(dict.fromkeys(pair)) for pair in zip(called, called, strict=True)]
    return names, codes


def best(judged: ReportData) -> dict[str, Any]:
    """Compare with the best single feature, if there is one."""
    seen = replace(judged.rows, X=judged.features)
    if (feature := best_feature(judged.schema, seen, seen, judged.measures[0])) is None:
        return {}
    difference = difference_of(judged.values[0], feature.values)
    return {"name": feature.name, "difference": difference}


def importances(judged: ReportData) -> list[tuple[Any, ...]]:
    """List features: name, share of the gain, mean |SHAP|, and the change if it is shuffled.

    The change is that of the measure, with its interval, if values are shuffled within queries.
    """
    if judged.trees is None:
        return []
    gains = judged.trees.feature_importances_
    moved = np.full(len(gains), np.nan) if isinstance(judged.moved, str) else judged.moved
    names = judged.schema.feature_names
    order = np.lexsort((-gains, -np.nan_to_num(moved)))
    rng = np.random.default_rng(0)
    rows = judged.rows.take_queries(rng.permutation(judged.rows.queries.n_queries) < LISTS)
    queries = rows.queries
    others = np.empty(queries.n_documents, np.int64)  # of the same query
    others[queries.order] = np.lexsort((rng.random(queries.n_documents), queries.index))
    bound = bind_to_rows(judged.measures[0], rows)
    shuffled = (_with_values_of(rows.X, names[i], i, others) for i in order[:SHOWN])
    tables = chain([rows.X], shuffled)  # one at a time: tables may be large
    values = [bound.per_query(judged.rankers[0]._predicted(table, queries.qid)) for table in tables]
    means = statistics.means(statistics.common_queries(np.array(values)), reference=0)
    changes = list(zip(*means[3:], strict=True))[1:]
    return [(names[i], gains[i], moved[i], change) for i, change in zip_longest(order, changes)]


def _with_values_of(X: Any, name: str, column: int, rows: Positions) -> Any:
    """Copy a table, with the values that a column has in other rows."""
    if (frame := as_frame(X)) is not None:
        return frame.with_columns(frame[name][rows]).to_native()
    matrix = X if hasattr(X, "shape") else np.asarray(X)
    parts = [matrix[:, :column], matrix[:, [column]][rows], matrix[:, column + 1 :]]
    return sp.hstack(parts, format="csr") if sp.issparse(X) else np.hstack(parts)


def curves(judged: ReportData) -> Any:
    """Draw measures by round; None of a model without rounds, empty if nothing was measured."""
    ranker = judged.rankers[0]
    if not (results := getattr(ranker, "evals_result_", None)):
        return results
    picture = page.picture(lambda axes: learning_curves(ranker, ax=axes))
    return {"picture": picture, "table": results._table()}


def data(judged: ReportData) -> dict[str, Any]:
    """Describe the documents, labels, and features, also beside training's."""
    rows = judged.rows
    queries = judged.rows.queries
    if judged.docid is None:
        repeats = count_repeated_rows(judged.features, queries.index, rows.y)
    else:
        repeats = count_repeated_names(judged.documents, queries)
    names, codes = groups(rows.y.tolist())
    return {
        "median": np.median(queries.sizes),
        "repeats": of_all(repeats, queries),
        "labels": list(zip(names, np.bincount(codes), strict=True)),
        "features": _features(judged),
    }


def _features(judged: ReportData) -> list[tuple[float, str, list[tuple[float, float]]]]:
    """List features that drifted most first, or with most missing: shares of these, medians."""
    tables = [judged.features]
    if judged.training is not None:
        tables.append(judged.training)
    rows = []
    for column, feature in enumerate(judged.schema.feature_names):
        categorical = column in judged.schema.categorical
        samples = [dense_column(table, column) for table in tables]
        facts = []
        for values in samples:
            missing = np.isnan(values)
            median = np.nan if categorical or missing.all() else np.nanmedian(values)
            facts.append((missing.mean(), median))
        key = drift(*samples, categorical=categorical) if samples[1:] else facts[0][0]
        rows.append((key, feature, facts))
    return sorted(rows, key=lambda row: -row[0])


def drift(here: Vector, then: Vector, *, categorical: bool) -> float:
    """Compute how far two samples of a feature's values are apart, from 0 to 1."""
    samples = [np.where(np.isnan(values), -np.inf, values) for values in (here, then)]
    if not categorical:
        return stats.ks_2samp(*samples, method="asymp").statistic
    sides = np.repeat([0, 1], [len(values) for values in samples])
    counts = stats.contingency.crosstab(np.concatenate(samples), sides).count
    return np.abs(np.diff(counts / counts.sum(axis=0))).sum() / 2


def parameters(judged: ReportData) -> list[tuple[str, list[str], bool]]:
    """List the parameters of each model, and whether they differ; those that do come first."""
    params = []
    for ranker in judged.rankers:
        says = hasattr(ranker, "get_params") and not isinstance(ranker, PretrainedRanker)
        values = ranker.get_params(deep=False) if says else {}
        params.append({key: page.name(as_json(value)) for key, value in values.items()})
    rows = []
    for key in dict.fromkeys(chain(*params)):
        texts = [values.get(key, NONE) for values in params]
        rows.append((key, texts, len({*texts}) > 1))
    return [("class", judged.kinds, False), *sorted(rows, key=lambda row: not row[2])]


def versions(judged: ReportData) -> list[tuple[str, str]]:
    """List the versions of what computed the page."""
    boosters = {ranker.booster for ranker in judged.rankers if isinstance(ranker, GBRanker)}
    rows = [("gbrank", __version__), ("Python", platform.python_version())]
    return rows + [(library, version(library)) for library in (*sorted(boosters), *LIBRARIES)]
