"""The boosting loop: rounds, measures, early stopping, progress; the same for every trainer."""

from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from gbrank.boosters.interface import Plan, RoundRecord
from gbrank.common.checks import ArgumentError, Vector, error_context, quoted, warn_user
from gbrank.common.collective import all_gather, all_sum, n_workers
from gbrank.common.progress import Bar
from gbrank.data.documents import Documents
from gbrank.data.lookup import columns_like, count_repeated_rows
from gbrank.data.sampling import row_keys, sampled, split_mix
from gbrank.data.schema import Schema
from gbrank.measures.measure import BoundMeasure, bind_to_rows

from .interrupted import FitInterrupted, is_part
from .rounds import Callbacks, History, Stopping, Values, call_all

NUMBERS = 2**18  # of the sampled queries, in which equal rows are sought
MANY = 0.1  # share of equal rows of which fits warn
# A feature of fewer may equal ids or labels by accident.
FEWEST_ROWS = 50
FEWEST_QUERIES = 8


class Judges(NamedTuple):
    """The measures of a fit, bound to each set: "train", if requested, and "valid_0", ..."""

    measures: Mapping[str, Sequence[BoundMeasure]]
    deciding: int = 0  # the number of the validation set that decides
    stopping: Stopping = Stopping()

    def values(self, scores: Callable[[int], Vector]) -> Values:
        """Return the measures of each set, by the current scores."""
        first = 0 if "train" in self.measures else 1
        values = {}
        for place, (name, measures) in enumerate(self.measures.items(), first):
            current = scores(place)
            values[name] = {str(measure.measure): measure.mean(current) for measure in measures}
        return values

    @property
    def decisive(self) -> str:
        """The validation set that decides, if there is one."""
        return f"valid_{self.deciding}"


def run_rounds(
    step: Callable[[int, Plan], RoundRecord],
    scores: Callable[[int], Vector],
    judges: Judges,
    history: History,
    *,
    callbacks: Callbacks = (),
    keep: Callable[[bool], object] = bool,
    progress: bool = False,
) -> None:
    """Train by steps until the last round, a callback or Ctrl-C, or validation stops improving.

    If validation stops improving in the start stage, the objective itself begins. `scores` returns
    the current ones of a set, of which the first has the training rows; `keep` writes a checkpoint.
    """

    def finished() -> bool:
        plan = history.plan
        return (
            history.ended
            or history.done >= plan.end
            or plan.out_of_patience(history.done, history.best_round, judges.stopping.patience)
        )

    bar = Bar(total=history.plan.end, initial=history.done, disable=not progress, unit="round")
    keep(True)
    try:
        if history.done:  # of a checkpoint: a callback may end the fit there again
            history.ended = call_all(callbacks, history.last_round(RoundRecord(history.sigmas[-1])))
        while not finished():
            record = step(history.done, history.plan)
            values = judges.values(scores)
            history.add(record.sigma, values, judges.decisive, judges.stopping)
            bar.total = history.plan.end
            bar.set_postfix(_shown(record.sigma, values), refresh=False)
            bar.update()
            history.ended = call_all(callbacks, history.last_round(record))
            keep(finished())
    except KeyboardInterrupt:
        if history.done == 0 or is_part():
            raise
        done = f"Fit interrupted after {history.done} of {history.plan.end} rounds"
        warn_user(f"{done}: the model keeps {history.best_round}.", FitInterrupted)
    finally:
        bar.close()


def _shown(sigma: float, values: Values) -> dict[str, str]:
    """Return what the bar shows: sigma, and the first measure of each set."""
    shown = {"sigma": f"{sigma:.3g}"}
    for name, measures in values.items():
        measure, value = next(iter(measures.items()))
        shown[f"{name} {measure}"] = f"{value:.4f}"
    return shown


