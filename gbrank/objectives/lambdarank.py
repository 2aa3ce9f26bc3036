"""RankNet and LambdaRank: logistic pairs, weighted by what swapping them changes in a measure.

For a pair in which i is more relevant than j the loss is w log(1 + exp(−(s_i − s_j)/σ)), where w
is 1 or comes from a measure. Short lists are summed pair by pair, longer ones by sweeps if the
weights allow it, except where losses are wanted.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from scipy.special import expit

from gbrank.common.checks import Positions, Vector
from gbrank.common.fields import Choice, Integer
from gbrank.common.grammar import changed_options
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import (
    Derivatives,
    MeasureFunctions,
    Program,
    Query,
    Ranking,
    SeparableDelta,
    Swaps,
    Terms,
)
from gbrank.measures.measure import Measure
from gbrank.numerics.logistic import add_row, logistic_pairs
from gbrank.numerics.sweeps import PAIR_GRADIENTS, Pairs, SweepWork, sweep_pairs
from gbrank.numerics.vectors import LONGEST_STEP, bound_and_scale

from .objective import Facts, KernelObjective, MeasureObjective
from .objective_registry import PythonRunner, register_objective

# Up to this many documents, pairs are summed one by one. Measured break-even points with five
# grades are 500 (AP) to 1,150 (RankNet). Sweeps divide lists by label, more often the more labels
# there are: with a continuous label, break-even is at 1,700.
LONGEST_DIRECT = 750
LONGEST_DIVIDED = 1700
FEW_LABELS = 32
# Without swap deltas, every pair takes a measurement of the whole list.
LONGEST_EXCHANGED = 200


class PairParameters(NamedTuple):
    """The parameters of both kernels; pairs weigh 1 if neither `separable` nor `by_row`.

    Parameters
    ----------
    top : float
        Pairs need one document among the first `top`; infinity for all pairs.
    separable, by_row : bool
        Whether the measure has a separable delta, and rows.
    built_in : float
        Unless 0, do as the boosters' own objectives: divide weights by 0.01 + |s_i − s_j| unless
        all scores are equal, multiply the query by log2(1 + S) / S, S the sum of |λ| over both
        documents of all pairs, and curvatures by this. If 0, Newton steps are bounded.
    """

    top: float = np.inf
    separable: bool = False
    by_row: bool = False
    built_in: float = 0.0


class PairWork(NamedTuple):
    """The work arrays of both kernels; `sweep` is for `swept_pairs`."""

    weights: Vector
    up: Vector
    down: Vector
    delta: SeparableDelta
    sweep: SweepWork


def unweighted_pairs(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum the logistic loss, or its derivatives, over all pairs of different label.

    This compiles much faster than `direct_pairs`, which has weights.
    """
    work: PairWork = query.work
    s = query.scores
    m = s.size
    for j in range(m):
        work.weights[j] = 1.0
    pairs = logistic_pairs(s, query.sigma, work.up, work.down)
    loss = 0.0
    for i in range(m - 1):
        loss += add_row(i, i + 1, m, query.key, work.weights, pairs, out)
    bound_and_scale(query.sigma, out)
    return loss


