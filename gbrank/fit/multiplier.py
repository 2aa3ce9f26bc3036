"""A weight in a mixture that grows while a measure lacks a level: the method of multipliers."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from gbrank.common.checks import ArgumentError, check_number, listed, quoted
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure
from gbrank.objectives.objective import Mixture, Objective
from gbrank.schedules import SCHEDULES

from .rounds import Round

# Chosen on validation queries of WikiQA and of artificial data.
SUM_OF_STEPS = 600.0
DAMPING = 40.0


@dataclass(unsafe_hash=True)
class Multiplier:
    r"""The weight of a term of a `Mixture`, which grows while a metric is below a threshold.

    With d_t the amount by which the metric is below the threshold after round t of T, the weight of
    the next round is

    .. math:: w_{t+1} = \max(0, \lambda_t + 40\, d_t), \qquad
              \lambda_t = \max(0, \lambda_{t-1} + \tfrac{600}{T}\, d_t),

    and 0 in the first round: an augmented Lagrangian. Each fit of a GBRanker starts with fresh
    multipliers. Pass a multiplier as one of its `callbacks` too in order to read its `weight`.

    Parameters
    ----------
    measure : Measure or str
        The metric to constrain, such as "ndcg@10[margin]": one of the ranker's `eval_metric`.
    level : float above 0
        The threshold.
    data : str
        The data set on which it is evaluated: a validation set other than the training data, or
        "train" with `verbose`.

    Attributes
    ----------
    weight : float
        The weight of the next round.

    Raises
    ------
    ValueError
        If there is no such metric; in a fit that does not evaluate it, or not on these data; and in
        a hook or a LinearRanker, which do not support multipliers.

    References
    ----------
    M. Momma, A. Bagheri Garakani, Y. Sun. Multi-objective relevance ranking. SIGIR eCom 2019.

    Examples
    --------
    >>> from gbrank import GBRanker, Mixture, Multiplier, NoisyLambdaRank, make_cubic
    >>> from gbrank.extend import OnLabel
    >>> X, y, qid = make_cubic(60, n_documents=10, n_features=5, random_state=0)
    >>> terms = [NoisyLambdaRank(), OnLabel(NoisyLambdaRank(), "margin")]
    >>> ranker = GBRanker(
    ...     Mixture(terms, [1, Multiplier("ndcg@10[margin]", 0.8)]),
    ...     eval_metric=["ndcg@10", "ndcg@10[margin]"],
    ...     validation_fraction=0.3,
    ...     random_state=0,
    ... )
    >>> result = ranker.fit(X, y, qid=qid, labels={"margin": abs(X[:, 0])}).evals_result_
    >>> round(result["valid_0"]["ndcg@10[margin]"][-1], 1)
    0.8
    """

    measure: Measure | str
    level: float
    data: str = "valid_0"
    weight: float | None = field(default=None, init=False, compare=False)

    def __post_init__(self) -> None:
        self.measure = get_measure(self.measure)
        self.level = check_number(self.level, "level", above=0)

    def __repr__(self) -> str:
        """Return the call that makes the same multiplier."""
        data = "" if self.data == "valid_0" else f", {self.data!r}"
        return f"Multiplier({str(self.measure)!r}, {self.level!r}{data})"

    def __call__(self, round: Round | int, rounds: int | None = None) -> Any:
        """Return the weight in a round, as a schedule; or set the next one's, as a callback."""
        if not isinstance(round, Round):
            if self.weight is None:
                raise ArgumentError(
                    repr(self),
                    "must be a weight in the objective of a GBRanker, whose fit updates it",
                )
            return self.weight
        if self.data not in round.curves:
            ways = "eval_set=, validation_fraction= or, for 'train', verbose=1"
            raise ArgumentError(
                f"data of {self}",
                f"must be a set that the fit evaluates: pass {ways}",
                quoted(self.data),
            )
        curves = round.curves[self.data]
        measure = str(self.measure)
        if measure not in curves:
            raise ArgumentError(
                "eval_metric", f"must hold {measure!r}, which {self} is of", listed(curves)
            )
        multiplier = lack = 0.0
        for value in curves[measure][: round.number + 1]:
            lack = self.level - value
            multiplier = max(0.0, multiplier + SUM_OF_STEPS / round.rounds * lack)
        self.weight = max(0.0, multiplier + DAMPING * lack)
        return None


SCHEDULES["Multiplier"] = Multiplier  # so that mixtures parse back


def own_multipliers(objective: Objective) -> tuple[Objective, list[Multiplier]]:
    """Return an objective for one fit, and its multipliers, which no other fit tells anything."""
    if not isinstance(objective, Mixture):
        return objective, []
    weights = [
        copy(weight) if isinstance(weight, Multiplier) else weight
        for weight in objective.weights or ()
    ]
    multipliers = [weight for weight in weights if isinstance(weight, Multiplier)]
    for multiplier in multipliers:
        multiplier.weight = 0.0
    return (replace(objective, weights=weights) if multipliers else objective), multipliers


def check_held_out(multipliers: Sequence[Multiplier], first: int) -> None:
    """Check that no multiplier is of a set before the `first` that is not the training data."""
    for multiplier in multipliers:
        if multiplier.data in [f"valid_{number}" for number in range(first)]:
            raise ArgumentError(
                f"data of {multiplier}",
                f"must be a set other than the training data, as 'valid_{first}'",
                quoted(multiplier.data),
            )
