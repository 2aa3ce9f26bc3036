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
    """The ranker is saved, and after Ctrl-C the best one so far."""
    argv = ["tune", data / "train.txt", "--trials", 3, "--folds", 2, *SMALL, "--model"]
    said = output(*argv, tmp_path / "m")
    found = re.search(r"ndcg@10 of held-out queries: default (\S+), best trial (\S+), ranker", said)
    assert found is not None
    assert float(found[1]) <= float(found[2])
    assert re.search(r"^  objective +\S+ +noisy:ndcg ", said, re.MULTILINE)
    assert "3 trials: the " in said
    X, _, _ = read_letor(data / "test.txt")
    assert load_ranker(tmp_path / "m").predict(X).shape == (len(X),)
    fit, calls = GBRanker.fit, itertools.count()

    def interrupted(self: GBRanker, *args: Any, **named: Any) -> GBRanker:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return fit(self, *args, **named)

    monkeypatch.setattr(GBRanker, "fit", interrupted)
    assert main(list(map(str, [*argv, tmp_path / "n"]))) == 130
    assert "noisy:ndcg" in output("info", "--model", tmp_path / "n")
