"""SLAM: convex upper bounds on 1 − NDCG and 1 − AP."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.kernels.grade_sums import SCRATCH, SLAMParameters, slam_hinges, slam_smooth
from gbrank.kernels.program import Program
from gbrank.measures.average_precision import AP
from gbrank.measures.measure import Terms
from gbrank.measures.per_query import grades
from gbrank.objectives.kernel_objective import MeasureObjective
from gbrank.objectives.objective import Facts
from gbrank.objectives.objective_registry import register_objective


@register_objective
@dataclass(frozen=True)
class SLAM(MeasureObjective):
    """SLAM: Σ_i v_i max(0, max_{y_j < y_i} (margin + s_j − s_i)), at least 1 − measure.

    For NDCG, v_i is G(y_i) D(i)/Z in the ideal order, averaged over documents of equal gain; for
    AP, 1/R for each of the R relevant documents, whatever its k, or less if `tight`. With smoothed
    maxima, terms are v_i σ log(1 + Σ_{y_j < y_i} exp((margin + s_j − s_i)/σ)): larger, convex too.

    Parameters
    ----------
    measure : NDCG, AP or str
        The measure to be bounded. Its own `ties` and `no_relevant` play no part.
    margin : float
        By how much, in score units, a document should stand above all of smaller label. The loss
        is a bound on 1 − measure if it is at least 1.
    smooth : bool
        Whether to smooth with width σ, in score units; if not, σ plays no part in the subgradient.
    tight : bool
        Whether AP has the smallest equal weights for which its bound holds: the mean of the paper's
        v_i = (m − R)/(R (m − R + i)), i = 1, ..., R. With these v_i the bound is exact where the
        last t relevant documents are below all others, for any t, but like documents have unlike
        weights; with their mean it is exact for t = R. By default v is 1/R, which is nearly as
        small where few documents are relevant, and valid for AP at k too.

    References
    ----------
    Chaudhuri & Tewari 2014, "Perceptron-like algorithms and generalization bounds for learning to
    rank", arXiv:1405.0591, sections 3 and 4: equations 6 and 9, theorems 2 and 3.

    Examples
    --------
    >>> from gbrank import Queries
    >>> bound = SLAM("ap", smooth=False).bind([1, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([1.0, 0.5, 0.0])
    array([1.])
    >>> bound.gradients([1.0, 0.5, 0.0])[0].tolist()
    [-0.5, 1.0, -0.5]
    """

    name = "slam"
    needs = "bounded_by"
    wanted = "be NDCG or AP for SLAM"
    declared = Facts(
        formula="Σ_i v_i max(0, max_{y_j < y_i} (Δ + s_j − s_i))",
        source="Chaudhuri & Tewari 2014, section 3",
        convex=True,
        cost="O(m)",
        takes_measure=True,
    )

    margin: float = 1.0
    smooth: bool = True
    tight: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.margin, "margin", 0, open_low=True)
        check_choice(self.smooth, "smooth", [True, False])
        check_choice(self.tight, "tight", [True, False])
        if self.tight and not (isinstance(self._measure, AP) and self._measure.k is None):
            raise ValueError(
                "tight must be False, except for AP without a cut, whose smallest weights are "
                f"known; got {self.tight} with {self.measure}."
            )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return hinges, or their smooth form, weighted by v."""
        terms = self.terms(labels, queries)
        if self._measure.bounded_by == "shares":
            # All relevant documents have the same share, at whatever rank.
            terms = replace(terms, table=(terms.table > 0).astype(np.float64))
        weights = _hinge_weights(terms, queries)
        if self.tight:
            weights *= _tightening(terms.x > 0, queries)[queries.index]
        return Program(
            kernel=slam_smooth if self.smooth else slam_hinges,
            labels=grades(terms.x, queries),
            x=weights,
            parameters=SLAMParameters(self.margin),
            scratch=SCRATCH,
        )


def _hinge_weights(terms: Terms, queries: Queries) -> Vector:
    """Return Z⁻¹ G D of each document in the ideal order, averaged over equal gains."""
    order = np.lexsort((-terms.x, queries.index))
    gains, query = terms.x[order], queries.index[order]
    begins = np.diff(gains, prepend=0.0) != 0
    begins[queries.offsets[:-1]] = True
    block = np.cumsum(begins) - 1
    mean = np.bincount(block, terms.table) / np.bincount(block)
    weights = np.empty(len(gains))
    weights[order] = gains * mean[block] * cast(Vector, terms.scale)[query]
    return weights


def _tightening(relevant: NDArray[np.bool_], queries: Queries) -> Vector:
    """Return 1/R Σ_{i ≤ R} (m − R)/(m − R + i) of each query: the largest 1 − AP."""
    m = queries.sizes
    n_relevant = np.bincount(queries.index[relevant], minlength=queries.n_queries)
    harmonic = np.cumsum(1 / np.maximum(np.arange(m.max() + 1), 1)) - 1
    others = m - n_relevant
    return others * (harmonic[m] - harmonic[others]) / np.maximum(n_relevant, 1)
