"""`gbrank evaluate`, run in this process, against the Python API."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from command import Output
from gbrank import GBRanker, compare_scores, get_measure, read_letor
from gbrank.commands.cli import main
from gbrank.data.trec import write_qrels, write_run


def test_predict_and_evaluate_agree(
    data: Path, model: str, tmp_path: Path, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores through a file, as from a pipe, and from the model are the same to the last bit."""
    test, scores = data / "test.txt", tmp_path / "scores.txt"
    assert output("predict", "--model", model, test, "--output", scores) == ""
    X, _, _ = read_letor(test)
    assert np.loadtxt(scores).tolist() == GBRanker.load(model).predict(X).tolist()
    text = output("predict", "--model", model, test)
    assert text == scores.read_text()
    expected = output("evaluate", test, "--model", model, "--json")
    assert output("evaluate", test, "--scores", scores, "--json") == expected
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert output("evaluate", test, "--scores", "-", "--json") == expected


def test_evaluate_is_the_measure(data: Path, model: str, output: Output) -> None:
    """Numbers equal those of the Python API, under the names that were asked for."""
    test, names = data / "test.txt", ["map", "ndcg@3(gain='linear')", "p@5(threshold=2)"]
    options = ["--metric", names[0], "--metric", *names[1:], "--per-query"]
    X, y, qid = read_letor(test)
    scores = GBRanker.load(model).predict(X)
    found = json.loads(output("evaluate", test, "--model", model, *options, "--json"))
    lines = output("evaluate", test, "--model", model, *options).splitlines()
    assert found["n_queries"] == 5
    assert list(found["metrics"]) == names
    for name, result in found["metrics"].items():
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


def test_evaluating_a_run(
    data: Path, model: str, tmp_path: Path, output: Output, fault: Output
) -> None:
    """The run that predict writes is worth what the model is, by the labels in a qrels file."""
    test, run, qrels = data / "test.txt", tmp_path / "run.txt", tmp_path / "qrels.txt"
    _, y, qid, comments = read_letor(test, comments=True)
    write_qrels(qrels, y, qid, [comment.split()[2] for comment in comments])
    output("predict", "--model", model, test, "--format", "trec", "--output", run)
    judged = output("evaluate", qrels, "--run", run, "--metric", "map", "judged@10", "--per-query")
    values = [line.split("\t") for line in judged.splitlines()]
    with qrels.open() as labels, run.open() as scores:
        relevance, ranking = pytrec_eval.parse_qrel(labels), pytrec_eval.parse_run(scores)
    theirs = pytrec_eval.RelevanceEvaluator(relevance, {"map"}).evaluate(ranking)
    ours = {query: value for name, query, value in values if name.strip() == "map"}
    assert {query: f"{theirs[query]['map']:.4f}" for query in {*ours} - {"all", "114"}} == {
        query: value for query, value in ours.items() if query not in ("all", "114")
    }
    assert values[-1] == ["judged@10".ljust(22), "all", "1.0000"]
    qrels.write_text("7 0 d 1\n")
    assert "no query is judged" in fault("evaluate", qrels, "--run", run)


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
    assert f"{names}, line 1: expected text in UTF-8, got" in fault(*export)
    names.write_bytes(b"bm25\ncaf\xe9\n")
    assert f"{names}, line 2: expected text in UTF-8" in fault(*export)


def test_a_query_called_all(tmp_path: Path, output: Output) -> None:
    """It keeps its value beside the mean."""
    table, scores = tmp_path / "t.csv", tmp_path / "s.txt"
    table.write_text("qid,label,a\nall,1,1\nall,0,2\nb,1,2\nb,0,1\n")
    scores.write_text("1\n2\n2\n1\n")
    lines = output("evaluate", table, "--scores", scores, "--metric", "rr", "--per-query")
    assert lines.split() == ["rr", "all", "0.5000", "rr", "b", "1.0000", "rr", "(all)", "0.7500"]


def test_comparing_runs(
    tmp_path: Path, output: Output, fault: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `compare_scores` does; `gbrank compare` names the command."""
    rng = np.random.default_rng(0)
    qrels = tmp_path / "qrels.txt"
    runs = [str(tmp_path / name) for name in ("bm25.run", "dense.run", "rerank.run")]
    qid, docid = np.repeat(np.arange(12), 8), np.tile([f"d{i}" for i in range(8)], 12)
    y = rng.integers(0, 3, 96)
    write_qrels(qrels, y, qid, docid)
    for run, noise in zip(runs, (3.0, 1.0, 0.3), strict=True):
        write_run(run, y + noise * rng.normal(size=96), qid, docid)
    options = ["--metric", "map", "ndcg@10"]
    expected = compare_scores(
        {run: run for run in runs}, qrels, metric=options[1:], name="qrels.txt"
    )
    text = output("evaluate", qrels, "--run", *runs, *options)
    assert text == f"{expected.table()}\n"
    for part in ("wins/ties/losses", "p (random., Holm)", "Minimum detectable difference with 12"):
        assert part in text
    picture, judge = tmp_path / "runs.png", tmp_path / "judge.txt"
    options = ["--baseline", runs[1], "--json"]
    content = json.loads(output("evaluate", qrels, "--run", *runs, *options, "--plot", picture))
    assert content["baseline"] == runs[1]
    assert picture.read_bytes().startswith(b"\x89PNG")
    write_qrels(judge, np.where(qid == 3, 2 - y, y), qid, docid)
    judged = output("evaluate", qrels, "--run", *runs[:2], "--judge-labels", judge)
    assert "12 queries judged by people" in judged
    assert output("evaluate", qrels, "--run", runs[0], "--metric", "map").split()[:2] == [
        "map",
        "all",
    ]
    with Path(runs[1]).open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        piped = json.loads(output("evaluate", qrels, "--run", runs[0], "-", "--json"))
    means = {row["ranker"]: row["mean"] for row in content["test"] if row["metric"] == "map"}
    assert {row["ranker"]: row["mean"] for row in piped["test"] if row["metric"] == "map"} == {
        runs[0]: means[runs[0]], "-": means[runs[1]],
    }  # fmt: skip
    assert "per-query must not be given" in fault("evaluate", qrels, "--run", *runs, "--per-query")
    commented = tmp_path / "commented.txt"
    commented.write_text("# judged by two people, pooled\n" + Path(qrels).read_text())
    for path in (qrels, commented):
        text = fault("compare", "--data", path, "--rankers", *runs)
        assert f"gbrank evaluate {path} --run" in text
