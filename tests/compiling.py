"""What most tests need compiled: a list of jobs, of which each worker of pytest-xdist does some."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from battery import NAMES
from gbrank import Queries, get_measure, get_objective, list_measures
from gbrank.kernels import driver
from gbrank.kernels.compiled import Function, compile_for
from gbrank.kernels.driver import Runner

# What takes longest comes first, for the workers to end together.
LONGEST = (
    "swept_pairs_loop", "soft_rank_loop", "tied_expectation_loop", "noisy_pairs_loop",
    "hinge_pairs_loop", "smooth_average_precision_loop", "tied_cascade_loop",
    "smooth_measure_loop", "approximate_measure_loop", "ap_by_rank", "direct_pairs_loop",
)  # fmt: skip


def jobs() -> list[tuple[Any, Function]]:
    """Return what all objectives and measures compile, for short lists and for long ones."""
    found: dict[tuple[str, Function], Any] = {}
    for runner in runners():
        for signature, function in asked_for(runner):
            found.setdefault((str(signature), function), signature)
    names = [function.__name__ for _, function in found]
    order = sorted(range(len(names)), key=lambda job: rank(names[job]))
    every = [(signature, function) for (_, function), signature in found.items()]
    return [every[job] for job in order]


def rank(name: str) -> int:
    """Return the place of a function among those that take long."""
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def runners() -> Iterator[Any]:
    """Yield what runs each objective and each measure."""
    for sizes in ([5], [5, 800]):
        queries, labels = Queries.from_sizes(sizes), np.arange(sum(sizes)) % 3
        for name in NAMES:
            yield get_objective(name).bind(labels, queries).runner
        for item in list_measures():
            yield get_measure(item.name).bind(labels, queries).runner


def asked_for(runner: Any) -> list[tuple[Any, Function]]:
    """Return what a runner would have compiled, without compiling it."""
    asked: list[tuple[Any, Function]] = []
    if isinstance(runner, Runner):
        with patch.object(driver, "compile_for", lambda *job: asked.append(job)):
            Runner._functions.func(runner)
    return asked


def compile_what_no_other_does(folder: Path) -> None:
    """Do one job after another that nobody else has taken, by a file that only one can make."""
    for number, (signature, function) in enumerate(jobs()):
        try:
            (folder / f"compiled-{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        compile_for(signature, function)
