"""The `gbrank` command, run in this process, against the Python API and trec_eval."""

import gzip
import io
import itertools
import json
import os
import re
import subprocess
import sys
import threading
from datetime import date
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import pytrec_eval
import xgboost as xgb
from command import SMALL, SMALL_PARAMS, Output
from matplotlib.figure import Figure

import gbrank
from gbrank import (
    GBRanker,
    LinearRanker,
    get_measure,
    load_ranker,
    make_cubic,
    read_letor,
    write_letor,
)
from gbrank.commands.cli import main
from gbrank.commands.shared import write_picture
from gbrank.datasets import write_qrels
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE

STOPS = """
import gbrank, itertools, numpy as np
calls = itertools.count()

def stops(scores, labels, sigma):
    if next(calls) == 3 * 12:  # in the fourth round
        raise KeyboardInterrupt
    return 0.0, scores - labels, np.ones_like(scores)

gbrank.custom_objective(stops, name="stops")
"""


# --- train -------------------------------------------------------------------------------------


def test_train_is_fit(data: Path, model: str, tmp_path: Path) -> None:
    """A model from the command is the model from Python, with random_state=0."""
    X, y, qid = read_letor(data / "train.txt")
    ranker = GBRanker(**SMALL_PARAMS, random_state=0)
    expected = ranker.fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(GBRanker.load(model).predict(X), expected)


def test_train_defaults(data: Path, model: str, output: Output) -> None:
    """What is not given is what GBRanker's signature says, but for the random state."""
    parameters = json.loads(output("info", "--model", model, "--json"))["parameters"]
    assert parameters == GBRanker().get_params() | SMALL_PARAMS | {
        "random_state": 0,
        "booster_params": {},
    }


