"""Scores of models of any library and their files, of columns, arrays and runs; their scorer."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from gbrank.common.checks import ArgumentError, Vector, check_scores, queries_needed, quoted
from gbrank.common.files import is_path
from gbrank.data.feature_matrix import n_rows
from gbrank.data.frames import as_frame
from gbrank.data.ids import find_matches, key_of
from gbrank.data.queries import Queries, QueryWeights
from gbrank.data.text_files import STDIN, read_bytes
from gbrank.data.trec import RUN, Run, is_in_memory, parse_lines, read_qrels
from gbrank.fit.arguments import Ids
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.pretrained import PretrainedRanker, as_pretrained, pretrained_of_file
from gbrank.fit.storage import FILE
from gbrank.measures.measure import Measure, ranked_last
from gbrank.measures.measure_registry import Metric, get_measure
from gbrank.ranker import load_ranker


def scores_from(
    source: Any,
    X: Any = None,
    *,
    qid: Ids | None = None,
    group: ArrayLike | None = None,
    docid: Ids | None = None,
) -> Vector:
    """Score each row by any model, column, run or array.

    This is what `report(against=)`, `compare_scores`, `compare_rankers` and the command line take:

    - a fitted model: of gbrank, LightGBM, XGBoost, CatBoost, or anything with ``predict``; of a
      data frame it sees the columns in its ``feature_names_in_``, if it has them;
    - the folder of a model of gbrank, or the file of a booster (LightGBM's text, XGBoost's JSON or
      UBJ), identified by its content; of an early-stopped XGBRanker, as of its file, the
      rounds up to `best_iteration` count;
    - the name of a column of X;
    - a run, as `read_run` reads it from a file or from memory, with the names of the rows'
      documents as `docid`. Documents that the run lacks come last, below the others of their query;
    - an array with one score per row.

    A text is the name of a column, if X has one of this name, and else a path.

    Parameters
    ----------
    source : model, str, path or array-like, shape (n_documents,)
    X : array-like, sparse matrix or data frame, optional
        What models and columns need, shape (n_documents, n_features).
    qid, group : optional
        The queries, as for `GBRanker.fit`.
    docid : array-like, shape (n_documents,), optional
        What documents are called in TREC runs.

    Returns
    -------
    ndarray, shape (n_documents,)

    Raises
    ------
    ValueError, TypeError
        If it is none of these, does not fit the rows, or a score is not finite.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank.evaluation import scores_from
    >>> X = pd.DataFrame({"bm25": [1.5, 0.5], "price": [3.0, 4.0]})
    >>> scores_from("bm25", X)
    array([1.5, 0.5])
    """
    n = n_rows(next((values for values in (X, qid, docid) if values is not None), source))
    queries = Queries.resolve(n, qid, group)
    run = open_source(source, X)
    if not isinstance(run, Run):
        return check_scores(predicted(run, X, qid, group), n)
    rows = run.rows(docid, queries)
    known = run.by_document(queries, key_of, run.scores)
    scores = np.array([known.get(row, -np.inf) for row in rows])
    lacking = np.isneginf(scores)
    if lacking.all():
        demand = f"must name documents that {run.path} retrieved"
        _, name = rows[0]
        raise ArgumentError("docid", demand, quoted(name))
    return ranked_last(scores, lacking)


def predicted(source: Any, X: Any, qid: Any = None, group: Any = None) -> Any:
    """Predict scores, with queries by a model of gbrank; scores stay as they are."""
    if not hasattr(source, "predict"):
        return source
    if X is None:
        raise ArgumentError("X", "must be passed for a model to predict scores", "None")
    X = select_columns(source, X)
    return source._predicted(X, qid, group) if isinstance(source, BaseRanker) else source.predict(X)


def open_source(source: Any, X: Any = None, name: str = "run") -> Any:
    """Open a model, the scores of rows, or a run."""
    frame = as_frame(X)
    if isinstance(source, str) and frame is not None and source in frame.columns:
        return frame[source].to_numpy()
    if is_in_memory(source):
        return Run.read(source, name)
    if not is_path(source):
        return as_pretrained(source)
    path = Path(source)
    if path.is_dir():
        return load_ranker(path)
    if source != STDIN and not path.exists():
        kinds = "a model with predict, a file or folder of one, a TREC run, a column of X"
        raise ArgumentError("source", f"must be {kinds}, or one score per row", quoted(str(path)))
    content = read_bytes(source)
    model = pretrained_of_file(path, content)
    if model is not None:
        return model
    _check_is_run(path, content)
    return Run(path, *parse_lines(path, content, RUN))


def _check_is_run(path: Path, content: bytes) -> None:
    """Name what a file is that is no run: a saved ranker's, a pickle, an export or a dump."""
    if path.name == FILE:
        load_ranker(path)  # which asks for its folder
    if content.startswith(b"\x80"):
        raise ValueError(f"{path} is a pickle: load it, by joblib.load, and pass the model.")
    if content.lstrip().startswith((b"{", b"[")):
        with suppress(ValueError):
            json.loads(content)
            raise TypeError(
                f"{path} is JSON, but no model file of LightGBM or XGBoost: exports and dumps "
                "cannot be scored. Pass the ranker's folder, or the file of save_model; a run as "
                "{query: {document: score}}, read by json.load."
            )


