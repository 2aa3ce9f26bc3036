"""PL-Rank: the expected measure of rankings that are drawn from the scores, Plackett-Luce."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gbrank.common.fields import whole
from gbrank.extend import (
    Derivatives,
    Facts,
    Measure,
    MeasureFunctions,
    MeasureObjective,
    Program,
    Queries,
    Query,
    Vector,
    bound_steps,
    inline,
    to_score_units,
)
from gbrank.numerics.logistic import exponentials, is_wide
from gbrank.numerics.noisy_rankings import Draw, draw_ranking
from gbrank.numerics.vectors import sum_of

__all__ = ["PLRank"]

# Of a document, in units of σ: chosen on validation queries.
LONGEST_STEP = 4.0


class PLRankParameters(NamedTuple):
    """The parameters of the kernel."""

    draws: int


class PLRankWork(NamedTuple):
    """The work arrays of `drawn_measure`.

    Parameters
    ----------
    chance : ndarray
        π, of the document at each rank to be drawn from those that were left.
    left : ndarray
        1 − π: the chance of all documents after it.
    """

    up: Vector
    down: Vector
    draw: Draw
    chance: Vector
    left: Vector


def drawn_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the mean measure of the drawn rankings."""
    parameters: PLRankParameters = query.parameters
    work: PLRankWork = query.work
    ranking, s = query.ranking, query.scores
    m, draws = s.size, parameters.draws
    wide = is_wide(s, query.sigma)
    exponentials(s, query.sigma, work.up, work.down)
    mean_gain = sum_of(ranking.gains) / m
    value = 0.0
    for draw in range(draws):
        draw_ranking(query, draw, wide, work.down, work.draw)
        for r in range(m):
            value += ranking.gains[work.draw.places[r]] * ranking.discounts[r]
        if out.gradient.size > 0:
            find_chances(query, work)
            insert_documents(query, mean_gain, work, out)
    mean = sum_of(out.gradient) / m
    scale = ranking.scale / draws
    for i in range(out.gradient.size):
        out.gradient[i] = scale * (out.gradient[i] - mean)  # their expectations sum to zero
        out.curvature[i] *= scale
    if out.gradient.size > 0:
        bound_steps(LONGEST_STEP, out)
        to_score_units(query.sigma, out)
    return -scale * value


@inline
def find_chances(query: Query, work: PLRankWork) -> None:
    """Write with which chance each document was drawn at its rank, from the last to the first."""
    s, sigma, places = query.scores, query.sigma, work.draw.places
    top = s[places[s.size - 1]]
    total = 0.0  # of exp((s − top)/σ)
    for r in range(s.size - 1, -1, -1):
        score = s[places[r]]
        own = np.exp(-abs(score - top) / sigma)
        if score > top:
            top = score
            total *= own
            own = 1.0
        work.chance[r] = own / (total + own)
        work.left[r] = total / (total + own)
        total += own


@inline
def insert_documents(query: Query, mean_gain: float, work: PLRankWork, out: Derivatives) -> None:
    """Add the derivatives of one drawn ranking: the sums of `PLRank`, for all documents at once.

    With S_l, the sum of exp(s/σ) of what was left at rank l, π_l(i) is exp(s_i/σ)/S_l: sums of its
    powers over l ≤ r are kept times the same power of S_r, for which nothing overflows.
    """
    gains, discounts, places = query.ranking.gains, query.ranking.discounts, work.draw.places
    m = query.scores.size
    chances = squares = 0.0  # Σ π_l and Σ π_l²
    own_1 = own_2 = own_3 = 0.0  # of the discount that the document would have at each rank
    passed_1 = passed_2 = 0.0  # of what it would take from those that it would be put before
    for r in range(m):
        shrunk = work.left[r - 1] if r > 0 else 0.0  # S_r over that of the rank before
        chances = chances * shrunk + 1.0
        squares = squares * shrunk * shrunk + 1.0
        both = chances * chances + squares
        own_1 = own_1 * shrunk + discounts[r]
        own_2 = own_2 * shrunk * shrunk + discounts[r] * chances
        own_3 = own_3 * shrunk * shrunk * shrunk + discounts[r] * both
        passed_1 *= shrunk
        passed_2 *= shrunk * shrunk
        i, x = places[r], work.chance[r]
        gain = gains[i] - mean_gain  # to add a constant to all gains changes no expectation
        out.gradient[i] += x * (passed_1 - gain * (own_1 - x * own_2))
        out.curvature[i] += x * (passed_1 - x * passed_2)
        out.curvature[i] -= x * gain * (own_1 - x * (3.0 * own_2 - x * own_3))
        fall = discounts[r] - discounts[r + 1] if r + 1 < m else 0.0
        passed_1 += gain * fall * chances
        passed_2 += gain * fall * both


