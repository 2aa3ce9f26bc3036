"""Runs and judgments as they lie around, beside trec_eval."""

import re
import warnings
from collections import namedtuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from gbrank import compare_rankers, compare_scores, get_measure, report
from gbrank.data.trec import read_judged_run, read_qrels, read_run
from gbrank.evaluation import Dataset, scores_from
from known_names import meant
from report_page import Page

pytrec_eval = pytest.importorskip("pytrec_eval")

SAME = {
    "ndcg": "ndcg(gain=linear)",
    "ndcg_cut_10": "ndcg@10(gain=linear)",
    "map": "map",
    "recip_rank": "rr",
    "P_10": "p@10",
    "recall_5": "recall@5",
    "Rprec": "r_precision",
    "success_1": "hit@1",
    "success_5": "hit@5",
}
Numbers = dict[str, dict[str, float]]


def write(folder: Path, qrels: Numbers, run: Numbers, *more: str) -> tuple[Path, Path]:
    """Write both files; `more` are further lines of the qrels."""
    lines = [f"{q} 0 {d} {label}" for q, found in qrels.items() for d, label in found.items()]
    (folder / "qrels").write_text("\n".join([*lines, *more]))
    lines = [f"{q} Q0 {d} 1 {score} me" for q, found in run.items() for d, score in found.items()]
    (folder / "run").write_text("\n".join(lines))
    return folder / "run", folder / "qrels"


def world(seed: int) -> tuple[Numbers, Numbers]:
    """Return qrels and a run: ties, labels below 0, documents that are in one only."""
    rng = np.random.default_rng(seed)
    qrels: Numbers = {}
    run: Numbers = {}
    for query in map(str, range(8)):
        judged, retrieved = rng.choice(60, 25, replace=False), rng.choice(80, 20, replace=False)
        qrels[query] = {f"d{d}": int(rng.choice([0, 0, 1, 2, 3, -1])) for d in judged}
        qrels[query]["d90"] = 1  # never retrieved
        # Differences that single precision does not see are ties, too.
        scores = np.round(rng.normal(size=20), 1) + rng.choice([0, 1e-9], 20)
        run[query] = {f"d{d}": float(score) for d, score in zip(retrieved, scores, strict=True)}
    return qrels, run


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_trec_eval(seed: int, tmp_path: Path) -> None:
    """Of each query by each measure, and of means of a comparison."""
    qrels, run = world(seed)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(SAME)).evaluate(run)
    repeated = "0 0 d90 1"  # which is there already, and alike
    paths = write(tmp_path, qrels, run, repeated)
    y, scores, qid = read_judged_run(*paths)
    for name, ours in SAME.items():
        values = get_measure(ours).per_query(y, scores, qid=qid)
        expected = [theirs[query][name] for query in dict.fromkeys(qid)]
        assert_allclose(values, expected, rtol=0, atol=1e-14, err_msg=name)
    compared = compare_scores({"a": paths[0]}, paths[1], metric=[*SAME.values()]).summary()
    for row, name in zip(compared, SAME, strict=True):
        assert row.mean == pytest.approx(np.mean([theirs[q][name] for q in qrels]), abs=1e-14)


