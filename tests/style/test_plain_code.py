"""One thought a line, names of the field, docstrings that say more than the name."""

import ast
import re
from collections.abc import Iterator

from sources import FILES, docstrings, nodes, place

MOST_TUPLE_ASSIGNMENTS, MOST_REPEATED_BY_CONDITION, MOST_RETURNS = 60, 0, 300
NO_NAMES = {"own", "found", "given"}
NO_VARIABLES = {"of", "one", "each", "told", "asked", "taken", "kept", "placed"}
MOST_SUCH_VARIABLES = 26
NO_BEGINNINGS = re.compile(r"(What|Says?|Do as)\b")
LITERAL = ast.List | ast.Tuple | ast.ListComp | ast.JoinedStr


def test_two_thoughts_are_two_statements() -> None:
    """Tuples are assigned to tuples only where values belong together: a swap, a pair."""
    places = [
        place(file, node)
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
    ]
    assert len(places) <= MOST_TUPLE_ASSIGNMENTS, places


def is_text_or_list(node: ast.expr) -> bool:
    """Return whether a literal is what multiplication repeats."""
    return isinstance(node, LITERAL) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def is_count(node: ast.expr) -> bool:
    """Return whether an expression says by itself that it is a count."""
    match node:
        case ast.Constant(value=int()):
            return True
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Name(id=name):
            return name.startswith("n_") or name == "length"
        case _:
            return False


def test_conditions_are_written_as_such() -> None:
    """Texts and lists are multiplied by counts, not by truth values."""
    products = [
        (place(file, node), side, other)
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        for side, other in ((node.left, node.right), (node.right, node.left))
    ]
    places = [
        where for where, side, other in products if is_text_or_list(side) and not is_count(other)
    ]
    assert len(places) <= MOST_REPEATED_BY_CONDITION, places


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the name that a node gives to a variable, a parameter or a function."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name):
            yield name


def test_names_are_nouns_of_the_field() -> None:
    """Of variables, parameters, functions and attributes."""
    attributes = [
        place(file, node)
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.Attribute) and node.attr.strip("_") in NO_NAMES
    ]
    names = [
        (place(file, node), name.strip("_"))
        for file in FILES
        for node in nodes(file)
        for name in bound_names(node)
    ]
    assert attributes + [where for where, name in names if name in NO_NAMES] == []
    variables = [where for where, name in names if name in NO_VARIABLES]
    assert len(variables) <= MOST_SUCH_VARIABLES, variables


def test_docstrings_begin_with_their_subject() -> None:
    """A noun of the field, or a verb that says what is done."""
    assert [where for where, text in docstrings() if NO_BEGINNINGS.match(text)] == []


def test_few_docstrings_repeat_a_signature() -> None:
    """Name and types of a private helper say what it returns."""
    returns = [where for where, text in docstrings() if text.startswith("Return ")]
    assert len(returns) <= MOST_RETURNS, len(returns)
