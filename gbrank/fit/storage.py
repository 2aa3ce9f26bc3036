"""Saved models: a folder with one JSON file, which holds the booster too. Data only, never code."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from gbrank.boosters import BOOSTERS, Model
from gbrank.common.checks import check_choice
from gbrank.common.files import StrPath, check_local, replace_file
from gbrank.common.version import __version__

Saved: TypeAlias = dict[str, Any]  # a ranker as JSON has it; its `init` is nested in it

FILE = "gbrank.json"
FORMAT = 3


def saved_booster(model: Model) -> Saved:
    """Return a booster's part of a saved ranker."""
    return {"booster": model.booster, "model": model.dump().decode()}


def model_of(saved: Saved, n_jobs: int | None = None) -> Model:
    """Return the booster of a saved ranker, which predicts on at most so many threads."""
    name = check_choice(saved["booster"], "booster", BOOSTERS)
    return BOOSTERS[name].model.load(saved["model"].encode(), n_jobs)


def write_saved(folder: StrPath, saved: Saved) -> None:
    """Write a ranker into a folder, in place of the one that it holds."""
    check_local(folder)
    content = json.dumps({"format": FORMAT, "gbrank": __version__, **saved}, allow_nan=False)
    content = json.loads(content)  # as it will be read: keys are strings
    text = json.dumps({"sha256": _digest(content), **content}, indent=1)
    Path(folder).mkdir(parents=True, exist_ok=True)
    replace_file(Path(folder) / FILE, text.encode())


def read_saved(folder: StrPath) -> Saved:
    """Read what `write_saved` wrote."""
    path = Path(folder) / FILE
    if Path(folder).is_file():
        other = Path(folder).read_bytes()
        kind = f"a file: pass the folder that holds {FILE}"
        if other.startswith(b"\x80"):
            kind = "a pickle: load it, by joblib.load"
        for booster in BOOSTERS.values():
            if booster.file.match(other):
                hint = "load it with the library, or pass it as init= or to export_model"
                kind = f"a model file of {booster.title}: {hint}"
        raise FileNotFoundError(f"{folder} is {kind}.")
    if not path.is_file():
        raise FileNotFoundError(f"no model in {folder}: it must hold {FILE}.")
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        content = None
    saved = content if isinstance(content, dict) else {"format": FORMAT}  # which has no checksum
    if (version := saved.get("format")) != FORMAT:
        raise ValueError(
            f"{path} has format {version!r}; this gbrank reads format {FORMAT}. Train the ranker "
            "again, or load it with the version that saved it."
        )
    if saved.pop("sha256", None) != _digest(saved):
        raise ValueError(f"{path} is damaged: its content has changed. Save the model again.")
    return saved


@contextmanager
def restoring(folder: StrPath, saved: Saved) -> Iterator[None]:
    """Explain errors in restoring a folder's content: another gbrank wrote it."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = str(error).partition(". ")[0]
        raise ValueError(
            f"{Path(folder) / FILE} was saved by another version of gbrank, {saved['gbrank']}: "
            f"{reason}. Train the ranker again, or load it with that version."
        ) from None


def _digest(saved: Saved) -> str:
    return hashlib.sha256(json.dumps(saved, sort_keys=True).encode()).hexdigest()
