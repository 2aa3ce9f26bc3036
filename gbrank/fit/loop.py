"""The boosting loop: rounds, measures, early stopping, progress; the same for every trainer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gbrank.boosters.gradient_watch import RoundGradients
from gbrank.boosters.interface import Steps
from gbrank.common.collective import all_gather, all_sum, n_workers
from gbrank.common.errors import ArgumentError, found_in, warn_user
from gbrank.common.progress import Bar
from gbrank.common.runtime import interrupts_held
from gbrank.data.documents import Documents
from gbrank.data.lookup import count_repeated_rows
from gbrank.data.sampling import query_keys, row_keys, sampled, split_mix
from gbrank.data.schema import Schema
from gbrank.fit.interrupted import FitInterrupted, is_part
from gbrank.fit.rounds import Callback, History, Round, Stopping, call_all
from gbrank.measures.measure import BoundMeasure, bind_to_rows

NUMBERS = 2**18  # of the sampled queries, in which equal rows are sought
MANY = 0.1  # share of equal rows of which fits warn


@dataclass(frozen=True, eq=False)
class Judges:
    """The measures of a fit, bound to each set: "train", if asked for, and "valid_0", ..."""

    measures: Mapping[str, Sequence[BoundMeasure]]
    place: int = 0  # of the validation set that decides
    stopping: Stopping | None = None

    def record(self, history: History, trainer: Steps) -> dict[str, str]:
        """Measure a round that was trained, and note the best; return texts for the bar."""
        shown: dict[str, str] = {}
        scores = [trainer.train_scores()] if "train" in self.measures else []
        if self.decisive in self.measures:
            scores += trainer.valid_scores()
        for (name, measures), current in zip(self.measures.items(), scores, strict=True):
            values = {str(item.measure): item.mean(current) for item in measures}
            for measure, value in values.items():
                history.results.setdefault(name, {}).setdefault(measure, []).append(value)
            measure, value = next(iter(values.items()))
            shown[f"{name} {measure}"] = f"{value:.4f}"
        with interrupts_held():
            history.done += 1
            if self.decisive in self.measures:
                history.note_best(self.decisive, self.stopping)
        return shown

    @property
    def decisive(self) -> str:
        """The validation set that decides, if there is one."""
        return f"valid_{self.place}"

    def kept_rounds(self, history: History) -> int:
        """Return how many rounds the model would have if the fit ended now."""
        return history.best_round if self.decisive in self.measures else history.done

    def out_of_patience(self, history: History, begin: int) -> bool:
        """Return whether too many rounds, from `begin` on, have passed without a new best one."""
        rounds = history.done - max(history.best_round, begin)
        return self.stopping is not None and rounds >= self.stopping.patience


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
    history: History,
    *,
    callbacks: Sequence[Callback] = (),
    keep: Callable[[bool], object] = bool,
    progress: bool = False,
) -> History:
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
        seen = stages.sigma_of_round[round], history.results, best, stages.gradients
        return Round(round, rounds, *seen)

    bar = Bar(total=rounds, initial=history.done, disable=not progress, unit="round")
    keep(True)
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
            keep(finished())
    except KeyboardInterrupt:
        if history.done == 0 or is_part():
            raise
        for curves in history.results.values():
            for curve in curves.values():
                del curve[history.done :]  # of a round that was not finished
        done = f"Fit interrupted after {history.done} of {rounds} rounds"
        warn_user(f"{done}: the model keeps {judges.kept_rounds(history)}.", FitInterrupted)
    finally:
        bar.close()
    history.best_round = judges.kept_rounds(history)
    return history


def judges_of(
    ranker: Any,
    train: Documents,
    valid: Sequence[Documents],
    schema: Schema,
    stopping: Stopping | None,
    *,
    training: bool,
) -> Judges:
    """Bind a ranker's measures to the training documents, if asked to, and each validation set.

    The first set that is not the training data decides.
    """
    placed = [one.with_positions(schema) for one in ranker._measures()]  # features have no names

    for place, part in enumerate(valid):
        for label in {one.label for one in placed} & {*train.labels} - {*part.labels}:
            raise ArgumentError("eval_labels", f"must have {label!r} for eval_set[{place}]")

    sets = {"train": train} if training else {}
    sets |= {f"valid_{i}": part for i, part in enumerate(valid)}
    measures = {}
    for name, part in sets.items():
        with found_in("" if name == "train" else f"{name}: "):
            measures[name] = [bind_to_rows(one, part, ranker.n_jobs) for one in placed]
            for bound in measures[name]:  # an undefined one fails before training
                bound.mean(np.zeros(len(part.y)))
    held_out = [place for place, part in enumerate(valid) if not same_data(train, part)]
    if not held_out and stopping is not None:
        if valid:
            warn_user(
                "eval_set holds the training data alone, by which no fit stops or chooses a round: "
                "the model has all of them. Pass other queries for early stopping."
            )
        stopping = None
    return Judges(measures, next(iter(held_out), 0), stopping)


def same_data(a: Documents, b: Documents) -> bool:
    """Return whether two sets have equal documents, labels and sizes of queries, in any order."""
    sizes = [(len(part.y), part.queries.n_queries) for part in (a, b)]
    if len({*map(tuple, all_sum(np.array(sizes)).tolist())}) == 2:
        return False
    sums = []
    for part in (a, b):
        of_query = np.column_stack([part.y, part.queries.sizes[part.queries.index]])
        keys = split_mix(row_keys(part.X) + row_keys(of_query), 0)
        sums.append(sum(all_gather(int(keys.sum()))) % 2**64)
    return sums[0] == sums[1]


def warn_of_equal_rows(documents: Documents) -> None:
    """Warn where many rows equal another one of their query, by a sample of the queries."""
    if is_part() or n_workers() > 1:
        return
    queries = documents.queries
    fraction = min(1.0, NUMBERS / max(1, np.prod(documents.X.shape)))
    places = queries.subset(sampled(query_keys(queries.ids), fraction, 0, 0))[1]
    equal = count_repeated_rows(documents.X[places], queries.index[places]) / len(places)
    if equal >= MANY:
        warn_user(
            f"{equal:.0%} of the rows equal another row of their query in all features: if these "
            "are documents that are there twice, which then count twice, drop the duplicates."
        )
