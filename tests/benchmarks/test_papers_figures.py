"""The figures of the papers that must be reached, and that the pages print those that were."""

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
from numpy.testing import assert_allclose

from benchmarks.papers import approxrank, lambdarank, smoothrank
from benchmarks.papers.explanations import CONTRADICTIONS, EXPLANATIONS, VERDICTS
from benchmarks.papers.lambda_functions import LAMBDA_FUNCTIONS, as_objective
from benchmarks.papers.page import published, table, with_values
from benchmarks.papers.paper_rows import FAR, PaperRow
from benchmarks.papers.selection import means_of
from benchmarks.papers.settings import Settings
from benchmarks.writing import RESULTS
from gbrank import AP, NDCG, Queries, RankNet, get_objective

# --- What must be reached ---------------------------------------------------------------------

needs_letor = pytest.mark.skipif(
    "GBRANK_LETOR" not in os.environ, reason="GBRANK_LETOR does not name the folder of LETOR data"
)


def letor(results: Path, queries: int = 5) -> Settings:
    """Return LETOR's data, and one process."""
    return Settings(Path(os.environ.get("GBRANK_LETOR", "")), results, queries=queries, n_jobs=1)


def p_of(row: PaperRow) -> float:
    """Return the p-value of a difference."""
    return float(row.note.rpartition("p = ")[2].partition(" ")[0])


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
    assert_allclose([at_5, at_10], [0.475, 0.457], atol=FAR)  # the paper's


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
    of_25, _, _, _, of_45, _ = reached(islice(approxrank.section_6_4(letor(tmp_path)), 6))
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
        assert p_of(row) < 0.05


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


@pytest.mark.skipif(not PAGE.parent.exists(), reason="docs/ is not beside the tests")
def test_page_json_and_notebook_print_the_same_digits() -> None:
    """Both pages have the numbers of the JSON file; the notebook's rows are among them."""
    page = (RESULTS / "papers.md").read_text(encoding="utf-8")
    compared = PAGE.read_text(encoding="utf-8")
    for name, rows in published().items():
        assert f"## {name}\n\n{table(rows)}\n" in page
        numbers = [replace(row, note="") for row in rows if row.difference is not None]
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


def test_figures_have_the_penalties_of_the_tables() -> None:
    """SmoothRank's figures 1 and 2: λ by fold, as the search for table 3 found them."""
    (row,) = (
        row
        for row in published()["smoothrank-tables"]
        if row.figure == "NDCG@10, trained on NDCG@50 (table 3)"
    )
    found = ", ".join(f"{penalty:g}" for penalty in smoothrank.CHOSEN_PENALTIES)
    assert row.note == f"λ by fold: {found}"


def test_what_is_far_is_explained() -> None:
    """Every row of the published page that is further than 0.012 from the paper's number."""
    for row in json.loads((RESULTS / "papers.json").read_text()):
        if abs(row["difference"] or 0) > FAR:
            assert row["explanation"], row
    assert all(len(text) > 20 for text in EXPLANATIONS.values())


def test_prose_takes_its_figures_from_published_rows() -> None:
    """Verdicts and contradictions name rows; what they write out themselves is no measurement."""
    tables = published()
    texts = [*VERDICTS.values(), *(text for texts in CONTRADICTIONS.values() for text in texts)]
    page = PAGE.read_text(encoding="utf-8")
    for text in texts:
        assert with_values(text, tables) in page
        written_out = re.sub(r"\{[^}]+\}", "", text)
        written_out = re.sub(
            r"\b(?:sections?|LETOR|of|most) \d\.\d+(?: and \d\.\d)?", "", written_out
        )
        assert not re.findall(r"\d*\.\d+", written_out), text
    n_named = sum(text.count("{") for text in texts)
    assert n_named > 10


def differences(experiment: str, *words: str) -> list[PaperRow]:
    """Return the published differences whose titles have these words."""
    rows = [row for row in published()[experiment] if all(word in row.figure for word in words)]
    found = [row for row in rows if "less that of" in row.figure]
    assert found
    return found


def test_verdicts_are_those_of_published_rows() -> None:
    """Whatever the page says is above, below or not significantly different."""
    tables = published()
    compared = [row for row in tables["smoothrank-tables"] if row.difference is not None]
    assert all(row.is_within for row in compared)
    for experiment in ("approxrank-6.4", "approxrank-6.5"):
        numbers = [row for row in tables[experiment] if row.difference is not None]
        assert all(row.is_within for row in numbers if "LETOR's discount" in row.figure)
    regression = differences("smoothrank-tables", "less that of regression")
    nets = differences("lambdarank-6.3.1", "linear nets")
    assert len(regression) == len(nets) == 10
    assert all(row.ours > 0 for row in regression + nets if row.ours is not None)
    assert all(p_of(row) < 0.05 for row in nets)
    spline = differences("tierank-learner", "NDCG@10", "φ spline, d = 6, less that of φ linear")
    assert p_of(spline[0]) < 0.05
    for rows in (
        regression,
        differences("lambdarank-6.3.1", "two-layer nets"),
        differences("tierank"),
        differences("tierank-learner", "ν = "),
    ):
        assert all(p_of(row) > 0.05 for row in rows)
    average_precision = differences("approxrank-6.5")
    below = {row.figure.split()[0] for row in average_precision if (row.ci_high or 0) < 0}
    assert below == {"NDCG@5", "NDCG@6"}
    assert all((row.ci_low or 0) <= 0 for row in average_precision)
    (on_err,) = differences("tierank-learner", "ERR")
    assert (on_err.ours or 0) > 0
    assert p_of(on_err) > 0.05
    clipping = [row.ours for row in tables["tierank-learner"] if "by clipping" in row.figure]
    assert clipping == [0.0]
    for row in tables["slam-perceptron"] + tables["slam-regret"]:
        bound = re.search(r"< ([\d.]+)", str(row.paper_value))
        assert bound
        assert row.ours is not None
        assert row.ours < float(bound[1])


def test_a_number_of_a_paper_is_counted_once() -> None:
    """However many ways of training are compared with it."""
    rows = [row for rows in published().values() for row in rows if row.difference is not None]
    rows = [row for row in rows if "1/log2(1 + j)" not in row.figure]
    numbers = set()
    for row in rows:
        if row.is_within:
            measure, place = row.figure.split()[0].strip(","), row.figure.split("(")[-1]
            numbers.add((row.paper, measure, place, row.paper_value))
    assert f"of which {len(numbers)} are within our interval" in " ".join(PAGE.read_text().split())
