"""Exposure: which share of the users' attention a group of documents gets."""

from dataclasses import dataclass

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.fields import checked, real, whole
from gbrank.data.queries import Queries
from gbrank.measures.discounted import DiscountedMeasure
from gbrank.measures.gains import Discount, check_discount
from gbrank.measures.measure import RelevanceMeasure
from gbrank.measures.measure_registry import register_measure


@register_measure
@dataclass(frozen=True, repr=False)
class Exposure(RelevanceMeasure, DiscountedMeasure):
    """Share of the attention that goes to a group of documents, such as those of small sellers.

    Attention falls with the rank as the discount D does. The label says which documents are of the
    group: as a constraint, ``"exposure@10[small] >= 0.3"`` with ``labels={"small": ...}``.

    Parameters
    ----------
    k : int, optional
        Last rank that counts; all by default.
    threshold : float
        The smallest label of a document of the group.
    discount : {"log2", "letor", "reciprocal", "flat", "linear"}, or another
        Attention by rank; as for `DCG`.

    References
    ----------
    A. Singh, T. Joachims. Fairness of exposure in rankings. KDD 2018, section 3.

    Examples
    --------
    >>> round(Exposure()([1, 0], [2.0, 1.0]), 4)  # 1 of 1 + 1 / log2(3)
    0.6131
    """

    name = "exposure"
    formula = "Σ_{r ≤ k} group_r D(r) / Σ_{r ≤ k} D(r)"
    source = "Singh & Joachims 2018, section 3"
    labels = "floats ≥ 0, of the group from `threshold`"

    k: int | None = whole(None, 1, optional=True)
    threshold: float = real(1.0, 0, open_low=True)
    discount: Discount = checked("log2", check_discount)

    def ranking_discount(self) -> tuple[Discount, int | None]:
        """Return D and k."""
        return self.discount, self.k

    def normalizers(self, gains: Vector, discounts: Vector, queries: Queries) -> Vector:
        """Return the attention that there is."""
        attention: Vector = np.add.reduceat(discounts, queries.offsets[:-1])
        return attention
