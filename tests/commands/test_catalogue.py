"""The catalogue: every fact is declared, every parameter explained, and docs/ is up to date."""

import os
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import catalogue
from catalogue import measures_page, objectives_page
from gbrank import Queries, get_measure, get_objective, list_measures, list_objectives
from gbrank.commands.options import documented_parameters
from gbrank.objectives import approxrank
from gbrank.objectives.lambdarank import FEW_GRADES, FEW_LABELS, LONGEST_DIRECT, LONGEST_DIVIDED
from gbrank.objectives.smoothrank import MOST_NEIGHBOURS
from tex import as_tex

DOCS = Path(__file__).parents[2] / "docs"
OBJECTIVES = {item.name: item for item in list_objectives()}
MEASURES = {item.name: item for item in list_measures()}


def entry(page: str, usage: str) -> str:
    """Return what a page says of one entry."""
    (found,) = [part for part in page.split("\n## ") if part.startswith(f"`{usage}`\n")]
    return found


def trains(objective: str, measure: str) -> bool:
    """Return whether an objective yields gradients on a measure."""
    try:
        bound = get_objective(f"{objective}:{measure}").bind([1, 0, 2], Queries.from_sizes([3]))
    except ValueError:
        return False
    return bool(np.isfinite(bound.gradients([0.3, 0.2, 0.1])[0]).all())


@pytest.mark.skipif(not DOCS.exists(), reason="docs/ is not beside the tests: no source tree")
@pytest.mark.parametrize(
    "kind",
    [
        "objectives",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("measures", "howto/migration")),
    ],
)
def test_docs_are_up_to_date(kind: str, tmp_path: Path) -> None:
    """docs/ holds what is printed by a process of its own: nothing else is registered."""
    done = subprocess.run(
        [sys.executable, catalogue.__file__, kind],
        cwd=tmp_path,
        env=os.environ | {"PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert (DOCS / f"{kind}.md").read_text(encoding="utf-8") == done.stdout


@pytest.mark.parametrize("name", OBJECTIVES)
def test_facts_of_objectives(name: str) -> None:
    """No field is empty, and the page has them all."""
    item, facts = OBJECTIVES[name], OBJECTIVES[name].facts
    text = entry(objectives_page(), item.usage.replace(" or ", "` or `"))
    for field in fields(facts):
        value = getattr(facts, field.name)
        assert value is not None
        if isinstance(value, str):
            assert value.strip() == value != ""
    for shown in (as_tex(facts.formula), facts.source, facts.cost, facts.fast):
        assert shown == "none" or shown in text
    assert facts.sigma_unit in ("score", "squared score", "none")
    assert item.summary in text
    assert all(f"`{alias}`" in text for alias in item.aliases)
    assert ("- Labels: " in text) == (facts.labels != "floats ≥ 0")
    assert ("- Annealed" in text) == (facts.start == "ranknet")
    assert ("- σ plays no part." in text) == (facts.sigma_unit == "none")
    assert ("- Convex in the scores." in text) == facts.convex
    assert ("- Drawn at random." in text) == facts.stochastic
    assert ("- The gradient is not the exact derivative" in text) != facts.differentiable
    assert ("- A constant on all scores of a query matters." in text) != facts.shift_invariant
    assert ("- Needs initial scores" in text) == facts.needs_start


def test_lengths_in_docstrings() -> None:
    """Notes of docstrings name the lengths of lists at which kernels change."""
    longest = f"above {LONGEST_DIRECT:,} documents ({LONGEST_DIVIDED:,} if there are more than"
    for name in ("ranknet", "lambda"):
        assert f"{longest} {FEW_LABELS} distinct labels)" in OBJECTIVES[name].facts.fast
    assert f"up to {FEW_GRADES} labels" in OBJECTIVES["lambda"].facts.fast
    assert f"above {approxrank.LONGEST_DIRECT:,} documents" in OBJECTIVES["approx"].facts.fast
    assert f"n is above {2 * MOST_NEIGHBOURS}" in OBJECTIVES["smooth"].facts.fast


@pytest.mark.parametrize("name", MEASURES)
def test_facts_of_measures(name: str) -> None:
    """Likewise; a measure that takes a cut-off says so."""
    item = MEASURES[name]
    text = entry(measures_page(), item.usage)
    assert item.cls.formula.strip() == item.cls.formula != ""
    for value in (item.summary, as_tex(item.cls.formula), item.cls.source, item.cls.labels):
        assert value.strip() == value != ""
        assert value in text or value == "floats ≥ 0"
    assert all(f"`{alias}`" in text for alias in item.aliases)
    assert item.usage.endswith("[@K]") == item.truncated == hasattr(get_measure(name), "k")


@pytest.mark.parametrize("item", [*OBJECTIVES.values(), *MEASURES.values()], ids=lambda x: x.name)
def test_parameters(item: Any) -> None:
    """Each has a type, a description and a default, in its entry or among the common ones."""
    page = objectives_page() if item.name in OBJECTIVES else measures_page()
    text = entry(page, item.usage.replace(" or ", "` or `"))
    common, _, _ = page.partition("\n## ")
    documented = documented_parameters(item.cls)
    assert {field.name for field in fields(item.cls)} <= set(documented)
    for field in fields(item.cls):
        kind, description = documented[field.name]
        assert kind
        assert len(description) > 10
        if field.name == "measure":  # the entry lists those that there are
            continue
        row = f"| `{field.name}` | {kind} |"
        rows = [line for line in f"{text}\n{common}".split("\n") if line.startswith(row)]
        assert field.default is MISSING or f"| `{field.default!r}` |" in rows[0]


def test_who_trains_what() -> None:
    """The page of objectives agrees with what can be bound."""
    objectives = objectives_page()
    for objective in OBJECTIVES.values():
        if not objective.facts.takes_measure:
            continue
        text = entry(objectives, objective.usage.replace(" or ", "` or `"))
        (line,) = [line for line in text.split("\n") if line.startswith("- Measures: ")]
        taken = [name for name in MEASURES if trains(objective.name, name)]
        assert [name for name in MEASURES if f"`{name}`" in line or " all." in line] == taken
        assert (taken == [*MEASURES]) == (objective.name in ("lambda", "noisy"))


def test_pages_are_tables_that_render() -> None:
    """Every row has as many cells as its head; bars inside of cells are escaped."""
    for page in (objectives_page(), measures_page()):
        rows = [line for line in page.split("\n") if line.startswith("| ")]
        assert len(rows) > 10
        assert {line.replace("\\|", "").count("|") for line in rows} == {5}


@pytest.mark.parametrize(
    ("formula", "tex"),
    [
        ("−Σ_i t_i log p_i, t = softmax(y)",
         r"-\sum _{i} t_{i}\log p_{i},\quad t =\text{ softmax}(y)"),
        ("½ max(0, 1 − (s_i − s_j)/σ)²", r"\tfrac{1}{2}\max (0, 1 - (s_{i} - s_{j})/\sigma )^2"),
        ("Z the same, r̂_i ≤ 1", r"Z\text{ the same},\quad \hat{r}_{i} \leq  1"),
    ],
)  # fmt: skip
def test_formulas_as_tex(formula: str, tex: str) -> None:
    """Indices, functions, words and symbols."""
    assert as_tex(formula) == tex


def test_every_formula_is_tex() -> None:
    """Nothing is left that TeX does not know, and every brace has its partner."""
    formulas = [item.facts.formula for item in list_objectives()]
    formulas += [item.cls.formula for item in list_measures()]
    for tex in filter(None, map(as_tex, formulas)):
        assert tex.isascii(), tex
        assert tex.count("{") == tex.count("}"), tex
