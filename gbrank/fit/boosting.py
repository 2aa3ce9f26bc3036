"""Trees in training: a booster, the gradients of an objective, and the queries of each round."""

from dataclasses import dataclass

from gbrank.boosters import Trainer
from gbrank.boosters.interface import RoundRecord
from gbrank.boosters.plan import Plan
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.common.values import Mask, Vector
from gbrank.data.documents import Documents
from gbrank.data.sampling import document_keys, query_keys, sampled
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.loop import documents_key
from gbrank.objectives.objective import Objective


class Gradients:
    """The gradients of a fit by round, of the documents that the round draws."""

    def __init__(
        self, ranker: BoostedRanker, objective: Objective, train: Documents, seed: int
    ) -> None:
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
        self._index = train.queries.index if ranker.subsample_by == "query" else None
        if self._fraction < 1:
            by_query = self._index is not None
            self._keys = query_keys(train.queries.ids) if by_query else document_keys(train.queries)

    def at(
        self, scores: Vector, round: int, plan: Plan, watched: bool = False
    ) -> tuple[Vector, Vector, RoundRecord]:
        """Return gradient and curvature at some scores, and the record of the round."""
        return self.staged.derivatives(
            self._bound, scores, round, plan=plan, left_out=self._left_out(round), watched=watched
        )

    def _left_out(self, round: int) -> Mask | None:
        """Return the documents that a round is not trained on."""
        if self._fraction == 1:
            return None
        left_out = ~sampled(self._keys, self._fraction, self._seed, round)
        return left_out if self._index is None else left_out[self._index]


@dataclass(frozen=True, eq=False)
class Boosting:
    """A booster that is trained on gradients; `watched` rounds keep theirs in the record."""

    trainer: Trainer
    gradients: Gradients
    watched: bool

    def step(self, round: int, plan: Plan) -> RoundRecord:
        """Grow one tree."""
        records: list[RoundRecord] = []

        def derivatives(scores: Vector) -> tuple[Vector, Vector]:
            gradient, curvature, record = self.gradients.at(scores, round, plan, self.watched)
            records.append(record)
            return gradient, curvature

        self.trainer.step(derivatives)
        (record,) = records
        return record

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""
        return self.trainer.train_scores()

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return self.trainer.valid_scores()
