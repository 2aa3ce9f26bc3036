"""Saved models: a folder with one JSON file and the boosters' own files. Data only, never code.

A booster's file is named by its hash. The JSON file, which names the files of the model, is
replaced last: readers find a whole model, the old one or the new one, even if a writer is killed.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from gbrank.boosters import MODELS, SUFFIXES, Model
from gbrank.common.argument_error import ArgumentError
from gbrank.common.files import is_leftover, refuse_remote, replace_file
from gbrank.common.version import __version__

T = TypeVar("T")

DESCRIPTION = "gbrank.json"
FORMAT = 2
BOOSTER_FILE = rf"model-[0-9a-f]{{16}}({'|'.join(map(re.escape, SUFFIXES.values()))})"


class Saved(NamedTuple):
    """A ranker as a folder holds it: its description, and its boosters' files by name.

    The description of `init` is nested in that of the ranker.
    """

    description: dict[str, Any]
    files: dict[str, bytes]

    def model(self, n_jobs: int | None = None) -> Model:
        """Return the booster, which predicts on at most so many threads."""
        content = self.files[self.description["model_file"]]
        return MODELS[self.description["booster"]].load(content, n_jobs)


def describe_booster(kind: str, model: Model) -> Saved:
    """Return a booster's part of a description, and its file."""
    content = model.dump()
    digest = hashlib.sha256(content).hexdigest()
    file = f"model-{digest[:16]}{SUFFIXES[kind]}"
    part = {"booster": kind, "model_file": file, "model_bytes": len(content)}
    return Saved({**part, "model_sha256": digest}, {file: content})


def is_of_model(name: str) -> bool:
    """Say whether a file's name is one that a saved model has, or has while it is written."""
    file = f"({re.escape(DESCRIPTION)}|{BOOSTER_FILE})"
    return re.fullmatch(file, name) is not None or is_leftover(name, file)


def write_saved(folder: str | os.PathLike[str], saved: Saved) -> None:
    """Write a ranker into a folder, in place of the one that it holds."""
    if not os.fspath(folder):
        raise ArgumentError("path", "must name a folder", "''")
    refuse_remote(folder)
    text = _as_text(saved.description)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    existing = {path.name for path in target.iterdir()}
    try:
        for name, content in saved.files.items():
            replace_file(target / name, content)
        replace_file(target / DESCRIPTION, text)
        unwanted = existing - saved.files.keys() - {DESCRIPTION}
    except BaseException:
        unwanted = saved.files.keys() - existing
        raise
    finally:
        for name in filter(is_of_model, unwanted):
            (target / name).unlink(missing_ok=True)


def read_saved(folder: str | os.PathLike[str]) -> Saved:
    """Read what `write_saved` wrote."""
    path = Path(folder) / DESCRIPTION
    text = _read_file(path)
    while True:
        description = _checked(path, text)
        try:
            parts = [part for part in chain_of(description) if "booster" in part]
            return Saved(description, {part["model_file"]: _content(path, part) for part in parts})
        except (OSError, ValueError):
            replaced = _read_file(path)  # another model was saved in the meantime
            if replaced == text:
                raise
            text = replaced


def restored(make: Callable[[Saved], T], path: str | os.PathLike[str], saved: Saved) -> T:
    """Return what is made of a folder's content, or say that this is damaged."""
    try:
        return make(saved)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error!r}.") from None


def _as_text(description: dict[str, Any]) -> bytes:
    content: dict[str, Any] = {"format": FORMAT, "gbrank": __version__, **description}
    content = json.loads(json.dumps(content))  # as it will be read: keys are strings
    return json.dumps({**content, "sha256": _digest(content)}, indent=1).encode()


def _digest(description: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def chain_of(description: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yield the descriptions of a ranker, of its `init`, of the init of that, and so on."""
    while description is not None:
        yield description
        description = description.get("init")


def _read_file(path: Path) -> bytes:
    if not path.is_file():
        raise FileNotFoundError(f"no model in {path.parent}: it must hold {DESCRIPTION}.")
    return path.read_bytes()


def _checked(path: Path, text: bytes) -> dict[str, Any]:
    try:
        description = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}. Save the model again.") from None
    if not isinstance(description, dict):
        raise ValueError(f"{path} is damaged: it must hold an object.")
    version = description.get("format")
    if version != FORMAT or not isinstance(version, int):
        raise ValueError(f"{path} has format {version!r}; this gbrank reads format {FORMAT}.")
    if description.pop("sha256", None) != _digest(description):
        raise ValueError(f"{path} is damaged: its content has changed. Save the model again.")
    return description


def _content(path: Path, part: dict[str, Any]) -> bytes:
    file = path.with_name(part["model_file"])
    if not file.is_file():
        raise FileNotFoundError(f"{file} is missing: save the model again.")
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != part["model_sha256"]:
        raise ValueError(f"{file} is damaged: its content has changed. Save the model again.")
    return content
