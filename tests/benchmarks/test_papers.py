"""The papers' tables: how rows come about, the command, and the figures that must be reached."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from benchmarks.artificial import cubic_queries
from benchmarks.papers import EXPERIMENTS, approxrank, lambdarank, slam, smoothrank, speed
from benchmarks.papers.__main__ import main
from benchmarks.papers.explanations import CONTRADICTIONS, EXPLANATIONS
from benchmarks.papers.lambda_functions import LAMBDA_FUNCTIONS, as_objective
from benchmarks.papers.loss_bounds import perceptron_loss_bound
from benchmarks.papers.nets import Net, derivative, forward, random_layers
from benchmarks.papers.page import published, table
from benchmarks.papers.paper_rows import AVERAGE, FAR, PaperRow, as_letor, measured
from benchmarks.papers.pictures import draw_rows
from benchmarks.papers.scaling import scale_by_query
from benchmarks.papers.selection import best_on_validation, fits_of, means_of, values_by_fold
from benchmarks.papers.settings import Settings
from benchmarks.papers.trainings import estimate
from benchmarks.writing import RESULTS
from gbrank import (
    AP,
    NDCG,
    ApproxRank,
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


# --- Rows -------------------------------------------------------------------------------------


def test_mean_over_folds_of_means_over_queries() -> None:
    """Folds count alike, however many queries they have."""
    folds = [np.array([0.2, 0.4]), np.array([0.9, 0.9, 0.9])]
    row = measured("a paper", "data", "NDCG@1", folds, 0.5, "a note")
    assert row.ours == pytest.approx((0.3 + 0.9) / 2)
    # The second fold is constant, so the mean is (0.2, 0.3 or 0.4, and 0.9) / 2.
    assert row.ci_low == pytest.approx(0.55)
    assert row.ci_high == pytest.approx(0.65)
    assert row.average == AVERAGE
    assert as_letor(np.array([0.5, np.nan])).tolist() == [0.5, 0]


def test_rows_as_text() -> None:
    """What all rows share stands above the table, what is far below; what is lost says so."""
    near = PaperRow("a paper", "data", "NDCG@10 of ours", 0.457, 0.45, 0.25, 0.75)
    far = PaperRow("a paper", "data", "MAP of ours, linear", 0.5, 0.45, 0.46, 0.55)
    lost = PaperRow("a paper", "data", "MAP", None, None)
    assert table([near, far, lost]).splitlines() == [
        "- Paper: a paper.",
        "- Data: data.",
        "",
        "| Figure | Ours | 95% interval | Paper's | Difference |",
        "|---|---|---|---|---|",
        "| NDCG@10 of ours | 0.4570 | 0.2500 to 0.7500 | 0.45 | +0.0070 |",
        "| MAP of ours, linear | 0.5000 | 0.4600 to 0.5500 | 0.45 | +0.0500 |",
        "| MAP | – |  | lost |  |",
        "",
        "Further than 0.012 from the paper:",
        "",
        "- MAP of ours, linear: not explained.",
    ]
    assert [row.is_within for row in (near, far, lost)] == [True, False, False]
    notes = ("often", "often", "once")
    noted = [replace(row, note=note) for row, note in zip((near, far, lost), notes, strict=True)]
    lines = table(noted).splitlines()
    assert [line.split(" | ")[-1] for line in lines[5:8]] == ["(1) |", "(1) |", "once |"]
    assert lines[9] == "- (1) often."
    said = [replace(near, deviations="a; b"), replace(far, deviations="b"), lost]
    lines = table(said).splitlines()
    assert [line.split(" | ")[-1] for line in lines[5:8]] == ["a; (1) |", "(1) |", " |"]
    assert lines[9] == "- (1) b."


def test_rows_with_words_in_common() -> None:
    """Three or more have a table of their own; its head says what they share."""
    rows = [
        PaperRow(
            "a paper", "data", f"NDCG@{k}, trained well (table 1)", k / 8, "> 0", note=f"of {k}"
        )
        for k in (1, 2, 3)
    ]
    rows.insert(1, PaperRow("a paper", "data", "maxima", 48, "many"))
    assert table(rows).splitlines() == [
        "- Paper: a paper.",
        "- Data: data.",
        "",
        "*…, trained well (table 1)*. Paper's: > 0:",
        "",
        "| … | Ours | Note |",
        "|---|---|---|",
        "| NDCG@1 | 0.1250 | of 1 |",
        "| NDCG@2 | 0.2500 | of 2 |",
        "| NDCG@3 | 0.3750 | of 3 |",
        "",
        "| Figure | Ours | Paper's |",
        "|---|---|---|",
        "| maxima | 48 | many |",
    ]
    lost = [PaperRow("a paper", data, "MAP", None, 0.5, note="gone") for data in "ab"]
    lost.append(PaperRow("a paper", "c", "NDCG", None, None, note="gone"))
    assert table(lost) == "- gone: a paper, MAP: a 0.5, b 0.5; a paper, NDCG: c."


def test_rows_as_a_picture() -> None:
    """Ours with its interval, the paper's number, and the side of 0 that the paper sees."""
    rows = [
        PaperRow("a paper", "data", "NDCG@1", 0.5, 0.6, 0.3, 0.9),
        PaperRow("a paper", "data", "difference", -0.2, "> 0, far", -0.3, -0.1),
        PaperRow("a paper", "data", "error", 0.1, "< 0.055", 0.0, 0.2),
    ]
    (axes,) = draw_rows(rows).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [r.figure for r in rows]
    points, paper = (line.get_xydata() for line in axes.lines[:2])
    assert_array_equal(points, [(0.5, 0), (-0.2, 1), (0.1, 2)])
    assert_array_equal(paper[0], (0.6, 0))
    assert np.isnan(paper[1:, 0]).all()
    (intervals,) = axes.collections
    ends = [segment[:, 0] for segment in intervals.get_segments()]
    assert_allclose(ends, [(0.3, 0.9), (-0.3, -0.1), (0.0, 0.2)])
    bands = [bar.get_width() for bar in axes.patches]
    assert_allclose(bands, [0, axes.get_xlim()[1], 0])