def direct_pairs(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum `unweighted_pairs` with each pair weighted by the measure's swap delta."""
    parameters: PairParameters = query.parameters
    work: PairWork = query.work
    s = query.scores
    labels = query.key
    ranking = query.ranking
    sigma = query.sigma
    m = s.size
    weights = work.weights
    top = np.int64(min(parameters.top, float(m)))
    if parameters.separable:
        measure.separable(ranking, top, work.delta)
    if parameters.by_row:
        measure.prepare(ranking, top)
    pairs = logistic_pairs(s, sigma, work.up, work.down)
    total = 0.0
    for i in range(m - 1):
        if ranking.first[i] >= top:
            break
        begin = i + 1
        if parameters.by_row:
            stop = ranking.last[i] if parameters.separable else m
            if stop > begin:
                measure.row(ranking, i, stop, top, weights)
            begin = stop
        if parameters.separable:
            write_separable(i, begin, m, ranking, work.delta, weights)
        if parameters.built_in > 0 and s[0] != s[m - 1]:
            for j in range(i + 1, m):
                weights[j] /= 0.01 + (s[i] - s[j])
        total += add_row(i, i + 1, m, labels, weights, pairs, out)
    if parameters.built_in > 0:
        _normalize_by_sum(total, parameters.built_in, sigma, out)
    else:
        bound_and_scale(sigma, out)
    return total


@inline
def write_separable(
    i: int, begin: int, end: int, ranking: Ranking, delta: SeparableDelta, out: Vector
) -> None:
    """Write the expected delta of document i with begin, ..., end − 1, all of them below it."""
    gains = ranking.gains
    gain = ranking.gains[i]
    last = ranking.last[i]
    inside = delta.inside[i]
    upper = delta.upper[i]
    share = delta.share[i]
    lower = delta.lower
    # Unsigned indices need no wrap-around check, so that the loops vectorise.
    for j in range(np.uintp(begin), np.uintp(min(last, end))):
        out[j] = abs(gain - gains[j]) * inside
    for j in range(np.uintp(max(begin, last)), np.uintp(end)):
        out[j] = abs(gain - gains[j]) * (upper + share * lower[j])


@inline
def _normalize_by_sum(total: float, boost: float, sigma: float, out: Derivatives) -> None:
    """Multiply by log2(1 + S) / S, S = 2 total/σ the sum of |λ| over both documents of pairs."""
    total *= 2 / sigma
    factor = np.log2(1 + total) / total if total > 0 else 1.0
    for i in range(out.gradient.size):
        out.gradient[i] *= factor
        # an expected delta of zero may round to less
        out.curvature[i] = max(boost * out.curvature[i], 0.0) * factor


def swept_pairs(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Write the derivatives of `direct_pairs` by one sweep; there is no loss.

    Pairs inside tied blocks are added by row if the measure has rows.
    """
    parameters: PairParameters = query.parameters
    work: PairWork = query.work
    m = query.scores.size
    delta = work.delta
    top = np.int64(min(parameters.top, float(m)))
    if parameters.separable:
        measure.separable(query.ranking, top, delta)
        # Down the list, where swaps change nothing, both terms are then zero, not only their sum.
        tail = delta.lower[m - 1]
        for p in range(m):
            delta.upper[p] += delta.share[p] * tail
            delta.lower[p] -= tail
            if parameters.by_row:
                delta.inside[p] = 0.0
    pairs = Pairs(
        s=query.scores,
        sigma=query.sigma,
        first=query.ranking.first,
        x=query.ranking.gains,
        unit=not parameters.separable,
        separable=parameters.separable,
        delta=delta,
        terms=PAIR_GRADIENTS,
        out=out,
    )
    sweep_pairs(pairs, work.sweep)
    if parameters.by_row:
        measure.prepare(query.ranking, top)
        _add_blocks(query, measure, top, work.weights, out)
    bound_and_scale(query.sigma, out)
    return 0.0


@inline
def _add_blocks(
    query: Query, measure: MeasureFunctions, top: int, weights: Vector, out: Derivatives
) -> None:
    """Add the pairs inside tied blocks, those of equal gains together."""
    gains = query.ranking.gains
    first = query.ranking.first
    last = query.ranking.last
    begin = 0
    while begin < gains.size and first[begin] < top:
        end = begin + 1
        while end < last[begin] and gains[end] == gains[begin]:
            end += 1
        if end < last[begin]:
            measure.row(query.ranking, begin, last[begin], top, weights)
        gradient = 0.0
        for j in range(end, last[begin]):
            half = 0.5 * weights[j]
            gradient += half
            out.gradient[j] += half * (end - begin)
            out.curvature[j] += 0.5 * half * (end - begin)
        for i in range(begin, end):
            out.gradient[i] -= gradient
            out.curvature[i] += 0.5 * gradient
        begin = end


@inline
def move_back(added: Derivatives, places: Positions, draws: int, out: Derivatives) -> None:
    """Add derivatives over `draws` to those of the documents at some places."""
    for i in range(added.gradient.size):
        out.gradient[places[i]] += added.gradient[i] / draws
        out.curvature[places[i]] += added.curvature[i] / draws


def pairs_program(
    program: Program, sizes: Positions, top: int | None = None, built_in: float = 0.0
) -> Program:
    """Return a program with the kernels that suit the lists, and their parameters.

    `program` holds the measure's terms and functions, and as key the labels, the larger of which is
    the better in a pair; without a measure all pairs have weight 1.
    """
    terms = program.terms or Terms(program.key)
    by_label = np.argsort(program.key)
    steps = np.diff(terms.gains[by_label])
    rises = np.diff(program.key[by_label]) > 0
    n_labels = 1 + int(np.count_nonzero(rises))
    alike = np.array_equal(steps > 0, rises)  # gains order documents as labels do
    parameters = PairParameters(
        top=top or np.inf,
        separable=program.measure.separable is not None,
        by_row=program.measure.row is not None,
        built_in=built_in,
    )
    longest: float = LONGEST_DIRECT if n_labels <= FEW_LABELS else LONGEST_DIVIDED
    # A gain may fall: then a document of larger label has the smaller gain.
    impossible = built_in > 0 or (steps < 0).any() or 2 * parameters.top <= longest
    if impossible or (parameters.by_row and not parameters.separable):
        longest = np.inf
    return replace(
        program,
        key=terms.gains if alike else program.key,
        terms=terms,
        parameters=parameters,
        work=PairWork,
        other_kernel=swept_pairs,
        others=sizes > longest,
        others_for_values=False,
    )


@register_objective
@dataclass(frozen=True)
class RankNet(KernelObjective):
    """RankNet: Σ over pairs y_i > y_j of log(1 + exp(−(s_i − s_j)/σ)).

    Notes
    -----
    - Formula: Σ_{y_i > y_j} log(1 + exp(−(s_i − s_j)/σ))
    - Source: Burges, Ragno & Le 2006, eq. 8
    - Fast: O(m log m) above 750 documents (1,700 if there are more than 32 distinct labels); losses
      are O(m²)

    References
    ----------
    Burges et al. 2005; Burges, Ragno & Le 2006, "Learning to rank with nonsmooth cost
    functions", equation 8.

    Examples
    --------
    >>> from gbrank import Queries, RankNet
    >>> RankNet().bind([1, 0], Queries.from_sizes([2])).loss([0.0, 0.0]).round(4)
    array([0.6931])
    """

    name = "ranknet"
    declared = Facts(convex=True, second_derivative=True)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs of weight 1."""
        return pairs_program(Program(unweighted_pairs, labels), queries.sizes)


@register_objective
@dataclass(frozen=True)
class LambdaRank(MeasureObjective):
    """LambdaRank: pair gradients weighted by |ΔM|, the measure's change when the two swap ranks.

    For every pair y_i > y_j, with p = 1/(1 + exp((s_i − s_j)/σ)): gradient ∓|ΔM| p/σ and curvature
    |ΔM| p (1 − p)/σ².

    Parameters
    ----------
    measure : Measure or str
        Its own `ties` and `no_relevant` have no effect. A measure without swap deltas, such as a
        function of yours, is measured once for every pair, in lists of at most 200 documents; tied
        documents are then ordered by label, and the other parameters keep their defaults.
    truncation : int, optional
        Only pairs with a document among the first `truncation` ranks take part; all by
        default. It is separate from the measure's k.
    normalize : {None, "lightgbm", "xgboost"}
        Normalize as these libraries' built-in objectives do: divide |ΔM| by 0.01 + |s_i − s_j|,
        use the ideal DCG at `truncation`, multiply the query by log2(1 + S) / S, S = Σ|λ| over
        pairs, do not rescale, and (xgboost) double the curvature.
    ties : {"expected", "order"}
        Tied documents get the mean of |ΔM| over all their orders, or are ordered by row, which
        reproduces the built-ins.

    Notes
    -----
    - Formula: λ_ij = −|ΔM_ij| / (σ (1 + exp((s_i − s_j)/σ))), y_i > y_j
    - Source: Burges, Ragno & Le 2006, eq. 9
    - Cost: O(m²), with a truncation O(m truncation), with pair-wise correct and Kendall's τ O(m²
      log g) for g distinct labels
    - Fast: O(m log m) above 750 documents (1,700 if there are more than 32 distinct labels), with
      ERR + O(n t g²) for n tied documents of g labels, t of which a user is likely to go through;
      not with pair-wise correct, Kendall's τ, a non-monotone gain or the normalization of a
      booster. Losses are O(m²)

    References
    ----------
    Burges, Ragno & Le 2006, "Learning to rank with nonsmooth cost functions", section 6.2.

    Examples
    --------
    >>> from gbrank import AP, LambdaRank, Queries
    >>> bound = LambdaRank(AP()).bind([0, 1, 0], Queries.from_sizes([3]))
    >>> gradient, curvature = bound.gradients([2.0, 1.0, 0.0])
    >>> gradient.round(4).tolist()
    [0.3655, -0.4104, 0.0448]
    """

    name = "lambda"
    aliases = ("lambdarank",)
    needs = "swaps"
    wanted = "take no columns of X for LambdaRank"
    declared = Facts(differentiable=False, takes_measure=True)

    truncation: int | None = Integer(None, 1)
    normalize: Literal["lightgbm", "xgboost"] | None = Choice(None, [None, "lightgbm", "xgboost"])
    ties: Literal["expected", "order"] = Choice("expected", ["expected", "order"])

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._measure.swaps is None and len(changed_options(self)) > 1:
            raise ValueError(
                "truncation, normalize and ties must have their defaults with "
                f"{self._measure}, which has no swap deltas."
            )

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Return whether swap deltas are known, or labels alone can be exchanged."""
        return super().takes(measure) or not getattr(measure, "columns", ())

    def runner(self, documents: Documents, n_jobs: int | None, rounds: int | None) -> Any:
        """Return the runner of the kernel, or of exchanges if there are no swap deltas."""
        if self._measure.swaps is not None:
            return super().runner(documents, n_jobs, rounds)
        measure = replace(self._measure, ties="order")

        def exchange(scores: Vector, labels: Vector, sigma: float, seed: int) -> Any:
            """Sum the loss of pairs, weighted by what the measure changes if both swap labels."""
            m = len(labels)
            if m > LONGEST_EXCHANGED:
                raise ValueError(
                    f"queries must have at most {LONGEST_EXCHANGED} documents for LambdaRank "
                    f"with {measure}, which has no swap deltas, got {m}. Train on the first "
                    "documents only."
                )
            better, worse = np.nonzero(np.greater.outer(labels, labels))
            n = len(better)
            exchanged = np.tile(labels, (n + 1, 1))  # the last as they are
            exchanged[range(n), better], exchanged[range(n), worse] = labels[worse], labels[better]
            measured = np.tile(scores, n + 1)
            values = measure.per_query(exchanged.ravel(), measured, group=np.full(n + 1, m))
            weights = np.nan_to_num(np.abs(values[:-1] - values[-1]))
            gaps = (scores[better] - scores[worse]) / sigma
            slopes = weights * expit(-gaps)
            both = np.concatenate([worse, better])
            gradient = np.bincount(both, np.concatenate([slopes, -slopes]), m)
            curvature = np.bincount(both, np.tile(slopes * expit(gaps), 2), m)
            curvature = np.maximum(curvature, np.abs(gradient) / LONGEST_STEP)
            return weights @ np.logaddexp(0, -gaps), gradient / sigma, curvature / sigma**2

        return PythonRunner(Program(exchange, documents.y), documents.queries)

    @property
    def rescaled(self) -> bool:
        """Whether hooks may scale gradient and curvature, not when reproducing a built-in."""
        return self.normalize is None

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return logistic pairs weighted by the measure's swap delta."""
        swaps = type(self._measure).swaps or Swaps()
        built_in = {None: 0.0, "lightgbm": 1.0, "xgboost": 2.0}[self.normalize]
        tied = self.ties == "expected"
        program = self.measure_program(
            direct_pairs,
            labels,
            queries,
            ["separable", "row", "prepare"] if swaps.row else ["separable"],
            by_label=True,
            tied=tied,
            order="descending" if tied else "input",
        )
        if built_in and self.truncation and hasattr(self.measure, "k"):
            cut: Any = replace(cast(Any, self.measure), k=self.truncation)
            terms = replace(cast(Terms, program.terms), scale=cut.terms(labels, queries).scale)
            program = replace(program, terms=terms)
        return pairs_program(program, queries.sizes, self.truncation, built_in)
