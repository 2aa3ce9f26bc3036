"""The package's source files, their syntax trees and their docstrings."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gbrank

ROOT = Path(gbrank.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
Documented = ast.Module | ast.ClassDef | ast.FunctionDef


@cache
def nodes(file: Path) -> list[ast.AST]:
    """Return the nodes of a file's syntax tree."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))


def place(file: Path, node: ast.AST) -> str:
    """Return where a node is, as editors and compilers write it."""
    return f"{file.relative_to(ROOT).as_posix()}:{getattr(node, 'lineno', 1)}"


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield where each docstring's subject is defined, and the docstring."""
    for file in FILES:
        for node in nodes(file):
            if isinstance(node, Documented) and (text := ast.get_docstring(node)):
                yield place(file, node), text
