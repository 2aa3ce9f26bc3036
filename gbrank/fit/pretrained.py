"""Rankers from models that LightGBM or XGBoost trained."""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
from numpy.typing import ArrayLike

from gbrank.boosters import BOOSTERS, Model, recognise
from gbrank.common.checks import Vector, as_json
from gbrank.data.frames import as_frame
from gbrank.data.schema import Schema

from .arguments import TableLike
from .chain import Link, check_readable, scores_of
from .estimator import BaseRanker
from .fitted import Fitted
from .storage import Saved, model_of, saved_booster

if TYPE_CHECKING:
    from gbrank.measures.measure_registry import Metrics

NAMED_BY_PLACE = re.compile(r"Column_\d+")  # by LightGBM, where X was no frame
TEXTS = nw.String, nw.Categorical, nw.Enum
NATIVE = ("pandas", "pyarrow", "scipy", "numpy")  # packages whose tables both boosters read


@dataclass(eq=False, repr=False)
class PretrainedRanker(BaseRanker[Fitted]):
    """Ranker from a booster: its scores are what LightGBM or XGBoost predicts, untransformed.

    What `GBRanker` makes of an `init` that one of these libraries trained. There is nothing left
    to fit: `fit` and cloning give the same ranker.
    """

    _allows_missing = True
    init_ = None

    booster: Any
    _: KW_ONLY
    eval_metric: Metrics = "ndcg@10"

    def fit(self, X: TableLike, y: ArrayLike, qid: ArrayLike | None = None) -> PretrainedRanker:
        """Do nothing: the model is trained."""
        return self

    def predict(self, X: TableLike) -> Vector:
        """Return the score of each row; higher ranks earlier within its query."""
        return scores_of(self._links(), X)

    @property
    def _model(self) -> Model:
        """The booster behind the interface of boosters."""
        if (recognised := recognise(self.booster)) is None:
            titles = " or ".join(known.title for known in BOOSTERS.values())
            raise TypeError(f"booster must be one of {titles}, got {self.booster!r}.")
        return recognised

    def _links(self) -> list[Link]:
        return [Link(None, self._native_scores)]

    def _native_scores(self, X: TableLike) -> Vector:
        """Score rows as the library itself does, and texts that it would not read."""
        package = type(X).__module__.split(".")[0]
        types = getattr(as_frame(X), "schema", {}).values()
        texts = (nw.String,) if package == "pandas" else TEXTS  # both read its categories
        if any(dtype in texts for dtype in types):
            if not self._schema.categories:
                raise ValueError(
                    "X must be a frame of pandas with the categories of training, which this "
                    "booster does not tell, got texts."
                )
            return self._model.predict(self._schema.transform(X), n_jobs=1)
        return self._model.predict_native(X if package in NATIVE else Schema.learn(X).transform(X))

    def _served(self, schema: Schema | None) -> list[Link]:
        """Return the booster as a chain of one that reads the columns of a ranker, or its own."""
        if self._schema.categories:
            schema = self._schema
        else:
            check_readable(schema, type(self).__name__)
        return [Link(schema, partial(self._model.predict, n_jobs=1))]

    @property
    def _schema(self) -> Schema:  # type: ignore[override]
        """The columns that the booster was trained on."""
        schema = self._model.schema()
        by_place = all(NAMED_BY_PLACE.fullmatch(name) for name in schema.names or ())
        return replace(schema, names=None) if by_place else schema

    def _to_saved(self) -> Saved:
        """Describe what `save` writes."""
        schema = self._schema
        return {
            "estimator": type(self).__name__,
            "params": {"eval_metric": as_json(self.eval_metric)},
            "schema": asdict(schema) if schema.categories else {},
            "fitted": {},
            **saved_booster(self._model),
        }

    @classmethod
    def _from_saved(cls, saved: Saved) -> PretrainedRanker:  # type: ignore[override]
        """Restore the ranker that `_to_saved` described."""
        return cls(model_of(saved).native, **saved["params"])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> PretrainedRanker:
        """Return itself, since there is no training it again."""
        return self


def as_pretrained(model: object) -> Any:
    """Make a ranker of a trained model of LightGBM or XGBoost; leave anything else as it is."""
    recognised = recognise(model)
    return model if recognised is None else PretrainedRanker(recognised.native)


def pretrained_of_file(path: Path, content: bytes | None = None) -> PretrainedRanker | None:
    """Read the ranker in a file of a booster's library; None if it is no such file."""
    content = path.read_bytes() if content is None else content
    for booster in BOOSTERS.values():
        if booster.file.match(content):
            try:
                return PretrainedRanker(booster.model.read_file(content).native)
            except ValueError as error:
                raise ValueError(
                    f"{path}: expected a whole {booster.title} model, got one that was cut or "
                    f"edited: {error}"
                ) from None
    return None
