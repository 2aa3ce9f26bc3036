"""Checkpoints that cannot be written, or are damaged."""

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest

from checkpointed import FILE, assert_same, fit, history_of, interrupted, kill_before, make


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
    assert len(history_of(tmp_path)["sigmas"]) == 4
    assert_same(fit(ranker, checkpoint=tmp_path), fit(make(subsample=0.7)))


def test_damage_is_noticed(tmp_path: Path) -> None:
    """Wherever the file was cut or changed."""
    interrupted(make(), tmp_path, 5)
    content = (tmp_path / FILE).read_bytes()
    places = np.random.default_rng(0).integers(0, len(content), 20)
    damaged = [content[:place] for place in places] + [
        content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :] for place in places
    ]
    for other in [b"", *damaged]:
        (tmp_path / FILE).write_bytes(other)
        with pytest.raises(ValueError, match=r"checkpoint is damaged: delete .*gbrank to begin"):
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
