"""How large the rooms are, how long and branched their functions.

The table of docs/architecture.md has the budgets: a room that outgrows its own is a decision.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

from sources import FILES, ROOT, Documented, nodes, place

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
LONGEST_BODY, LONGER_BODIES = 40, 5
MOST_BRANCHES, MORE_BRANCHED = 15, 4
SHORT_FILE, MOST_SHORT_FILES = 30, 10
BRANCHES = (
    ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.Assert
)  # fmt: skip


def room(file: Path) -> str:
    """Return the folder at the package's top that a file is in."""
    parts = file.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else "files at the top"


def n_tokens(file: Path) -> int:
    """Return how many tokens of code a file has: comments and docstrings are none."""
    docstrings: set[int] = set()
    for node in nodes(file):
        if isinstance(node, Documented) and ast.get_docstring(node):
            first = node.body[0]
            docstrings |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    text = file.read_text(encoding="utf-8")
    return sum(
        token.type not in LAYOUT and token.start[0] not in docstrings
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )


def budgets() -> dict[str, int]:
    """Return the table of the page."""
    table = PAGE.read_text(encoding="utf-8").split("## Budgets")[1].split("\n## ")[0]
    rows = re.findall(r"\| `?([\w ]+)`? \| ([\d,]+) \|", table)
    return {name: int(number.replace(",", "")) for name, number in rows}


def test_no_room_outgrows_its_budget() -> None:
    """Every room has one, and all together, too."""
    tokens = Counter[str]()
    for file in FILES:
        tokens[room(file)] += n_tokens(file)
    allowed = budgets()
    everything = allowed.pop("all")
    assert allowed.keys() == tokens.keys()
    assert {name: n for name, n in tokens.items() if n > allowed[name]} == {}
    assert tokens.total() <= everything


def branches(function: ast.FunctionDef) -> int:
    """Return the cyclomatic complexity of a function."""
    parts = list(ast.walk(function))
    choices = sum(len(node.values) - 1 for node in parts if isinstance(node, ast.BoolOp))
    return 1 + choices + sum(isinstance(node, BRANCHES) for node in parts)


def test_functions_are_short() -> None:
    """Few have more than 40 lines, docstrings apart, and few more branches than 15."""
    long, branched = [], []
    for file in FILES:
        for node in nodes(file):
            if not isinstance(node, ast.FunctionDef):
                continue
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body and (body[-1].end_lineno or 0) - body[0].lineno >= LONGEST_BODY:
                long.append(place(file, node))
            if branches(node) > MOST_BRANCHES:
                branched.append(place(file, node))
    assert len(long) <= LONGER_BODIES, long
    assert len(branched) <= MORE_BRANCHED, branched


def test_few_files_are_short() -> None:
    """A file has a subject, not a function."""
    short = [
        file.relative_to(ROOT).as_posix()
        for file in FILES
        if file.name != "__init__.py"
        and len(file.read_text(encoding="utf-8").splitlines()) < SHORT_FILE
    ]
    assert len(short) <= MOST_SHORT_FILES, short
