"""`gbrank train`, run in this process, against GBRanker."""

import json
from pathlib import Path

import numpy as np
import pytest

from command import SMALL, SMALL_PARAMS, Output
from gbrank import GBRanker, get_measure, make_cubic, read_letor, write_letor
from gbrank.commands.cli import main
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE


def test_train_is_fit(data: Path, model: str, tmp_path: Path) -> None:
    """A model from the command is the model from Python, with random_state=0."""
    X, y, qid = read_letor(data / "train.txt")
    ranker = GBRanker(**SMALL_PARAMS, random_state=0)
    expected = ranker.fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(GBRanker.load(model).predict(X), expected)


def test_train_options(data: Path, tmp_path: Path, output: Output) -> None:
    """Each parameter of GBRanker is an option, and arrives with its type."""
    parameters = {
        "objective": "lambda:map", "booster": "xgboost", "n_estimators": 4, "learning_rate": 0.2,
        "num_leaves": 7, "max_depth": 3, "min_child_samples": 2, "subsample": 0.5,
        "subsample_by": "query", "colsample": 0.75, "reg_lambda": 1.0, "sigma": "geometric(1, 0.1)",
        "curvature": "unit", "init": "regression", "position_regularization": "auto",
        "early_stopping_rounds": 9, "validation_fraction": 0.4, "baseline": 1, "random_state": 7,
        "n_jobs": 1,
    }  # fmt: skip
    options = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    lists = ["--metric", "map", "mrr", "--metric", "ndcg@3"]
    pairs = ["--booster-param", "max_bin=32", "--booster-param", "grow_policy=depthwise"]
    report = output(
        "train", data / "train.txt", "--model", tmp_path / "m", *options, *lists, *pairs,
        "--no-extra-trees",
    )  # fmt: skip
    assert "lambda:map with xgboost" in report
    assert "validation map: " in report
    saved = json.loads(output("info", "--model", tmp_path / "m", "--json"))["parameters"]
    parameters |= {
        "baseline": "f1",  # by the number of the feature in the file
        "eval_metric": ["map", "mrr", "ndcg@3"],
        "booster_params": {"max_bin": 32, "grow_policy": "depthwise"},
        "extra_trees": False,
        "verbose": 0,
    }
    assert saved == parameters
    assert parameters.keys() == GBRanker().get_params().keys()


def test_train_validation(data: Path, tmp_path: Path, output: Output) -> None:
    """Validation files end the training early, and the summary tells what is in the model."""
    argv = ["train", data / "train.txt", "--valid", data / "test.txt", "--model", tmp_path / "m"]
    stopping = ["--n-estimators", "60", "--early-stopping-rounds", "3", "--metric", "ndcg@3", "mrr"]
    report = output(*argv, *SMALL, *stopping)
    X, y, qid = read_letor(data / "test.txt")
    ranker = GBRanker.load(tmp_path / "m")
    done = len(ranker.evals_result_["valid_0"]["ndcg@3"])
    value = get_measure("ndcg@3")(y, ranker.predict(X), qid=qid)
    assert done == ranker.best_iteration_ + 3 < 60
    assert report == (
        f"{DEFAULT_OBJECTIVE} with lightgbm: {done - 3} of {done} rounds kept\n"
        f"validation ndcg@3: {value:.4f}\nmodel: {tmp_path / 'm'}\n"
    )


def test_training_goes_on_from_a_folder(
    data: Path, model: str, tmp_path: Path, output: Output, fault: Output
) -> None:
    """In place of the model that it goes on from, too; another folder is refused."""
    X, y, qid = read_letor(data / "train.txt")
    params = {**SMALL_PARAMS, "random_state": 0}
    start = GBRanker.load(model)
    expected = GBRanker(init=start, **params).fit(X, y, qid=qid).predict(X)
    start.save(tmp_path / "m")
    argv = ["train", data / "train.txt", *SMALL, "--model", tmp_path / "m", "--init"]
    output(*argv, tmp_path / "m")
    np.testing.assert_array_equal(GBRanker.load(tmp_path / "m").predict(X), expected)
    error = fault(*argv, data)
    assert '--init must be "regression", "zero", a fitted GBRanker or the folder' in error
    assert "no model in" in error


