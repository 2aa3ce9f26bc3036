"""Ctrl-C in a fit that is part of something larger ends the whole."""

import signal
import sys
from types import FrameType
from typing import Any

import pytest

from gbrank import GBRanker, make_cubic
from gbrank.fit import interrupted, loop

X, Y, QID = make_cubic(30, n_documents=10, n_features=3, random_state=0)


def ranker(**params: Any) -> GBRanker:
    given = {"n_estimators": 20, "random_state": 0, "n_jobs": 1} | params
    return GBRanker("ranknet", **given)


@pytest.mark.filterwarnings("ignore:eval_set")
@pytest.mark.parametrize("rounds", [1, 3])
def test_ctrl_c_ends_the_whole(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ctrl-C in the fit itself, after its first round, would not."""
    done = []

    def interrupt(callbacks: Any, round: Any) -> bool:
        done.append(round)
        if len(done) == rounds:
            raise KeyboardInterrupt
        return call_all(callbacks, round)

    call_all = loop.call_all
    monkeypatch.setattr(loop, "call_all", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ranker(init="regression", n_estimators=40).fit(X, Y, qid=QID)
    assert len(done) == rounds
    done.clear()
    with pytest.warns(interrupted.FitInterrupted):  # what is no part keeps its rounds, as before
        assert ranker().fit(X, Y, qid=QID).best_iteration_ == rounds


def test_ctrl_c_after_the_rounds_of_a_part() -> None:
    """It ends the whole, too: nothing is finished."""
    calls: list[int] = []

    def finish() -> None:
        calls.append(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted.as_part(lambda: interrupted.kept(finish))
    assert len(calls) == 1


def test_ctrl_c_at_any_line_of_a_part_leaves_the_next_fit_whole() -> None:
    """Also where a part begins or ends: what comes next is no part, and keeps its rounds."""

    def lines(stopped: int) -> int:
        """Run a part, with a Ctrl-C at one of its lines; return how many there were."""
        count = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count
            if frame.f_code.co_filename != interrupted.__file__:
                return None
            if event == "line":
                count += 1
                if count == stopped:
                    signal.raise_signal(signal.SIGINT)
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            interrupted.as_part(lambda: None)
        finally:
            sys.settrace(before)
        return count

    for line in range(1, lines(0) + 1):
        with pytest.raises(KeyboardInterrupt):
            lines(line)
        assert not interrupted._is_part.get()
