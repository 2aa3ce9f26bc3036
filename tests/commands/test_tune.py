"""`gbrank tune`, run in this process."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from command import SMALL, Output
from gbrank import GBRanker, load_ranker, read_letor
from gbrank.commands.cli import main


def test_tune(data: Path, tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ranker is saved, and after Ctrl-C the best one so far; trials that are kept go on."""
    argv = ["tune", data / "train.txt", "--folds", 2, "--quiet", *SMALL]
    argv += ["--storage", tmp_path / "t.log", "--model"]
    said = output(*argv, tmp_path / "m", "--n-trials", 3)
    found = re.findall(r"(?m)^(?:first|best) trial: ndcg@10 of held-out queries (\S+), ", said)
    assert len(found) == 2
    assert float(found[0][:-1]) <= float(found[1][:-1])
    assert "objective=noisy:ndcg" in said
    X, _, _ = read_letor(data / "test.txt")
    assert load_ranker(tmp_path / "m").predict(X).shape == (len(X),)
    fit, calls = GBRanker.fit, itertools.count()

    def interrupted(self: GBRanker, *args: Any, **named: Any) -> GBRanker:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return fit(self, *args, **named)

    monkeypatch.setattr(GBRanker, "fit", interrupted)
    assert main(list(map(str, [*argv, tmp_path / "n"]))) == 130
    assert load_ranker(tmp_path / "n").predict(X).shape == (len(X),)
    monkeypatch.undo()
    assert main(list(map(str, [*argv, tmp_path / "n", "--folds", 3]))) == 1
