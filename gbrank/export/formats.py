"""The formats: for each, what it can express, what writes it and what reads it."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from gbrank.boosters.tree import LARGEST, at_most
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import unknown_name
from gbrank.export import readers
from gbrank.export.elasticsearch import write_elasticsearch
from gbrank.export.onnx import write_onnx
from gbrank.export.opensearch import write_opensearch
from gbrank.export.solr import reached_by_solr, write_solr
from gbrank.export.vespa import write_vespa


@dataclass(frozen=True)
class Format:
    """A format in which models can be written, with what it can express."""

    summary: str  # what the format is, and who loads it
    write: Callable[..., bytes]  # returns the content of the file of a forest
    read: readers.Reader
    named: bool = True  # whether features go by name, or else by position
    expressions: bool = False  # whether names are read as expressions
    categories: Literal["", "codes", "texts"] = ""  # what splits by category compare, if there are
    missing: Literal["own", "zero", "right"] = "own"  # where a split sends missing values
    double: bool = False  # whether features are numbers in double precision
    less: bool = False  # whether documents go left if they are less than a number, not at most
    reached: Callable[[float], float] = at_most  # the largest number that goes left of a threshold
    nearest: float = 0.0  # numbers that are not further from 0 may be taken for it
    leaf: type[np.floating[Any]] = np.float64  # what holds the value of a leaf
    # What is different in versions of the engine, each from the one that is said; without a
    # version, the newest is meant.
    versions: Mapping[tuple[int, ...], Mapping[str, Any]] = field(default_factory=dict)

    @property
    def largest(self) -> float:
        """The largest of its numbers."""
        return sys.float_info.max if self.double else LARGEST


def _plugin(missing: Literal["zero", "right"]) -> Mapping[str, Any]:
    return {"missing": missing, "read": partial(readers.read_plugin, missing=missing)}


FORMATS = {
    "elasticsearch": Format(
        "a trained model (JSON), for Elasticsearch's own learning to rank, 8.13 and later",
        write_elasticsearch,
        readers.read_elasticsearch,
        versions={(8, 13): {"write": partial(write_elasticsearch, with_input=True)}, (8, 15): {}},
    ),
    "opensearch": Format(
        "model/xgboost+json, for the LTR plugins of OpenSearch and Elasticsearch",
        write_opensearch,
        readers.read_plugin,
        less=True,
        versions={(2,): _plugin("zero"), (3, 3): _plugin("right"), (3, 8): {}},
    ),
    "solr": Format(
        "MultipleAdditiveTreesModel (JSON), for Solr",
        write_solr,
        readers.read_solr,
        reached=reached_by_solr,
        nearest=1.2e-13,
        versions={(6, 4): {"missing": "zero"}, (9, 2): {}},
    ),
    "vespa-lightgbm": Format(
        "LightGBM's JSON as Vespa reads it",
        write_vespa,
        readers.read_vespa,
        expressions=True,
        categories="texts",
        double=True,
        less=True,
        reached=float,
    ),
    "onnx": Format(
        "an ONNX graph of one TreeEnsemble, for ONNX Runtime",
        write_onnx,
        readers.ReadOnnx,
        named=False,
        categories="codes",
        leaf=np.float32,
    ),
}


def format_of(name: str) -> Format:
    """Return the format of a name, after which may be a colon and the version of the engine."""
    base, _, version = str(name).partition(":")
    if base not in FORMATS:
        raise unknown_name("format", base, FORMATS)
    format = FORMATS[base]
    if base == name:
        return format
    if not format.versions:
        raise ArgumentError("format", f"must be {base!r}, without a version", repr(name))
    number = tuple(map(int, re.findall(r"\d+", version)))
    found = [changes for since, changes in format.versions.items() if since <= number]
    if not found or not re.fullmatch(r"\d+(\.\d+)*", version):
        first = ".".join(map(str, next(iter(format.versions))))
        raise ArgumentError("format", f"must be of version {first} or later", repr(name))
    return replace(format, **found[-1])
