"""Checkpoints: what a killed fit needs to go on, to the same bits. Data only, never code.

A checkpoint is one file: the checksum of the rest, one line of JSON, and the booster's state.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from gbrank.boosters import Trainer
from gbrank.boosters.interface import State
from gbrank.common.checks import check_number
from gbrank.common.collective import all_gather
from gbrank.common.describe import hash_of
from gbrank.common.errors import ArgumentError
from gbrank.common.fields import checked_fields
from gbrank.common.files import check_local, replace_file
from gbrank.common.version import __version__
from gbrank.data.documents import VALIDATION, Documents
from gbrank.data.sampling import query_keys
from gbrank.data.schema import Schema
from gbrank.fit.boosted_ranker import BoostedRanker, is_start_name
from gbrank.fit.rounds import History

FILE = "checkpoint.gbrank"
# Parameters without a hash: init is compared by its scores, others do not change the model.
NOT_HASHED = ("init", "n_jobs", "verbose", "baseline")


class Checkpoint:
    """The checkpoint of one fit: what a folder holds of it, and what is written there; or none."""

    def __init__(self, folder: str | os.PathLike[str] | None = None, every: int = 50) -> None:
        self.file: Path | None = None
        self.history, self.sigmas = History(), dict[int, float]()
        self.state: State | None = None  # of the booster; None before the first round
        if folder is None:
            return
        check_local(folder, "checkpoint")
        self._every = check_number(every, "checkpoint_rounds", 1, integer=True)
        self.file = Path(folder) / FILE
        self.hashes: Mapping[str, str] = {}  # of all that the model of this fit depends on
        self._stored: Mapping[str, str] = {}  # those in the file
        self.file.parent.mkdir(parents=True, exist_ok=True)
        for leftover in self.file.parent.glob(f".{FILE}.*.tmp"):  # of a fit killed while it wrote
            leftover.unlink(missing_ok=True)
        if self.file.exists():
            self._read(self.file)
        if len(set(all_gather(self.history.done))) > 1:  # workers were lost while writing
            self.history, self.sigmas, self.state = History(), {}, None

    def expect(self, hashes: Mapping[str, str]) -> None:
        """Refuse to go on from the checkpoint of a fit with other hashes."""
        self.hashes = hashes
        changed = {name for name, _ in self.hashes.items() ^ self._stored.items()}
        if changed and self.state is not None:
            raise ArgumentError(
                "checkpoint",
                f"must be of the same fit: in {self.file}, these were others: "
                f"{', '.join(sorted(changed))}",
                hint=" Pass what was passed then, choose another folder, or delete the file.",
            )

    def keep(self, trainer: Trainer, now: bool) -> None:
        """Write the fit after a round, if a checkpoint is due or asked for."""
        if self.file is None or (not now and self.history.done % self._every):
            return
        state = trainer.state()
        description = {
            "hashes": self.hashes,
            "history": asdict(self.history),
            "sigmas": list(self.sigmas.items()),
            "sizes": {name: len(content) for name, content in state.items()},
        }
        rest = b"\n".join([json.dumps(description).encode(), b"".join(state.values())])
        replace_file(self.file, b"\n".join([_digest(rest), rest]))

    def _read(self, file: Path) -> None:
        digest, _, rest = file.read_bytes().partition(b"\n")
        if digest != _digest(rest):
            raise ArgumentError("checkpoint", f"is damaged: delete {file} to begin anew")
        head, _, body = rest.partition(b"\n")
        description = json.loads(head)
        history = History(**description["history"])
        if history.done == 0:
            return
        self.history, self._stored = history, description["hashes"]
        self.sigmas = dict(description["sigmas"])
        content = BytesIO(body)
        self.state = {name: content.read(size) for name, size in description["sizes"].items()}


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def fit_hashes(
    ranker: BoostedRanker, schema: Schema, documents: Sequence[Documents]
) -> dict[str, str]:
    """Return a hash of everything that the model depends on, by argument.

    A user's function is hashed by its code, without what it calls or reads from its module.
    """
    if not isinstance(ranker.random_state, int):
        demand = "must be an integer with a checkpoint, so that the same fit can be called again"
        raise ArgumentError("random_state", demand, repr(ranker.random_state))
    params = ranker.get_params(deep=False) | checked_fields(ranker)
    words = is_start_name(ranker.init)  # else there are its scores
    values: dict[str, list[Any]] = {
        "the version of gbrank": [__version__],
        f"the version of {ranker.booster}": [version(ranker.booster)],
        **{name: [value] for name, value in params.items() if name not in NOT_HASHED},
        "init": [ranker.init] if words else [],
        "X": [schema.names, schema.categories],
        "categorical_feature": [schema.categorical],
    }
    for number, part in enumerate(documents):
        X: Any = part.X
        columns = {
            **part.arguments(),
            "X": [X.shape, X.data, X.indices, X.indptr] if sp.issparse(X) else X,
            "qid": [query_keys(part.queries.ids), part.queries.index],
        }
        if not words:
            columns["init"] = columns.pop("init_score")
        for name, value in columns.items():
            listed = number and name != "init"
            argument = f"{VALIDATION.get(name, 'eval_set')}[{number - 1}]" if listed else name
            values.setdefault(argument, []).append(value)
    return {name: hash_of(value) for name, value in values.items()}
