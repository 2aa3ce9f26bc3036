"""Forests: the trees of a ranker, with the names of its features."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gbrank.boosters.tree import Membership, Split, Tree, splits, with_splits
from gbrank.common.checks import ArgumentError, ArgumentTypeError, check_unique, quoted
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.pretrained import PretrainedRanker
from gbrank.ranker import GBRanker, of_booster

FeatureNames = Sequence[str] | Mapping[str, str]


class Forest(NamedTuple):
    """Trees whose sum is the score."""

    name: str  # what the model is to be called
    features: list[str]  # the name of each column
    trees: list[Tree]  # at least one
    categories: dict[int, list[Any]]  # what codes stand for, by column

    def splits(self) -> Iterator[Split]:
        """Yield all splits of all trees."""
        for tree in self.trees:
            yield from splits(tree)

    def by_category(self) -> set[int]:
        """Collect the columns with splits by category."""
        return {split.feature for split in self.splits() if isinstance(split, Membership)}

    def changed(self, change: Callable[[Split], Tree]) -> "Forest":
        """Change every split."""
        return self._replace(trees=[with_splits(tree, change) for tree in self.trees])


def expect(holds: bool, demand: str) -> None:
    """Refuse a file that an engine would refuse."""
    if not holds:
        raise ValueError(f"expected {demand}")


def trees_of(ranker: GBRanker) -> list[Tree]:
    """Collect the trees of a ranker, after those of its `init_`."""
    fitted = ranker._fitted
    trees = fitted.model.trees() or [0.0]
    init = fitted.init
    if init is None:
        return trees
    if isinstance(init, PretrainedRanker):
        init = of_booster(init)
    inner = init._schema
    outer = fitted.schema
    columns = inner.columns_in(outer)

    def converted(split: Split) -> Split:
        """Convert a split to the columns and codes of the model that adds to its own."""
        column = columns[split.feature]
        ours = inner.categories.get(split.feature)
        known = outer.categories.get(column)
        split = replace(split, feature=column)
        if ours == known:
            return split
        if ours is None or known is None or not isinstance(split, Membership):
            demand = f"must hold the types of the ranker in column {outer.feature_names[column]!r}"
            raise ArgumentError("init", f"{demand} for the model to be exported")
        left = {ours[code] for code in split.categories}
        if split.missing_left:  # what a model does not know is missing to it
            left |= {*known} - {*ours}
        codes = tuple(code for code, value in enumerate(known) if value in left)
        return replace(split, categories=codes)

    return [with_splits(tree, converted) for tree in trees_of(init)] + trees


def names_of(ranker: BaseRanker[Any], feature_names: FeatureNames | None) -> list[str]:
    """Name each feature."""
    columns = ranker._schema.feature_names
    names = columns if feature_names is None else feature_names
    if isinstance(names, Mapping):
        if unknown := [name for name in names if name not in columns]:
            raise ArgumentError(
                "feature_names", f"must rename columns of X ({columns})", repr(unknown[0])
            )
        names = [names.get(name, name) for name in columns]
    names = list(names)
    texts = all(isinstance(name, str) and name for name in names)
    if isinstance(feature_names, str | set | frozenset) or not texts or len(names) != len(columns):
        raise ArgumentTypeError(
            "feature_names",
            f"must be a list of {len(columns)} texts, none empty",
            quoted(feature_names),
        )
    check_unique("feature_names", names)
    return names
