"""Every error: what was given, as code that is run, and the argument that the message names."""

import itertools
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from scipy import sparse
from sklearn.linear_model import Ridge

import errors_of_data
import errors_of_evaluation
import errors_of_objectives
import errors_of_rankers
import gbrank
from exports import exported
from gbrank import GBRanker, LinearRanker, make_cubic
from gbrank.objectives.on_label import OnLabel
from gbrank.schedules import constant, join, linear

# Arguments, and the code that goes wrong; X, y and qid are good.
SECTIONS = (
    errors_of_data.SECTIONS
    | errors_of_evaluation.SECTIONS
    | errors_of_objectives.SECTIONS
    | errors_of_rankers.SECTIONS
)


@dataclass(frozen=True)
class Case:
    """What was given, and what came of it."""

    argument: str
    code: str
    error: Exception | None
    text: str


def names(folder: Path) -> dict[str, Any]:
    """Return what the code of the cases may use."""
    X, y, qid = make_cubic(10, n_documents=10, n_features=3, random_state=0)
    small: dict[str, Any] = {
        "n_estimators": 2, "min_child_samples": 3,
        "random_state": 0, "n_jobs": 1,
    }  # fmt: skip
    trained = GBRanker(**small).fit(X, y, qid=qid)
    frame = pd.DataFrame({"size": X[:, 0], "colour": pd.Categorical(["red", "blue"] * 50)})
    made = iter(range(1000))

    def new(name: str) -> Path:
        path = folder / str(next(made)) / name
        path.parent.mkdir()
        return path

    def written(content: str | bytes) -> Path:
        path = new("train.txt")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def saved(name: str, change: Any) -> Path:
        path = new("model")
        trained.save(path)
        (file,) = path.glob(name)
        file.write_text(change(file.read_text()))
        return path

    def begun(change: Any = None) -> Path:
        path = new("checkpoint")
        GBRanker(**{**small, "min_child_samples": 20}).fit(X, y, qid=qid, checkpoint=path)
        if change is not None:
            file = path / "checkpoint.gbrank"
            file.write_bytes(change(file.read_bytes()))
        return path

    def damaged() -> Any:
        matrix = sparse.csr_matrix(X)
        matrix.indices[0] = -1
        return matrix

    def fit(**columns: Any) -> GBRanker:
        return GBRanker().fit(X, y, qid=qid, **columns)

    def fit_with(*objective: Any, **params: Any) -> GBRanker:
        return GBRanker(*objective, **params).fit(X, y, qid=qid)

    def cross_validated(**options: Any) -> Any:
        return gbrank.cross_validate_rankers({"a": GBRanker()}, X, y, qid, **options)

    on_frame = GBRanker(**small).fit(frame, y, qid=qid)
    own = {name: value for name, value in locals().items() if name not in ("made", "new", "small")}
    own["OnLabel"] = OnLabel
    own |= {"constant": constant, "join": join, "linear": linear}
    own |= {"Q": gbrank.Queries.from_qid(qid), "sparse": sparse}
    own |= {"np": np, "pd": pd, "duckdb": duckdb, "lgb": lgb, "xgb": xgb, "Ridge": Ridge}
    own |= {"path": new("train.txt")}
    shown = {"query": [1, 1], "document": [1, 2], "position": [1, 2], "click": [1, 0]}
    own |= {"log": pd.DataFrame(shown)}
    return {**exported(), **own, "folder": new("folder"), "LinearRanker": LinearRanker}


def told(error: Exception, folder: Path) -> str:
    """Return a message without its folder, and with the first of all known names only."""
    text = re.sub(re.escape(str(folder)) + r"/\d+/?", "", str(error))
    text = re.sub(r"(Known: |takes \[)(?s:.{20}).*", r"\1...", text)
    return re.sub(r"\s+", " ", text)


def cases() -> Iterator[Case]:
    """Run all of them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        known = names(folder)
        for argument, code in itertools.chain.from_iterable(SECTIONS.values()):
            error = None
            with np.errstate(all="ignore"):
                try:
                    exec(code, dict(known))
                except Exception as caught:
                    error = caught
            text = "" if error is None else told(error, folder)
            yield Case(argument, code, error, text)
