"""The boosting loop: rounds, measures, early stopping, progress; the same for every trainer."""

from collections.abc import Callable, Sequence
from typing import Protocol

from gbrank.boosters.gradient_watch import RoundGradients
from gbrank.boosters.interface import Steps
from gbrank.common.progress import Bar
from gbrank.common.warnings import warn_user
from gbrank.fit.interrupted import FitInterrupted, is_part
from gbrank.fit.judging import Judges
from gbrank.fit.rounds import Callback, History, Round, call_all


class Stages(Protocol):
    """The objectives of a fit, one after another, and the sigma of each round."""

    sigma_of_round: dict[int, float]
    gradients: RoundGradients | None  # of the last round, for callbacks

    @property
    def begin(self) -> int:
        """The round in which the objective itself begins."""

    def end_start(self, round: int) -> int:
        """Begin the objective itself in a round; return how many rounds there will be."""


def run_rounds(
    trainer: Steps,
    step: Callable[[int], None],
    rounds: int,
    judges: Judges,
    stages: Stages,
    *,
    history: History,
    callbacks: Sequence[Callback] = (),
    keep: Callable[[History, bool], None] | None = None,
    progress: bool = False,
) -> None:
    """Boost until the last round, a callback or Ctrl-C, or until validation stops improving.

    If validation stops improving in the start stage, the objective itself begins. `step` trains a
    round, and `keep` writes a checkpoint.
    """
    if history.start_ended:
        rounds = stages.end_start(history.start_ended)

    def finished() -> bool:
        over = history.ended or history.done >= rounds
        return over or judges.out_of_patience(history, stages.begin)

    def last_round() -> Round:
        round, best = history.done - 1, judges.kept_rounds(history)
        sigma, results = stages.sigma_of_round[round], history.results
        return Round(round, rounds, sigma, results, best, stages.gradients)

    bar = Bar(total=rounds, initial=history.done, disable=not progress, unit="round")
    if keep is not None:
        keep(history, True)
    try:
        if history.done:  # of a checkpoint: a callback may end the fit there again
            history.ended = call_all(callbacks, last_round())
        while not finished():
            step(history.done)
            shown = {"sigma": f"{stages.sigma_of_round[history.done]:.3g}"}
            shown |= judges.record(history, trainer)
            if history.done < stages.begin and judges.out_of_patience(history, 0):
                history.start_ended = history.done
                bar.total = rounds = stages.end_start(history.done)
            bar.set_postfix(shown, refresh=False)
            bar.update()
            history.ended = call_all(callbacks, last_round())
            if keep is not None:
                keep(history, finished())
    except KeyboardInterrupt:
        if history.done == 0 or is_part():
            raise
        history.forget_unfinished()
        warn_user(
            f"Fit interrupted after {history.done} of {rounds} rounds: "
            f"the model keeps {judges.kept_rounds(history)}.",
            FitInterrupted,
        )
    finally:
        bar.close()
    history.best_round = judges.kept_rounds(history)
