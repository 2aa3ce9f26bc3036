"""Runs and judgements as they lie around, beside trec_eval."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import compare_scores, get_measure
from gbrank.data.trec import read_judged_run

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


def test_queries_of_one_file_only(tmp_path: Path) -> None:
    """Those without judgements are left out, those that the run lacks are worth nothing."""
    qrels, run = world(0)
    unjudged = {"x": {"d1": 1.0}, "y": {"d1": 1.0}}
    del run["3"]
    paths = write(tmp_path, qrels, run | unjudged)
    with pytest.warns(UserWarning, match="queries") as caught:
        y, scores, qid = read_judged_run(*paths)
    assert "2 queries without judgements are left out, such as 'x'" in str(caught[0].message)
    assert "nothing was retrieved for 1 of 8 judged queries, such as '3'" in str(caught[1].message)
    assert {*qid} == {*qrels}
    values = get_measure("recall").per_query(y, scores, qid=qid)
    assert values[[*dict.fromkeys(qid)].index("3")] == 0 < values.sum()
    paths = write(tmp_path, qrels, unjudged)
    with pytest.raises(ValueError, match=r"expected queries that are judged, .*, got none"):
        read_judged_run(*paths)
    run, judged = write(tmp_path, {"1": {"a": 1}}, {"1.0": {"a": 1.0}})
    with pytest.raises(ValueError, match=r"such as '1', got none: its first one is '1.0'"):
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
    """Two files of judgements; the judge has more queries and documents."""
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
    with pytest.raises(ValueError, match=r"judge_labels must hold all queries of .*lacks 3"):
        compare_scores({"a": paths[0]}, others[1], judge_labels=paths[1])