def test_rows_are_rounded_once() -> None:
    """To four decimals, or four digits; the difference is that of what is printed."""
    row = PaperRow("a paper", "data", "NDCG@1", 0.45655, 0.457, 0.00004, 72.226).rounded
    assert (row.ours, row.ci_low, row.ci_high) == (0.4566, 0.0, 72.23)
    assert row.difference == -0.0004
    assert "| 0.4566 | 0.0000 to 72.23 | 0.457 | -0.0004 |" in table([row])
    assert PaperRow("a paper", "data", "maxima", 48, "many").rounded.ours == 48


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


def test_power_of_the_test_of_trainings() -> None:
    """A difference of five standard errors is found."""
    random = np.random.default_rng(2)
    ours = [random.normal(0.5, 0.1, (5, 1)) + random.normal(0, 1, (5, 200)) for _ in range(3)]
    found = estimate(ours)
    assert found.low < 0.5 < found.high
    assert found.p < 1e-4


# --- Choosing on validation queries -----------------------------------------------------------


def test_what_is_best_on_validation_is_judged_on_test() -> None:
    """By fold: the ranker of the best validation mean, and its values of the test queries."""
    rankers = {f"{x:g}": LinearRanker("regression", ridge=x) for x in (1e-4, 1.0, 1e4)}
    (comparison,) = compare_rankers(
        rankers, [DATA], seeds=2, measures=["ndcg@3", "rr"], n_jobs=1, progress=False
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


# --- Data -------------------------------------------------------------------------------------


def test_features_scaled_query_by_query() -> None:
    """Each to [0, 1], rows in any order; constant features to 0."""
    order = np.random.default_rng(0).permutation(len(Y))
    rows, qid = X[order].copy(), QID[order]
    rows[qid == 4, 2] = 7.0
    scaled = scale_by_query(rows, Queries.from_qid(qid))
    for query in range(15):
        own, result = rows[qid == query], scaled[qid == query]
        for column in range(6):
            low, high = own[:, column].min(), own[:, column].max()
            expected = (own[:, column] - low) / (high - low) if high > low else np.zeros(10)
            assert_allclose(result[:, column], expected)


def test_shares_of_the_artificial_queries() -> None:
    """10K/5K/10K, or the same shares of fewer; no query is in two parts."""
    data = cubic_queries(20)
    parts = [set(data.queries.index[rows].tolist()) for rows in data.splits[0]]
    assert [len(part) for part in parts] == [8, 4, 8]
    assert len(set.union(*parts)) == 20


# --- Pictures' numbers ------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_approximation_error_by_iteration() -> None:
    """That of the ranker after as many iterations."""
    errors = approxrank.approximation_errors(DATA, ApproxRank(), 20.0, 4)
    rows = DATA.splits[0].train
    ranker = approxrank.approx_ndcg(20.0).set_params(n_steps=4)
    scores = ranker.fit(X[rows], Y[rows], qid=QID[rows]).predict(X[rows])
    bound = ranker.objective.bind(Y[rows], Queries.from_qid(QID[rows]))
    exact = NDCG().per_query(Y[rows], scores, qid=QID[rows])
    assert errors.shape == (4, 5)
    assert_allclose(errors[-1], np.abs(bound.loss(scores, 1 / 20) + exact))


def test_annealing_curves_are_means_over_folds() -> None:
    """Of what the rankers record, and of what they are worth in the end."""
    path = smoothrank.anneal(DATA, smoothrank.FEW, n_jobs=1)
    assert_array_equal(path.sigmas, 2.0 ** np.arange(6, -7, -1))
    last = []
    for fold in DATA.splits:
        penalty = smoothrank.DRAWN_PENALTY
        ranker = smoothrank.smooth_ndcg(50, penalty, smoothrank.FEW).set_params(n_jobs=1)
        ranker.fit(X[fold.train], Y[fold.train], qid=QID[fold.train])
        last.append([ranker.score(X[p], Y[p], QID[p]) for p in (fold.train, fold.test)])
    assert_allclose([path.train[-1], path.test[-1]], np.mean(last, axis=0))


def test_objective_along_a_line() -> None:
    """Towards σ → 0 it is NDCG, and jagged; the wider σ, the smoother."""
    line = smoothrank.line_through_optimum(DATA, [64.0, 1e-7], n_points=41, n_jobs=1)
    rows = DATA.splits[0].train
    penalty = smoothrank.DRAWN_PENALTY
    ranker = smoothrank.smooth_ndcg(50, penalty, smoothrank.MAX_ITER).set_params(n_jobs=1)
    ranker.fit(X[rows], Y[rows], qid=QID[rows])
    middle = NDCG(k=50)(Y[rows], ranker.predict(X[rows]), qid=QID[rows])
    assert line.values[1e-7][20] == pytest.approx(middle, abs=1e-6)
    assert line.n_maxima(64.0) <= 1 < line.n_maxima(1e-7)


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


def test_the_best_epoch_of_a_net_is_kept() -> None:
    """By validation NDCG@10; more epochs cannot make that worse, and a seed repeats."""
    fold = DATA.splits[0]
    train, valid = ((X[rows], Y[rows], QID[rows]) for rows in (fold.train, fold.valid))
    values = []
    for n_epochs in (1, 3, 60):
        nets = [Net("lambda:ndcg", 2, 0.1, n_epochs) for _ in range(2)]
        for net in nets:
            net.fit(train[0], train[1], qid=train[2], eval_set=[valid[:2]], eval_qid=[valid[2]])
        assert_array_equal(nets[0].predict(valid[0]), nets[1].predict(valid[0]))
        assert nets[0].best_iteration_ <= n_epochs
        values.append(NDCG(k=10)(valid[1], nets[0].predict(valid[0]), qid=valid[2]))
    assert values == sorted(values)


@pytest.mark.parametrize("hidden", [0, 10])
def test_seconds_of_a_step(hidden: int) -> None:
    """Both sums are the same gradient, or there is an error; both take time."""
    assert min(speed.seconds_of_a_step(20, hidden)) > 0


# --- SLAM ------------------------------------------------------------------------------------


def test_separable_queries() -> None:
    """The gap that the bound is given is there; the bound is below the number of rounds."""
    rows, labels, qid, radius = slam.separable_queries(slam.GAP)
    assert radius == pytest.approx(np.sqrt((rows**2).sum(axis=1).max()))
    u = np.random.default_rng(0).normal(size=rows.shape[1])
    along = rows @ u / np.linalg.norm(u)
    for grade in (1, 2):
        lowest, highest = along[labels == grade].min(), along[labels == grade - 1].max()
        assert lowest - highest >= slam.GAP - 1e-12
    assert np.unique(qid).size == slam.N_QUERIES
    assert perceptron_loss_bound(radius, slam.GAP) < slam.N_QUERIES * slam.PASSES


@pytest.mark.exhaustive
def test_cumulative_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below its bound, and hardly more after the first pass; an adversary comes close to it."""
    for name, value in {"GAP": 0.2, "N_QUERIES": 200, "PASSES": 2}.items():
        monkeypatch.setattr(slam, name, value)
    *rows, worst = slam.perceptron(letor(tmp_path))
    assert 0.95 * float(str(worst.paper_value)[2:]) < worst.ours < float(str(worst.paper_value)[2:])
    for row in rows:
        bound = float(str(row.paper_value).removeprefix("< "))
        first, last = (float(text) for text in row.note.rpartition(": ")[2].split(", "))
        assert last == pytest.approx(row.ours, abs=0.005)
        assert 0 < first <= last < bound < 2 * 200
        assert last - first < 0.1 * first
    assert (tmp_path / "slam-perceptron.png").exists()


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
            "PENALTIES": (1e-3, 1.0), "SPARSE_PENALTIES": (1e-3,), "MAP_PENALTIES": (1e-3,),
            "MAX_ITER": 5, "NET_EPOCHS": 2,
        },
        "tierank": {
            "PENALTIES": (1e-3,), "SEEDS": 2, "ROUNDS": 5, "DEPTHS": (2, 4), "LEAVES": (1, 20),
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "table-9"], r"--only must be one of .*smoothrank-tables.*got 'table-9'"),
        (["--only", "lost", "lost"], r"--only must not hold 'lost' twice"),
        (["--queries", "4"], r"--queries.*at least 5, got 4"),
    ],
)
def test_bad_options(
    folder: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named, before any work."""
    with pytest.raises(SystemExit, match="2"):
        main(["--data", str(folder), *options])
    out, error = capsys.readouterr()
    assert not out
    assert re.search(message, error)


def test_data_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder that lacks is named; experiments that read none run without."""
    with pytest.raises(SystemExit, match="2"):
        main(["--data", str(tmp_path)])
    assert "--data must hold a folder ohsumed for smoothrank-tables" in capsys.readouterr().err
    main(["--data", str(tmp_path), "--only", "lost", "--results", str(tmp_path / "kept")])
    assert "TD2003" in capsys.readouterr().out


# --- What must be reached ---------------------------------------------------------------------

needs_letor = pytest.mark.skipif(
    "GBRANK_LETOR" not in os.environ, reason="GBRANK_LETOR does not name the folder of LETOR data"
)


def letor(results: Path, queries: int = 5) -> Settings:
    """Return LETOR's data, and one process."""
    return Settings(Path(os.environ.get("GBRANK_LETOR", "")), results, queries=queries, n_jobs=1)


def reached(rows: Iterable[PaperRow]) -> list[float]:
    """Return what was measured."""
    return [row.ours for row in rows if row.ours is not None]


@pytest.mark.letor
@pytest.mark.exhaustive
@needs_letor
def test_smooth_ndcg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Table 3, k = 50: NDCG@5 and @10 on OHSUMED, by LETOR's discount; of two λ, stopped early."""
    monkeypatch.setattr(smoothrank, "PENALTIES", (1e-3, 1.0))
    monkeypatch.setattr(smoothrank, "MAX_ITER", smoothrank.FEW)
    _, at_5, at_10 = reached(islice(smoothrank.tables(letor(tmp_path)), 3))
    assert at_5 >= 0.470
    assert at_10 >= 0.452


@pytest.mark.letor
@pytest.mark.exhaustive
@needs_letor
def test_regression(tmp_path: Path) -> None:
    """Table 2: NDCG@10 and MAP of regression on OHSUMED, both 0.444 in the paper."""
    settings, grid = letor(tmp_path), smoothrank.PENALTIES
    data, make = settings.dataset("ohsumed"), smoothrank.ridge_regression
    fits = smoothrank._chosen(settings, data, "regression", make, grid)
    (means,) = means_of({"regression": fits}, [smoothrank.NDCG_AT[10], AP()]).values()
    assert_allclose(means, 0.444, atol=FAR)


@pytest.mark.letor
@pytest.mark.exhaustive
@needs_letor
def test_approx_ndcg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 6.4: NDCG of the whole list by LETOR's discount, of 25 features and of 45."""
    monkeypatch.setattr(approxrank, "NDCG_ALPHAS", (200.0,))
    monkeypatch.setattr(approxrank, "SOFTRANK_ITERATIONS", 1)
    of_25, _, _, _, of_45, *_ = reached(approxrank.section_6_4(letor(tmp_path)))
    assert of_25 >= 0.664
    assert of_45 >= 0.667


@pytest.mark.letor
@pytest.mark.exhaustive
@needs_letor
def test_approx_ap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 6.5: judged by NDCG of the whole list, comparable with ApproxNDCG."""
    # Of the paper's α, the one whose optimum depends least on the width of a processor's vectors.
    for name, value in {"AP_ALPHAS": (100.0,), "BETAS": (10.0,), "NDCG_ALPHAS": (200.0,)}.items():
        monkeypatch.setattr(approxrank, name, value)
    first, _, *differences = approxrank.section_6_5(letor(tmp_path))
    assert first.ours == pytest.approx(0.6693, abs=FAR)
    assert max(abs(row.ours or 0) for row in differences) < 0.02
    # Ten intervals of 95%, whose ends depend on the processor: one may leave out 0 by chance.
    assert sum(not (row.ci_low or 0) <= 0 <= (row.ci_high or 0) for row in differences) <= 1


@pytest.mark.exhaustive
@pytest.mark.letor
@needs_letor
def test_approximation_error_falls_with_alpha(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Section 6.2: below 0.055 at any time, and smaller for larger α."""
    twelve = partial(approxrank.approximation_errors, n_iterations=12)
    monkeypatch.setattr(approxrank, "approximation_errors", twelve)
    errors = reached(approxrank.section_6_2(letor(tmp_path)))
    assert 0.055 > errors[0] > errors[1] > errors[2] > 0


@pytest.mark.exhaustive
def test_lambdarank_is_above_ranknet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 6.3.1: at every truncation, by a paired test; linear nets, of few epochs."""
    monkeypatch.setattr(lambdarank, "LEARNING_RATES", dict.fromkeys(lambdarank.NAMES, (1e-3,)))
    monkeypatch.setattr(lambdarank, "TRAININGS", 1)
    monkeypatch.setattr(lambdarank, "NETS", {"linear nets": 0})
    monkeypatch.setattr(lambdarank, "N_EPOCHS", 20)
    monkeypatch.setattr(lambdarank, "N_QUERIES", 5000)
    _, _, *rows = lambdarank.nets(letor(tmp_path, queries=5000))  # after the two searches
    assert [row.figure.split()[0] for row in rows] == [f"NDCG@{k}" for k in range(1, 11)]
    for row in rows:
        assert (row.ci_low or 0) > 0
        assert float(row.note.rpartition("p = ")[2]) < 0.05


@pytest.mark.parametrize("name", LAMBDA_FUNCTIONS)
def test_lambda_functions(name: str) -> None:
    """Forces on both documents of a pair are opposite; NDCG's differences are measured ones."""
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 5, 7).astype(float), random.normal(size=7)
    lambdas = LAMBDA_FUNCTIONS[name](scores, labels)
    whole = NDCG(gain=(0, 3, 7, 15, 31))
    if name == "differences of NDCG":
        for i, unit in enumerate(np.eye(7) / 2):
            up, down = (whole(labels, scores + sign * unit) for sign in (1, -1))
            assert lambdas[i] == pytest.approx(down - up)
    else:
        assert lambdas.sum() == pytest.approx(0, abs=1e-12)
        assert lambdas[labels.argmax()] <= 0 <= lambdas[labels.argmin()]
    if name == "RankNet's cost, scaled":
        bound = get_objective("lambda:ndcg(gain=(0, 3, 7, 15, 31))").bind(
            labels, Queries.from_sizes([7])
        )
        assert_allclose(lambdas, bound.gradients(scores)[0], atol=1e-14)
    # Of no cost, though the Jacobian is symmetric wherever ranks do not change.
    objective = as_objective(name)
    assert lambdarank.condition(objective, 0, None).asymmetry < 1e-6
    assert lambdarank.condition(objective, 0, 1e-7).asymmetry > 0.5
    assert lambdarank.condition(RankNet(), 0, 1e-7).asymmetry < 1e-4
    assert lambdarank.condition(objective, 0, None, 0.1).smallest_eigenvalue > 0.09


