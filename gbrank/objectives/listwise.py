"""Losses in O(m): cross entropies (ListNet, XE-NDCG), a likelihood (ListMLE), and regression."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from gbrank.common.checks import Vector
from gbrank.common.fields import Choice, Integer, Parameter
from gbrank.data.queries import Queries
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query, Terms
from gbrank.measures.gains import Gain, check_gain, gain_values
from gbrank.measures.per_query import grades, labels_differ
from gbrank.numerics.grade_sums import GradeSums, softmax_up_to, spread
from gbrank.numerics.noise import uniform
from gbrank.numerics.vectors import bound_steps, to_score_units

from .objective import Facts, KernelObjective
from .objective_registry import register_objective

TARGETS = {"labels": "linear", "gains": "exp2"}  # the gains that they are


class SoftmaxWork(NamedTuple):
    """The work arrays of `softmax_loss`."""

    p: Vector
    targets: Vector


def softmax_loss(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Compute −Σ t log p, t = G/Σ G, p = softmax(s/σ); targets t may be noisy."""
    noisy: bool = query.parameters
    s = query.scores
    gains = query.ranking.gains
    sigma = query.sigma
    if query.ranking.scale == 0.0:
        return 0.0
    p = query.work.p
    targets = query.work.targets
    sum_of_targets = 0.0
    total = 0.0
    for i in range(s.size):
        targets[i] = gains[i] + (uniform(query.noise, i) if noisy else 0.0)
        p[i] = np.exp((s[i] - s[0]) / sigma)
        total += p[i]
        sum_of_targets += targets[i]
    loss = np.log(total)
    for i in range(s.size):
        if targets[i] > 0.0:
            loss -= targets[i] / sum_of_targets * ((s[i] - s[0]) / sigma)
    for i in range(out.gradient.size):
        probability = p[i] / total
        target = targets[i] / sum_of_targets
        out.gradient[i] = probability - target
        out.curvature[i] = probability * (1.0 - probability)
    bound_steps(1.0, out)
    to_score_units(sigma, out)
    return loss


def list_likelihood(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum log Σ_{y_j ≤ y_i} exp((s_j − s_i)/σ) over the documents above the lowest grade."""
    s = query.scores
    grade = query.key
    sigma = query.sigma
    sums: GradeSums = query.work
    n = softmax_up_to(s, grade, sigma, sums)
    loss = 0.0
    for i in range(s.size):
        g = int(grade[i])
        if g > 0:
            loss += np.log(sums.total[g]) + (sums.top[g] - s[i]) / sigma
            sums.mass[g] += 1.0
            sums.square[g] += 1.0
            if out.gradient.size > 0:
                out.gradient[i] = -1.0
    spread(s, grade, sigma, n, sums, out)
    bound_steps(1.0, out)
    to_score_units(sigma, out)
    return loss


def squared_loss(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Sum half the squared differences between scores and gains."""
    loss = 0.0
    for i in range(query.scores.size):
        error = query.scores[i] - query.ranking.gains[i]
        loss += 0.5 * error * error
        if out.gradient.size > 0:
            out.gradient[i] = error
            out.curvature[i] = 1.0
    return loss


@register_objective
@dataclass(frozen=True)
class ListNet(KernelObjective):
    """ListNet: −Σ t_i log p_i with p = softmax(s/σ), a softmax cross-entropy.

    Its targets t are softmax(y), or labels or gains over their sum: with labels, it is the softmax
    loss of rax and TF-Ranking, and CatBoost's QuerySoftMax, but for their weight Σ y of a query.
    The curvature is the Hessian's diagonal, p (1 − p)/σ², but at least |gradient|/σ. Queries whose
    labels are all equal take no part.

    Parameters
    ----------
    targets : {"softmax", "labels", "gains"}
        What t is made of: exp(y), y or 2^y − 1.

    Notes
    -----
    - Formula: −Σ_i t_i log p_i, t = softmax(y), p = softmax(s/σ)
    - Source: Cao et al. 2007, section 4.3
    - Cost: O(m)

    References
    ----------
    Cao, Qin, Liu, Tsai & Li 2007, "Learning to rank: from pairwise approach to listwise
    approach", section 4.3 (k = 1). Labels as targets: Bruch, Wang, Bendersky & Najork 2019, "An
    analysis of the softmax cross entropy loss for learning-to-rank with binary relevance".

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = ListNet().bind([1, 0], Queries.from_sizes([2]))
    >>> bound.gradients([0.0, 0.0])[0].round(4).tolist()
    [-0.2311, 0.2311]
    """

    name = "listnet"
    declared = Facts(convex=True, second_derivative=True)

    targets: Literal["softmax", "labels", "gains"] = Choice("softmax", ["softmax", *TARGETS])

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Prepare the cross entropy to the targets."""
        if self.targets == "softmax":
            largest = queries.reduce(np.maximum, labels)
            gains = np.exp(labels - largest[queries.index])
        else:
            gains = gain_values(TARGETS[self.targets], labels)
        return Program(
            softmax_loss,
            labels,
            Terms(gains, scale=labels_differ(labels, queries)),
            parameters=False,
            work=SoftmaxWork,
        )


@register_objective
@dataclass(frozen=True)
class XENDCG(KernelObjective):
    """XE-NDCG: −Σ t_i log p_i with p = softmax(s/σ) and noisy targets t_i ∝ G(y_i) + 1 − γ_i.

    Every round draws each γ_i anew, uniformly from ]0, 1[; with exponential gains,
    G(y) + 1 − γ = 2^y − γ. The curvature is the Hessian's diagonal, p (1 − p)/σ², but at least
    |gradient|/σ. Queries whose labels are all equal are ignored.

    LightGBM's ``rank_xendcg`` adds to the gradient the second and third order terms of a series
    for the Newton step; here it is the gradient of the loss, which trains as well.

    Parameters
    ----------
    gain : {"exp2", "linear"}, list, tuple or callable
        Gain of a label; see `gbrank.measures.gains.gain_values`.
    seed : int
        Seed of the draws.

    Notes
    -----
    - Formula: −Σ_i t_i log p_i, t_i ∝ G(y_i) + 1 − γ_i, p = softmax(s/σ)
    - Source: Bruch 2021, definition of XE-NDCG
    - Cost: O(m)

    References
    ----------
    Bruch 2021, "An alternative cross entropy loss for learning-to-rank", the
    definition of XE-NDCG.

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = XENDCG().bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0], round=3)
    >>> bool(gradient[0] < 0 < gradient[1])
    True
    """

    name = "xendcg"
    declared = Facts(convex=True, second_derivative=True, stochastic=True)

    gain: Gain = Parameter("exp2", check_gain)
    seed: int = Integer(0)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Prepare the cross entropy to gains plus noise."""
        return Program(
            softmax_loss,
            labels,
            Terms(gain_values(self.gain, labels), scale=labels_differ(labels, queries)),
            parameters=True,
            work=SoftmaxWork,
            seed=self.seed,
        )


