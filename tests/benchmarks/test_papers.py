"""The papers' tables: how their rows come about, and the command."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from benchmarks.papers import EXPERIMENTS, lambdarank
from benchmarks.papers.__main__ import main
from benchmarks.papers.nets import Compiled, bound_to, derivative, forward, random_layers
from benchmarks.papers.page import published
from benchmarks.papers.selection import best_on_validation, fits_of, values_by_fold
from benchmarks.papers.trainings import estimate
from gbrank import (
    NDCG,
    LinearRanker,
    Queries,
    RankNet,
    compare_rankers,
    get_measure,
    get_objective,
    make_cubic,
    write_letor,
)
from gbrank.evaluation import Dataset

X, Y, QID = make_cubic(15, n_documents=10, n_features=6, random_state=3)
DATA = Dataset("cubic", X, Y, QID, folds=3)


# --- Trainings --------------------------------------------------------------------------------


def test_one_training_is_a_paired_t_test() -> None:
    """With the interval of the mean."""
    random = np.random.default_rng(0)
    ours, base = random.normal(0.3, 1, (2, 1, 30))
    found = estimate([ours], [base])
    expected = stats.ttest_rel(ours[0], base[0])
    assert_allclose(found.p, expected.pvalue)
    assert_allclose([found.low, found.high], expected.confidence_interval())
    assert_allclose(estimate([ours]).p, stats.ttest_1samp(ours[0], 0).pvalue)
    assert estimate([ours], [ours]) == (0, 0, 0, 1)


def test_p_values_know_that_trainings_vary() -> None:
    """Rankers that are the same, but for trainings that vary: few p-values are below 0.05."""
    random = np.random.default_rng(1)
    found, paired = [], []
    for _ in range(400):
        queries = random.normal(0, 1, (2, 80))
        folds = [
            [
                own + random.normal(0, 0.3, (5, 1)) + random.normal(0, 0.5, (5, 80))
                for own in queries
            ]
            for _ in range(2)
        ]  # fmt: skip
        found.append(estimate(*folds).p < 0.05)
        first = [np.concatenate([values[0] for values in ranker]) for ranker in folds]
        paired.append(stats.ttest_rel(*first).pvalue < 0.05)
    assert 0.005 < np.mean(found) < 0.07
    assert np.mean(paired) > 0.2


# --- Choosing on validation queries -----------------------------------------------------------


def test_what_is_best_on_validation_is_judged_on_test() -> None:
    """By fold: the ranker of the best validation mean, and its values of the test queries."""
    rankers = {f"{x:g}": LinearRanker("regression", ridge=x) for x in (1e-4, 1.0, 1e4)}
    (comparison,) = compare_rankers(
        rankers, [DATA], seeds=2, metric=["ndcg@3", "rr"], n_jobs=1, progress=False
    )
    chosen = best_on_validation(comparison, "ndcg@3")
    for fold, fit, values in zip(DATA.splits, chosen, values_by_fold(chosen, "rr"), strict=True):
        train, valid, test = ((X[rows], Y[rows], QID[rows]) for rows in fold)
        fits = [ranker.fit(*train[:2], qid=train[2]) for ranker in rankers.values()]
        scores = [NDCG(k=3)(valid[1], ranker.predict(valid[0]), qid=valid[2]) for ranker in fits]
        best = int(np.argmax(scores))
        assert fit.ranker == list(rankers)[best]
        expected = get_measure("rr").per_query(test[1], fits[best].predict(test[0]), qid=test[2])
        assert_array_equal(values, expected)
    own = fits_of(comparison, "1")
    assert len(own) == 2 * 3
    assert [len(values) for values in values_by_fold(own, "rr")] == [5, 5, 5]


# --- Nets ------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [0, 3])
def test_derivative_of_a_net(hidden: int) -> None:
    """By every weight, against finite differences of RankNet's loss of the query."""
    rows = QID == 0
    bound = RankNet().bind(Y[rows], Queries.from_sizes([10]), n_jobs=1)
    layers = random_layers(6, hidden, np.random.default_rng(0))
    for layer, slopes in zip(layers, derivative(layers, X[rows], bound), strict=True):
        for place in np.ndindex(layer.shape):
            losses = []
            for change in (1e-6, -1e-6):
                layer[place] += change
                losses.append(bound.loss(forward(layers, X[rows])[1]).sum())
                layer[place] -= change
            slope = (losses[0] - losses[1]) / 2e-6
            assert slopes[place] == pytest.approx(slope, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("objective", lambdarank.NAMES.values())
@pytest.mark.parametrize("hidden", [0, 3])
def test_compiled_derivatives_are_those_of_gbrank(objective: str, hidden: int) -> None:
    """RankNet's and LambdaRank's, of the paper's gains."""
    own, labels = get_objective(objective), Y[QID == 0].astype(float)
    compiled = bound_to(own, labels)
    assert isinstance(compiled, Compiled)
    layers = random_layers(6, hidden, np.random.default_rng(0))
    bound = own.bind(labels, Queries.from_sizes([10]), n_jobs=1)
    both = (derivative(layers, X[QID == 0], way) for way in (compiled, bound))
    for one, other in zip(*both, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


# --- The command ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make ohsumed, ohsumed25 and mq2008, of three parts each."""
    root = tmp_path_factory.mktemp("letor")
    for name in ("ohsumed", "ohsumed25", "mq2008"):
        (root / name).mkdir()
        for part in range(3):
            rows = part == QID // 5
            write_letor(root / name / f"S{part + 1}.txt", X[rows], Y[rows], QID[rows])
    return root


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search less."""
    less = {
        "smoothrank": {
            "PENALTIES": (1e-3, 1.0), "SPARSE_PENALTIES": (1e-3,), "MAX_ITER": 5,
            "NET_EPOCHS": 2,
        },
        "tierank": {
            "SPARSE_PENALTIES": (1e-3,), "SEEDS": 2, "ROUNDS": 5, "DEPTHS": (2, 4),
            "LEAVES": (1, 20),
        },
        "approxrank": {
            "NDCG_ALPHAS": (10.0, 100.0), "AP_ALPHAS": (10.0,), "N_ITERATIONS": 12,
            "SOFTRANK_SIGMAS": (0.1,), "SOFTRANK_ITERATIONS": 2,
        },
        "lambdarank": {
            "LEARNING_RATES": {"RankNet": (1e-3,), "LambdaRank": (1e-2,)},
            "NETS": {"linear nets": 0}, "N_EPOCHS": 2, "TRAININGS": 2, "N_FUNCTION_EPOCHS": 1,
            "N_POINTS": 1,
        },
        "speed": {"LENGTHS": (10, 20), "N_TIMES": 1, "N_EPOCHS": 2},
        "slam": {"LEARNING_RATES": (1e-3,), "N_EPOCHS": 2, "N_QUERIES": 60, "COMPARED": (1.0,)},
    }  # fmt: skip
    for module, settings in less.items():
        for name, value in settings.items():
            monkeypatch.setattr(f"benchmarks.papers.{module}.{name}", value)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("quick")
def test_every_row(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """A page with a table for each experiment, JSON and pictures; the same once more, at once."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "papers.json").write_text("[]")  # nothing is published yet
    monkeypatch.setattr("benchmarks.papers.page.DOCS", tmp_path / "docs")
    monkeypatch.setattr("benchmarks.papers.page.RESULTS", tmp_path)
    command = ["--data", str(folder), "--queries", "25", "--jobs", "1"]
    command += ["--results", str(tmp_path / "kept")]
    main(command)
    page, everything, text = (
        (tmp_path / "docs" / "papers.md").read_text(),
        (tmp_path / "papers.md").read_text(),
        (tmp_path / "papers.json").read_text(),
    )
    rows = json.loads(text)
    assert "not explained in explanations.py" in capsys.readouterr().err
    for name, experiment in EXPERIMENTS.items():
        assert f"## {name}\n" in everything
        for picture in experiment.pictures:
            assert f"![{picture}](papers/{picture}.png)" in page
            assert (tmp_path / "docs" / "papers" / f"{picture}.png").exists()
    papers = {"SmoothRank", "ApproxRank", "LambdaRank", "TieRank", "SLAM"}
    assert {row["paper"] for row in rows} == papers
    assert list(published()) == list(EXPERIMENTS)
    assert [row.figure for own in published().values() for row in own] == [
        row["figure"] for row in rows
    ]
    for row in rows:
        assert row["deviations"] or row["experiment"] == "lost"
        assert (row["ours"] is None) == (row["experiment"] == "lost")
        if row["ci_low"] is not None:
            assert row["ci_low"] <= row["ours"] <= row["ci_high"]
    monkeypatch.setattr("benchmarks.papers.settings.Settings.compare", None)  # nothing is run again
    main(command)
    assert (tmp_path / "papers.json").read_text() == text