class RunOfRanx:
    """Stands for Run and Qrels of ranx, which are no mappings."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def to_dict(self) -> Numbers:
        return self._numbers


RunOfRanx.__module__ = "ranx.data_structures.run"


def forms_of(numbers: Numbers, kind: str) -> dict[str, Any]:
    """Return numbers of documents in all forms that they have in memory; kind is score or label."""
    rows = [(query, name, number) for query, own in numbers.items() for name, number in own.items()]
    relevance = "relevance" if kind == "label" else "score"
    record = namedtuple("record", ["query_id", "doc_id", relevance])  # type: ignore[misc]
    pyterrier = pd.DataFrame(rows, columns=["qid", "docno", kind])
    return {
        "dict": numbers,
        "PyTerrier": pyterrier.assign(docid=0, rank=1, query="a text"),
        "ir_measures": pd.DataFrame(rows, columns=["query_id", "doc_id", relevance]),
        "frame of BEIR": pd.DataFrame(rows, columns=["query-id", "corpus-id", "score"]),
        "frame of ranx": pl.DataFrame(rows, schema=["q_id", "doc_id", "score"], orient="row"),
        "ranx": RunOfRanx(numbers),
        "records": [record(*row) for row in rows],
        "generator": (record(*row) for row in rows),
    }


@pytest.mark.parametrize(
    "form",
    [
        "dict",
        "PyTerrier",
        "ir_measures",
        "frame of BEIR",
        "frame of ranx",
        "ranx",
        "records",
        "generator",
    ],
)
def test_runs_and_judgments_in_memory(form: str, tmp_path: Path) -> None:
    """As from files, wherever these are accepted; documents may be called NA and 007."""
    qrels, run = world(2)
    for numbers in (qrels, run):
        numbers["0"] |= {"NA": 2, "007": 1}
    files = write(tmp_path, qrels, run)

    def runs() -> Any:
        return forms_of(run, "score")[form]

    def labels() -> Any:
        return forms_of(qrels, "label")[form]

    for read, memory, file in ((read_run, runs(), files[0]), (read_qrels, labels(), files[1])):
        values, *names = read(file)
        found, *found_names = read(memory)
        assert_array_equal(found, values)
        assert found_names == names
    for ours, expected in zip(
        read_judged_run(runs(), labels()), read_judged_run(*files), strict=True
    ):
        assert_array_equal(ours, expected)
    options: dict[str, Any] = {"metric": ["map", "ndcg@10"]}
    both = compare_scores({"a": files[0], "b": files[0]}, files[1], **options)
    assert (
        compare_scores({"a": runs(), "b": runs()}, labels(), **options).to_json() == both.to_json()
    )
    with pytest.warns(UserWarning, match="people have judged 8 queries"):
        compare_scores({"a": runs()}, labels(), judge_labels=labels())
    qid = read_judged_run(*files)[2]
    docid = [name for own in qrels.values() for name in own]
    rows = np.arange(len(docid))
    assert_array_equal(
        scores_from(runs(), qid=np.array(qid)[rows], docid=docid),
        scores_from(files[0], qid=np.array(qid)[rows], docid=docid),
    )


class Judgment(NamedTuple):
    """A record of qrels."""

    query_id: str
    doc_id: str
    relevance: int


@pytest.mark.parametrize(
    ("run", "text"),
    [
        ({"q": {"d": np.nan}}, "a finite number as score, got nan for document 'd' of query 'q'"),
        ({"q": {"d": "high"}}, "got 'high' for document 'd' of query 'q'"),
        ({"test": {"q": {"d": 1.0}}}, "got {'d': 1.0} for document 'q' of query 'test'"),
        ({"q": {"d": pd.NA}}, "got <NA> for document 'd'"),
        ({"q": {}}, "run: expected at least one document"),
        (
            {1: {"d": 1.0}, "1": {"d": 2.0}},
            "run: expected one score, got 2 after 1, for document 'd' of query '1'",
        ),
        (pd.DataFrame({"qid": [1], "docno": ["d"]}), "score must be in a column called score"),
        ([Judgment("q", "d", 1)], "score must be in a column called score"),
        (
            pd.DataFrame({"qid": [None], "docno": ["d"], "score": [1.0]}),
            "query must not be missing",
        ),
        (
            pd.DataFrame({"qid": ["q"], "docno": [np.nan], "score": [1.0]}),
            "pandas reads NA as missing, unless keep_default_na=False",
        ),
        ([0.5], "must be a path, {query: {document: score}}, a data frame"),
    ],
)
def test_what_is_no_run_in_memory(run: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text) if "{" in text else text):
        read_run(run)


def test_a_record_of_scores_is_no_judgment() -> None:
    Score = namedtuple("Score", ["query_id", "doc_id", "score"])
    with pytest.raises(ValueError, match="label must be in a column called label or relevance"):
        read_qrels([Score("q", "d", 1.0)])


def test_whole_numbers_that_became_floats_are_names() -> None:
    frame = pd.DataFrame({"qid": [1.0, 2.0], "docno": [7.0, 8.5], "score": [1, 2]})
    assert read_run(frame)[1:] == (["1", "2"], ["7", "8.5"])


def test_names_that_no_judgment_knows(tmp_path: Path) -> None:
    """An error where none is judged, a warning where few of the first ten are."""
    qrels, run = world(3)
    renamed = {q: {f"doc:{name}": score for name, score in own.items()} for q, own in run.items()}
    text = r"other: no retrieved document is judged.*The run has 'doc:d\d+', the judgments have 'd"
    with pytest.raises(ValueError, match=text):
        compare_scores({"good": run, "other": renamed}, qrels)
    with pytest.raises(ValueError, match="no retrieved document is judged"):
        read_judged_run(*write(tmp_path, qrels, renamed))
    best = max(scores for own in run.values() for scores in own.values())
    for query, own in renamed.items():
        own["d90"] = best + 1 if query == "3" else best - 100
    with pytest.warns(UserWarning, match=r"other: only 1\.2% of the first 10 documents are judged"):
        compare_scores({"good": run, "other": renamed}, qrels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_scores({"good": run}, qrels)


def test_one_list_everywhere(tmp_path: Path) -> None:
    """trec_eval's value of a run in a comparison, of files and rows, of rankers, and a report.

    The run lacks judged documents of the rows, and has retrieved others.
    """
    qrels, run = world(4)
    qrels = {query: {d: max(label, 0) for d, label in own.items()} for query, own in qrels.items()}
    names = {"map": "map", "ndcg_cut_10": "ndcg@10(gain=linear)", "P_10": "p@10"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(run)
    expected = {
        str(get_measure(ours)): np.mean([theirs[query][name] for query in qrels])
        for name, ours in names.items()
    }
    rows = [(query, d, label) for query, own in qrels.items() for d, label in own.items()]
    qid, docid, y = map(np.array, zip(*rows, strict=True))
    X = pd.DataFrame({"x": np.arange(len(y)), "docid": docid})
    options: dict[str, Any] = {"metric": list(names.values())}
    of_rows = compare_scores({"run": run}, y, qid, docid=docid, **options)
    data = Dataset("data", X[["x"]], y, qid, 4, docid=docid)
    (of_rankers,) = compare_rankers(
        {"run": run, "ridge": Ridge()}, [data], seeds=1, n_jobs=1, progress=False, **options
    )
    for comparison in (compare_scores({"run": run}, qrels, **options), of_rows, of_rankers):
        means = {row.metric: row.mean for row in comparison.summary() if row.ranker == "run"}
        assert means == pytest.approx(expected, abs=1e-14)
    page = Page(
        report(X["x"], X, y, qid=qid, docid="docid", against=run, html=tmp_path / "r", **options)
    )
    table = page.table("measures", "metric")
    for name, value in expected.items():
        assert table[name][3] == f"{value:.4f}"


def test_queries_of_one_file_only(tmp_path: Path) -> None:
    """Those without judgments are left out, those that the run lacks are worth nothing."""
    qrels, run = world(0)
    unjudged = {"x": {"d1": 1.0}, "y": {"d1": 1.0}}
    del run["3"]
    paths = write(tmp_path, qrels, run | unjudged)
    with pytest.warns(UserWarning, match="queries") as caught:
        y, scores, qid = read_judged_run(*paths)
    assert "2 queries without judgments are left out, such as 'x'" in str(caught[0].message)
    assert "nothing was retrieved for 1 of 8 judged queries, such as '3'" in str(caught[1].message)
    assert {*qid} == {*qrels}
    values = get_measure("recall").per_query(y, scores, qid=qid)
    assert values[[*dict.fromkeys(qid)].index("3")] == 0 < values.sum()
    paths = write(tmp_path, qrels, unjudged)
    with pytest.raises(ValueError, match="no query is judged"):
        read_judged_run(*paths)
    run, judged = write(tmp_path, {"1": {"a": 1}}, {"1.0": {"a": 1.0}})
    with pytest.raises(ValueError, match=r"The run has '1.0', the judgments have '1'"):
        read_judged_run(run, judged)  # two queries to trec_eval


def test_runs_are_compared_with_arrays(tmp_path: Path) -> None:
    """Documents that only a run has are in the ranking, and other scores lack them."""
    y, docid = [2.0, 1.0, 0.0], ["a", "b", "c"]
    run, _ = write(tmp_path, {}, {"q": {"new": 3.0, "b": 2.0, "a": 1.0}})
    metrics = ["ndcg(gain=linear)", "judged@2", "p@2"]
    scores = {"run": run, "array": [3.0, 2.0, 1.0], "absent": [1.0, -np.inf, 2.0]}
    result = compare_scores(scores, y, ["q"] * 3, docid=docid, metric=metrics)
    means = {(row.ranker, row.metric): row.mean for row in result.summary()}
    ideal = 2 + 1 / np.log2(3)
    assert means["run", str(get_measure(metrics[0]))] == pytest.approx(
        (1 / np.log2(3) + 2 / 2) / ideal
    )
    assert means["absent", str(get_measure(metrics[0]))] == pytest.approx(2 / np.log2(3) / ideal)
    assert [means[name, "judged@2"] for name in scores] == [0.5, 1.0, 1.0]
    assert [means[name, "p@2"] for name in scores] == [0.5, 1.0, 0.5]
    for short in ({"labels": {"b": [0.0]}}, {"judge_labels": [0.0]}):
        with pytest.raises(
            ValueError, match=r"(labels..b..|judge_labels) must have 3 entries, got 1"
        ):
            compare_scores(scores, y, ["q"] * 3, docid=docid, **short)


def test_a_judge_of_runs(tmp_path: Path) -> None:
    """Two files of judgments; the judge has more queries and documents."""
    qrels, run = world(1)
    people = {query: qrels[query] for query in [*qrels][:5]}
    judge = {query: {**labels, "d79": 1} for query, labels in qrels.items()}
    other = {query: dict.fromkeys(found, 1.0) for query, found in run.items()}
    paths = write(tmp_path, people, run)
    (tmp_path / "two").mkdir()
    others = write(tmp_path / "two", judge, other)
    with pytest.warns(UserWarning, match="people have judged 5 queries"):
        result = compare_scores({"a": paths[0], "b": others[0]}, *paths[1:], judge_labels=others[1])
    assert {row.n_queries for row in result.summary()} == {5}
    y, scores, qid = read_judged_run(paths[0], paths[1])
    assert_array_equal(
        result.parts["test"].by_query("ndcg@10")[0, 0, :5],
        get_measure("ndcg@10").per_query(y, scores, qid=qid),
    )
    with pytest.raises(ValueError, match=r"judge_labels must hold all queries .*lacks 3"):
        compare_scores({"a": paths[0]}, others[1], judge_labels=paths[1])


def test_short_runs_are_those_of_ir_measures(tmp_path: Path) -> None:
    """Runs of 0 to 12 of 15 judged documents: of the retrieved ones, no more than k."""
    ir_measures = pytest.importorskip("ir_measures")
    rng = np.random.default_rng(0)
    qrels: Numbers = {}
    run: Numbers = {}
    for query in range(12):
        retrieved = rng.choice(30, query + 1, replace=False)
        qrels[str(query)] = {f"d{d}": int(rng.integers(0, 3)) for d in range(15)} | {"d0": 1}
        run[str(query)] = {f"d{d}": float(-rank) for rank, d in enumerate(retrieved)}
    run_path, qrels_path = write(tmp_path, qrels, run)
    ours = compare_scores(
        {"run": run_path, "same": run_path}, qrels_path, metric=["judged@5", "judged", "precision"]
    )
    theirs = ir_measures.calc_aggregate(
        [ir_measures.Judged @ 5, ir_measures.Judged, ir_measures.SetP],
        ir_measures.read_trec_qrels(str(qrels_path)), ir_measures.read_trec_run(str(run_path)),
    )  # fmt: skip
    means = {row.metric: row.mean for row in ours.summary() if row.ranker == "run"}
    for metric, theirs_name in (
        ("judged@5", "Judged@5"),
        ("judged", "Judged"),
        ("precision", "SetP"),
    ):
        assert means[metric] == pytest.approx(theirs[ir_measures.parse_measure(theirs_name)])


NAMES = "P_10 P_5 recall_5 recip_rank Rprec success_1 success_5 set_P ndcg_cut_10 ndcg_cut.5"
OF_MTEB = {
    "hit_rate_at_5": "success_5",
    "mrr_at_1000": "recip_rank",
    "ndcg_at_10": "ndcg_cut_10",
    "precision_at_5": "P_5",
    "recall_at_5": "recall_5",
}


@pytest.mark.parametrize("name", [*NAMES.split(), *OF_MTEB])
def test_names_of_trec_eval_have_its_numbers(name: str, tmp_path: Path) -> None:
    """Of each query, those without a relevant document and short runs among them."""
    qrels, run = world(0)
    qrels["7"] = dict.fromkeys(qrels["7"], 0)
    run["6"] = dict(list(run["6"].items())[:3])
    y, scores, qid = read_judged_run(*write(tmp_path, qrels, run))
    key = OF_MTEB.get(name, name).replace(".", "_")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {re.sub(r"_(?=\d)", ".", key)}).evaluate(run)
    ours = get_measure(meant(name)).per_query(y, scores, qid=qid)
    assert_allclose(ours, [theirs[query][key] for query in dict.fromkeys(map(str, qid))], rtol=1e-6)


def test_exchanged_files_are_recognized(tmp_path: Path) -> None:
    """By the number of their columns."""
    run, qrels = write(tmp_path, *world(2))
    for read, path, owner in ((read_run, qrels, "qrels"), (read_qrels, run, "runs")):
        with pytest.raises(ValueError, match=f"expected the columns .*, as {owner} have"):
            read(path)