@register_objective
@dataclass(frozen=True)
class ListMLE(KernelObjective):
    """ListMLE: Σ_i log Σ_{y_j ≤ y_i} exp((s_j − s_i)/σ) over documents above the lowest label.

    It is −log of the Plackett-Luce probability that documents are drawn in the order of their
    labels. Each document is drawn from all of equal or smaller label, so the order within a label
    has no effect (Breslow's treatment of ties); those of the lowest label are not drawn. The
    curvature is the Hessian's diagonal, but at least |gradient|/σ.

    Notes
    -----
    - Formula: Σ_i log Σ_{y_j ≤ y_i} exp((s_j − s_i)/σ), y_i above the lowest
    - Source: Xia et al. 2008, section 4.3
    - Cost: O(m)

    References
    ----------
    Xia, Liu, Wang, Zhang & Li 2008, "Listwise approach to learning to rank: theory and
    algorithm", section 4.3. Ties: Breslow 1974, "Covariance analysis of censored survival data".

    Examples
    --------
    >>> from gbrank import Queries
    >>> ListMLE().bind([2, 1, 0], Queries.from_sizes([3])).loss([0.0, 0.0, 0.0]).round(4)
    array([1.7918])
    """

    name = "listmle"
    declared = Facts(convex=True, second_derivative=True)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Prepare the likelihood of drawing grade by grade."""
        return Program(list_likelihood, grades(labels, queries), work=GradeSums)


@register_objective
@dataclass(frozen=True)
class GainRegression(KernelObjective):
    """Regression on the gains: ½ Σ (s_i − G(y_i))², independent of sigma.

    It ranks by the expected gain, and its scores are estimates of it.

    Parameters
    ----------
    gain : {"exp2", "linear"}, list, tuple or callable
        Gain of a label; see `gbrank.measures.gains.gain_values`.

    Notes
    -----
    - Formula: ½ Σ_i (s_i − G(y_i))²
    - Source: Cossock & Zhang 2006
    - Cost: O(m)

    References
    ----------
    Cossock & Zhang 2006, "Subset ranking using regression".

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = GainRegression().bind([2, 0], Queries.from_sizes([2]))
    >>> bound.gradients([1.0, 0.0])[0].tolist()
    [-2.0, 0.0]
    """

    name = "regression"
    declared = Facts(
        convex=True,
        second_derivative=True,
        shift_invariant=False,
        sigma_unit="none",
        closed_form=True,
    )

    gain: Gain = Parameter("exp2", check_gain)

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Prepare squared differences from the gains."""
        return Program(squared_loss, labels, Terms(gain_values(self.gain, labels)))
