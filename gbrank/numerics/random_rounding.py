"""Scores that are rounded at random to integers: what TieRank knows of each document.

A document whose score lies between the integers v and v + 1 belongs to segment v; independently
of the others it rounds down to v or up to v + 1.
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, Query
from gbrank.engine.structures import part
from gbrank.numerics.noise import uniform
from gbrank.numerics.vectors import all_alike, multiply, size_as_curvature

# The least curvature of a drawn document: far above none, far below any that counts.
DRAWN = 1e-300
# Outcomes less likely than this (some 9 standard deviations off) are left out.
NEGLIGIBLE = 1e-20


class TieParameters(NamedTuple):
    """How scores are rounded, and of which documents.

    Parameters
    ----------
    paired : bool
        Whether the measure has products of two gains.
    linear : bool
        Whether φ is linear.
    per_label : float
        How many documents of each label to draw; infinity for all.
    """

    paired: bool
    linear: bool
    per_label: float = np.inf


class Rounded(NamedTuple):
    """What is known of each document that takes part."""

    place: Positions  # in the list
    gain: Vector
    level: Vector  # the integer that its score rounds down to
    up: Vector  # the probability that it rounds up
    slope: Vector  # the derivative of that by the score in units of σ
    total: Vector  # the derivative of the value by that
    inverse: Vector
    rest: Vector
    rest_gain: Vector
    rest_pairs: Vector


@inline
def set_up(query: Query, parameters: TieParameters, documents: Rounded) -> int:
    """Choose documents and write what is known of each of them; return how many they are."""
    s = query.scores
    n = choose(query.labels, parameters.per_label, query.noise, documents)
    for i in range(n):
        place = documents.place[i]
        documents.gain[i] = query.ranking.gains[place]
        documents.total[i] = 0.0
        round_score(s[place] / query.sigma, i, parameters.linear, documents)
    return n


@inline
def choose(labels: Vector, per_label: float, noise: int, documents: Rounded) -> int:
    """Draw up to `per_label` documents of each label; return how many, and write their places."""
    keys = documents.rest
    for i in range(labels.size):
        keys[i] = uniform(noise, i)
    n = 0
    for i in range(labels.size):
        before = 0
        if per_label < labels.size:
            for j in range(labels.size):
                before += labels[j] == labels[i] and keys[j] < keys[i]
        if before < per_label:
            documents.place[n] = i
            n += 1
    return n


@inline
def round_score(x: float, i: int, linear: bool, documents: Rounded) -> None:
    """Write to which integer x + 1/2 rounds down, the probability of up, and its slope."""
    level = np.floor(x)
    t = 0.5 + (x - level) if np.isfinite(x) else 0.5
    if t >= 1.0:
        level += 1.0
        t -= 1.0
    documents.level[i] = level
    documents.up[i] = t if linear else t * t * (3.0 - 2.0 * t)
    documents.slope[i] = 1.0 if linear else 6.0 * t * (1.0 - t)


@inline
def next_segment(begin: int, end: int, n: int, s: Vector, documents: Rounded) -> int:
    """Return where the segment ends that begins at `end` and follows begin, ..., end − 1.

    It is empty if `end` is, or if the first document there is not on the next integer below.
    """
    if end == n or (begin < end and documents.level[begin] - documents.level[end] != 1):
        return end
    level = documents.level[end]
    score = s[documents.place[end]]
    stop = end + 1
    while stop < n and documents.level[stop] == level:
        if not np.isfinite(level) and s[documents.place[stop]] != score:
            break
        stop += 1
    return stop


@inline
def write_derivatives(
    n: int,
    scale: float,
    sigma: float,
    parameters: TieParameters,
    documents: Rounded,
    out: Derivatives,
) -> None:
    """Write derivatives by scores, negated, from those in `total`; none if all gains are equal."""
    if not all_alike(part(documents.gain, 0, n)):
        for i in range(n):
            documents.total[i] *= documents.slope[i]
        size_as_curvature(Derivatives(part(documents.total, 0, n), part(documents.rest, 0, n)))
        for i in range(n):
            place = documents.place[i]
            out.gradient[place] = -documents.total[i]
            out.curvature[place] = documents.rest[i]
        multiply(scale / sigma, scale / sigma / sigma, out)
    if np.isfinite(parameters.per_label):  # only documents that are not drawn have no curvature
        for i in range(n):
            place = documents.place[i]
            out.curvature[place] = max(out.curvature[place], DRAWN)
