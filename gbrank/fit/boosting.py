"""Trees in training: a booster, the gradients of an objective, and the queries of each round."""

from dataclasses import dataclass

from gbrank.boosters import Trainer
from gbrank.boosters.interface import GradientPair, RoundRecord
from gbrank.boosters.plan import Plan
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.common.checks import Vector
from gbrank.data.documents import EVERY, Chosen, Documents
from gbrank.data.sampling import document_keys, sampled
from gbrank.objectives.objective_registry import get_objective

from .boosted_ranker import BoostedRanker
from .loop import documents_key
from .multiplier import own_multipliers


class Gradients:
    """The gradients of a fit by round, of the documents that the round draws."""

    def __init__(self, ranker: BoostedRanker, train: Documents, seed: int) -> None:
        objective, self.multipliers = own_multipliers(get_objective(ranker.objective))
        before = None
        start = ranker.init is None and train.init_score is None
        self.data_key = documents_key(train)
        if isinstance(ranker.init, BoostedRanker):
            start = ranker.init._fitted.data_key != self.data_key  # which are to be learned anew
            before = None if start else ranker.init._fitted.progress
        self.staged = StagedObjective(
            objective,
            ranker.sigma,
            start=start,
            rounds=ranker.n_estimators,
            curvature=ranker.curvature,
            n_jobs=ranker.n_jobs,
            before=before,
        )
        self._bound = self.staged.bind(train)
        self._fraction = ranker.subsample
        self._seed = seed
        queries = train.queries
        by_query = ranker.subsample_by == "query"
        self._index: Chosen = queries.index if by_query else EVERY
        if self._fraction < 1:
            self._keys = queries.id_keys if by_query else document_keys(queries)

    def at(
        self, scores: Vector, round: int, plan: Plan, watched: bool = False
    ) -> tuple[Vector, Vector, RoundRecord]:
        """Return gradient and curvature at some scores, and the record of the round."""
        left_out = None
        if self._fraction < 1:
            left_out = ~sampled(self._keys, self._fraction, self._seed, round)[self._index]
        return self.staged.derivatives(
            self._bound, scores, round, plan=plan, left_out=left_out, watched=watched
        )


@dataclass(frozen=True, eq=False)
class Boosting:
    """A booster that is trained on gradients; `watched` rounds keep theirs in the record."""

    trainer: Trainer
    gradients: Gradients
    watched: bool

    def step(self, round: int, plan: Plan) -> RoundRecord:
        """Grow one tree."""
        records: list[RoundRecord] = []

        def derivatives(scores: Vector) -> GradientPair:
            gradient, curvature, record = self.gradients.at(scores, round, plan, self.watched)
            records.append(record)
            return gradient, curvature

        self.trainer.step(derivatives)
        (record,) = records
        return record

    def scores(self, place: int) -> Vector:
        """Compute the current scores of the training rows, or of a validation set."""
        return self.trainer.scores(place)