def judges_of(
    ranker: Any,
    train: Documents,
    valid: Sequence[Documents],
    schema: Schema,
    stopping: Stopping,
    *,
    training: bool,
) -> Judges:
    """Bind a ranker's measures to the training documents, if requested, and each validation set.

    The first set that is not the training data decides.
    """
    # Features have no names.
    by_position = [measure.with_positions(schema) for measure in ranker._measures()]
    _check_labels({measure.label for measure in by_position} & {*train.labels}, valid)
    sets = {"train": train} if training else {}
    sets |= {f"valid_{i}": part for i, part in enumerate(valid)}
    measures = {}
    for name, part in sets.items():
        with error_context("" if name == "train" else f"{name}: "):
            measures[name] = [bind_to_rows(measure, part, ranker.n_jobs) for measure in by_position]
            for bound in measures[name]:  # undefined metrics fail before training
                bound.mean(np.arange(len(part.y), dtype=np.float64))
    held_out = [number for number, part in enumerate(valid) if not same_data(train, part)]
    if held_out:
        _warn_of_training_queries(train, valid[held_out[0]], held_out[0])
    elif stopping.patience is not None:
        if valid:
            warn_user(
                "eval_set contains only the training data, so early stopping is disabled; all "
                "rounds are kept. Pass other queries for early stopping."
            )
        stopping = Stopping()
    return Judges(measures, next(iter(held_out), 0), stopping)


def _check_labels(names: Set[str | None], valid: Sequence[Documents]) -> None:
    """Check that validation sets have the labels that measures are of."""
    for number, part in enumerate(valid):
        for label in names - part.labels.keys():
            raise ArgumentError("eval_labels", f"must have {label!r} for eval_set[{number}]")


def same_data(a: Documents, b: Documents) -> bool:
    """Return whether two sets have equal documents, labels and sizes of queries, in any order."""
    sizes = all_sum(np.array([(len(part.y), part.queries.n_queries) for part in (a, b)]))
    return np.array_equal(*sizes) and documents_key(a) == documents_key(b)


def documents_key(documents: Documents) -> str:
    """Hash documents, labels and sizes of queries of all workers, in any order."""
    queries = documents.queries
    keys = row_keys(np.column_stack([documents.y, queries.sizes[queries.index]]))
    total = split_mix(row_keys(documents.X) + keys, 0).sum()
    return f"{sum(all_gather(int(total))) % 2**64:x}"


def warn_of_data(documents: Documents, schema: Schema) -> None:
    """Warn of many duplicate rows within queries, by a sample of these, and of copied columns."""
    if is_part() or n_workers() > 1:
        return
    queries = documents.queries
    fraction = min(1.0, NUMBERS / max(1, np.prod(documents.X.shape)))
    places = queries.subset(sampled(queries.id_keys, fraction, 0))[1]
    equal = count_repeated_rows(documents.X[places], queries.index[places]) / len(places)
    if equal >= MANY:
        warn_user(
            f"{equal:.0%} of the rows are duplicates within their query, in all features. "
            "Duplicate documents count twice: drop them."
        )
    _warn_of_copies(documents, schema)


def _warn_of_copies(documents: Documents, schema: Schema) -> None:
    """Warn about features that equal query ids, labels or positions but for scale or names."""
    queries = documents.queries
    position = documents.position
    if len(documents.y) < FEWEST_ROWS:
        return
    targets: dict[str, Any] = {"y": documents.y}
    if queries.n_queries >= FEWEST_QUERIES:
        ids = [*map(str, queries.id_list)] if queries.ids.dtype == object else queries.ids
        targets["qid"] = np.unique(ids, return_inverse=True)[1][queries.index]
    if position is not None and position.ndim == 1:
        targets["position"] = position
    for argument, target in targets.items():
        copies = columns_like(documents.X, target, schema.categorical)
        if copies and target.min() < target.max():
            name = quoted(schema.feature_names[copies[0]])
            warn_user(
                f"feature {name} is a copy of {argument}, perhaps rescaled. New "
                "documents will lack it, or give it another meaning: drop it from X."
            )


def _warn_of_training_queries(train: Documents, valid: Documents, number: int) -> None:
    """Warn if validation queries are training queries, with the same rows.

    Ids alone may be equal: those of other data may begin anew, and a query may come again.
    """
    known, keys = (part.queries.id_keys for part in (train, valid))
    shared = np.isin(keys, known)
    if n_workers() > 1 or not shared.any():
        return
    learned, judged = (
        split_mix(row_keys(part.X) + row_keys(part.y[:, np.newaxis]), ids[part.queries.index])
        for part, ids in ((train, known), (valid, keys))
    )
    # Different rows: those of few values may be equal by accident.
    if len(np.intersect1d(judged, learned)) > (1 - MANY) * valid.queries.sizes[shared].sum():
        example = quoted(valid.queries.id_list[shared.argmax()])
        warn_user(
            f"{shared.sum()} of {len(keys)} queries of eval_set[{number}] are training queries, "
            f"such as {example}, with the same rows: metrics on them are too good. Drop them from "
            "one of the two."
        )
