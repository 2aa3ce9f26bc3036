"""Saved models: a folder with a JSON file and the booster's own file. Data only, never code.

A linear model has no booster: it is the JSON file alone.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from gbrank.boosters import MODELS, Model
from gbrank.common.version import __version__

__all__ = [
    "estimator_of",
    "is_leftover",
    "read_description",
    "read_model",
    "replace_file",
    "signature_of",
    "write_description",
    "write_model",
]

DESCRIPTION = "gbrank.json"
FORMAT = 1


def write_model(folder: str | os.PathLike[str], model: Model, description: dict[str, Any]) -> None:
    """Write a booster and what else a ranker needs into a folder.

    Each file is written under another name and then renamed, the description last, so that a
    folder never holds half a model that can be read.
    """
    content = model.dump()
    file = f"model{model.suffix}"
    text = _as_text(
        {
            "model_file": file,
            "model_bytes": len(content),
            "model_sha256": hashlib.sha256(content).hexdigest(),
            **description,
        }
    )
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    replace_file(target / file, content)
    replace_file(target / DESCRIPTION, text)


def write_description(folder: str | os.PathLike[str], description: dict[str, Any]) -> None:
    """Write a ranker that has no booster into a folder."""
    text = _as_text(description)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    replace_file(target / DESCRIPTION, text)


def _as_text(description: dict[str, Any]) -> bytes:
    whole: dict[str, Any] = {"format": FORMAT, "gbrank": __version__, **description}
    whole = json.loads(json.dumps(whole))  # as it will be read: keys are text
    return json.dumps({**whole, "sha256": _digest(whole)}, indent=1).encode()


def _digest(description: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def is_leftover(name: str) -> bool:
    """Say whether a file's name is one that a process has, while it writes, until it is killed."""
    return re.fullmatch(r"\..+\.\d+", name) is not None


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under another name, then rename it: nobody ever reads half of it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_model(folder: str | os.PathLike[str], estimator: str) -> tuple[Model, dict[str, Any]]:
    """Read what `write_model` wrote."""
    description = read_description(folder, estimator)
    path = Path(folder) / DESCRIPTION
    _check_kinds(
        description,
        path,
        {"booster": str, "model_file": str, "model_bytes": int, "model_sha256": str},
    )
    if description["booster"] not in MODELS:
        raise ValueError(f"{path} is damaged: unknown booster {description['booster']!r}.")
    if description["model_file"] != f"model{MODELS[description['booster']].suffix}":
        raise ValueError(f"{path} is damaged: unexpected model_file.")
    file = Path(folder) / description["model_file"]
    size = file.stat().st_size
    if size != description["model_bytes"]:
        raise ValueError(
            f"{file} is damaged: it has {size} bytes, expected {description['model_bytes']}. "
            "Save the model again."
        )
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != description["model_sha256"]:
        raise ValueError(f"{file} is damaged: its content has changed. Save the model again.")
    try:
        return MODELS[description["booster"]].load(content), description
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def read_description(folder: str | os.PathLike[str], estimator: str) -> dict[str, Any]:
    """Read what `write_description` wrote, or the description of what `write_model` wrote."""
    path = Path(folder) / DESCRIPTION
    description = _read(path)
    found = description["estimator"]
    if found != estimator:
        raise ValueError(f"{path} holds a {found}: load it by {found}.load, not {estimator}.load.")
    return description


def estimator_of(folder: str | os.PathLike[str]) -> str:
    """Return the name of the class whose model a folder holds."""
    return str(_read(Path(folder) / DESCRIPTION)["estimator"])


def signature_of(folder: str | os.PathLike[str]) -> str:
    """Return the checksum of the description that a folder holds."""
    return hashlib.sha256((Path(folder) / DESCRIPTION).read_bytes()).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"no model in {path.parent}: it must hold {DESCRIPTION}.")
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}. Save the model again.") from None
    if not isinstance(description, dict):
        raise ValueError(f"{path} is damaged: it must hold an object.")
    known = description.get("format")
    if known != FORMAT:
        raise ValueError(f"{path} has format {known!r}; this gbrank reads format {FORMAT}.")
    _check_kinds(
        description, path, {"estimator": str, "params": dict, "schema": dict, "fitted": dict}
    )
    if description.pop("sha256", None) != _digest(description):
        raise ValueError(f"{path} is damaged: its content has changed. Save the model again.")
    return description


def _check_kinds(description: dict[str, Any], path: Path, kinds: dict[str, type]) -> None:
    for name, kind in kinds.items():
        if not isinstance(description.get(name), kind):
            raise ValueError(f"{path} is damaged: {name!r} must be a {kind.__name__}.")
