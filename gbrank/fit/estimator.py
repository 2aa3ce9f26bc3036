"""The base class of rankers: ranks, the score, saving, and attributes after a fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import asdict, fields
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Vector,
    as_json,
    check_integer,
    error_context,
    plain,
    queries_needed,
    quoted,
)
from gbrank.common.files import StrPath
from gbrank.common.runtime import interrupts_held
from gbrank.data.documents import Documents, Labels, split_columns
from gbrank.data.queries import Queries, QueryWeights
from gbrank.data.schema import Schema

from .arguments import Ids, TableLike, take_named_columns, take_queries
from .fitted import Fitted, Published
from .known_elsewhere import check_keywords
from .storage import FILE, Saved, read_saved, restoring, write_saved

if TYPE_CHECKING:  # measures are compiled code: who only loads a ranker need not wait for numba
    from typing_extensions import Self

    from gbrank.measures.measure import Measure
    from gbrank.measures.measure_registry import Metrics

    class BaseEstimator:
        """The methods of scikit-learn's base class that rankers use, with types."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters."""

        def set_fit_request(self, **requests: bool | str | None) -> Self:
            """Set what metadata routing passes to `fit`."""

        def set_score_request(self, **requests: bool | str | None) -> Self:
            """Set what it passes to `score`."""

else:
    from sklearn.base import BaseEstimator

F = TypeVar("F", bound=Fitted)
T = TypeVar("T", bound="BaseRanker[Any]")

LARGEST_SEED = 2**31 - 1
WEIGHTS = {"sample_weight": True, "query_weight": True}  # requested by metadata routing


