"""A user's measure and relaxation, one class each, work wherever the built-in ones do."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from numpy.testing import assert_allclose, assert_array_equal

import gbrank.measures
import gbrank.objectives
import reference
from gbrank import (
    GBRanker,
    LambdaRank,
    Queries,
    get_measure,
    get_objective,
    lightgbm_feval,
    lightgbm_fobj,
    list_measures,
    list_objectives,
    make_cubic,
    write_letor,
    xgboost_feval,
    xgboost_obj,
)
from gbrank.commands.catalogue import measures_page, objectives_page

HERE = Path(__file__).parents[1]
X, Y, QID = make_cubic(24, n_documents=12, n_features=5, random_state=0)
SIZES = [12] * 24


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the file, for one test only."""
    monkeypatch.setattr(gbrank.objectives, "OBJECTIVES", dict(gbrank.objectives.OBJECTIVES))
    monkeypatch.setattr(gbrank.measures, "MEASURES", dict(gbrank.measures.MEASURES))
    spec = importlib.util.spec_from_file_location("toys", HERE / "toys.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "toys", module)
    spec.loader.exec_module(module)
    return module


def first_label(labels: Any) -> float | None:
    """Return the measure of labels in rank order."""
    return labels[0] / max(labels) if max(labels) > 0 else None


@given(query=reference.queries(6))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_toys_are_right(toys: ModuleType, query: reference.Query) -> None:
    """Value and swap deltas are those of enumeration, ties included."""
    labels, scores = query
    measure, queries = get_measure("toyfirst"), Queries.from_sizes([len(labels)])
    value = measure.bind(labels, queries).per_query(scores)[0]
    expected = reference.tied(first_label, labels, scores, "average")
    assert np.isnan(value) if expected is None else value == pytest.approx(expected, rel=1e-12)
    deltas = reference.expected_swap_deltas(first_label, labels, scores)
    gradient, curvature, _ = reference.lambda_gradients(deltas, labels, scores, 0.7)
    actual = LambdaRank(measure).bind(labels, queries).gradients(scores, 0.7)
    assert_allclose(actual[0], gradient, atol=1e-12)
    assert_allclose(actual[1], curvature, atol=1e-12)


@pytest.mark.usefixtures("toys")
def test_catalogue() -> None:
    """Both are listed, with all that they declare, and take part in what others take."""
    assert "toyfirst" in [item.name for item in list_measures()]
    assert "toytop" in [item.name for item in list_objectives()]
    toytop, toyfirst = (
        page.split(f"\n## `{usage}`\n")[1].split("\n## ")[0]
        for page, usage in ((objectives_page(), "toytop:MEASURE"), (measures_page(), "toyfirst"))
    )
    assert "−c Σ_i x_i softmax(s/σ)_i" in toytop
    assert "`toyfirst`" in toytop.split("Measures: ")[1].split("\n")[0]
    assert "y_1 / max y" in toyfirst
    assert "Trained by: `lambda`, `perturbed`, `toytop`." in toyfirst
    with pytest.raises(ValueError, match=r"measure must .*ApproxRank.*toyfirst"):
        get_objective("approx:toyfirst")


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize(
    "objective",
    ["toytop:toyfirst", "lambda:toyfirst", "perturbed(draws=20):toyfirst", "toytop+pointwise"],
)
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_estimator(objective: str, booster: str) -> None:
    """Training raises the measure, by the string as by the object."""
    options = {"booster": booster, "n_estimators": 15, "n_jobs": 1, "random_state": 0,
               "min_child_samples": 5, "eval_metric": "toyfirst"}  # fmt: skip
    ranker = GBRanker(objective, **options).fit(X, Y, qid=QID)
    again = GBRanker(get_objective(objective), **options).fit(X, Y, qid=QID)
    assert_array_equal(again.predict(X), ranker.predict(X))
    measure = get_measure("toyfirst")
    chance = measure(Y, np.zeros(len(Y)), qid=QID)
    assert measure(Y, ranker.predict(X), qid=QID) > chance + 0.2
    assert ranker.score(X, Y, QID) == pytest.approx(measure(Y, ranker.predict(X), qid=QID))


@pytest.mark.usefixtures("toys")
def test_hooks() -> None:
    """In a user's own LightGBM and XGBoost code, as objective and as metric."""
    measure, chance = get_measure("toyfirst"), get_measure("toyfirst")(Y, 0 * Y, qid=QID)
    data = lgb.Dataset(X, Y, group=SIZES)
    record: dict[str, Any] = {}
    booster = lgb.train(
        {"objective": lightgbm_fobj("toytop:toyfirst"), "metric": "none", "verbose": -1,
         "num_threads": 1, "min_data_in_leaf": 5},
        data, 15, valid_sets=[data], feval=lightgbm_feval("toyfirst"),
        callbacks=[lgb.record_evaluation(record)],
    )  # fmt: skip
    value = measure(Y, booster.predict(X), qid=QID)
    assert record["training"]["toyfirst"][-1] == pytest.approx(value)
    assert value > chance + 0.2
    matrix, record = xgb.DMatrix(X, Y, qid=QID, nthread=1), {}
    booster = xgb.train(
        {"nthread": 1, "base_score": 0, "disable_default_eval_metric": True}, matrix, 15,
        obj=xgboost_obj("toytop:toyfirst"), evals=[(matrix, "train")], evals_result=record,
        custom_metric=xgboost_feval("toyfirst"), verbose_eval=False,
    )  # fmt: skip
    value = measure(Y, booster.predict(matrix), qid=QID)
    assert record["train"]["toyfirst"][-1] == pytest.approx(value, abs=1e-6)
    assert value > chance + 0.2


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
def test_command_line(tmp_path: Path, toys: ModuleType) -> None:
    """`--plugin` in new processes: train, evaluate and list; the model is that of Python."""
    data, model, plugin = tmp_path / "data.txt", tmp_path / "m", ["--plugin", HERE / "toys.py"]
    write_letor(data, X, Y, QID)
    ranker = GBRanker("toytop:toyfirst", n_estimators=5, n_jobs=1, random_state=0)
    expected = get_measure("toyfirst")(Y, ranker.fit(X, Y, qid=QID).predict(X), qid=QID)
    options = ["--n-estimators", 5, "--n-jobs", 1, "--quiet", "--metric", "toyfirst", *plugin]
    run(tmp_path, "gbrank", "train", data, "--model", model, "--objective", "toytop", *options)
    options = ["--metric", "toyfirst", "--json", *plugin]
    found = json.loads(run(tmp_path, "gbrank", "evaluate", data, "--model", model, *options))
    assert found["measures"]["toyfirst"]["mean"] == pytest.approx(expected, rel=1e-12)
    listed = run(tmp_path, "gbrank", "list", *plugin)
    assert "\ntoytop:MEASURE\n" in listed
    assert "\ntoyfirst\n" in listed


@pytest.mark.slow
def test_battery() -> None:
    """The battery of the built-in objectives, in a process where the file is a plugin of pytest."""
    options = ["-q", "-n", 0, "-p", "toys", "-p", "no:cacheprovider", "-m", ""]
    report = run(HERE, "pytest", *options, "properties/test_objectives.py", GBRANK_BATTERY="toy")
    assert int(report.split(" passed")[0].split()[-1]) > 30
    assert "skipped" not in report