def select_columns(model: Any, X: Any) -> Any:
    """Select the columns of a data frame that a model was trained on, if it says which."""
    frame: Any = as_frame(X)
    if frame is None:
        return X
    names: Any = getattr(model, "feature_names_in_", None)
    if isinstance(model, BaseRanker):
        names = model._schema.names if isinstance(model, PretrainedRanker) else None
    elif frame.implementation.is_pyarrow():
        frame = as_frame(frame.to_pandas())  # which all libraries take
    if names is not None:
        # LightGBM writes names without spaces.
        matches = find_matches(names, frame.columns, lambda name: str(name).replace(" ", "_"))
        if all(len(match) == 1 for match in matches):
            columns = [frame.columns[column] for (column,) in matches]
            frame = frame[:, columns].rename(dict(zip(columns, names, strict=True)))
    return frame.to_native()


def read_judgments(qrels: Any, judge_labels: Any) -> tuple[Vector, Any, Any, Vector | None]:
    """Read y, queries and documents of qrels, and those of a judge if there are any.

    Labels below 0 are 0. People's are NaN in queries that only the judge has.
    """
    people = _labels(qrels)
    judge = {} if judge_labels is None else _labels(judge_labels)
    queries = {query for query, _ in people}
    if judge and (lacking := sorted(queries - {query for query, _ in judge})):
        raise ArgumentError(
            "judge_labels",
            f"must hold all queries that people have judged; it lacks {len(lacking)}",
            quoted(lacking[0]),
        )
    rows = list(people | judge)
    y = [people.get(row, 0.0 if row[0] in queries else np.nan) for row in rows]
    labels = np.array([judge.get(row, 0.0) for row in rows]) if judge else None
    return np.array(y), [query for query, _ in rows], [name for _, name in rows], labels


def _labels(qrels: Any) -> dict[tuple[str, str], float]:
    labels, qid, docid = read_qrels(qrels)
    return dict(zip(zip(qid, docid, strict=True), np.maximum(labels, 0).tolist(), strict=True))


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn; made by `make_scorer`."""

    measure: Measure

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,  # scikit-learn looks for it here
        query_weight: QueryWeights | None = None,
    ) -> float:
        """Average the measure of an estimator's predictions over queries."""
        if qid is None:
            raise queries_needed(f"scorer of {self.measure}", "qid= (one query id per row)")
        return self.measure(
            y,
            predicted(estimator, X, qid),
            qid=qid,
            sample_weight=sample_weight,
            query_weight=query_weight,
            X=X,
        )

    def get_metadata_routing(self) -> MetadataRequest:
        """List the metadata that the scorer requests: queries and weights."""
        request = MetadataRequest(owner=self)
        for name in ("qid", "sample_weight", "query_weight"):
            request.score.add_request(param=name, alias=True)
        return request


def make_scorer(metric: Metric) -> Scorer:
    """Make a scorer for scikit-learn's searches and cross-validation.

    It takes any estimator that predicts scores, a regressor too, and requests qid, sample_weight
    and query_weight, which scikit-learn passes on where metadata routing is enabled.

    Parameters
    ----------
    metric : str, Measure or callable
        What the scores are judged by, such as "ndcg@10".

    Returns
    -------
    Scorer
        Callable with (estimator, X, y, qid).

    Raises
    ------
    ValueError
        If there is no such measure.

    Examples
    --------
    >>> from sklearn import config_context
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> from gbrank import make_cubic
    >>> from gbrank.evaluation import make_scorer
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> options = {"scoring": make_scorer("ndcg@10"), "params": {"qid": qid, "groups": qid}}
    >>> with config_context(enable_metadata_routing=True):
    ...     cross_val_score(Ridge(), X, y, cv=GroupKFold(4), **options).shape
    (4,)
    """
    return Scorer(get_measure(metric))
