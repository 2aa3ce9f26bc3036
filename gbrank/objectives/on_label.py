"""Objectives of a label that a fit is given by name, besides y."""

from dataclasses import dataclass, replace

import numpy as np

from gbrank.common.checks import ArgumentTypeError, Vector
from gbrank.common.grammar import check_label_name
from gbrank.data.documents import Chosen, Documents

from .objective import Evaluator, Facts, Mixture, Objective


@dataclass(frozen=True)
class OnLabel(Objective):
    """An objective of one of the labels that `GBRanker.fit` is given by name, besides y.

    Written "lambda:ndcg[margin]". Documents that this label does not judge are left out of their
    lists.

    Parameters
    ----------
    objective : Objective
        What to train on the label; no mixture, whose terms name their labels each.
    label : str
        Its name.

    Examples
    --------
    >>> from gbrank import Queries, RankNet, get_objective
    >>> from gbrank.extend import OnLabel
    >>> bound = OnLabel(RankNet(), "margin").bind(
    ...     [0, 0, 0], Queries.from_sizes([3]), labels={"margin": [1.5, 0.2, float("nan")]}
    ... )
    >>> bound.gradients([0.0, 0.0, 0.0])[0].tolist()
    [-0.5, 0.5, 0.0]
    >>> get_objective("ranknet[margin]") == OnLabel(RankNet(), "margin")
    True
    """

    name = "on_label"

    objective: Objective
    label: str

    def __post_init__(self) -> None:
        check_label_name(self.label)
        single = isinstance(self.objective, Objective)
        if not single or isinstance(self.objective, Mixture | OnLabel):
            raise ArgumentTypeError(
                "objective",
                "must be an Objective without a label: each term of a mixture names its own",
                repr(self.objective),
            )

    @property
    def facts(self) -> Facts:
        """The facts of the objective, whose start is on the same label."""
        facts = self.objective.facts
        start = "none" if facts.start == "none" else f"{facts.start}[{self.label}]"
        return replace(facts, start=start)

    @property
    def rescaled(self) -> bool:
        """Whether hooks may scale gradient and curvature, as the objective says."""
        return self.objective.rescaled

    def __str__(self) -> str:
        """Return the text from which `get_objective` makes the same objective again."""
        return f"{self.objective}[{self.label}]"

    def runner(self, documents: Documents, n_jobs: int | None, rounds: int | None) -> Evaluator:
        """Return the runner of the documents that have the label."""
        without_features = replace(documents, X=None)
        judged, rows, kept = without_features.with_label(self.label, f"objective {self}")
        runner = self.objective.runner(judged, n_jobs, rounds)
        return JudgedRunner(runner, rows, kept, documents.queries.n_queries)


@dataclass(frozen=True, eq=False)
class JudgedRunner:
    """Computes an objective of some rows only; the others have neither gradient nor curvature."""

    runner: Evaluator
    rows: Chosen
    queries: Chosen  # those that have such rows
    n_queries: int

    def values(self, scores: Vector, sigma: float, round: int) -> Vector:
        """Return the loss of each query, 0 for those without such rows."""
        losses = np.zeros(self.n_queries)
        losses[self.queries] = self.runner.values(scores[self.rows], sigma, round)
        return losses

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature of each document, times its weight."""
        gradient, curvature = np.zeros((2, len(scores)))
        judged = weights[self.rows] if weights.size else weights
        gradient[self.rows], curvature[self.rows] = self.runner.gradients(
            scores[self.rows], sigma, round, judged
        )
        return gradient, curvature
