"""The folder of results: a file for each trial, and the ranker where it is kept."""

import functools
import hashlib
import json
import pickle
import re
from contextlib import suppress
from dataclasses import asdict, astuple, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import joblib
import numpy as np

from gbrank.common.describe import describe
from gbrank.common.files import replace_file
from gbrank.evaluation.trial import PARTS, Outcome, Scores, Task
from gbrank.ranker import GBRanker


def outcome_path(folder: Path, task: Task) -> Path:
    """Return the file of a trial; its name holds a hash of all that it depends on."""
    names = list(map(str, task.measures))  # a measure may have been named by an alias
    parts = [task.trial, task.ranker, task.measures, names, task.fold]
    try:
        digest = joblib.hash(describe([*parts, task.data.fingerprint, code_version()]))
    except (pickle.PicklingError, TypeError) as error:
        raise ValueError(
            f"results needs rankers and measures that can be pickled: {task.trial}: {error.args[0]}"
        ) from None
    label = re.sub(r"[^\w.@+-]+", "-", "_".join(map(str, astuple(task.trial))))
    return folder / f"{label[:100]}_{digest}.json"


@functools.cache
def code_version() -> list[str]:
    """Return a hash of gbrank's source, and the versions of what it trains with."""
    source = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        if file.parent.name != "commands":
            source.update(file.read_bytes())
    versions = []
    for package in ("lightgbm", "xgboost", "catboost", "numpy"):
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return [source.hexdigest(), *versions]


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Write the outcome of a trial, whole or not at all; a ranker goes into a folder beside it."""
    if outcome.ranker is not None:
        outcome.ranker.save(path.with_suffix(""))
    content = asdict(replace(outcome, ranker=None))
    replace_file(path, json.dumps(content, default=np.ndarray.tolist).encode())


def read_outcome(path: Path, task: Task) -> Outcome:
    """Read what `write_outcome` wrote."""
    try:
        content = json.loads(path.read_bytes())
        for part in PARTS:
            values = {name: np.array(own, float) for name, own in content[part]["values"].items()}
            content[part] = Scores(**content[part] | {"values": values})
        ranker = GBRanker.load(path.with_suffix("")) if task.keeps_ranker else None
        return Outcome(**content | {"trial": task.trial, "ranker": ranker})
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is damaged ({error}): delete it.") from None
