"""What a measure must be, derived from its value on rankings without ties, and from nothing else.

Ties, swaps, real ranks, positions, truncation, relevance and the bounds that a measure declares
all follow from that value, by enumeration of small lists. A measure that is registered is held
against it without a line of its own.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import reference
from gbrank import SLAM, ApproxRank, LambdaRank, Queries, SmoothRank, SoftRank, TieRank
from gbrank.extend import Measure
from gbrank.measures.gains import geometric_discount

Labels = tuple[float, ...]
Values = Callable[[Labels], float | None]

LISTS: tuple[Labels, ...] = (
    (2.0,), (0.0, 0.0), (0.0, 1.0), (3.0, 1.0), (2.0, 2.0, 2.0), (2.0, 0.0, 1.0), (0.0, 2.0, 0.0),
    (1.0, 0.0, 3.0, 1.0), (0.0, 0.0, 2.0, 0.0), (3.0, 2.0, 0.0, 1.0), (0.0, 1.0, 2.0, 1.0, 3.0),
)  # fmt: skip
SCORES = (0.3, 0.0, 0.3, -0.4, 0.0)  # with ties, of two and three documents in lists of five
OTHER = (0.1, 0.1, 0.1, 0.5, 0.1)
APART = (0.5, -1.0, 1.5, 3.0, 2.25)


def values_of(measure: Measure, labels: Labels) -> Values:
    """Return the measure of each order of these labels, as a function of the order."""
    orders = sorted(set(permutations(labels)))
    queries = Queries.from_sizes([len(labels)] * len(orders))
    scores = np.tile(-np.arange(len(labels), dtype=float), len(orders))
    found = measure.bind(np.ravel(orders), queries).per_query(scores).tolist()
    known = {
        key: None if np.isnan(value) else value for key, value in zip(orders, found, strict=True)
    }
    return lambda order: known[tuple(order)]


def joined(cases: list[tuple[Labels, Any]]) -> tuple[Any, Queries]:
    """Return the labels of all cases, each of which is a query."""
    every = [labels for labels, _ in cases]
    return np.concatenate(every), Queries.from_sizes(list(map(len, every)))


def ranked(labels: Labels, scores: Any) -> Labels:
    """Return labels in rank order, of scores that differ."""
    return tuple(labels[row] for row in np.argsort(-np.asarray(scores)))


def same(found: float | None, wanted: float | None, tolerance: float = 1e-9) -> None:
    """Both undefined, or equal."""
    assert (found is None) == (wanted is None)
    if found is not None:
        assert found == pytest.approx(wanted, rel=tolerance, abs=tolerance)


def losses_of(objective: Any, labels: Labels, scores: list[Any], sigma: float) -> Any:
    """Return an objective's loss of one list, for each of several scores of its documents."""
    queries = Queries.from_sizes([len(labels)] * len(scores))
    bound = objective.bind(np.tile(labels, len(scores)), queries)
    return bound.loss(np.ravel(scores), sigma).tolist()


def orders_of(labels: Labels) -> list[Any]:
    """Return scores of these labels in each order of all different ones."""
    return sorted(set(permutations(APART[: len(labels)])))


def varied(measure: Measure, labels: Labels) -> bool:
    """Say whether documents are worth different things, and the list counts."""
    terms = measure.terms(np.asarray(labels), Queries.from_sizes([len(labels)]))
    return bool(len(set(terms.gains.tolist())) > 1 and (terms.defined is None or terms.defined[0]))


# --- What follows from the value --------------------------------------------------------------


def ties(measure: Measure) -> None:
    """Documents of equal score: the mean, the worst and the best over all their orders."""
    cases = [(labels, scores[: len(labels)]) for labels in LISTS for scores in (SCORES, OTHER)]
    values = {labels: values_of(measure, labels) for labels in LISTS}
    for rule in ("average", "pessimistic", "optimistic", "order"):
        bound = replace(measure, ties=rule).bind(*joined(cases))
        every = bound.per_query(np.concatenate([scores for _, scores in cases]))
        for found, (labels, scores) in zip(every.tolist(), cases, strict=True):
            wanted = reference.tied(values[labels], labels, scores, rule)
            same(None if np.isnan(found) else found, wanted)


def swaps(measure: Measure) -> None:
    """LambdaRank's gradient: the mean change over the orders of ties, also with a truncation."""
    if type(measure).swaps is None:
        return
    cases = [(y, scores[: len(y)]) for y in LISTS for scores in (SCORES, OTHER, APART)]
    values = {labels: cache(values_of(measure, labels)) for labels in LISTS}
    for cut in (None, 1, 2):
        bound = LambdaRank(measure, truncation=cut).bind(*joined(cases))
        found = bound.gradients(np.concatenate([scores for _, scores in cases]), 0.7)
        for (labels, scores), *own in zip(
            cases,
            *(np.split(array, joined(cases)[1].offsets[1:-1]) for array in found),
            strict=True,
        ):
            deltas = reference.expected_swap_deltas(values[labels], labels, scores, cut)
            wanted = reference.lambda_gradients(deltas, labels, scores, 0.7)
            for one, other in zip(own, wanted[:2], strict=True):
                np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


