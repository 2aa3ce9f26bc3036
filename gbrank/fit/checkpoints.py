"""Checkpoints: what a killed fit needs to resume, to the same model. Data only, never code.

A checkpoint is one file: the checksum of the rest, one line of JSON, and the booster's state.
"""

import hashlib
import json
import os
import pickle
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

from gbrank.boosters import Trainer
from gbrank.boosters.interface import State
from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.arrays import canonical
from gbrank.common.checks import check_number, quoted
from gbrank.common.describe import describe
from gbrank.common.fields import checked_fields
from gbrank.common.files import held, is_leftover, replace_file
from gbrank.common.version import __version__
from gbrank.data.columns import COLUMNS, Data, each_column
from gbrank.data.queries import Queries
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys
from gbrank.data.schema import Features, Schema
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.loop import History
from gbrank.parallel.collective import all_gather

FILE = "checkpoint.gbrank"
FORMAT = 1
BLOCK = 2**14  # rows that are copied at a time
# Parameters without a hash: init is compared by its scores, others do not change the model.
NOT_HASHED = ("init", "n_jobs", "verbose", "baseline")


def is_of_checkpoint(name: str) -> bool:
    """Say whether a file's name is that of a checkpoint, or of one that was being written."""
    return name == FILE or is_leftover(name, re.escape(FILE))


class Checkpoint:
    """The checkpoint of one fit.

    `callbacks` says which they are: a fit that they ended has ended, until others are passed.
    `recorded` says whether the measures of the training rows are recorded: from the first round on.
    """

    def __init__(
        self, folder: str | os.PathLike[str], every: int, *, callbacks: str, recorded: bool
    ) -> None:
        self._every = check_number(every, "checkpoint_rounds", 1, integer=True)
        self._file = Path(folder) / FILE
        self._callbacks = callbacks
        self._fingerprints: dict[str, str] = {}
        self._stored: Mapping[str, str] = {}  # the fingerprints in the file
        self._history = History()
        self._sigmas: dict[int, float] = {}
        self.recorded = recorded
        self.state: State | None = None
        if self._file.exists():
            if not self._file.is_file():  # reading a device may never end
                raise self._damage("it is no file")
            self._read()
        if len(set(all_gather(self._history.done))) > 1:  # workers were lost while writing
            self._history, self._sigmas, self.state = History(), {}, None

    def expect(self, fingerprints: Mapping[str, str]) -> None:
        """Refuse to go on from the checkpoint of another fit."""
        self._fingerprints |= fingerprints
        if self.state is None:
            return
        changed = [name for name, text in fingerprints.items() if self._stored.get(name) != text]
        if changed:
            raise ArgumentError(
                "checkpoint",
                f"must be of the same fit: in {self._file}, these were others: "
                f"{', '.join(changed)}",
                hint=" Pass what was passed then, choose another folder, or delete the file.",
            )

    def _damage(self, reason: str) -> ArgumentError:
        return ArgumentError(
            "checkpoint", f"is damaged: delete {self._file} to begin anew: {reason}"
        )

    def resume(
        self, trainer: Trainer, sigmas: dict[int, float]
    ) -> tuple[History, Callable[[History, bool], None]]:
        """Return the history to go on from, and the function that writes checkpoints."""
        sigmas.update(self._sigmas)

        def keep(history: History, now: bool) -> None:
            if now or history.done % self._every == 0:
                self._write(history, sigmas, trainer.state())

        return self._history, keep

    def _write(self, history: History, sigmas: dict[int, float], state: State) -> None:
        description = {
            "format": FORMAT,
            "fingerprints": self._fingerprints,
            "callbacks": self._callbacks,
            "recorded": self.recorded,
            "history": asdict(history),
            "sigmas": list(sigmas.items()),
            "sizes": {name: len(content) for name, content in state.items()},
        }
        rest = b"\n".join([json.dumps(description).encode(), b"".join(state.values())])
        replace_file(self._file, b"\n".join([_digest(rest), rest]))

    def _read(self) -> None:
        digest, _, rest = self._file.read_bytes().partition(b"\n")
        if digest != _digest(rest):
            raise self._damage("its checksum is not that of its content")
        head, _, body = rest.partition(b"\n")
        description = json.loads(head)
        if (written := description.get("format")) != FORMAT:
            raise ValueError(
                f"checkpoint {self._file} has format {written!r}; this gbrank reads format "
                f"{FORMAT}. Delete it to begin anew."
            )
        history = History(**description["history"])
        if history.done == 0:
            return
        history.ended &= description["callbacks"] == self._callbacks
        self._history = history
        self._stored = description["fingerprints"]
        self._sigmas = dict(description["sigmas"])
        self.recorded = description["recorded"]
        content = BytesIO(body)
        self.state = {name: content.read(size) for name, size in description["sizes"].items()}


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


