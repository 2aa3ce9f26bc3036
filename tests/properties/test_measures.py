"""The battery for measures: whatever is registered is what its own value says; breaks are seen."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import oracle
from battery import WORD
from cases import case
from gbrank import (
    AP,
    DCG,
    ERR,
    NDCG,
    RBP,
    RR,
    Precision,
    Queries,
    Recall,
    TieRank,
    get_measure,
    list_measures,
)
from gbrank.extend import Measure, SeparableDelta, Swaps, Terms, inline
from gbrank.measures.average_precision import ap_by_position, ap_swaps, ap_value
from gbrank.measures.cascade import cascade_by_rank, err_swaps, rr_value
from gbrank.measures.discounted import discounted_by_rank, discounted_swaps
from gbrank.measures.gains import formula_of
from gbrank.measures.pairwise import KendallTau, PairwiseCorrect, pairwise_row

NAMES = [item.name for item in list_measures() if WORD in item.name]


@pytest.mark.parametrize("check", oracle.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_what_follows_from_the_value(name: str, check: Any) -> None:
    """By enumeration of small lists."""
    check(get_measure(name))


@pytest.mark.slow
@pytest.mark.parametrize("check", oracle.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_what_follows_from_the_value_of_variants(name: str, check: Any) -> None:
    """The measure cut at ranks 2 and 3, and with other discounts."""
    for measure in oracle.variants(get_measure(name)):
        with case(measure):
            check(measure)


# --- Ten measures, each with one fault --------------------------------------------------------

of_ap, of_rr, of_swaps = inline(ap_value), inline(rr_value), inline(discounted_swaps)
of_ap_swaps, of_err, of_rows = inline(ap_swaps), inline(err_swaps), inline(pairwise_row)
of_ranks, of_cascade = inline(discounted_by_rank), inline(cascade_by_rank)
of_positions = inline(ap_by_position)


def best_of_ties(ranking: Any) -> float:
    """Give each document its own discount, the best ones first."""
    total = 0.0
    for p in range(ranking.gains.size):
        total += ranking.gains[p] * ranking.discounts[p]
    return total * ranking.scale


def twice(ranking: Any, top: int, delta: SeparableDelta) -> None:
    """Double the deltas of pairs that are not tied."""
    of_swaps(ranking, top, delta)
    for p in range(ranking.gains.size):
        delta.upper[p] *= 2
        delta.share[p] *= 2


def without_scale(ranking: Any, means: Any, slopes: Any) -> float:
    """Leave out the factor on the value."""
    return of_positions(ranking, means, slopes) / ranking.scale


def never_cut(ranking: Any, ranks: Any, beta: float, slopes: Any) -> float:
    """Take documents of every rank into account."""
    total = 0.0
    for p in range(ranking.gains.size):
        slopes[p] = 0.0
        total += ranking.gains[p] / ranks[p]
    return total


def untied_only(ranking: Any, top: int, delta: SeparableDelta) -> None:
    """Forget the pairs inside tied blocks."""
    of_ap_swaps(ranking, top, delta)
    for p in range(ranking.gains.size):
        delta.inside[p] = 0.0


def without_top(ranking: Any, top: int, delta: SeparableDelta) -> None:
    """Take pairs of all ranks."""
    of_err(ranking, ranking.gains.size, delta)


def half_row(ranking: Any, i: int, stop: int, top: int, out: Any) -> None:
    """Halve the change."""
    of_rows(ranking, i, stop, top, out)
    for j in range(i + 1, stop):
        out[j] *= 0.5


class Later(Precision):
    """Precision that counts one rank too many."""

    @property
    def last_rank(self) -> Any:
        """Return k + 1."""
        return self.k and self.k + 1


class Above(Recall):
    """Recall of the labels above the threshold, not of the threshold itself."""

    def gains(self, labels: Any) -> Any:
        """Return 1 where a label exceeds the threshold."""
        return (labels > self.threshold).astype(np.float64)


class Otherwise(RBP):
    """RBP whose formula at real ranks is another discount's."""

    def terms(self, labels: Any, queries: Any) -> Terms:
        """Return the terms, with the reciprocal's formula."""
        return replace(
            super().terms(labels, queries), constants=formula_of("reciprocal", queries.sizes)
        )


def broken(measure: type[Measure], **functions: Any) -> Measure:
    """Return a measure with other functions."""
    return type("Broken", (measure,), functions)()


BREAKS = {
    "ties of NDCG": (lambda: broken(NDCG, value=best_of_ties), oracle.ties),
    "swaps of DCG": (lambda: broken(DCG, swaps=Swaps(twice)), oracle.swaps),
    "positions of AP": (lambda: broken(AP, by_position=without_scale), oracle.positions),
    "ranks of RR": (lambda: broken(RR, by_rank=never_cut), oracle.real_ranks),
    "truncated swaps of ERR": (
        lambda: broken(ERR, swaps=ERR.swaps and ERR.swaps._replace(separable=without_top)),
        oracle.swaps,
    ),
    "cut of precision": (Later, oracle.truncation),
    "threshold of recall": (Above, oracle.relevance),
    "real ranks of RBP": (Otherwise, oracle.real_ranks),
    "tied swaps of AP": (lambda: broken(AP, swaps=Swaps(untied_only)), oracle.swaps),
    "rows of pairs": (
        lambda: broken(
            PairwiseCorrect,
            swaps=PairwiseCorrect.swaps and PairwiseCorrect.swaps._replace(row=half_row),
        ),
        oracle.swaps,
    ),
    "form of NDCG": (lambda: broken(NDCG, form="paired"), oracle.form),
}


def check_all(measure: Measure, check: Any) -> None:
    """Check a measure and its variants."""
    for own in (measure, *oracle.variants(measure)):
        check(own)


@pytest.mark.slow
@pytest.mark.parametrize("fault", BREAKS)
def test_faults_are_seen(fault: str) -> None:
    """By the check of what is broken; the measure as it is passes that."""
    make, check = BREAKS[fault]
    faulty = make()
    with pytest.raises(AssertionError):
        check_all(faulty, check)
    check_all(get_measure(faulty.name), check)


def test_form_without_discounts() -> None:
    """A measure that declares a form and has no discounts is refused."""
    with pytest.raises(ValueError, match="of the form 'paired': its terms need discounts"):
        TieRank(broken(KendallTau, form="paired")).bind([1, 0], Queries.from_sizes([2]))