def real_ranks(measure: Measure) -> None:
    """ApproxRank where ranks are integers but for rounding, and β is steep."""
    if type(measure).by_rank is not None and measure.known_at_real_ranks:
        relaxed(measure, ApproxRank(measure, beta=100.0), 1e-2)


def positions(measure: Measure) -> None:
    """SmoothRank where every position has its document alone."""
    if type(measure).by_position is not None:
        relaxed(measure, SmoothRank(measure), 1e-3)


def relaxed(measure: Measure, objective: Any, sigma: float) -> None:
    """A relaxation of no width is the measure itself."""
    for labels in filter(lambda labels: varied(measure, labels), LISTS):
        values = values_of(measure, labels)
        orders = orders_of(labels)
        for scores, loss in zip(orders, losses_of(objective, labels, orders, sigma), strict=True):
            same(-loss, values(ranked(labels, scores)), 1e-6)


def truncation(measure: Measure) -> None:
    """With a k the first k documents count, the k-th too, and k = m is no cut."""
    if not any(item.name == "k" for item in fields(measure)):
        return
    counts = set()  # the k of which the last document matters in some list
    for labels in LISTS:
        whole = values_of(replace(measure, k=None), labels)
        for k in range(1, len(labels) + 1):
            values = values_of(replace(measure, k=k), labels)
            heads: dict[Labels, set[float | None]] = {}
            for order in set(permutations(labels)):
                for length in (k, k - 1):
                    heads.setdefault(order[:length], set()).add(rounded(values(order)))
                if k == len(labels):
                    same(values(order), whole(order))
            assert all(len(found) == 1 for head, found in heads.items() if len(head) == k)
            if any(len(found) > 1 for head, found in heads.items() if len(head) < k):
                counts.add(k)
    assert counts >= {1, 2}


def rounded(value: float | None) -> float | None:
    """Return a value without its last digits."""
    return None if value is None else round(value, 12)


def relevance(measure: Measure) -> None:
    """From the threshold on, labels are all alike."""
    if not any(item.name == "threshold" for item in fields(measure)):
        return
    for labels in LISTS:
        binary = tuple(float(label >= 2) for label in labels)
        values = values_of(replace(measure, threshold=2.0), labels)
        plain = values_of(replace(measure, threshold=1.0), binary)
        for order in set(permutations(labels)):
            same(values(order), plain(tuple(float(label >= 2) for label in order)))


def terms(measure: Measure) -> None:
    """Gains rise with labels and are equal where these are; a list is defined if its value is."""
    for labels in LISTS:
        found = measure.terms(np.asarray(labels), Queries.from_sizes([len(labels)]))
        for one, other in combinations(range(len(labels)), 2):
            rise = np.sign(found.gains[one] - found.gains[other])
            assert rise * np.sign(labels[one] - labels[other]) >= 0
            assert rise == 0 or labels[one] != labels[other]
        value = values_of(measure, labels)(labels)
        assert found.defined is None or bool(found.defined[0]) == (value is not None)


def bound(measure: Measure) -> None:
    """SLAM's loss is at least 1 − the measure, if the measure says that it can be bounded."""
    if measure.bounded_by is None:
        return
    for labels in LISTS:
        values = values_of(measure, labels)
        orders = orders_of(labels)
        losses = losses_of(SLAM(measure, smooth=False), labels, orders, 1.0)
        for scores, loss in zip(orders, losses, strict=True):
            value = values(ranked(labels, scores))
            assert value is None or loss >= 1 - value - 1e-9


def form(measure: Measure) -> None:
    """TieRank's loss is the mean over all roundings, SoftRank's without noise the value."""
    if measure.form is None:
        return
    for labels in filter(lambda labels: varied(measure, labels), LISTS):
        values = values_of(measure, labels)
        scores = np.array([0.1, -0.3, 0.45, 0.6, 1.2])[: len(labels)]
        low = np.floor(scores + 0.5)
        up = scores + 0.5 - low
        up = up * up * (3 - 2 * up)
        total = 0.0
        for outcome in product((0, 1), repeat=len(labels)):
            chance = np.prod(np.where(outcome, up, 1 - up))
            tied = reference.tied(values, labels, tuple(low + outcome), "average")
            total += float(chance) * float(tied or 0.0)
        (loss,) = losses_of(TieRank(measure), labels, [scores], 1.0)
        same(-loss, total)
    if measure.form == "discounted":
        relaxed(measure, SoftRank(measure), 1e-2)


CHECKS: tuple[Callable[[Measure], None], ...] = (
    ties, swaps, real_ranks, positions, truncation, relevance, terms, bound, form,
)  # fmt: skip


def variants(measure: Measure) -> Iterator[Measure]:
    """Yield the measure cut at ranks 2 and 3 and with other discounts, if it can be."""
    names = {item.name for item in fields(measure)}
    if "k" in names:
        yield replace(measure, k=2)
        yield replace(measure, k=3)
    if "discount" in names:
        yield replace(measure, discount="linear")  # of the query's length
        yield replace(measure, discount=geometric_discount(0.6), k=3)