def test_train_options(data: Path, tmp_path: Path, output: Output) -> None:
    """Each parameter of GBRanker is an option, and arrives with its type."""
    parameters = {
        "objective": "lambda:map", "booster": "xgboost", "n_estimators": 4, "learning_rate": 0.2,
        "num_leaves": 7, "max_depth": 3, "min_child_samples": 2, "subsample": 0.5,
        "subsample_by": "query", "colsample": 0.75, "reg_lambda": 1.0, "sigma": "geometric(1, 0.1)",
        "curvature": "unit", "init": "regression", "monotone": "free", "position_model": "free",
        "early_stopping_rounds": 9, "validation_fraction": 0.4, "baseline": 1, "random_state": 7,
        "n_jobs": 1,
    }  # fmt: skip
    options = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    lists = ["--metric", "map", "mrr", "--metric", "ndcg@3", "--context", "rank", "size"]
    lists += ["--constraints", "ndcg@5 >= 0.1 of best", "map >= 0.1"]
    pairs = ["--booster-param", "max_bin=32", "--booster-param", "grow_policy=depthwise"]
    report = output(
        "train", data / "train.txt", "--model", tmp_path / "m", *options, *lists, *pairs,
        "--no-extra-trees",
    )  # fmt: skip
    assert "lambda:map with xgboost" in report
    assert "validation map: " in report
    saved = json.loads(output("info", "--model", tmp_path / "m", "--json"))["parameters"]
    parameters |= {
        "eval_metric": ["map", "mrr", "ndcg@3"],
        "context": ["rank", "size"],
        "constraints": ["ndcg@5 >= 0.1 of best", "map >= 0.1"],
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


@pytest.mark.parametrize("sparse", [[], ["--sparse"]])
def test_train_on_several_files(
    data: Path, model: str, tmp_path: Path, output: Output, sparse: list[str]
) -> None:
    """Files are put one after the other, gzipped or not, sparse or not, of whatever width."""
    X, y, qid = read_letor(data / "train.txt")
    X[:50, -1] = 0  # the first file does not mention the last feature
    first, second = tmp_path / "1.txt", tmp_path / "2.txt.gz"
    write_letor(first, X[:50], y[:50], qid[:50])
    write_letor(second, X[50:], y[50:], qid[50:])
    assert read_letor(first)[0].shape[1] == X.shape[1] - 1
    output("train", first, second, "--model", tmp_path / "m", *SMALL, *sparse)
    scores = output("predict", "--model", tmp_path / "m", first, second, *sparse)
    ranker = GBRanker(**SMALL_PARAMS, random_state=0)
    expected = ranker.fit(X, y, qid=qid).predict(X)
    assert list(map(float, scores.split())) == expected.tolist()


def test_n_features(data: Path, tmp_path: Path, output: Output) -> None:
    """A model may know of features that its training data does not mention."""
    output("train", data / "train.txt", "--model", tmp_path / "m", "--n-features", "9", *SMALL)
    assert json.loads(output("info", "--model", tmp_path / "m", "--json"))["features"] == 9


def test_a_query_in_two_files(data: Path, tmp_path: Path, fault: Output) -> None:
    (tmp_path / "more.txt").write_text("1 qid:7 1:1\n0 qid:105 1:2\n")
    error = fault("train", data / "train.txt", tmp_path / "more.txt", "--model", tmp_path / "m")
    assert f"query 105 is both in {data / 'train.txt'} and in {tmp_path / 'more.txt'}" in error


def test_train_replaces_a_model_only(data: Path, tmp_path: Path, fault: Output) -> None:
    """A model is replaced by a new one; a folder with anything else is refused and left alone."""
    folder, argv = tmp_path / "m", ["train", str(data / "train.txt"), *SMALL, "--model"]
    for booster in ("xgboost", "lightgbm"):
        assert main([*argv, str(folder), "--booster", booster]) == 0
        assert GBRanker.load(folder).booster == booster
    (folder / ".gbrank.json.0123456789abcdef.tmp").write_text("half")  # left by a killed process
    assert main([*argv, str(folder)]) == 0
    assert len(list(folder.iterdir())) == 2
    (folder / "notes.md").write_text("mine")
    assert "'notes.md'" in fault(*argv, folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.txt").write_text("mine")
    assert "'model.txt'" in fault(*argv, tmp_path / "other")
    assert (tmp_path / "other" / "model.txt").read_text() == "mine"


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


@pytest.mark.usefixtures("registries")
def test_ctrl_c_keeps_the_rounds(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stops.py").write_text(STOPS)
    argv = ["train", str(data / "train.txt"), "--model", str(tmp_path / "m"), *SMALL]
    assert main([*argv, "--plugin", str(tmp_path / "stops.py"), "--objective", "stops"]) == 130
    out, error = capsys.readouterr()
    assert "stops with lightgbm: 3 of 3 rounds kept" in out
    assert error.startswith("gbrank: warning: ")
    assert GBRanker.load(tmp_path / "m").best_iteration_ == 3


@pytest.mark.parametrize("names", [["notes.txt"], ["model-0123456789abcdef.txt"]])
def test_a_folder_of_something_else_is_no_target(
    names: list[str], data: Path, tmp_path: Path, fault: Output
) -> None:
    """Nor is one with a model's file alone, which no description names."""
    for name in names:
        (tmp_path / name).write_text("mine")
    said = fault("train", data / "train.txt", "--model", tmp_path, *SMALL)
    expected = "--model must be a new folder, or one that holds a model and nothing else, got "
    assert f"{expected}{tmp_path} with {names[0]!r}." in said
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        names, "mine"
    )


def test_ctrl_c(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gbrank.commands.data_files.Letor", interrupt)
    assert main(["evaluate", "test.txt", "--scores", "scores.txt"]) == 130


# --- predict and evaluate ----------------------------------------------------------------------


def test_predict_and_evaluate_agree(
    data: Path, model: str, tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores through a file, through a pipe, and from the model are the same to the last bit."""
    test, scores = data / "test.txt", tmp_path / "scores.txt"
    assert output("predict", "--model", model, test, "--output", scores) == ""
    X, _, _ = read_letor(test)
    assert np.loadtxt(scores).tolist() == GBRanker.load(model).predict(X).tolist()
    text = output("predict", "--model", model, test)
    assert text == scores.read_text()
    expected = output("evaluate", test, "--model", model, "--json")
    assert output("evaluate", test, "--scores", scores, "--json") == expected
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert output("evaluate", test, "--scores", "-", "--json") == expected


def test_probabilities(data: Path, model: str, output: Output) -> None:
    """The same order of documents, in TREC's format too."""
    test = data / "test.txt"
    X, _, _ = read_letor(test)
    expected = GBRanker.load(model).predict(X, output="probability")
    lines = output("predict", "--model", model, test, "--probability").split()
    assert list(map(float, lines)) == expected.tolist()
    runs = [
        [line.split() for line in output("predict", "--model", model, test, *more).splitlines()]
        for more in (("--format", "trec"), ("--format", "trec", "--probability"))
    ]
    assert [line[:4] for line in runs[0]] == [line[:4] for line in runs[1]]
    assert sorted(float(line[4]) for line in runs[1]) == sorted(expected.tolist())


def test_probabilities_of_trees_only(data: Path, tmp_path: Path, fault: Output) -> None:
    X, y, qid = read_letor(data / "train.txt")
    LinearRanker("regression").fit(X, y, qid=qid).save(tmp_path)
    error = fault("predict", "--model", tmp_path, data / "test.txt", "--probability")
    assert f"--probability needs a GBRanker, got {tmp_path} with a LinearRanker." in error


def test_what_needs_trees(data: Path, tmp_path: Path, fault: Output) -> None:
    X, y, qid = read_letor(data / "train.txt")
    model = tmp_path / "linear"
    LinearRanker("regression").fit(X, y, qid=qid).save(model)
    expected = f"--model must hold a GBRanker, got {model} with a LinearRanker."
    assert expected in fault("info", "--model", model)
    assert expected in fault("explain", data / "test.txt", "--query", "112", "--model", model)
    export = ["--format", "solr", "--output", tmp_path / "m.json"]
    assert expected in fault("export", "--model", model, *export)


@pytest.mark.parametrize("form", ["scores", "trec"])
def test_compressed_scores(form: str, data: Path, model: str, tmp_path: Path) -> None:
    """As the name says, the same in each run."""
    argv = ["predict", str(data / "test.txt"), "--model", model, "--format", form, "--output"]
    assert main([*argv, str(tmp_path / "plain")]) == main([*argv, str(tmp_path / "s.gz")]) == 0
    packed = gzip.decompress((tmp_path / "s.gz").read_bytes())
    assert packed == (tmp_path / "plain").read_bytes()


def test_linear_models_too(data: Path, tmp_path: Path, output: Output) -> None:
    """Any ranker that gbrank has saved."""
    test, folder = data / "test.txt", tmp_path / "linear"
    X, y, qid = read_letor(data / "train.txt")
    ranker = LinearRanker("regression").fit(X, y, qid=qid)
    ranker.save(folder)
    scores = list(map(float, output("predict", "--model", folder, test).split()))
    assert scores == ranker.predict(read_letor(test)[0]).tolist()
    assert "ndcg@10" in output("evaluate", test, "--model", folder)


def test_evaluate_is_the_measure(data: Path, model: str, output: Output) -> None:
    """Numbers equal those of the Python API, under the names that were asked for."""
    test, names = data / "test.txt", ["map", "ndcg@3(gain='linear')", "p@5(threshold=2)"]
    options = ["--metric", names[0], "--metric", *names[1:], "--per-query"]
    X, y, qid = read_letor(test)
    scores = GBRanker.load(model).predict(X)
    found = json.loads(output("evaluate", test, "--model", model, *options, "--json"))
    lines = output("evaluate", test, "--model", model, *options).splitlines()
    assert found["n_queries"] == 5
    assert list(found["measures"]) == names
    for name, result in found["measures"].items():
        measure = get_measure(name)
        values = measure.per_query(y, scores, qid=qid)
        assert result["mean"] == measure(y, scores, qid=qid)
        assert result["n_queries"] == np.isfinite(values).sum()
        assert list(result["per_query"]) == ["112", "113", "114", "115", "116"]
        assert result["per_query"]["114"] is None
        assert result["per_query"]["116"] == values[-1]
        assert f"{name:<22}\t116\t{values[-1]:.4f}" in lines
        assert f"{name:<22}\t114\tnan" in lines
        assert f"{name:<22}\tall\t{result['mean']:.4f}" in lines
    assert len(lines) == 3 * 6


def test_evaluate_by_default(data: Path, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One line a measure; queries without a relevant document are left out, but not in silence."""
    assert main(["evaluate", str(data / "test.txt"), "--model", model]) == 0
    out, error = capsys.readouterr()
    rows = [line.split() for line in out.splitlines()]
    assert [row[:2] for row in rows] == [
        [name, "all"] for name in ("ndcg@1", "ndcg@5", "ndcg@10", "map", "mrr")
    ]
    assert error.startswith("gbrank: warning: of 5 queries, those without a relevant document are")
    assert "ndcg@1 1, " in error
    every = "ndcg(no_relevant=0)"
    for metrics, counts in ((["map", every], f": map 1, {every} 0\n"), ([every], "")):
        assert (
            main(["evaluate", str(data / "test.txt"), "--model", model, "--metric", *metrics]) == 0
        )
        assert capsys.readouterr().err.partition("mean")[2] == counts


def test_trec_eval_reads_runs(data: Path, model: str, output: Output) -> None:
    """trec_eval finds the documents by name, and measures the same."""
    _, y, qid, comments = read_letor(data / "test.txt", comments=True)
    names = [comment.split()[2] for comment in comments]
    relevance: dict[str, dict[str, int]] = {}
    for query, name, label in zip(qid.tolist(), names, y.tolist(), strict=True):
        relevance.setdefault(str(query), {})[name] = int(label)
    text = output(
        "predict", "--model", model, data / "test.txt", "--format", "trec", "--run-name", "mine"
    )
    rows = [line.split() for line in text.splitlines()]
    best_first = sorted(rows, key=lambda row: (row[0], -float(row[4])))
    assert rows == best_first
    assert [row[3] for row in rows] == [str(rank) for _ in range(5) for rank in range(1, 11)]
    run = pytrec_eval.parse_run(io.StringIO(text))
    assert {query: set(found) for query, found in run.items()} == {
        query: set(found) for query, found in relevance.items()
    }
    values = pytrec_eval.RelevanceEvaluator(relevance, {"map", "recip_rank"}).evaluate(run)
    ours = json.loads(
        output("evaluate", data / "test.txt", "--model", model, "--per-query", "--json",
               "--metric", "map", "mrr")
    )["measures"]  # fmt: skip
    untied = [query for query in run if len(set(run[query].values())) == len(run[query])]
    assert len(untied) > 1
    for query in set(untied) - {"114"}:  # which has no relevant document
        theirs = [values[query]["map"], values[query]["recip_rank"]]
        assert [result["per_query"][query] for result in ours.values()] == pytest.approx(theirs)


def test_evaluating_a_run(
    data: Path, model: str, tmp_path: Path, output: Output, fault: Output
) -> None:
    """The run that predict writes is worth what the model is, by the labels in a qrels file."""
    test, run, qrels = data / "test.txt", tmp_path / "run.txt", tmp_path / "qrels.txt"
    _, y, qid, comments = read_letor(test, comments=True)
    write_qrels(qrels, y, qid, [comment.split()[2] for comment in comments])
    output("predict", "--model", model, test, "--format", "trec", "--output", run)
    metrics = ["--metric", "ndcg@10", "map", "mrr", "--per-query"]
    judged = output("evaluate", qrels, "--run", run, *metrics)
    assert judged == output("evaluate", test, "--model", model, *metrics)
    assert "--run needs one qrels FILE, got 2" in fault("evaluate", qrels, qrels, "--run", run)
    qrels.write_text("7 0 d 1\n")
    assert "expected the queries of" in fault("evaluate", qrels, "--run", run)


def test_trec_order(model: str, tmp_path: Path, output: Output) -> None:
    """Queries in their order, documents by rank, ties by row, names from comments or places."""
    features = " ".join(f"{i}:0" for i in range(1, 7))
    lines = [
        f"0 qid:b {features} #docid = X9 inc = 1",
        f"0 qid:a {features} # first-word docid",
        f"0 qid:b {features}",
        f"0 qid:a {features} # the docid=Y7",
        f"0 qid:a {features}",
    ]
    (tmp_path / "data.txt").write_text("\n".join(lines))
    text = output("predict", "--model", model, tmp_path / "data.txt", "--format", "trec")
    assert [line.split()[:4] for line in text.splitlines()] == [
        ["b", "Q0", "X9", "1"],
        ["b", "Q0", "b-2", "2"],
        ["a", "Q0", "first-word", "1"],
        ["a", "Q0", "Y7", "2"],
        ["a", "Q0", "a-3", "3"],
    ]
    assert {line.split()[5] for line in text.splitlines()} == {"gbrank"}


def test_trec_names_are_unique(model: str, tmp_path: Path, fault: Output) -> None:
    (tmp_path / "data.txt").write_text("0 qid:1 1:0 # good\n1 qid:1 1:1 # good\n")
    error = fault("predict", "--model", model, tmp_path / "data.txt", "--format", "trec")
    assert "got 'good' twice in query 1" in error


def test_training_on_clicks(data: Path, tmp_path: Path, output: Output, fault: Output) -> None:
    """Positions from a file, as from Python."""
    train, positions, folder = data / "train.txt", tmp_path / "positions.txt", tmp_path / "model"
    X, y, qid = read_letor(train)
    shown = np.arange(len(y)) % 10 + 1
    positions.write_text("".join(f"{position}\n" for position in shown))
    output("train", train, "--model", folder, "--positions", positions, *SMALL)
    ranker = GBRanker(**SMALL_PARAMS, random_state=0)
    expected = ranker.fit(X, y, qid=qid, position=shown)
    found = GBRanker.load(folder)
    assert found.position_bias_ == expected.position_bias_
    assert found.predict(X).tolist() == expected.predict(X).tolist()
    positions.write_text("1\n")
    error = fault("train", train, "--model", folder, "--positions", positions, *SMALL)
    assert f"{positions}: expected {len(y)} positions, one a document, got 1" in error


# --- info, list, plugins -----------------------------------------------------------------------


def test_info(model: str, output: Output) -> None:
    """Text shows what JSON has: features as exports call them, largest gain first."""
    ranker = GBRanker.load(model)
    found = json.loads(output("info", "--model", model, "--json"))
    assert (found["gbrank"], found["format"]) == (gbrank.__version__, 2)
    assert (found["booster"], found["rounds"], found["features"]) == ("lightgbm", 5, 6)
    assert found["data"]["train"] == ranker.training_data_["train"]
    assert found["validation"] == {}
    shares = dict(found["importances"])
    assert [shares[f"f{i}"] for i in range(6)] == ranker.feature_importances_.tolist()
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    text = output("info", "--model", model)
    name, share = found["importances"][0]
    assert f"  {name}  {share:.4f}\n" in text
    assert "  n_estimators           5\n" in text
    assert "  validation     none\n" in text
    assert f"  learning_rate  {ranker.learning_rate_:.4g}\n" in text
    assert found["learning_rate"] == ranker.learning_rate_
    saved = Path(model, "gbrank.json").stat().st_mtime
    assert found["saved"] == f"{date.fromtimestamp(saved)}"
    assert found["versions"] == {"numpy": np.__version__, "lightgbm": lgb.__version__}


def test_info_of_a_frame(tmp_path: Path, output: Output) -> None:
    """Features have the names of their columns, and the validation measure is there."""
    import pandas as pd

    X, y, qid = make_cubic(12, n_documents=10, n_features=2, random_state=0)
    ranker = GBRanker(n_estimators=2, min_child_samples=2, n_jobs=1, validation_fraction=0.3)
    ranker.fit(pd.DataFrame(X, columns=["age", "price"]), y, qid=qid).save(tmp_path)
    found = json.loads(output("info", "--model", tmp_path, "--json"))
    assert {name for name, _ in found["importances"]} == {"age", "price"}
    assert found["validation"] == {"ndcg@10": ranker.best_score_}
    assert f"ndcg@10 {ranker.best_score_:.4f}" in output("info", "--model", tmp_path)
    card = output("info", "--model", tmp_path, "--markdown")
    assert card.startswith(f"# {ranker.objective}\n")
    assert "| `train` | 80 documents in 8 queries |" in card
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert f"| valid_0 | ndcg@10 | {curve[0]:.4f} | {max(curve):.4f} |" in card
    assert card == output("info", "--model", tmp_path, "--markdown")


def test_info_of_a_model_that_stopped_early(tmp_path: Path, output: Output) -> None:
    """The measure is that of the rounds that are kept; of many features, the first ten."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=12, random_state=0)
    ranker = GBRanker(learning_rate=1.0, validation_fraction=0.3, early_stopping_rounds=2, n_jobs=1)
    ranker.set_params(random_state=0, min_child_samples=2).fit(X, y, qid=qid).save(tmp_path)
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert ranker.best_score_ == max(curve) > curve[-1] + 1e-4
    text = output("info", "--model", tmp_path)
    assert f"  rounds         {ranker.best_iteration_}\n" in text
    assert f"  validation     ndcg@10 {max(curve):.4f}\n" in text
    shares = text.partition("share of the gain, 10 of 12 features\n")[2].splitlines()
    largest = sorted(ranker.feature_importances_, reverse=True)[:10]
    assert [line.split()[1] for line in shares] == [f"{share:.4f}" for share in largest]


def test_list(output: Output) -> None:
    """Everything that is registered is listed on a line, or with its aliases and facts."""
    objectives, measures = output("list", "objectives"), output("list", "measures")
    assert output("list") == objectives + measures
    lines = [line.split(maxsplit=1) for line in (objectives + measures).splitlines()]
    items = [*gbrank.list_objectives(), *gbrank.list_measures()]
    assert [line for line in lines if len(line) > 1] == [
        [item.usage, item.summary] for item in items
    ]
    objectives, measures = output("list", "objectives", "-v"), output("list", "measures", "-v")
    for objective in gbrank.list_objectives():
        assert objective.summary in objectives
        assert objective.facts.formula in objectives
    for measure in gbrank.list_measures():
        assert f"\n{measure.name}" in "\n" + measures
    assert "lambda:MEASURE (also lambdarank)\n" in objectives
    assert "ndcg[@K]\n" in measures


def test_plugin(data: Path, tmp_path: Path, plugin: Path, output: Output, fault: Output) -> None:
    """A module's objectives and measures are known by name, from a file or from sys.path."""
    test = data / "test.txt"
    assert "unknown measure 'mine'" in fault("evaluate", test, "--scores", "x", "--metric", "mine")
    listed = output("list", "--plugin", plugin)
    assert "\n  mine " in listed
    assert "\n  mine[@K] " in listed
    argv = ["train", data / "train.txt", "--model", tmp_path / "m", *SMALL]
    output(*argv, "--objective", "mine", "--metric", "mine@3", "--validation-fraction", "0.3")
    options = ["--model", tmp_path / "m", "--json", "--metric"]
    mine, ndcg = (
        json.loads(output("evaluate", test, *options, name))["measures"][name]["mean"]
        for name in ("mine@3", "ndcg@3")
    )
    assert mine == ndcg
    assert output("list", "measures", "-v", "--plugin", "json").startswith("ap[@K] (also map)")


def test_broken_plugin(tmp_path: Path, fault: Output) -> None:
    (tmp_path / "plugin.py").write_text("1 / 0")
    assert "plugin.py: ZeroDivisionError: division" in fault(
        "list", "--plugin", tmp_path / "plugin.py"
    )
    assert "ModuleNotFoundError" in fault("list", "--plugin", "no_such_module")


# --- Files -------------------------------------------------------------------------------------


def test_comments_may_hold_any_bytes(
    data: Path, model: str, tmp_path: Path, output: Output, fault: Output
) -> None:
    """Where they are not printed, and they hide no other fault; else their line is named."""
    lines = (data / "test.txt").read_bytes().splitlines(keepends=True)
    path = tmp_path / "latin.txt"
    path.write_bytes(b"".join(lines).replace(b"docid", b"caf\xe9"))
    assert output("predict", path, "--model", model) == output(
        "predict", data / "test.txt", "--model", model
    )
    assert output("evaluate", path, "--model", model) == output(
        "evaluate", data / "test.txt", "--model", model
    )
    said = fault("predict", path, "--model", model, "--format", "trec")
    assert f"{path}, line 1, column " in said
    assert "expected text in UTF-8" in said
    path.write_bytes(b"# \xe9\n" + lines[0] + b"  -1.0 " + lines[1].partition(b" ")[2])
    said = fault("evaluate", path, "--model", model)
    assert f"{path}, line 3, column 3: expected a label of at least 0, got -1.0 (" in said


def test_documents_from_standard_input(data: Path, model: str, output: Output) -> None:
    """A hyphen stands for it."""
    argv = [sys.executable, "-m", "gbrank", "predict", "-", "--model", model]
    with (data / "test.txt").open("rb") as file:
        piped = subprocess.run(argv, stdin=file, capture_output=True, text=True, check=True)
    assert piped.stdout == output("predict", data / "test.txt", "--model", model)


def test_faults_name_options(data: Path, tmp_path: Path, fault: Output) -> None:
    """And not the arguments of `fit`."""
    argv = ["train", data / "train.txt", "--model", tmp_path / "m"]
    assert "error: --num-leaves must be an integer of" in fault(*argv, "--num-leaves", "1")
    (tmp_path / "positions").write_text("1\n0\n" + "1\n" * 118)
    said = fault(*argv, "--positions", tmp_path / "positions")
    assert "--positions must hold integers of at least 1, got 0.0 in row 1" in said


def test_a_label_in_a_pipe(data: Path, model: str, tmp_path: Path, fault: Output) -> None:
    """A pipe is read once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "-1 qid:1 1:1\n"
    threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
    said = fault("evaluate", pipe, "--model", model)
    assert f"{pipe}, line 1, column 1: expected a label of at least 0, got -1" in said


def test_a_byte_order_mark_is_no_part_of_a_name_or_number(
    data: Path, model: str, tmp_path: Path, output: Output, fault: Output
) -> None:
    """Nor is another encoding read."""
    names, scores, exported = (tmp_path / name for name in ("names.txt", "scores.txt", "m.json"))
    export = ["export", "--model", model, "--format", "solr", "--features", names]
    export += ["--output", exported]
    text = "\n".join(f"name-{column}" for column in range(6))
    names.write_text(text, encoding="utf-8-sig")
    output(*export)
    used = {feature["name"] for feature in json.loads(exported.read_text())["features"]}
    assert used
    assert used <= set(text.split())
    predicted = output("predict", data / "test.txt", "--model", model)
    expected = output("evaluate", data / "test.txt", "--model", model)
    for content in (predicted.encode("utf-8-sig"), gzip.compress(predicted.encode())):
        scores.write_bytes(content)
        assert output("evaluate", data / "test.txt", "--scores", scores) == expected
    names.write_text(text, encoding="utf-16")
    assert f"{names}: expected text in UTF-8, got UTF-16" in fault(*export)
    names.write_bytes(b"bm25\ncaf\xe9\n")
    assert f"{names}, line 2: expected text in UTF-8" in fault(*export)


def test_a_picture_that_fails_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture that is written has the format of its name."""
    path = tmp_path / "picture.SVG"
    write_picture(Figure(), str(path))
    drawn = path.read_bytes()
    assert b"<svg" in drawn

    def fails(self: Figure, file: Any, **_: Any) -> None:
        file.write(b"half")
        raise OSError("no space")

    monkeypatch.setattr(Figure, "savefig", fails)
    with pytest.raises(OSError, match="no space"):
        write_picture(Figure(), str(path))
    assert [item.read_bytes() for item in tmp_path.iterdir()] == [drawn]


# --- demo --------------------------------------------------------------------------------------


def holm(p: Any) -> list[float]:
    """Return two p-values corrected for their number: the smaller one doubled."""
    small, large = min(1.0, 2 * min(p)), max(p)
    return [small if value == min(p) else max(small, large) for value in p]


def test_demo(tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table for each measure of the test queries, with tests, and a picture."""
    monkeypatch.chdir(tmp_path)
    text = output("demo", "--queries", "24")
    assert "16 queries to train on, 8 to test." in text
    X, y, qid = make_cubic(24, random_state=0)
    train, test = qid < 16, qid >= 16
    common: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    models = {
        "GBRanker": GBRanker(**common).fit(X[train], y[train], qid=qid[train]),
        "LGBMRanker": lgb.LGBMRanker(**common).fit(X[train], y[train], group=[50] * 16),
        "XGBRanker": xgb.XGBRanker(**common).fit(X[train], y[train], qid=qid[train]),
    }
    scores = {name: model.predict(X[test]) for name, model in models.items()}
    signs = np.array(list(itertools.product([1, -1], repeat=8)))  # of 8 queries
    for measure in ("ndcg@10", "ap(threshold=2)", "rr(threshold=2)"):
        lines = text.split(f"cubic, {measure}: 8 queries, 0 skipped\n")[1].split("\n\n")[0]
        rows = [line.split() for line in lines.splitlines()]
        per_query = get_measure(measure).per_query
        values = {name: per_query(y[test], own, qid=qid[test]) for name, own in scores.items()}
        means = {cells[0]: cells[1] for cells in rows[1:4]}
        assert means == {name: f"{own.mean():.4f}" for name, own in values.items()}
        lead = np.array([values[cells[0]] - values["GBRanker"] for cells in rows[5:7]])
        p = (np.abs(lead @ signs.T) >= np.abs(lead.sum(axis=1))[:, None] - 1e-12).mean(axis=1)
        assert [cells[5] for cells in rows[5:7]] == [f"{value:.4f}" for value in holm(p)]
    assert text.endswith("Measures against seconds: gbrank-demo.png\n")
    assert Path("gbrank-demo.png").read_bytes().startswith(b"\x89PNG")


def test_tune(data: Path, tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ranker is saved, and after Ctrl-C the best one so far."""
    argv = ["tune", data / "train.txt", "--trials", 3, "--folds", 2, *SMALL, "--model"]
    said = output(*argv, tmp_path / "m")
    found = re.search(r"ndcg@10 of held-out queries: default (\S+), best trial (\S+), ranker", said)
    assert found is not None
    assert float(found[1]) <= float(found[2])
    assert re.search(r"^  objective +\S+ +noisy:ndcg ", said, re.MULTILINE)
    assert "3 trials: the " in said
    X, _, qid = read_letor(data / "test.txt")
    assert load_ranker(tmp_path / "m").predict(X, qid=qid).shape == (len(X),)
    fit, calls = GBRanker.fit, itertools.count()

    def interrupted(self: GBRanker, *args: Any, **named: Any) -> GBRanker:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return fit(self, *args, **named)

    monkeypatch.setattr(GBRanker, "fit", interrupted)
    assert main(list(map(str, [*argv, tmp_path / "n"]))) == 130
    assert "noisy:ndcg" in output("info", "--model", tmp_path / "n")
