"""Types: slips in a user's script fail `mypy --strict`, and what the pages say passes it."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gbrank
from pages import blocks

ROOT = Path(__file__).parents[2]
SCRIPT = """\
# mypy: enable-error-code="union-attr"
from gbrank import GBRanker, LinearRanker, load_ranker, make_cubic

X, y, qid = make_cubic(20)
ranker = GBRanker(n_estimators=3).fit(X, y, qid=qid, query_weight={0: 2.0})
scores = ranker.predict(X) * ranker.best_score_
GBRanker().set_params(n_estimators=3).fit(X, y, qid=qid).booster_
load_ranker("folder").predict(X).mean()
GBRanker.load("folder").predict(X, num_iteration=1)
GBRanker(n_estimatorz=3)  # Unexpected keyword argument "n_estimatorz" for "GBRanker"
GBRanker().fitt  # "GBRanker" has no attribute "fitt"
GBRanker(n_estimators="many")  # incompatible type "str"; expected "int"
GBRanker().fit(X, y, qids=qid)  # Unexpected keyword argument "qids" for "fit"
load_ranker("folder").predikt(X)  # has no attribute "predikt"
LinearRanker(num_leaves=3)  # Unexpected keyword argument "num_leaves" for "LinearRanker"
"""
# Functions that readers write need no types, and a name may stand for one thing after the other.
LOOSER = ("no-untyped-def", "no-untyped-call", "union-attr")
MEANT, WORDS = "docs_howto_migration.py", ["eval_at", "max_bin"]  # the page is about such errors

pytestmark = pytest.mark.slow


def checked(folder: Path) -> list[tuple[str, int, str]]:
    """Return the errors that mypy finds in the files of a folder: file, line and text."""
    pytest.importorskip("mypy")
    package = Path(gbrank.__file__).parents[1]
    sources = {} if "site-packages" in package.parts else {"MYPYPATH": str(package)}
    strictly = [
        "--strict",
        "--allow-subclassing-any",
        "--ignore-missing-imports",
        "--follow-imports=silent",
    ]
    looser = ["--allow-redefinition", *(f"--disable-error-code={code}" for code in LOOSER)]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *strictly, *looser, "."],
        cwd=folder,
        env=os.environ | sources,
        capture_output=True,
        text=True,
    )
    lines = re.findall(r"^(\S+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    assert lines or done.returncode == 0, done.stdout + done.stderr
    return [(file, int(line), text) for file, line, text in lines]


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="docs/ is not beside the tests")
def test_slips_and_pages(tmp_path: Path) -> None:
    """Each slip is an error in its line; the Python of pages passes, but for errors they show."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        parts = [
            doctest.script_from_examples(code) if ">>> " in code else code
            for kind, code in blocks(page)
            if kind == "python"
        ]
        name = page.relative_to(ROOT).with_suffix("").as_posix()
        if parts and "_build" not in page.parts:
            file = tmp_path / f"{re.sub(r'[^a-z]', '_', name)}.py"
            file.write_text("\n".join(parts), encoding="utf-8")
    found = checked(tmp_path)
    slips = {line: text for file, line, text in found if file == "script.py"}
    lines = enumerate(SCRIPT.splitlines(), 1)
    wanted = {n: line.partition("  # ")[2] for n, line in lines if "  # " in line}
    assert slips.keys() == wanted.keys(), slips
    for line, text in wanted.items():
        assert text in slips[line]
    others = [error for error in found if error[0] not in (MEANT, "script.py")]
    assert not others
    assert [text.split('"')[1] for file, _, text in found if file == MEANT] == WORDS
