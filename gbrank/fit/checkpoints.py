"""Checkpoints: what a killed fit needs to go on, to the same bits. Data only, never code.

A checkpoint is one file: the checksum of the rest, one line of JSON, and the booster's state.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gbrank.boosters import BOOSTERS, Trainer
from gbrank.boosters.interface import Plan, State
from gbrank.common.checks import ArgumentError, canonical, check_integer
from gbrank.common.collective import all_gather
from gbrank.common.describe import hash_of
from gbrank.common.fields import checked_fields
from gbrank.common.files import StrPath, check_local, replace_file
from gbrank.common.version import __version__
from gbrank.data.documents import VALIDATION, Documents
from gbrank.data.schema import Schema

from .boosted_ranker import BoostedRanker, is_start_name
from .rounds import History

FILE = "checkpoint.gbrank"
# Parameters without a hash: init is compared by its scores, others do not change the model.
NOT_HASHED = ("init", "n_jobs", "verbose", "baseline")


class Checkpoint:
    """The checkpoint of a fit in a folder, which is made when the first one is written.

    `hashes` are those of all that the model of the fit depends on.
    """

    def __init__(self, folder: StrPath, every: int, hashes: Mapping[str, str]) -> None:
        check_local(folder, "checkpoint")
        self._every = check_integer(every, "checkpoint_rounds", 1)
        self._file = Path(folder) / FILE
        self._hashes = hashes

    def read(self) -> tuple[History, State] | None:
        """Return the rounds of an earlier call of this fit and the booster's state, if any."""
        saved = self._read() if self._file.exists() else None
        done = 0 if saved is None else saved[0].done
        # Workers may have been lost while writing.
        return saved if len(set(all_gather(done))) == 1 else None

    def write(self, history: History, trainer: Trainer, now: bool) -> None:
        """Write the fit after a round, if a checkpoint is due or requested."""
        if not now and history.done % self._every:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        for leftover in self._file.parent.glob(f".{FILE}.*.tmp"):  # of a fit killed while it wrote
            leftover.unlink(missing_ok=True)
        state = trainer.state()
        description = {
            "hashes": self._hashes,
            "history": asdict(history),
            "sizes": {name: len(content) for name, content in state.items()},
        }
        rest = b"\n".join([json.dumps(description).encode(), b"".join(state.values())])
        replace_file(self._file, b"\n".join([_digest(rest), rest]))

    def _read(self) -> tuple[History, State] | None:
        digest, _, rest = self._file.read_bytes().partition(b"\n")
        if digest != _digest(rest):
            raise ArgumentError("checkpoint", f"is damaged: delete {self._file} to begin anew")
        head, _, body = rest.partition(b"\n")
        description = json.loads(head)
        fields = description["history"]
        if not fields["sigmas"]:  # no round was trained
            return None
        if changed := {name for name, _ in self._hashes.items() ^ description["hashes"].items()}:
            raise ArgumentError(
                "checkpoint",
                f"must be of the same fit: {self._file} differs in {', '.join(sorted(changed))}",
                hint=" Pass the same values, choose another folder, or delete the file.",
            )
        history = History(**{**fields, "plan": Plan(*fields["plan"])})
        content = BytesIO(body)
        return history, {name: content.read(size) for name, size in description["sizes"].items()}


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def fit_hashes(
    ranker: BoostedRanker, schema: Schema, documents: Sequence[Documents]
) -> dict[str, str]:
    """Return a hash of everything that the model depends on, by argument.

    A user's function is hashed by its code, without what it calls or reads from its module.
    """
    if not isinstance(ranker.random_state, int):
        raise ArgumentError(
            "random_state",
            "must be an integer with a checkpoint, so that the same fit can be called again",
            repr(ranker.random_state),
        )
    params = ranker.get_params(deep=False) | checked_fields(ranker)
    words = is_start_name(ranker.init)  # else there are its scores
    values: dict[str, list[Any]] = {
        "the version of gbrank": [__version__, *History.__dataclass_fields__],  # and their layout
        f"the version of {ranker.booster}": [BOOSTERS[ranker.booster].version],
        **{name: [value] for name, value in params.items() if name not in NOT_HASHED},
        "init": [ranker.init] if words else [],
        "X": [schema.names, schema.categories],
        "categorical_feature": [schema.categorical],
    }
    for number, part in enumerate(documents):
        columns = part.arguments()
        columns["qid"] = [part.queries.id_keys, part.queries.index]
        if not words:
            columns["init"] = columns.pop("init_score")
        for name, value in columns.items():
            if number and name != "init":
                listed = f"eval_{name}" if name in VALIDATION else "eval_set"
                name = f"{listed}[{number - 1}]"
            values.setdefault(name, []).append(_plain_bits(value))
    return {name: hash_of(value) for name, value in values.items()}


def _plain_bits(value: Any) -> Any:
    """Give equal data equal bits, however they are stored."""
    if isinstance(value, Mapping):
        return {name: _plain_bits(part) for name, part in value.items()}
    if sp.issparse(value):
        cells = np.array(value.nonzero(), dtype=np.int64)
        return [value.shape, canonical(value.data[value.data != 0]), cells]
    return np.ascontiguousarray(canonical(value)) if isinstance(value, np.ndarray) else value