PAGE = Path(__file__).parents[2] / "docs" / "papers.md"
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "papers.ipynb"


def numbers_of(text: str) -> set[tuple[str, str]]:
    """Return what tables in Markdown print, ours and its interval."""
    return set(re.findall(r"\| (\S+) \| (\S+ to \S+) \|", text))


@pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not beside the tests")
def test_page_json_and_notebook_print_the_same_digits() -> None:
    """Both pages have the numbers of the JSON file; the notebook's rows are among them."""
    page = (RESULTS / "papers.md").read_text(encoding="utf-8")
    compared = PAGE.read_text(encoding="utf-8")
    for name, rows in published().items():
        assert f"## {name}\n\n{table(rows)}\n" in page
        numbers = [row for row in rows if row.difference is not None]
        assert not numbers or f"## {name}\n\n{table(numbers)}\n" in compared
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    shown = [
        "".join(output["data"]["text/markdown"])
        for cell in cells
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    ]
    assert len(shown) >= 5
    numbers = numbers_of("\n".join(shown))
    assert len(numbers) > 20
    assert numbers <= numbers_of(page)


@pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not beside the tests")
def test_the_page_begins_with_what_was_reproduced() -> None:
    """A line for each paper, within the first ten."""
    first = PAGE.read_text(encoding="utf-8").splitlines()[:10]
    papers = {row.paper for rows in published().values() for row in rows}
    assert {
        line.partition(":")[0].removeprefix("- ") for line in first if line[:2] == "- "
    } == papers


def test_contradictions_are_explained_where_they_stand() -> None:
    """Of experiments that there are, in whole sentences."""
    assert CONTRADICTIONS.keys() <= EXPERIMENTS.keys()
    for lines in CONTRADICTIONS.values():
        assert lines
        assert all(len(text) > 40 and text.endswith(".") for text in lines)


def test_what_is_far_is_explained() -> None:
    """Every row of the published page that is further than 0.012 from the paper's number."""
    for row in json.loads((RESULTS / "papers.json").read_text()):
        if abs(row["difference"] or 0) > FAR:
            assert row["explanation"], row
    assert all(len(text) > 20 for text in EXPLANATIONS.values())
