"""Standard terms in public names, docstrings, messages, pages and notebooks."""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sources import FILES, ROOT, nodes

TREE = Path(__file__).parents[2]
# What is written in place of each, and the words that it replaces.
REPLACED = {
    "with default parameters": r"\bas (it|they) comes?\b",
    "no significant difference": r"\b(is|are|was|were|be|find|finds) level\b|\blevel with\b",
    "significantly better, worse": r"\bbeyond chance\b|\b(is|are) (ahead|behind)\b",
    "detect, minimum detectable difference": r"\bquer(y|ies) (can |do not |cannot )?tell\b"
    r"|\btells? (a|the|what) difference",
    "resumes, continues training": r"\b(go|goes|going|gone|went) on (from|with|where|after)\b",
    "duplicate": r"\bthere twice\b|\bequals? another row\b",
    "a parameter name": r"\bwords? of (LightGBM|XGBoost|CatBoost|another librar|other librar)",
    "see the snippet": r"\b(is|are) (one|a) line of\b",
    "holds out": r"\b(set|sets|setting|put|puts) aside\b",
    "distinguished, detected, requested": r"\b(told|asked)\b",
    "a noun of the field": r"\bfound( = |\.\w)",
}
MOST = 0


def texts() -> Iterator[tuple[str, str]]:
    """Yield what users read, and the file that it is in."""
    for page in [*TREE.glob("*.md"), *(TREE / "docs").rglob("*.md")]:
        if "_build" not in page.parts:
            yield page.relative_to(TREE).as_posix(), page.read_text(encoding="utf-8")
    for notebook in (TREE / "notebooks").glob("*.ipynb"):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            yield f"notebooks/{notebook.name}", "".join(cell["source"])
    for table in ROOT.rglob("*.json"):
        yield f"gbrank/{table.relative_to(ROOT).as_posix()}", table.read_text(encoding="utf-8")
    for file in FILES:
        for node in nodes(file):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"gbrank/{file.relative_to(ROOT).as_posix()}", node.value


@pytest.mark.skipif(not (TREE / "docs").exists(), reason="docs/ is not beside the tests")
def test_standard_terms() -> None:
    """The error has the files, the words and what to write instead."""
    patterns = {term: re.compile(words, re.IGNORECASE) for term, words in REPLACED.items()}
    offenders = Counter(
        f"{file}: {match[0]!r} → {term}"
        for file, text in texts()
        for term, pattern in patterns.items()
        for match in pattern.finditer(re.sub(r"\s+", " ", text))
    )
    assert offenders.total() <= MOST, "\n".join(f"{n} × {line}" for line, n in offenders.items())
