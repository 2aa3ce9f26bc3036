"""Checkpoints that cannot be written, are damaged, or were written by someone else."""

import errno
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpointed import (
    FILE,
    X,
    assert_same,
    boosters,
    fit,
    history_of,
    interrupted,
    kill_before,
    make,
)

import fuzz


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tree is grown then."""
    (tmp_path / "file").write_text("")
    ranker = make()
    kill_before(monkeypatch, ranker, 0)
    with pytest.raises(OSError, match=r"checkpoint must be a folder to write to.*file"):
        fit(ranker, checkpoint=tmp_path / "file")
    with pytest.raises(OSError, match="checkpoint must be a folder to write to"):
        fit(ranker, checkpoint=tmp_path / "file" / "below")


def full(monkeypatch: pytest.MonkeyPatch, writings: int) -> None:
    """Let the disk be full after so many writings."""
    fsync, done = os.fsync, []

    def failing(file: int) -> None:
        if len(done) == writings:
            raise OSError(errno.ENOSPC, "No space left on device")
        done.append(1)
        fsync(file)

    monkeypatch.setattr(os, "fsync", failing)


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first it is noticed before training; later, the last checkpoint is whole."""
    ranker = make(subsample=0.7)
    with monkeypatch.context() as patch:
        full(patch, 0)
        kill_before(patch, ranker, 0)
        with pytest.raises(OSError, match="No space left"):
            fit(ranker, checkpoint=tmp_path)
    assert os.listdir(tmp_path) == []
    with monkeypatch.context() as patch:
        full(patch, 3)
        with pytest.raises(OSError, match="No space left"):
            fit(ranker, checkpoint=tmp_path, checkpoint_rounds=2)
    assert os.listdir(tmp_path) == [FILE]
    assert history_of(tmp_path)["done"] == 4
    assert_same(fit(ranker, checkpoint=tmp_path), fit(make(subsample=0.7)))


def test_damage_is_noticed(tmp_path: Path) -> None:
    """Wherever the file was cut or changed."""
    interrupted(make(), tmp_path, 5)
    content = (tmp_path / FILE).read_bytes()
    places = np.random.default_rng(0).integers(0, len(content), 40)
    damaged = [content[:place] for place in places] + [
        content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :] for place in places
    ]
    for other in [b"", *damaged]:
        (tmp_path / FILE).write_bytes(other)
        with pytest.raises(ValueError, match=r"checkpoint is damaged: delete .*gbrank to begin"):
            fit(make(), checkpoint=tmp_path)


def _sign(folder: Path, head: dict[str, Any], body: bytes) -> None:
    """Write a checkpoint with the checksum that it should have."""
    rest = json.dumps(head).encode() + b"\n" + body
    digest = hashlib.sha256(rest).hexdigest().encode()
    (folder / FILE).write_bytes(digest + b"\n" + rest)


def _goes_on_or_is_refused(booster: str, folder: Path, **data: Any) -> bool:
    """Say whether a signed checkpoint is taken; any error but the one for damage is raised."""
    refused = "checkpoint (is damaged: delete|must be of the same|.* has format)"
    try:
        ranker = fit(make(booster), checkpoint=folder, **data)
    except ValueError as error:
        if not re.match(refused, str(error)):
            raise
        return False
    assert np.isfinite(ranker.predict(X)).all()
    return True


@pytest.mark.parametrize("booster", [pytest.param("lightgbm", marks=pytest.mark.slow), "xgboost"])
def test_signed_descriptions_with_one_other_value(booster: str, tmp_path: Path) -> None:
    """The checksum is right, so only what the values are can tell."""
    interrupted(make(booster), tmp_path, 4)
    _, text, body = (tmp_path / FILE).read_bytes().split(b"\n", 2)
    taken = []
    for way, changed in fuzz.others(text.decode()):
        _sign(tmp_path, changed, body)
        if _goes_on_or_is_refused(booster, tmp_path):
            taken.append(way[0])
    assert set(taken) <= {"history", "sigmas"}  # such as a measure's value in an earlier round


@boosters
def test_signed_states_that_are_others(booster: str, tmp_path: Path) -> None:
    """Parts that are cut, of other data, not finite, or whose trees lead nowhere."""
    interrupted(make(booster), tmp_path, 4)
    _, text, body = (tmp_path / FILE).read_bytes().split(b"\n", 2)
    head = json.loads(text)
    ends = np.cumsum(list(head["sizes"].values()))[:-1]
    state = dict(zip(head["sizes"], _split(body, ends), strict=True))

    def taken(**parts: bytes | None) -> bool:
        changed = {name: part for name, part in {**state, **parts}.items() if part is not None}
        sizes = {name: len(part) for name, part in changed.items()}
        _sign(tmp_path, head | {"sizes": sizes}, b"".join(changed.values()))
        return _goes_on_or_is_refused(booster, tmp_path)

    assert taken()
    for name, part in state.items():
        for other in (None, b"", part[: len(part) // 2 - 1], part + b"\0" * 8):
            assert not taken(**{name: other})
    others = {"scores_0": np.full(300, np.nan), "trees": np.array([0, 1, 1, 1, 99])}
    for name in others.keys() & state.keys():
        assert not taken(**{name: others[name].tobytes()})
    rng, model = np.random.default_rng(0), state["model"]
    numbers = [found.span() for found in re.finditer(rb"-?\b\d+\b", model)]
    for start, end in rng.choice(numbers, 40):
        replaced = rng.choice([b"-1", b"0", b"7", b"99999", b"4294967296", b"nan"])
        taken(model=model[:start] + replaced + model[end:])


def _split(content: bytes, ends: Any) -> list[bytes]:
    """Return the parts of bytes that end at these places, and the rest."""
    starts = [0, *ends]
    return [content[a:b] for a, b in zip(starts, [*ends, len(content)], strict=True)]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_checkpoint(tmp_path: Path) -> None:
    """Reading it would not end."""
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(ValueError, match=r"checkpoint is damaged: delete .*: it is no file\."):
        fit(make(), checkpoint=tmp_path)


def test_a_checkpoint_holds_data_only(tmp_path: Path) -> None:
    """A checksum, JSON, and what LightGBM writes as text, with 8 bytes for each document."""
    interrupted(make(), tmp_path, 5)
    _, head, body = (tmp_path / FILE).read_bytes().split(b"\n", 2)
    sizes = json.loads(head)["sizes"]
    assert sum(sizes.values()) == len(body)
    assert [sizes[f"scores_{i}"] for i in range(3)] == [8 * 300, 8 * 180, 8 * 120]
    assert np.frombuffer(body[: sizes["trees"]], dtype=np.int64).tolist() == [0, 1, 2, 3, 4]
    assert body[sizes["trees"] :].startswith(b"tree\nversion=")
