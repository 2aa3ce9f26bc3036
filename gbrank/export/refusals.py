"""What a format cannot express of a forest."""

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from math import inf, isfinite

import numpy as np

from gbrank.boosters.tree import Membership, Split, Threshold
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


def expressible(forest: Forest, name: str, format: Format) -> Forest:
    """Return an equal forest whose thresholds the format can write, or refuse it."""
    _refuse_texts(forest, name, format)
    _refuse_splits(forest, name, format)
    return forest.changed(partial(_within, format))


def _is_feature(name: str) -> bool:
    """Say whether Vespa reads a name as a feature, and not as another expression."""
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


def _refuse_texts(forest: Forest, name: str, format: Format) -> None:
    used = {forest.features[split.feature] for split in forest.splits()}
    if wrong := sorted(one for one in used if format.expressions and not _is_feature(one)):
        demand = f"must be features to {name}, such as price or bm25(title), and no expressions"
        remedy = " Call one as a function of the rank profile, which may have any expression."
        raise ArgumentError("feature_names", demand, repr(wrong[0]), remedy)
    named = {split.feature for split in forest.splits() if isinstance(split, Membership)}
    for column in named if format.categories == "texts" else ():
        texts = Counter(map(str, forest.categories.get(column, [])))
        if wrong := [text for text, n in texts.items() if n > 1 or set(text) & MARKS]:
            raise ValueError(
                f"format must hold the model's categories, as {wrong[0]!r} of feature "
                f"{forest.features[column]!r}; to {name} they are texts that differ, without "
                '", \\ and |.'
            )


def _refuse_splits(forest: Forest, name: str, format: Format) -> None:
    thresholds: dict[tuple[int, float], float] = {}  # by feature and by what the format has
    for split in forest.splits():
        feature = forest.features[split.feature]
        if isinstance(split, Membership) and not format.categories:
            raise ValueError(
                f"format must have splits by category, as the model has of feature {feature!r}; "
                f"{name} has none. Encode the categories as numbers, or choose another format."
            )
        if format.missing == "zero" and split.missing_left != split.zero_left:
            raise ValueError(
                f"format must tell missing values from zeros, as the model does for feature "
                f"{feature!r}; {name} reads missing values as zeros. If there are none, or zero is "
                "what they mean, set missing_as_zero."
            )
        if format.missing == "right" and _within(format, split).missing_left:
            raise ValueError(
                f"format must send missing values left where the model does, as for feature "
                f"{feature!r}; {name} sends all of them right. Take version 3.8 or later; or, if "
                "every document has every feature, say no version."
            )
        if not isinstance(split, Threshold):
            continue
        threshold, reached = split.threshold, format.reached(split.threshold)
        if _is_zero(threshold):
            continue  # only numbers as near to 0 as Format.nearest may go another way
        first = thresholds.setdefault((split.feature, reached), threshold)
        moved = abs(reached - threshold) if isfinite(threshold) else 0.0
        if first != threshold or moved > PRECISION * abs(threshold) + SMALLEST:
            raise ValueError(
                f"format must hold the model's thresholds, as {threshold!r} for feature "
                f"{feature!r}, which is {reached!r} in {name}. Train on a column that is "
                "shifted and scaled to numbers around 1, or on X.astype('float32')."
            )


def _is_zero(threshold: float) -> bool:
    """Say whether a threshold lies beside 0: XGBoost's next number, or LightGBM's 1e-35."""
    return abs(threshold) < SMALLEST or abs(threshold) == LIGHTGBM_ZERO