class BaseRanker(ABC, BaseEstimator, Generic[F]):
    """Base class of rankers: estimators that give every document of a query a score.

    A subclass has the methods `fit` and `predict`, and the parameter `eval_metric`, unless it
    overrides `_measures`.

    Queries and weights are requested by default: where scikit-learn's metadata routing is enabled,
    pipelines, searches and cross-validation pass them on to `fit` and `score`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, **WEIGHTS}

    _allows_missing = False  # NaN in X
    _makes: ClassVar[type[Fitted]]  # what `fit` publishes
    eval_metric: Metrics
    _published: F | None = None  # what the last fit has made
    _schema = Published[Schema]()

    @abstractmethod
    def fit(self: T, X: TableLike, y: ArrayLike, qid: Ids | None = None) -> T:
        """Train the ranker; return itself."""

    @abstractmethod
    def predict(self, X: TableLike) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)

        Returns
        -------
        ndarray, shape (n_documents,)
        """

    def _predicted(self, X: TableLike, qid: Ids | None, group: Any = None) -> Vector:
        """Return the score of each row, for rankers whose scores depend on queries, too."""
        return self.predict(X)

    def _to_saved(self) -> Saved:
        """Return what `save` writes."""
        return self._description(self._fitted)

    @classmethod
    def _from_saved(cls: type[T], saved: Saved, **others: Any) -> T:
        """Return the ranker that `_to_saved` gave; `others` are fields that are not saved as such.

        A subclass whose `fit` publishes more overrides it.
        """
        ranker = cls(**saved["params"])
        schema = Schema.restored(saved["schema"])
        ranker._published = cls._makes.restored(saved["fitted"], schema=schema, **others)
        return ranker

    def rank(
        self, X: TableLike, qid: Ids | None = None, *, group: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Return the position of each row within its query, from 1.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
        qid : array-like, shape (n_documents,), optional
            The query of each row.
        group : array-like of int, shape (n_queries,), optional
            Sizes of consecutive queries; with neither, all rows are one query.

        Returns
        -------
        ndarray of int64, shape (n_documents,)
            Equal scores take the order of the rows.
        """
        X, named = take_named_columns(X, {"qid": qid})
        scores = np.asarray(self._predicted(X, named["qid"], group))
        if len(scores) == 0:
            return np.empty(0, dtype=np.int64)
        queries = Queries.resolve(len(scores), named["qid"], group)
        best_first = np.lexsort((-scores, queries.index))
        ranks = np.empty(len(scores), dtype=np.int64)
        ranks[best_first] = queries.places + 1
        return ranks

    def score(
        self,
        X: TableLike,
        y: ArrayLike | str,
        qid: Ids | None = None,
        *,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        query_weight: QueryWeights | str | None = None,
        labels: Labels | None = None,
        judge_labels: ArrayLike | None = None,
    ) -> float:
        """Return the mean over queries of the first measure that the ranker is judged by.

        Parameters
        ----------
        X, y, qid, group
            As for `fit`.
        sample_weight : array-like, shape (n_documents,), optional
            Document weights; a query weighs their mean.
        query_weight : array-like, shape (n_queries,), or mapping of query to weight, optional
            As for `fit`; splits of cross-validation need a mapping.
        labels : mapping of str to array-like, or list of str, optional
            As for `fit`; needed where the measure names one.
        judge_labels : array-like, shape (n_documents,), optional
            Labels by a judge, such as a language model, for all documents; y is then NaN in queries
            that people have not judged, and the mean is that of `compare_scores`, without weights.

        Returns
        -------
        float
        """
        if qid is None and group is None:
            raise queries_needed("score", "qid= (one query id per row) or group= (query sizes)")
        X, labels = split_columns(X, labels)
        from gbrank.measures import judges
        from gbrank.measures.measure import bind_to_rows

        named = {
            "y": y,
            "qid": qid,
            "group": group,
            "sample_weight": sample_weight,
            "query_weight": query_weight,
            "labels": labels,
        }
        X, columns = take_named_columns(X, named)
        scores = np.asarray(self._predicted(X, columns["qid"], group))
        queries = take_queries(columns, len(scores))
        measure = self._measures()[0]
        by_position = measure.with_positions(self._schema)
        features = None if by_position is measure else self._schema.transform(X)
        if judge_labels is not None:
            if sample_weight is not None or query_weight is not None:
                raise ArgumentError("judge_labels", "must not be combined with weights")
            columns = judges.with_judge(columns["y"], judge_labels, queries, labels)
        documents = Documents.checked(features, queries=queries, **columns)
        if judge_labels is None:
            return bind_to_rows(by_position, documents).mean(scores)
        values = judges.both_values(by_position, documents, scores)
        return judges.powered_mean(*values, judges.queries_of_people(documents)).mean

    def save(self, path: StrPath) -> None:
        """Write the model to a folder, as one JSON file.

        At any time the folder holds a whole model, the one before or this one, even if the saving
        process is killed or several processes save.

        Parameters
        ----------
        path : path
            The folder; made if it does not exist. A model that it holds is replaced.

        Raises
        ------
        TypeError
            If `init` gave a ranker of a class of your own.

        Examples
        --------
        >>> import tempfile
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
        >>> ranker = GBRanker(n_estimators=5).fit(X, y, qid=qid)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ranker.save(folder)
        ...     same = GBRanker.load(folder)
        >>> bool((same.predict(X) == ranker.predict(X)).all())
        True
        """
        write_saved(path, self._to_saved())

    @classmethod
    def load(cls: type[T], path: StrPath) -> T:
        """Read a model that `save` wrote; it predicts even if its objective is not registered.

        Parameters
        ----------
        path : path
            The folder.

        Returns
        -------
        BaseRanker
            An instance of this class.

        Raises
        ------
        FileNotFoundError, ValueError
            As `load_ranker`; also if the model is of another class.
        """
        saved = read_saved(path)
        name = saved["estimator"]
        if name != cls.__name__:
            raise ValueError(
                f"{Path(path) / FILE} must hold a {cls.__name__}, got a {name}: use {name}.load."
            )
        with restoring(path, saved):
            return cls._from_saved(saved)

    @property
    def n_features_in_(self) -> int:
        """How many features there are."""
        return self._schema.n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, where X was a data frame."""
        names = self._schema.names
        if names is None:
            raise AttributeError("feature_names_in_ is there where X was a data frame in fit.")
        return np.array(names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit has ended."""
        return self._published is not None

    @property
    def _fitted(self) -> F:
        if self._published is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return self._published

    def _publish(self: T, fitted: Fitted) -> T:
        """Let everybody see what a fit has made, at once; return the ranker."""
        with interrupts_held():  # the destructor of an earlier model would lose a Ctrl-C
            self._published = fitted
        return self

    def _frozen(self: T) -> T:
        """Return a ranker with the same parameters, which nobody else can change."""
        frozen = copy(self)  # by fields: the constructor of a subclass may take others
        for declared in fields(self):  # type: ignore[arg-type]
            setattr(frozen, declared.name, plain(getattr(self, declared.name)))
        return frozen

    def set_params(self: T, **params: Any) -> T:
        """Set parameters by name; return the ranker."""
        # Of another's parameter, its owner counts.
        values = {name.partition("__")[0]: value for name, value in params.items()}
        known = self.get_params(deep=False)
        check_keywords(type(self).__name__, "parameter", values, known, ValueError)
        return super().set_params(**params)  # type: ignore[misc]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Name the parameters, those too that a subclass takes as ``**kwargs``."""
        names = {*super()._get_param_names()}  # type: ignore[misc]
        kinds = {parameter.kind for parameter in signature(cls.__init__).parameters.values()}
        if Parameter.VAR_KEYWORD in kinds:
            names |= {declared.name for declared in fields(cls)}  # type: ignore[arg-type]
        return sorted(names)

    def _description(self, fitted: F) -> Saved:
        """Return what a saved model says of any ranker, given what its fit has published."""
        params = self.get_params(deep=False).items()
        return {
            "estimator": type(self).__name__,
            "params": {
                name: as_json(value) for name, value in params if not isinstance(value, BaseRanker)
            },
            "schema": asdict(fitted.schema),
            "fitted": fitted.to_json(),
        }

    def _measures(self) -> list[Measure]:
        from gbrank.measures.measure_registry import get_measures

        return get_measures(self.eval_metric, "eval_metric")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what data the ranker takes."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_missing
        tags._skip_test = True  # scikit-learn's checks call fit without queries
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Tell scikit-learn before 1.6 the same."""
        return {"requires_y": True, "allow_nan": self._allows_missing, "_skip_test": True}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Show what differs from the defaults; each ranker of a chain once."""
        params = self.get_params(deep=False)
        for name, value in params.items():
            if isinstance(value, BaseEstimator):
                params[name] = _Shown(repr(value))
        # scikit-learn breaks the lines of those only that have its own repr.
        methods = {"__repr__": BaseEstimator.__repr__}
        shown = type(type(self).__name__, (type(self),), methods)(**params)
        return str(shown.__repr__(N_CHAR_MAX))


class _Shown(str):
    """The text of an estimator that is shown inside another one, which is requested once."""

    __repr__ = str.__str__


def check_seed(state: int | np.random.RandomState | None, name: str = "random_state") -> Any:
    """Check a random state, without drawing from it."""
    if isinstance(state, int | np.integer):
        return check_integer(state, name, 0, LARGEST_SEED)
    with error_context(f"{name}: "):
        check_random_state(state)
    return state


def draw_seed(state: int | np.random.RandomState | None) -> int:
    """Draw the seed of a fit; an integer stands for itself."""
    checked = check_seed(state)
    return (
        checked if isinstance(checked, int) else check_random_state(checked).randint(LARGEST_SEED)
    )


def check_verbose(verbose: object, name: str = "verbose") -> bool:
    """Return whether a ranker shows progress: for 1 or True, but not 0, -1, False or None."""
    if not isinstance(verbose, int | float | None):
        raise ArgumentTypeError(name, "must be 0 or 1", quoted(verbose))
    return verbose is not None and verbose > 0
