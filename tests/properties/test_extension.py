"""A user's measure and relaxation, one class each, work wherever the built-in ones do."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import gbrank
from catalogue import measures_page, objectives_page
from gbrank import (
    ApproxRank,
    LambdaRank,
    NoisyLambdaRank,
    Precision,
    Queries,
    SmoothRank,
    get_objective,
    list_measures,
    list_objectives,
)
from gbrank.extend import Ranking, Swaps, Vector
from gbrank.measures.measure_registry import MEASURES
from gbrank.objectives.objective_registry import OBJECTIVES
from scratch import fill_with_nan, then
from tex import as_tex

SUPPORT = Path(__file__).parents[1] / "support"


@pytest.fixture(scope="module")
def toys() -> Iterator[ModuleType]:
    """Import the file, for the tests here only; what it compiles is of all of them."""
    spec = importlib.util.spec_from_file_location("toys", SUPPORT / "toys.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as one, patch.dict(OBJECTIVES), patch.dict(MEASURES):
        one.setitem(sys.modules, "toys", module)
        spec.loader.exec_module(module)
        yield module


@pytest.mark.parametrize(
    "name",
    [
        "lambda",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("separable", "smooth", "value", "approx", "toytop")
        ),
    ],
)
def test_work_arrays_are_ones_own(toys: ModuleType, name: str) -> None:
    """What a measure leaves in its arrays changes nothing, however lists are summed."""
    measures = [toys.ToyFirst(), then(toys.ToyFirst, fill_with_nan)]
    if name == "separable":
        measures = [
            type("Separable", (type(own),), {"swaps": Swaps(type(own).swaps.separable)})()
            for own in measures
        ]
    kinds = {"approx": ApproxRank, "smooth": SmoothRank, "toytop": toys.ToyTop}
    rng = np.random.default_rng(0)
    for m in (7, 1700):
        labels, scores = rng.integers(0, 4, m).astype(float), np.round(rng.normal(size=m), 2)
        queries = Queries.from_sizes([m])
        if name == "value":
            one, other = (own.bind(labels, queries).per_query(scores) for own in measures)
            assert_array_equal(other, one)
            continue
        one, other = (kinds.get(name, LambdaRank)(own).bind(labels, queries) for own in measures)
        assert_array_equal(other.gradients(scores), one.gradients(scores))
        assert_array_equal(other.loss(scores), one.loss(scores))


def row_of_first(ranking: Ranking, i: int, stop: int, top: int, out: Vector) -> None:
    """Write what a swap with the first document changes."""
    for j in range(i + 1, stop):
        out[j] = (i == 0) * abs(ranking.gains[i] - ranking.gains[j])


def test_rows_with_nothing_to_prepare() -> None:
    """`prepare` may be left out."""
    measure = type("First", (Precision,), {"swaps": Swaps(row=row_of_first)})()
    bound = NoisyLambdaRank(measure).bind([1, 0], Queries.from_sizes([2]))
    assert bound.gradients([0.0, 0.1])[0][0] < 0


@pytest.mark.usefixtures("toys")
def test_catalogue() -> None:
    """Both are listed, with all that they declare, and take part in what others take."""
    assert "toyfirst" in [item.name for item in list_measures()]
    assert "toytop" in [item.name for item in list_objectives()]
    toytop, toyfirst = (
        page.split(f"\n## `{usage}`\n")[1].split("\n## ")[0]
        for page, usage in ((objectives_page(), "toytop:METRIC"), (measures_page(), "toyfirst"))
    )
    assert as_tex("−c Σ_i G_i softmax(s/σ)_i") in toytop
    assert "Metrics: all." in toytop
    assert as_tex("y_1 / max y") in toyfirst
    smooth = objectives_page().split("\n## `smooth:METRIC`\n")[1].split("\n## ")[0]
    assert "`toyfirst`" in smooth
    with pytest.raises(ValueError, match=r"measure must .*SoftRank.*toyfirst"):
        get_objective("soft:toyfirst")


def run(folder: Path, *command: object, **environment: str) -> str:
    """Run Python in a folder, where it finds modules, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=folder,
        env=os.environ | {"PYTHONUTF8": "1", "PYTEST_ADDOPTS": ""} | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_batteries() -> None:
    """Those of the built-in ones, in a process where the file is a plugin of pytest."""
    options = ["-q", "-n", 0, "-p", "toys", "-p", "no:cacheprovider", "-m", "", "-k", "not faults"]
    files = ["../properties/test_measures.py", "../properties/test_objectives.py"]
    report = run(SUPPORT, "pytest", *options, *files, GBRANK_BATTERY="toy")
    assert int(report.split(" passed")[0].split()[-1]) > 68
    assert "skipped" not in report