def test_leaf_values_are_fitted_anew(
    data: Path, model: str, tmp_path: Path, output: Output, fault: Output
) -> None:
    """As by refit, in place of the model, too, and with the model's columns; trees do not grow."""
    X, y, qid = read_letor(data / "test.txt")
    start = GBRanker.load(model)
    expected = start.refit(X, y, qid=qid).predict(X)
    start.save(tmp_path / "m")
    write_letor(tmp_path / "week.txt", X, y, qid)
    argv = ["train", tmp_path / "week.txt", "--init", tmp_path / "m", "--refit"]
    assert output(*argv, "--model", tmp_path / "m") == f"model: {tmp_path / 'm'}\n"
    np.testing.assert_array_equal(GBRanker.load(tmp_path / "m").predict(X), expected)
    error = fault(*argv, "--model", tmp_path / "n", "--n-estimators", "3")
    assert "--refit must be given with --init and no other option" in error
    error = fault("train", data / "test.txt", "--refit", "--model", tmp_path / "n")
    assert "no model in None" in error


@pytest.mark.parametrize("kind", ["txt", "csv"])
def test_baseline(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], output: Output, fault: Output
) -> None:
    """A feature of a LETOR file by its number, a column of a table by its name."""
    X, y, qid = make_cubic(40, n_documents=10, n_features=3, random_state=0)
    X[:, 1] = np.random.default_rng(0).permutation(y)  # of no worth, and one column has the labels
    X[:, 2] = y
    path = tmp_path / f"t.{kind}"
    if kind == "txt":
        write_letor(path, X, y, qid)
    else:
        columns = np.column_stack([X, y, qid])
        np.savetxt(path, columns, "%.17g", ",", header="7,2,3,label,qid", comments="")
    argv = ["train", str(path), "--model", str(tmp_path / "m"), "--validation-fraction", "0.3"]
    assert main([*argv, *SMALL, "--baseline", "3"]) == 0
    name = "f3" if kind == "txt" else "3"
    assert f"'{name}' alone, largest first" in capsys.readouterr().err
    assert GBRanker.load(tmp_path / "m").baseline == name
    for wrong in ("4", "0", "bm25"):
        known = "f1, f2, f3" if kind == "txt" else "2, 3, 7"
        said = fault(*argv, *SMALL, "--baseline", wrong)
        assert "unknown name in baseline" in said
        assert f"Known: {known}." in said


def test_n_features(data: Path, tmp_path: Path, output: Output) -> None:
    """A model may know of features that its training data does not mention."""
    output("train", data / "train.txt", "--model", tmp_path / "m", "--n-features", "9", *SMALL)
    assert json.loads(output("info", "--model", tmp_path / "m", "--json"))["features"] == 9


def test_train_replaces_a_model_only(data: Path, tmp_path: Path) -> None:
    """A model is replaced by a new one, and all else in its folder stays."""
    folder, argv = tmp_path / "m", ["train", str(data / "train.txt"), *SMALL, "--model"]
    for booster in ("xgboost", "lightgbm"):
        assert main([*argv, str(folder), "--booster", booster]) == 0
        assert GBRanker.load(folder).booster == booster
    (folder / ".gbrank.json.0123456789abcdef.tmp").write_text("half")  # left by a killed process
    assert main([*argv, str(folder)]) == 0
    (folder / "notes.md").write_text("mine")
    assert main([*argv, str(folder)]) == 0
    assert (folder / "notes.md").read_text() == "mine"


def test_a_model_beside_its_checkpoint(data: Path, tmp_path: Path) -> None:
    """One folder for both, also where a killed fit has left a checkpoint and no model."""
    argv = ["train", str(data / "train.txt"), *SMALL, "--model", str(tmp_path)]
    argv += ["--checkpoint", str(tmp_path)]
    assert main(argv) == 0
    first = (tmp_path / "gbrank.json").read_text()
    for path in tmp_path.iterdir():
        if path.name != "checkpoint.gbrank":
            path.unlink()
    (tmp_path / ".checkpoint.gbrank.0123456789abcdef.tmp").write_text("half")
    assert main(argv) == 0
    assert (tmp_path / "gbrank.json").read_text() == first
