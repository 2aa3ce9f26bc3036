"""The formats: what each can express, what writes and reads it; refusals of other models."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import inf, isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from gbrank.boosters.tree import Membership, Split, Tree, at_most, with_splits
from gbrank.common.checks import ArgumentError, check_known_name

from .elasticsearch import read_elasticsearch, write_elasticsearch
from .forest import Forest
from .onnx import prepare_onnx, read_onnx, write_onnx
from .opensearch import read_opensearch, write_opensearch
from .solr import reached_by_solr, read_solr, write_solr
from .vespa import prepare_vespa, read_vespa, write_vespa

LIGHTGBM_ZERO = float(np.float32(1e-35))  # LightGBM reads as 0 what is not further from it
# How far a threshold may move: by two numbers of single precision.
PRECISION = 2.0**-22
MARKS = set('"\\|')  # stand around or between texts
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
MISSING = {  # where no split says it
    "zero": "reads missing values as zeros. If there are none, or zero is what they mean, set "
    "missing_as_zero.",
    "right": "sends all missing values right. Take version 3.8 or later; or, if every document has "
    "every feature, say no version.",
}


class Format(NamedTuple):
    """A format in which models can be written, with what it can express."""

    write: Callable[..., bytes]  # returns the content of the file of a forest
    read: Callable[[bytes, Forest], list[Tree]]  # the trees of a file, as the engine walks them
    prepare: Callable[[Forest], Forest] = lambda forest: forest  # into an equal one for the engine
    named: bool = True  # whether features go by name, or else by position
    categories: Literal["", "codes", "texts"] = ""  # what splits by category compare, if there are
    missing: Literal["either", "zero", "right"] = "either"  # where a split sends missing values
    precision: type[np.floating[Any]] = np.float32  # of features
    less: bool = False  # whether documents go left if they are less than a number, not at most
    reached: Callable[[float], float] = at_most  # the largest number that goes left of a threshold
    # What is different in versions of the engine, each from the one that is said; without a
    # version, the newest is meant.
    versions: Mapping[tuple[int, ...], Mapping[str, Any]] = {}
    name: str = ""  # as a user writes it

    @property
    def largest(self) -> float:
        """The largest of its numbers."""
        return float(np.finfo(self.precision).max)

    def held(self, split: Split) -> Split:
        """Round a split's threshold to one of the format."""
        if isinstance(split, Membership):
            return replace(split, categories=tuple(sorted(split.categories)))
        beyond = split.threshold < -self.largest
        return replace(split, threshold=-inf if beyond else self.reached(split.threshold))

    def sent(self, split: Split) -> Split:
        """Send missing values where the engine sends them."""
        if self.missing == "either":
            return split
        return replace(split, missing_left=self.missing == "zero" and split.zero_left)

    def trees(self, content: bytes, forest: Forest) -> list[Tree]:
        """Read the trees of a file, as the engine walks them."""
        return [with_splits(tree, self.sent) for tree in self.read(content, forest)]

    def expressible(self, forest: Forest) -> Forest:
        """Write an equal forest in thresholds of the format, or refuse it."""
        forest = forest.changed(self._within)
        _check_categories(forest, self)
        _check_splits(forest, self)
        return forest

    def _within(self, split: Split) -> Split:
        """Write an equal split with a threshold of the format.

        Where all numbers go left of a threshold beyond them, none is less than the smallest one,
        with the sides exchanged; and the other way round.
        """
        if isinstance(split, Membership):
            return split
        beyond = split.threshold >= self.largest if self.less else split.threshold < -self.largest
        if not beyond:
            return split
        return replace(
            split,
            threshold=-inf if self.less else inf,
            missing_left=not split.missing_left,
            left=split.right,
            right=split.left,
        )


FORMATS = {
    # A trained model (JSON), for Elasticsearch's own learning to rank, 8.13 and later.
    "elasticsearch": Format(
        write_elasticsearch,
        read_elasticsearch,
        versions={(8, 13): {"write": partial(write_elasticsearch, with_input=True)}, (8, 15): {}},
    ),
    # model/xgboost+json, for the LTR plugins of OpenSearch and Elasticsearch.
    "opensearch": Format(
        write_opensearch,
        read_opensearch,
        less=True,
        versions={(2,): {"missing": "zero"}, (3, 3): {"missing": "right"}, (3, 8): {}},
    ),
    # MultipleAdditiveTreesModel (JSON).
    "solr": Format(
        write_solr,
        read_solr,
        reached=reached_by_solr,
        versions={(6, 4): {"missing": "zero"}, (9, 2): {}},
    ),
    # LightGBM's JSON as Vespa reads it.
    "vespa-lightgbm": Format(
        write_vespa,
        read_vespa,
        prepare_vespa,
        categories="texts",
        precision=np.float64,
        less=True,
        reached=float,
    ),
    # A graph of one TreeEnsemble, for ONNX Runtime.
    "onnx": Format(write_onnx, read_onnx, prepare_onnx, named=False, categories="codes"),
}


def format_of(name: str) -> Format:
    """Find the format of a name, after which may be a colon and the version of the engine."""
    base, _, version = str(name).partition(":")
    check_known_name("format", base, FORMATS)
    format = FORMATS[base]._replace(name=name)
    if base == name:
        return format
    number = version.split(".") if re.fullmatch(r"\d+(\.\d+)*", version) else ()
    changes = [
        change for since, change in format.versions.items() if since <= tuple(map(int, number))
    ]
    if not changes:
        first = ".".join(map(str, next(iter(format.versions), ())))
        demand = f"of version {first} or later" if first else f"{base!r}, without a version"
        raise ArgumentError("format", f"must be {demand}", repr(name))
    return format._replace(**changes[-1])


def _check_categories(forest: Forest, format: Format) -> None:
    columns = forest.by_category()
    if columns and not format.categories:
        raise ValueError(
            "format must have splits by category, as the model has of feature "
            f"{forest.features[min(columns)]!r}; {format.name} has none. Encode the categories as "
            "numbers, or choose another format."
        )
    for column in columns if format.categories == "texts" else ():
        texts = Counter(map(str, forest.categories.get(column, [])))
        if wrong := [text for text, n in texts.items() if n > 1 or set(text) & MARKS]:
            raise ValueError(
                f"format must hold the model's categories, as {wrong[0]!r} of feature "
                f"{forest.features[column]!r}; to {format.name} they are texts that differ, "
                'without ", \\ and |.'
            )


def _check_splits(forest: Forest, format: Format) -> None:
    thresholds: dict[tuple[int, float], float] = {}  # by feature and by what the format has
    for split in forest.splits():
        if split.missing_left != format.sent(split).missing_left:
            raise ValueError(
                "format must send missing values where the model does, as for feature "
                f"{forest.features[split.feature]!r}; {format.name} {MISSING[format.missing]}"
            )
        if isinstance(split, Membership):
            continue
        threshold = split.threshold
        reached = format.reached(split.threshold)
        if abs(threshold) < SMALLEST or abs(threshold) == LIGHTGBM_ZERO:
            continue  # beside 0: only numbers that are nearly 0 may go another way
        first = thresholds.setdefault((split.feature, reached), threshold)
        moved = abs(reached - threshold) if isfinite(threshold) else 0.0
        if first != threshold or moved > PRECISION * abs(threshold) + SMALLEST:
            raise ValueError(
                f"format must hold the model's thresholds, as {threshold!r} for feature "
                f"{forest.features[split.feature]!r}, which is {reached!r} in {format.name}. Train "
                "on a column that is shifted and scaled to numbers around 1, or on "
                "X.astype('float32')."
            )
