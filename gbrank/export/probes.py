"""Rows that try every split of a forest: its threshold, neighbours, zero, missing, categories."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf, isfinite, nan, nextafter

import numpy as np

from gbrank.boosters.tree import LARGEST, Leaf, Membership, Split, Tree, above, at_most
from gbrank.common.arrays import Matrix
from gbrank.export.forest import Forest

OTHER_CODES = 32  # how many categories that a split does not name are tried


@dataclass(frozen=True)
class _Values:
    """What one feature may be for a document to reach a node."""

    codes: frozenset[int] | None = None  # None where it is a number
    low: float = -inf  # the number is greater than this
    high: float = inf  # and at most this
    missing: bool = True

    def some(self) -> float | None:
        """Return one value, None where there is none."""
        if self.codes is not None:
            return min(self.codes) if self.codes else nan if self.missing else None
        tried = 0.0, at_most(self.high), above(self.low), self.high
        return next((x for x in tried if self._holds(x)), nan if self.missing else None)

    def _holds(self, x: float) -> bool:
        return isfinite(x) and self.low < x <= self.high

    def near(self, split: Split, double: bool) -> list[float]:
        """Return the values on which the sides of a split could be confused."""
        missing = [nan] if self.missing else []
        if isinstance(split, Membership):
            assert self.codes is not None
            members = self.codes & set(split.categories)
            others = sorted(self.codes - members)
            return [*members, *others[:OTHER_CODES], *others[-1:], *missing]
        last = at_most(split.threshold)
        most = max(LARGEST, abs(split.threshold)) if isfinite(split.threshold) else LARGEST
        before = float(np.nextafter(np.float32(last), -np.float32(LARGEST)))
        tried = {before, last, above(split.threshold), 0.0, LARGEST, -LARGEST}
        if double:
            tried |= {split.threshold, *(nextafter(split.threshold, end) for end in (-inf, inf))}
        tried = {x for x in tried if abs(x) <= most}
        return [*filter(self._holds, sorted(tried)), *missing]

    def of_side(self, split: Split, left: bool) -> "_Values":
        """Return those that go to one side of a split."""
        missing = self.missing and split.missing_left == left
        if isinstance(split, Membership):
            assert self.codes is not None
            members = frozenset(split.categories)
            codes = self.codes & members if left else self.codes - members
            return replace(self, codes=codes, missing=missing)
        if left:
            return replace(self, high=min(self.high, split.threshold), missing=missing)
        return replace(self, low=max(self.low, split.threshold), missing=missing)


class Probes:
    """Rows for each tree of a forest; the code of an unknown category is the next one."""

    def __init__(self, forest: Forest, double: bool) -> None:
        self._double, self._codes, self._width = double, _codes(forest), len(forest.features)

    def of(self, tree: Tree) -> Matrix:
        """Return rows that reach each split of a tree, on each of its sides."""
        fixed = [{}, {}, *self._reaching(tree, {})]
        rows = np.zeros((len(fixed), self._width))
        rows[::2] = nan  # what a split leaves open
        for row, values in zip(rows, fixed, strict=True):
            row[list(values)] = list(values.values())
        return rows

    def _reaching(self, tree: Tree, allowed: Mapping[int, _Values]) -> Iterator[dict[int, float]]:
        """Yield what decides of rows that reach the splits below."""
        if isinstance(tree, Leaf):
            return
        column = tree.feature
        own = allowed.get(column) or _Values(self._codes.get(column))
        path = {other: values.some() for other, values in allowed.items() if other != column}
        fixed = {other: value for other, value in path.items() if value is not None}
        if own.some() is None or len(fixed) < len(path):
            return  # no document gets here
        yield from ({**fixed, column: value} for value in own.near(tree, self._double))
        for child, left in ((tree.left, True), (tree.right, False)):
            yield from self._reaching(child, {**allowed, column: own.of_side(tree, left)})


def _codes(forest: Forest) -> dict[int, frozenset[int]]:
    """Return the codes of each column of categories, with one that is unknown."""
    largest = {column: len(known) - 1 for column, known in forest.categories.items()}
    for split in forest.splits():
        if isinstance(split, Membership):
            largest[split.feature] = max(largest.get(split.feature, 0), *split.categories)
    return {column: frozenset(range(last + 2)) for column, last in largest.items()}
