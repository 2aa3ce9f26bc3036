"""How large the rooms are, how long and branched functions are, and what names and docstrings say.

The table of docs/architecture.md has the budgets: a room that outgrows its own is a decision.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import gbrank

ROOT = Path(gbrank.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
FILES = sorted(ROOT.rglob("*.py"))
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
LONGEST_BODY, LONGER_BODIES, MOST_BRANCHES = 40, 5, 15
NO_NAMES = {"own", "found", "given"}
NO_BEGINNINGS = re.compile(r"(What|Says?|Do as)\b")
Documented = ast.Module | ast.ClassDef | ast.FunctionDef
BRANCHES = (
    ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.Assert
)  # fmt: skip


@cache
def nodes() -> list[tuple[Path, ast.AST]]:
    """Return all nodes of the package's syntax trees, with their files."""
    trees = [(file, ast.parse(file.read_text(encoding="utf-8"))) for file in FILES]
    return [(file, node) for file, tree in trees for node in ast.walk(tree)]


def room(file: Path) -> str:
    """Return the folder at the package's top that a file is in."""
    parts = file.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else "files at the top"


def code_lines(text: str) -> int:
    """Return how many lines have code: no blank ones, comments or docstrings."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Documented) and ast.get_docstring(node):
            first = node.body[0]
            docstrings |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in LAYOUT
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - docstrings)


def budgets() -> dict[str, int]:
    """Return the table of the page."""
    table = PAGE.read_text(encoding="utf-8").split("## Budgets")[1].split("\n## ")[0]
    return {name: int(number) for name, number in re.findall(r"\| `?([\w ]+)`? \| (\d+) \|", table)}


def test_no_room_outgrows_its_budget() -> None:
    """Every room has one, and all together, too."""
    lines = Counter[str]()
    for file in FILES:
        lines[room(file)] += code_lines(file.read_text(encoding="utf-8"))
    allowed = budgets()
    everything = allowed.pop("all")
    assert allowed.keys() == lines.keys()
    assert {name: n for name, n in lines.items() if n > allowed[name]} == {}
    assert lines.total() <= everything


def branches(function: ast.FunctionDef) -> int:
    """Return the cyclomatic complexity of a function."""
    parts = list(ast.walk(function))
    choices = sum(len(node.values) - 1 for node in parts if isinstance(node, ast.BoolOp))
    return 1 + choices + sum(isinstance(node, BRANCHES) for node in parts)


def test_functions_are_short() -> None:
    """Few have more than 40 lines, docstrings apart, and none more branches than 15."""
    long, branched = [], []
    for file, node in nodes():
        if not isinstance(node, ast.FunctionDef):
            continue
        body = node.body[1:] if ast.get_docstring(node) else node.body
        if body and (body[-1].end_lineno or 0) - body[0].lineno >= LONGEST_BODY:
            long.append(f"{file.name}: {node.name}")
        if branches(node) > MOST_BRANCHES:
            branched.append(f"{file.name}: {node.name}")
    assert len(long) <= LONGER_BODIES, long
    assert branched == []


def test_names_are_nouns_of_the_field() -> None:
    """Of variables, parameters, functions and attributes."""
    assert [
        f"{file.name}:{node.lineno}"
        for file, node in nodes()
        if (isinstance(node, ast.Name) and node.id.strip("_") in NO_NAMES)
        or (isinstance(node, ast.arg) and node.arg.strip("_") in NO_NAMES)
        or (isinstance(node, ast.FunctionDef) and node.name.strip("_") in NO_NAMES)
        or (isinstance(node, ast.Attribute) and node.attr.strip("_") in NO_NAMES)
    ] == []


def test_docstrings_begin_with_their_subject() -> None:
    """A noun of the field, or a verb that says what is done."""
    assert [
        f"{file.name}: {text.splitlines()[0]}"
        for file, node in nodes()
        if isinstance(node, Documented)
        if (text := ast.get_docstring(node) or "") and NO_BEGINNINGS.match(text)
    ] == []