# --- One file each, in the package itself -----------------------------------------------------

MEASURE = '''
"""The label of the first document."""

from dataclasses import dataclass

import numpy as np

from gbrank.engine.contract import Swaps, Terms
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import register_measure


def value(ranking):
    """Return the mean label of the documents that may be first."""
    return ranking.scale * ranking.gains[: ranking.last[0]].mean()


def row(ranking, i, stop, top, out):
    """Write the change when i and j swap ranks, averaged over ties."""
    gains, n = ranking.gains, ranking.last[0]
    for j in range(i + 1, stop):
        out[j] = ranking.scale * abs(gains[i] - gains[j]) * ((i < n) + (j < n)) / n


@register_measure
@dataclass(frozen=True, repr=False)
class Dropped(Measure):
    """The label of the first document, over four."""

    name = "dropped"
    aliases = ("also_dropped",)
    formula = "y_1 / 4"
    value = value
    swaps = Swaps(row=row)

    def terms(self, labels, queries):
        """Return labels and a quarter."""
        return Terms(
            labels, np.ones(queries.n_queries, bool), scale=np.full(queries.n_queries, 0.25)
        )
'''
RELAXATION = '''
"""A line through the scores."""

from dataclasses import dataclass

from gbrank.objectives.objective import Facts, MeasureObjective
from gbrank.objectives.objective_registry import register_objective


def line(query, measure, out):
    """Return ½ Σ (s/σ − c x)² and its derivatives."""
    loss = 0.0
    for i in range(query.scores.size):
        error = query.scores[i] / query.sigma - query.ranking.scale * query.ranking.gains[i]
        loss += 0.5 * error * error
        if out.gradient.size > 0:
            out.gradient[i] = error / query.sigma
            out.curvature[i] = 1 / query.sigma**2
    return loss


@register_objective
@dataclass(frozen=True)
class DroppedToo(MeasureObjective):
    """Half the squared distance of scores from what documents are worth."""

    name = "droppedtoo"
    wanted = "be any measure"
    declared = Facts(
        formula="½ Σ (s/σ − c x)²", source="the tests", shift_invariant=False, takes_measure=True
    )

    @classmethod
    def takes(cls, measure):
        """Take every measure."""
        return True

    def program(self, labels, queries):
        """Return the kernel with what the documents are worth."""
        return self.measure_program(line, labels, queries)
'''
EVERYWHERE = """
import sys
from pathlib import Path

import gbrank
from battery import FACTS, NAMES
from catalogue import measures_page, objectives_page
from gbrank.commands.cli import main
from tex import as_tex

assert Path(gbrank.__file__).parent == Path("gbrank").resolve(), gbrank.__file__
for name in ("Dropped", "DroppedToo"):
    assert name in gbrank.__all__
    assert getattr(gbrank, name).__name__ == name
assert gbrank.get_measure("also_dropped") == gbrank.Dropped()
name = str(gbrank.get_objective("droppedtoo:dropped"))

X, y, qid = gbrank.make_cubic(20, n_documents=10, n_features=4, random_state=0)
chance = gbrank.Dropped()(y, 0 * y, qid=qid)
for booster in ("lightgbm", "xgboost"):
    ranker = gbrank.GBRanker(name, booster=booster, eval_metric="dropped", n_estimators=9, n_jobs=1)
    assert ranker.fit(X, y, qid=qid).score(X, y, qid) > chance + 0.2
assert main(["list"]) == 0

objectives, measures = objectives_page(), measures_page()
assert "## `droppedtoo:METRIC`" in objectives
assert "## `dropped`" in measures
assert {name, "droppedtoo:ndcg@3", "lambda:dropped", "lambda(truncation=4):dropped"} <= set(NAMES)
assert as_tex(FACTS["droppedtoo"].formula) in objectives
"""


@pytest.mark.slow
def test_one_file_in_the_package_is_all(tmp_path: Path) -> None:
    """A measure and a relaxation, dropped into their folders, are known wherever the others are."""
    package = tmp_path / "gbrank"
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(gbrank.__file__).parent, package, ignore=leave)
    (package / "measures" / "dropped.py").write_text(MEASURE, encoding="utf-8")
    (package / "objectives" / "dropped_too.py").write_text(RELAXATION, encoding="utf-8")
    (tmp_path / "everywhere.py").write_text(EVERYWHERE, encoding="utf-8")
    paths = os.pathsep.join([str(tmp_path), str(SUPPORT), *filter(None, sys.path)])
    listed = run(tmp_path, "everywhere", PYTHONPATH=paths, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert "\n  droppedtoo:METRIC " in listed
    assert "\n  dropped " in listed
