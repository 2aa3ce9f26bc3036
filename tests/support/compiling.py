"""What most tests need compiled: a list of jobs, of which each worker of pytest-xdist does some."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from battery import NAMES, OPTIONS
from gbrank import Queries, get_measure, get_objective, list_measures
from gbrank.common.checks import Function
from gbrank.engine import driver
from gbrank.engine.compiling import address, compiled
from gbrank.engine.driver import Runner

# What takes longest comes first, for the workers to end together.
LONGEST = (
    "swept_pairs_loop", "noisy_whole_lists_loop", "soft_rank_loop",
    "tied_expectation_loop", "noisy_rankings_loop", "hinge_pairs_loop", "direct_pairs_loop",
    "unweighted_pairs_loop", "smooth_measure_loop", "approximate_measure_loop",
    "smooth_average_precision_loop", "slam_smooth_loop", "list_likelihood_loop",
)  # fmt: skip
Job = tuple[Function, Any, Function]  # how to compile, for which types, and what


def jobs() -> list[Job]:
    """Return what all objectives and measures compile that default tests need."""
    found: dict[Any, Job] = {}
    for runner in runners():
        for how, signature, function in asked_for(runner):
            found.setdefault((how, str(signature), function), (how, signature, function))
    return sorted(found.values(), key=lambda job: rank(job[2].__name__))


def rank(name: str) -> int:
    """Return the place of a function among those that take long."""
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def runners() -> Iterator[Any]:
    """Yield what runs each objective and each measure."""
    for name, sizes in (
        *((name, [5]) for name in NAMES if name not in OPTIONS),
        *((name, [5, 800]) for name in NAMES if name == "ranknet"),
    ):
        yield get_objective(name).bind(np.arange(sum(sizes)) % 3, Queries.from_sizes(sizes)).runner
    for item in list_measures():
        yield get_measure(item.name).bind(np.arange(5) % 3, Queries.from_sizes([5])).runner


def asked_for(runner: Any) -> list[Job]:
    """Return what a runner would have compiled, without compiling it."""
    asked: list[Job] = []
    if isinstance(runner, Runner):
        with (
            patch.object(driver, "compiled", lambda *job: asked.append((compiled, *job))),
            patch.object(driver, "address", lambda *job: asked.append((address, *job))),
        ):
            for found in (Runner._gradient_shares, Runner._value_shares, Runner._functions):
                found.func(runner)
    return asked


def compile_what_no_other_does(folder: Path) -> None:
    """Do one job after another that nobody else has taken, by a file that only one can make."""
    for number, (how, signature, function) in enumerate(jobs()):
        try:
            (folder / f"compiled-{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        how(signature, function)