@dataclass(frozen=True)
class PLRank(MeasureObjective):
    """PL-Rank: minus the expected measure of rankings that are drawn from the scores.

    A ranking is drawn document by document: of those that are left, i is the next one with
    probability π(i) = exp(s_i/σ)/Σ_left exp(s_j/σ), the Plackett-Luce model. Scores that are
    trained on this are a policy: adding Gumbel noise of width σ to them, and sorting, draws a
    ranking.

    Gradient and Hessian's diagonal are estimated without bias from `draws` rankings in each round.
    Given the order of the others, document i comes after rank l with probability
    Q_l = Π_{k ≤ l} (1 − π_k(i)), which has the derivatives −Q_l A_l and Q_l (A_l² − A_l + C_l) by
    s_i/σ, A_l = Σ_{k ≤ l} π_k(i) and C_l = Σ_{k ≤ l} π_k(i)². With x_l and D_l, gain and discount
    at rank l, and i drawn at rank r, this gives

    ∂E/∂s_i = E[x_i Σ_{l ≤ r} D_l π_l(i) (1 − A_l) − Σ_{l < r} x_l (D_l − D_{l+1}) A_l]/σ,

    ∂²E/∂s_i² = E[x_i Σ_{l ≤ r} D_l π_l(i) (1 − 3 A_l + A_l² + C_l)
    + Σ_{l < r} x_l (D_l − D_{l+1}) (A_l² − A_l + C_l)]/σ².

    PL-Rank-3 has the same expectation, and on whole lists of 20 to 100 documents 40 to 800 times
    the variance. Gains are taken less their mean, and gradients less theirs, which changes no
    expectation. The curvature is the Hessian's diagonal,
    but at least |gradient|/(4 σ): no step is longer than 4 σ. The loss is minus the mean measure
    of the drawn rankings.

    The noise depends on (round, query) and on the rank of the document without noise; draws
    come in pairs, as those of `NoisyLambdaRank`.

    Parameters
    ----------
    measure : DiscountedMeasure or str
        A measure of the form Z⁻¹ Σ G(y) D(r): NDCG, DCG, precision, recall, WTA, RBP, exposure.
    draws : int
        Number of drawn rankings in each round.

    References
    ----------
    Oosterhuis 2021, "Computationally efficient optimization of Plackett-Luce ranking models for
    relevance and fairness", and 2022, "Learning-to-rank at the speed of sampling"; with second
    derivatives, for trees: Kang, de Rijke & Oosterhuis 2024, "Estimating the Hessian matrix of
    ranking objectives for stochastic learning to rank with gradient boosted trees". The estimator
    of document i given the order of the others is gbrank's.

    Examples
    --------
    >>> from benchmarks.plrank import PLRank
    >>> from gbrank import Queries
    >>> bound = PLRank("ndcg", draws=1000).bind([1, 0], Queries.from_sizes([2]))
    >>> bound.loss([0.0, 0.0]).round(2)  # minus the mean of NDCG over both orders
    array([-0.82])
    >>> gradient, curvature = bound.gradients([0.0, 0.0])
    >>> gradient.round(4).tolist()  # a quarter of 1 − 1/log2(3)
    [-0.0923, 0.0923]
    """

    name = "plrank"
    wanted = "be of the form Σ G(y) D(r) for PLRank, such as 'ndcg' or 'precision@5'"
    declared = Facts(
        formula="−E[M], rankings drawn document by document, P(i is next) = "
        "exp(s_i/σ) / Σ_{j left} exp(s_j/σ)",
        source="Oosterhuis 2021; Kang, de Rijke & Oosterhuis 2024",
        differentiable=False,
        stochastic=True,
        takes_measure=True,
        cost="O(m log m) for each draw",
    )

    draws: int = whole(4, 1)

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Say whether the measure is a sum of gains times discounts."""
        return measure.form == "discounted"

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure's gains and discounts."""
        return self.measure_program(
            drawn_measure,
            labels,
            queries,
            parameters=PLRankParameters(self.draws),
            work=PLRankWork,
        )
