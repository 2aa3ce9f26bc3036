"""Saved models: a folder with the booster's own file and a JSON file. Data only, never code."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from gbrank.boosters import MODELS, Model

__all__ = ["read_model", "replace_file", "signature_of", "write_model"]

DESCRIPTION = "gbrank.json"
FORMAT = 1


def write_model(folder: str | os.PathLike[str], model: Model, description: dict[str, Any]) -> None:
    """Write a booster and what else a ranker needs into a folder.

    Each file is written under another name and then renamed, the description last, so that a
    folder never holds half a model that can be read.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    model : Model
    description : dict
        JSON-ready.

    Raises
    ------
    TypeError
        If the description cannot be written as JSON.
    """
    content = model.dump()
    whole: dict[str, Any] = {
        "format": FORMAT,
        "model_file": f"model{model.suffix}",
        "model_bytes": len(content),
        "model_sha256": hashlib.sha256(content).hexdigest(),
        **description,
    }
    whole = json.loads(json.dumps(whole))  # as it will be read: keys are text
    text = json.dumps({**whole, "sha256": _digest(whole)}, indent=1).encode()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    replace_file(target / str(whole["model_file"]), content)
    replace_file(target / DESCRIPTION, text)


def _digest(description: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def replace_file(path: Path, content: bytes) -> None:
    """Write a file under another name, then rename it: nobody ever reads half of it.

    Parameters
    ----------
    path : Path
    content : bytes
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_model(folder: str | os.PathLike[str]) -> tuple[Model, dict[str, Any]]:
    """Read what `write_model` wrote.

    Parameters
    ----------
    folder : path

    Returns
    -------
    model : Model
    description : dict

    Raises
    ------
    FileNotFoundError
        If there is no model there.
    ValueError
        If a file is cut short, damaged, or from a newer gbrank.
    """
    target = Path(folder)
    path = target / DESCRIPTION
    if not path.is_file():
        raise FileNotFoundError(f"no model in {target}: it must hold {DESCRIPTION}.")
    description = _read_description(path)
    file = target / description["model_file"]
    content = file.read_bytes()
    if len(content) != description["model_bytes"]:
        raise ValueError(
            f"{file} is damaged: it has {len(content)} bytes, expected "
            f"{description['model_bytes']}. Save the model again."
        )
    if hashlib.sha256(content).hexdigest() != description["model_sha256"]:
        raise ValueError(f"{file} is damaged: its content has changed. Save the model again.")
    try:
        return MODELS[description["booster"]].load(content), description
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def signature_of(folder: str | os.PathLike[str]) -> str:
    """Return the checksum of the description that a folder holds.

    Parameters
    ----------
    folder : path

    Returns
    -------
    str

    Raises
    ------
    FileNotFoundError
        If there is no model there.
    """
    return hashlib.sha256((Path(folder) / DESCRIPTION).read_bytes()).hexdigest()


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}.") from None
    if not isinstance(description, dict):
        raise ValueError(f"{path} is damaged: it must hold an object.")
    known = description.get("format")
    if known != FORMAT:
        raise ValueError(f"{path} has format {known!r}; this gbrank reads format {FORMAT}.")
    kinds = {
        "booster": str, "model_file": str, "model_bytes": int, "model_sha256": str,
        "params": dict, "schema": dict, "fitted": dict,
    }  # fmt: skip
    for name, kind in kinds.items():
        if not isinstance(description.get(name), kind):
            raise ValueError(f"{path} is damaged: {name!r} must be a {kind.__name__}.")
    if description.pop("sha256", None) != _digest(description):
        raise ValueError(f"{path} is damaged: its content has changed. Save the model again.")
    if description["booster"] not in MODELS:
        raise ValueError(f"{path} is damaged: unknown booster {description['booster']!r}.")
    if description["model_file"] != f"model{MODELS[description['booster']].suffix}":
        raise ValueError(f"{path} is damaged: unexpected model_file.")
    return description
