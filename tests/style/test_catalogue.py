"""The catalogue: every fact is declared, every parameter explained, and docs/ is up to date."""

import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import catalogue
from catalogue import measures_page, objectives_page
from gbrank import get_measure, list_measures, list_objectives
from tex import as_tex

DOCS = Path(__file__).parents[2] / "docs"
OBJECTIVES = {item.name: item for item in list_objectives()}
MEASURES = {item.name: item for item in list_measures()}


def entry(page: str, usage: str) -> str:
    """Return what a page says of one entry."""
    (found,) = [part for part in page.split("\n## ") if part.startswith(f"`{usage}`\n")]
    return found


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


@pytest.mark.parametrize("item", [*OBJECTIVES.values(), *MEASURES.values()], ids=lambda x: x.name)
def test_facts(item: Any) -> None:
    """No field is empty, and the entry of the page has what is declared."""
    objective = item.name in OBJECTIVES
    facts = item.facts if objective else item.cls
    text = entry(
        objectives_page() if objective else measures_page(), item.usage.replace(" or ", "` or `")
    )
    for shown in (item.summary, as_tex(facts.formula), facts.source, facts.labels):
        assert shown.strip()
        assert shown in text or shown == "floats ≥ 0"
    assert all(f"`{alias}`" in text for alias in item.aliases)
    if objective:
        assert all(getattr(facts, field.name) not in (None, "") for field in fields(facts))
        assert facts.sigma_unit in ("score", "squared score", "none")
    else:
        assert item.usage.endswith("[@K]") == item.truncated == hasattr(get_measure(item.name), "k")


def test_every_formula_is_tex() -> None:
    """Nothing is left that TeX does not know, and every brace has its partner."""
    formulas = [item.facts.formula for item in list_objectives()]
    formulas += [item.cls.formula for item in list_measures()]
    for tex in filter(None, map(as_tex, formulas)):
        assert tex.isascii(), tex
        assert tex.count("{") == tex.count("}"), tex
