"""How measures, objectives and schedules are written as text and read back. No code is run."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

__all__ = ["changed_options", "evaluate", "format_options", "parse_options", "split_outside"]


def changed_options(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass instance that differ from their defaults."""
    changed = {}
    for item in fields(value):
        default = item.default
        if default is MISSING and item.default_factory is not MISSING:
            default = item.default_factory()
        own = getattr(value, item.name)
        if item.compare and (default is MISSING or own != default):
            changed[item.name] = own
    return changed


def format_options(options: Mapping[str, Any]) -> str:
    """Return options as ``(name=value,...)``, or nothing if there are none.

    There are no spaces, which logs of metrics by name could not hold.
    """
    if not options:
        return ""
    text = ",".join(f"{name}={value!r}" for name, value in options.items())
    return f"({text})".replace(", ", ",")


def parse_options(
    text: str, whole: str, functions: Mapping[str, Callable[..., Any]] | None = None
) -> dict[str, Any]:
    """Read ``name=value, ...``; bare words are strings."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("options need names")
        options = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise ValueError("options need names")
            options[keyword.arg] = _value(keyword.value, functions or {}, words=True)
        return options
    except KeyError as error:
        known = ", ".join(functions or {}) or "none"
        raise ValueError(f"{whole!r}: unknown function {error}. Known: {known}.") from None
    except (SyntaxError, TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(
            f"{whole!r} must have options like (gain='linear', ties='order'): {reason}."
        ) from None


def evaluate(text: str, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """Read a literal, or a call of one of the given functions on such values."""
    return _value(ast.parse(text.strip(), mode="eval").body, functions, words=False)


def _value(node: ast.expr, functions: Mapping[str, Callable[..., Any]], words: bool) -> Any:
    if words and isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = functions[node.func.id]
        arguments = [_value(argument, functions, words) for argument in node.args]
        keywords = {str(item.arg): _value(item.value, functions, words) for item in node.keywords}
        return function(*arguments, **keywords)
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item, functions, words) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"{ast.unparse(node)!r} is no value") from None


def split_outside(text: str, sign: str) -> list[str]:
    """Split a text at a character, but not inside parentheses."""
    parts = [""]
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == sign and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
