"""Every public name works where it is the first thing, and the only one, that a process imports.

One process imports the packages that gbrank needs, to save time, and nothing of gbrank; for each
name it forks a child, which does the rest.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

import gbrank
from gbrank import (
    GBRanker,
    LinearRanker,
    SLAMPerceptron,
    list_measures,
    list_objectives,
    make_cubic,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FORKS = """
import json, os, sys, traceback
import lightgbm, matplotlib, narwhals, numba, pandas, scipy.optimize, sklearn.linear_model, xgboost
assert not any(name.split(".")[0] == "gbrank" for name in sys.modules)
for name, code in json.load(sys.stdin).items():
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            exec(code, {"__name__": "__main__"})
        except BaseException:
            print(f"{name}:", traceback.format_exc().splitlines()[-1])
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        print(f"{name}: ended by a signal")
"""


def in_fresh_processes(code: Mapping[str, str], folder: Path) -> list[str]:
    """Run each piece of code in a process without gbrank; return what went wrong."""
    run = subprocess.run(
        [sys.executable, "-c", FORKS],
        input=json.dumps(code),
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(gbrank.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with models of every kind, alone and as what another one boosts from."""
    folder = tmp_path_factory.mktemp("models")
    X, y, qid = make_cubic(10, n_documents=10, n_features=3, random_state=0)
    small: dict[str, Any] = {"n_estimators": 1, "min_child_samples": 3, "n_jobs": 1}
    rankers = {
        "boosted": GBRanker("ranknet", **small),
        "linear": LinearRanker("regression"),
        "perceptron": SLAMPerceptron(),
    }
    for name, ranker in rankers.items():
        ranker.fit(X, y, qid=qid).save(folder / name)
    theirs = lightgbm.LGBMRegressor(n_estimators=1, verbose=-1).fit(X, y)
    for name, init in {"boosted": rankers["boosted"], "pretrained": theirs}.items():
        above = GBRanker("ranknet", init=init, **small).fit(X, y, qid=qid)
        above.save(folder / f"above_{name}")
        above.init_.save(folder / f"below_{name}")
    np.save(folder / "X.npy", X)
    return folder


def uses(folder: Path) -> dict[str, str]:
    """Return what is done with the names that must know of all the others."""
    models = sorted(path.name for path in folder.iterdir() if path.is_dir())
    measures = [facts.name for facts in list_measures()]
    objectives = [facts.name for facts in list_objectives()]
    X = "import numpy; X = numpy.load('X.npy')"
    ranks = "assert numpy.isfinite(ranker.predict(X)).all()"
    boosted = [name for name in models if name == "boosted" or name.startswith("above")]
    return {
        "load_ranker": f"{X}\nfor name in {models}:\n    ranker = load_ranker(name); {ranks}",
        "GBRanker": f"{X}\nfor name in {boosted}:\n    ranker = GBRanker.load(name); {ranks}",
        "LinearRanker": f"{X}\nranker = LinearRanker.load('linear'); {ranks}",
        "SLAMPerceptron": f"{X}\nranker = SLAMPerceptron.load('perceptron'); {ranks}",
        "get_measure": f"for name in {measures}: get_measure(name)",
        "list_measures": f"assert [facts.name for facts in list_measures()] == {measures}",
        "get_objective": "for name in ['ranknet', 'lambda:ndcg@3', 'smooth:map']:"
        " get_objective(name)",
        "list_objectives": f"assert [facts.name for facts in list_objectives()] == {objectives}",
        "evaluation": "evaluation.make_scorer('ndcg@10')",
        "lightgbm_fobj": "lightgbm_fobj('lambda:ndcg')",
        "xgboost_obj": "xgboost_obj('lambda:ndcg')",
        "plots": "for name in plots.__all__: getattr(plots, name)",
    }


@pytest.mark.slow
def test_names_that_must_know_of_others(models: Path) -> None:
    """They do what they are for, though nothing else has been imported that registers itself."""
    code = {name: f"from gbrank import {name}\n{use}" for name, use in uses(models).items()}
    assert in_fresh_processes(code, models) == []
