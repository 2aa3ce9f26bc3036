"""The comparison of scores alone: nothing is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.checks import check_choice, check_number, quoted
from gbrank.data.documents import Documents
from gbrank.data.ids import as_list
from gbrank.data.lookup import warn_of_repeats
from gbrank.data.queries import Queries
from gbrank.evaluation.comparison import Comparison
from gbrank.evaluation.cross_validation import check_measures
from gbrank.evaluation.query_values import QueryValues, query_values
from gbrank.evaluation.scorable import scores_from
from gbrank.fit.arguments import Ids
from gbrank.measures.judges import PEOPLE, of_y, with_judge
from gbrank.measures.measure_registry import Metric, get_measures


def compare_scores(
    scores: Mapping[str, Any],
    y: ArrayLike,
    qid: Ids | None = None,
    *,
    group: ArrayLike | None = None,
    metric: Metric | Sequence[Metric] = "ndcg@10",
    baseline: str | None = None,
    judged_by: ArrayLike | None = None,
    labels: Mapping[str, ArrayLike] | None = None,
    X: Any = None,
    docid: ArrayLike | Sequence[Any] | None = None,
    difference: float = 0.01,
    name: str = "data",
) -> Comparison:
    """Compare scores of the same documents: means, intervals, paired tests.

    Nothing is trained. What is compared are arrays of scores, or whatever else `scores_from` takes.

    With `judged_by`, y are people's labels of some queries, taken at random, and `judged_by` those
    of a judge, such as a language model, of all. Means and differences are then by people's labels,
    made more certain by the judge's (prediction-powered inference): a judge that errs costs width,
    not truth. The slope on the judge is shrunk as few queries of people demand, intervals are of t
    with n − 2 degrees of freedom, and never wider than those of people's labels alone; the summary
    says how many more queries of people the judge is worth.

    Parameters
    ----------
    scores : mapping of str to scores
        By name: an array with one score per row, or a model, its file, a column of X, a TREC run.
    y : array-like, shape (n_documents,)
        Labels, at least 0; with `judged_by`, NaN in queries that people have not judged.
    qid, group
        The queries, as for `GBRanker.fit`; with neither, all rows are one query.
    metric : str, Measure, callable, or sequence of them
        What is compared.
    baseline : str, optional
        What the others are compared with; the first by default.
    judged_by : array-like, shape (n_documents,), optional
        Labels by a judge, for all documents.
    labels : mapping of str to array-like, optional
        Other labels, which a metric may name.
    X : array-like, sparse matrix or data frame, optional
        What models and columns need.
    docid : array-like, shape (n_documents,), optional
        What documents are called in TREC runs.
    difference : float
        The summary says how many queries it takes to tell a difference of this size.
    name : str
        What the data are called.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable.

    References
    ----------
    A. Angelopoulos, S. Bates, C. Fannjiang, M. Jordan, T. Zrnic. Prediction-powered inference.
    Science 382, 2023; A. Angelopoulos, J. Duchi, T. Zrnic. PPI++: efficient prediction-powered
    inference. arXiv:2311.01453, 2023.

    Examples
    --------
    >>> from gbrank import compare_scores, make_cubic
    >>> X, y, qid = make_cubic(60, n_documents=10, random_state=0)
    >>> found = compare_scores({"live": X[:, 0], "new": X[:, 0] + X[:, 1]}, y, qid, metric="map")
    >>> row = found.summary()[1]
    >>> row.ranker, row.n_queries, row.difference_low < row.difference < row.difference_high
    ('new', 60, True)
    """
    texts = isinstance(scores, Mapping) and all(isinstance(key, str) for key in scores)
    if not texts or not scores:
        raise ArgumentError("scores", "must be a dict of name to scores", quoted(scores))
    measures = get_measures(metric, "metric")
    check_number(difference, "difference", 0, open_low=True)
    first = next(iter(scores))
    baseline = check_choice(first if baseline is None else baseline, "baseline", list(scores))
    queries = Queries.resolve(np.size(y), qid, group)
    data: dict[str, Any] = {"y": y, "labels": labels}
    if judged_by is not None:
        data = with_judge(y, judged_by, queries, labels)
    rows = Documents.checked(X, queries=queries, **data)
    decided_by = measures
    if judged_by is not None:
        decided_by = [replace(measure, label=PEOPLE) for measure in map(of_y, measures)]
    check_measures(decided_by, rows)
    warn_of_repeats(docid, queries)
    by_ranker = []
    for ranker, source in scores.items():
        with found_in(f"scores[{ranker!r}]: "):
            vector = scores_from(source, X, qid=queries.ids[queries.index], docid=docid)
        by_ranker.append(query_values(measures, rows, vector))
    values = {key: np.array([[item[key]] for item in by_ranker]) for key in by_ranker[0]}
    folds, unknown = np.ones(queries.n_queries, np.int64), np.full((len(scores), 1, 1), np.nan)
    parts = {"test": QueryValues(as_list(queries.ids), folds, values)}
    names = list(map(str, measures))
    return Comparison(name, list(scores), [0], names, parts, unknown, unknown, baseline, difference)
