"""The formats: for each, what it can express, what writes it and what reads it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any, Literal

import numpy as np

from gbrank.boosters.tree import Membership, Split, Tree, at_most, with_splits
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import unknown_name
from gbrank.export.elasticsearch import read_elasticsearch, write_elasticsearch
from gbrank.export.forest import Forest
from gbrank.export.onnx import prepare_onnx, read_onnx, write_onnx
from gbrank.export.opensearch import read_opensearch, write_opensearch
from gbrank.export.solr import reached_by_solr, read_solr, write_solr
from gbrank.export.vespa import prepare_vespa, read_vespa, write_vespa


@dataclass(frozen=True)
class Format:
    """A format in which models can be written, with what it can express."""

    summary: str  # what the format is, and who loads it
    write: Callable[..., bytes]  # returns the content of the file of a forest
    read: Callable[[bytes, Forest], list[Tree]]  # the trees of a file, as the engine walks them
    prepare: Callable[[Forest], Forest] = lambda forest: forest  # into an equal one for the engine
    named: bool = True  # whether features go by name, or else by position
    expressions: bool = False  # whether names are read as expressions
    categories: Literal["", "codes", "texts"] = ""  # what splits by category compare, if there are
    missing: Literal["either", "zero", "right"] = "either"  # where a split sends missing values
    precision: type[np.floating[Any]] = np.float32  # of features
    less: bool = False  # whether documents go left if they are less than a number, not at most
    reached: Callable[[float], float] = at_most  # the largest number that goes left of a threshold
    # What is different in versions of the engine, each from the one that is said; without a
    # version, the newest is meant.
    versions: Mapping[tuple[int, ...], Mapping[str, Any]] = field(default_factory=dict)
    name: str = field(default="", compare=False)  # as a user writes it

    @property
    def largest(self) -> float:
        """The largest of its numbers."""
        return float(np.finfo(self.precision).max)

    def held(self, split: Split) -> Split:
        """Return a split as a file has it: its threshold is one of the format."""
        if isinstance(split, Membership):
            return replace(split, categories=tuple(sorted(split.categories)))
        beyond = split.threshold < -self.largest
        return replace(split, threshold=-inf if beyond else self.reached(split.threshold))

    def trees(self, content: bytes, forest: Forest) -> list[Tree]:
        """Return the trees of a file; missing values go where the engine sends them."""

        def sent(split: Split) -> Split:
            return replace(split, missing_left=self.missing == "zero" and split.zero_left)

        trees = self.read(content, forest)
        return trees if self.missing == "either" else [with_splits(tree, sent) for tree in trees]


FORMATS = {
    "elasticsearch": Format(
        "a trained model (JSON), for Elasticsearch's own learning to rank, 8.13 and later",
        write_elasticsearch,
        read_elasticsearch,
        versions={(8, 13): {"write": partial(write_elasticsearch, with_input=True)}, (8, 15): {}},
    ),
    "opensearch": Format(
        "model/xgboost+json, for the LTR plugins of OpenSearch and Elasticsearch",
        write_opensearch,
        read_opensearch,
        less=True,
        versions={(2,): {"missing": "zero"}, (3, 3): {"missing": "right"}, (3, 8): {}},
    ),
    "solr": Format(
        "MultipleAdditiveTreesModel (JSON), for Solr",
        write_solr,
        read_solr,
        reached=reached_by_solr,
        versions={(6, 4): {"missing": "zero"}, (9, 2): {}},
    ),
    "vespa-lightgbm": Format(
        "LightGBM's JSON as Vespa reads it",
        write_vespa,
        read_vespa,
        prepare_vespa,
        expressions=True,
        categories="texts",
        precision=np.float64,
        less=True,
        reached=float,
    ),
    "onnx": Format(
        "an ONNX graph of one TreeEnsemble, for ONNX Runtime",
        write_onnx,
        read_onnx,
        prepare_onnx,
        named=False,
        categories="codes",
    ),
}


def format_of(name: str) -> Format:
    """Return the format of a name, after which may be a colon and the version of the engine."""
    base, _, version = str(name).partition(":")
    if base not in FORMATS:
        raise unknown_name("format", base, FORMATS)
    format = replace(FORMATS[base], name=name)
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
    return replace(format, **changes[-1])
