"""Refusals of models that a format cannot express."""

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from math import inf, isfinite

import numpy as np

from gbrank.boosters.tree import Membership, Split
from gbrank.common.argument_error import ArgumentError
from gbrank.common.words import WORDS
from gbrank.export.forest import Forest
from gbrank.export.formats import Format

LIGHTGBM_ZERO = float(np.float32(1e-35))  # LightGBM reads as 0 what is not further from it
# How far a threshold may move: by two numbers of single precision.
PRECISION = 2.0**-22
MARKS = set('"\\|')  # stand around or between texts
SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
# Of Vespa's grammar, RankingExpressionParser.jj: a name, what is behind it, and a call of names,
# numbers and texts that is none of a function.
NAME, OUTPUTS = r"[A-Za-z_@][\w@$]*", r"(\.[\w@$]+)*"
ARGUMENT = rf"""\s*(-?[\w@$]+{OUTPUTS}|"[^"]*"|'[^']*')\s*"""
FUNCTIONS = "|".join(WORDS["vespa"]["functions"])
CALL = re.compile(
    rf"(?<![\w@$.])(?!({FUNCTIONS})\(){NAME}\({ARGUMENT}(,{ARGUMENT})*\)(?![\w@$])", re.ASCII
)
FEATURE = re.compile(rf"(?!(true|false)$){NAME}{OUTPUTS}", re.ASCII)


MISSING = {
    "zero": (
        "reads missing values as zeros",
        "If there are none, or zero is what they mean, set missing_as_zero.",
    ),
    "right": (
        "sends all of them right",
        "Take version 3.8 or later; or, if every document has every feature, say no version.",
    ),
}


def expressible(forest: Forest, format: Format) -> Forest:
    """Return an equal forest whose thresholds the format can write, or refuse it."""
    forest = forest.changed(partial(_within, format))
    _refuse_names(forest, format)
    _refuse_categories(forest, format)
    _refuse_missing(forest, format)
    _refuse_thresholds(forest, format)
    return forest


def _is_feature(name: str) -> bool:
    """Return whether Vespa reads a name as a feature, and not as another expression."""
    while (shorter := CALL.sub("_", name)) != name:  # the innermost calls
        name = shorter
    return FEATURE.fullmatch(name) is not None


def _within(format: Format, split: Split) -> Split:
    """Return an equal split whose threshold the format can write.

    Where all numbers go left of a threshold beyond them, none is less than the smallest one, with
    the sides exchanged; and the other way round.
    """
    if isinstance(split, Membership):
        return split
    beyond = split.threshold >= format.largest if format.less else split.threshold < -format.largest
    if not beyond:
        return split
    return replace(
        split,
        threshold=-inf if format.less else inf,
        missing_left=not split.missing_left,
        left=split.right,
        right=split.left,
    )


def _refuse_names(forest: Forest, format: Format) -> None:
    used = {forest.features[split.feature] for split in forest.splits()}
    if format.expressions and (wrong := sorted(name for name in used if not _is_feature(name))):
        demand = (
            f"must be features to {format.name}, such as price or bm25(title), and no expressions"
        )
        remedy = " Call one as a function of the rank profile, which may have any expression."
        raise ArgumentError("feature_names", demand, repr(wrong[0]), remedy)


def _refuse_categories(forest: Forest, format: Format) -> None:
    columns = {split.feature for split in forest.splits() if isinstance(split, Membership)}
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


def _refuse_missing(forest: Forest, format: Format) -> None:
    if format.missing == "either":
        return
    to_zero, (engine, remedy) = format.missing == "zero", MISSING[format.missing]
    for split in forest.splits():
        if split.missing_left != (to_zero and split.zero_left):
            raise ValueError(
                "format must send missing values where the model does, as for feature "
                f"{forest.features[split.feature]!r}; {format.name} {engine}. {remedy}"
            )


def _refuse_thresholds(forest: Forest, format: Format) -> None:
    thresholds: dict[tuple[int, float], float] = {}  # by feature and by what the format has
    for split in forest.splits():
        if isinstance(split, Membership) or _is_zero(split.threshold):
            continue  # only numbers that are nearly 0 may go another way
        threshold, reached = split.threshold, format.reached(split.threshold)
        first = thresholds.setdefault((split.feature, reached), threshold)
        moved = abs(reached - threshold) if isfinite(threshold) else 0.0
        if first != threshold or moved > PRECISION * abs(threshold) + SMALLEST:
            raise ValueError(
                f"format must hold the model's thresholds, as {threshold!r} for feature "
                f"{forest.features[split.feature]!r}, which is {reached!r} in {format.name}. Train "
                "on a column that is shifted and scaled to numbers around 1, or on "
                "X.astype('float32')."
            )


def _is_zero(threshold: float) -> bool:
    """Return whether a threshold lies beside 0: XGBoost's next number, or LightGBM's 1e-35."""
    return abs(threshold) < SMALLEST or abs(threshold) == LIGHTGBM_ZERO
