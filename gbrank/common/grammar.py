"""How measures, objectives and schedules are written as text and read back. No code is run."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias

from gbrank.common.checks import quoted

Functions: TypeAlias = Mapping[str, Callable[..., Any]]


def changed_options(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass instance that differ from their defaults."""
    changed = {}
    for item in fields(value):
        default = item.default
        if default is MISSING and item.default_factory is not MISSING:
            default = item.default_factory()
        current = getattr(value, item.name)
        if item.compare and (default is MISSING or current != default):
            changed[item.name] = current
    return changed


def format_options(options: Mapping[str, Any]) -> str:
    """Return options as ``(name=value,...)``, without spaces, or nothing if there are none."""
    if not options:
        return ""
    text = ",".join(f"{name}={value!r}" for name, value in options.items())
    return f"({text})".replace(", ", ",")


def parse_options(text: str, whole: str, functions: Functions | None = None) -> dict[str, Any]:
    """Read ``name=value, ...``; bare words are strings."""
    try:
        return _options(text, functions or {})
    except KeyError as error:
        known = ", ".join(functions or {}) or "none"
        raise ValueError(f"{quoted(whole)}: unknown function {error}. Known: {known}.") from None
    except (SyntaxError, TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(
            f"{quoted(whole)} must have options like (gain='linear', ties='order'): {reason}."
        ) from None


def _options(text: str, functions: Functions) -> dict[str, Any]:
    call = ast.parse(f"f({text})", mode="eval").body
    whole = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    if not isinstance(call, ast.Call) or not whole:
        raise ValueError("there must be one pair of parentheses around all options")
    if call.args or any(k.arg is None for k in call.keywords):
        raise ValueError("options need names")
    names = [str(keyword.arg) for keyword in call.keywords]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(f"{twice[0]} must be given once, got {names.count(twice[0])} times")
    values = (_value(keyword.value, functions, words=True) for keyword in call.keywords)
    return dict(zip(names, values, strict=True))


def evaluate(text: str, functions: Functions) -> Any:
    """Read a literal, or a call of one of the given functions on such values."""
    return _value(ast.parse(text.strip(), mode="eval").body, functions, words=False)


def _value(node: ast.expr, functions: Functions, words: bool) -> Any:
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
        raise ValueError(f"{quoted(ast.unparse(node))} is no value") from None


def split_label(text: str) -> tuple[str, str | None]:
    """Return a text without the ``[name]`` at its end, and this name of a label."""
    match = re.fullmatch(r"(.*?)\s*\[([^\[\]]*)\]", text, re.DOTALL)
    return (text, None) if match is None else (match[1], check_label_name(match[2]))


def check_label_name(name: object) -> str:
    """Refuse a name of a label that a text could not hold."""
    if not isinstance(name, str) or not name.strip() or re.search(r"[\[\]]", name):
        raise ValueError(f"a label must have a name without brackets, got {quoted(name)}.")
    return name


def split_outside(text: str, sign: str) -> list[str]:
    """Split a text at a character, but not inside parentheses and brackets."""
    parts: list[str] = []
    begin = depth = 0
    for match in re.finditer(rf"[()\[\]{re.escape(sign)}]", text):
        depth += (match[0] in "([") - (match[0] in ")]")
        if match[0] == sign and depth == 0:
            parts.append(text[begin : match.start()])
            begin = match.end()
    return [*parts, text[begin:]]