@contextmanager
def in_use(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """Lock a checkpoint's folder, if there is one, for one fit."""
    if folder is None:
        yield
        return
    demand = "must be the path of a folder or None"
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentTypeError("checkpoint", demand, quoted(folder))
    if not os.fspath(folder):
        raise ArgumentError("checkpoint", demand, "''")
    with ExitStack() as stack:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            locked = stack.enter_context(held(Path(folder), wait=False))
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            busy = isinstance(error, BlockingIOError)
            kind = "that no other fit uses now" if busy else f"to write to: {error.strerror}"
            message = f"checkpoint must be a folder {kind}"
            raise type(error)(error.errno, message, str(folder)) from None
        for leftover in Path(folder).iterdir() if locked else []:  # of a killed fit
            if is_leftover(leftover.name, re.escape(FILE)):
                leftover.unlink(missing_ok=True)
        yield


def fit_hashes(
    ranker: BoostedRanker, schema: Schema, rows: Rows, valid: Sequence[Rows]
) -> dict[str, str]:
    """Return a hash of everything that the model depends on, by argument.

    A user's function is hashed by its code, without what it calls or reads from its module.
    """
    booster = ranker.booster
    params = ranker.get_params(deep=False) | checked_fields(ranker)
    hashed = [name for name, column in COLUMNS.items() if column.check is not None]
    parts = {
        "the version of gbrank": __version__,
        f"the version of {booster}": version(booster),
        **{name: value for name, value in params.items() if name not in NOT_HASHED},
        "X": [schema.names, schema.categories, _arrays(rows.X)],
        "categorical_feature": schema.categorical,
        "qid": _queries(rows.queries),
        **dict.fromkeys(hashed),
        **_numbers(rows),
        "the number of validation sets": len(valid),
    }
    for i, part in enumerate(valid):
        parts[f"eval_set[{i}]"] = [_arrays(part.X), canonical(part.y)]
        parts[f"eval_qid[{i}]"] = _queries(part.queries)
        numbers = _numbers(part)
        for name in hashed:
            if COLUMNS[name].listed:
                parts[f"{COLUMNS[name].validation}[{i}]"] = numbers.get(name)
    return {name: argument_hash(name, value) for name, value in parts.items()}


def argument_hash(name: str, value: object) -> str:
    """Return a hash of the value of an argument."""
    try:
        return str(joblib.hash(describe(value)))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        demand, got = "needs arguments that can be pickled", f"{name}={value!r}: {error}"
        raise ArgumentError("checkpoint", demand, got) from None


def _arrays(X: Features) -> list[np.ndarray[Any, Any]]:
    """Return arrays that are equal for equal matrices, whatever their layout in memory."""
    if sp.issparse(X):
        return [np.array(X.shape), canonical(X.data), X.indices, X.indptr]
    parts = (X[row : row + BLOCK] for row in range(0, len(X), BLOCK))
    hashes = [joblib.hash(np.ascontiguousarray(canonical(block))) for block in parts]
    return [np.array(X.shape), np.array(hashes)]


def _numbers(rows: Rows) -> Data:
    """Return the columns of rows, equal bits for equal numbers."""
    return each_column(lambda _, values: canonical(values), rows.columns)


def _queries(queries: Queries) -> list[np.ndarray[Any, Any]]:
    return [query_keys(queries.ids), queries.order, queries.offsets]
