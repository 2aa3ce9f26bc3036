"""How measures, objectives and schedules are written as text and read back. No code is run.

A measure or an objective is a call ``name@k(option=value, ...):inner``, all but the name optional;
the rank k may follow the options. A ``[label]`` after it names its labels, ``+`` and ``*`` make
mixtures. A schedule is a value, as those of options are.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, NamedTuple, TypeAlias

from .checks import Function, check_known_name, check_unique, quoted

Functions: TypeAlias = Mapping[str, Function]

HEAD = re.compile(
    r"(?P<name>[^@()\[\]]+)(@(?P<k>\d+))?(\((?P<options>.*)\))?(@(?P<k_after>\d+))?", re.DOTALL
)


def changed_options(value: Any) -> dict[str, Any]:
    """Find the fields of a dataclass instance that differ from their defaults."""
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
    """Format options as ``(name=value,...)``, without spaces; nothing if there are none."""
    text = ",".join(f"{name}={value!r}" for name, value in options.items())
    return f"({text})".replace(", ", ",") if options else ""


def format_call(value: object, options: Mapping[str, Any], *arguments: object) -> str:
    """Format the call that makes a value, functions by their names."""
    written = [f"{name}={getattr(item, '__name__', repr(item))}" for name, item in options.items()]
    return f"{type(value).__name__}({', '.join([*map(repr, arguments), *written])})"


class Call(NamedTuple):
    """The parts of a text ``name@k(option=value, ...):inner``, of which all but the name may lack.

    `options` is the text of all options, the rank k among them.
    """

    name: str
    options: str = ""
    inner: str | None = None


def parse(text: str) -> Call:
    """Parse a text; one of another form is a name."""
    head, *inner = split_outside(text, ":")
    if (match := HEAD.fullmatch(head.strip())) is None:
        return Call(text)
    options = [match["options"], *(f"k={k}" for k in match.group("k", "k_after") if k)]
    return Call(match["name"], ",".join(filter(None, options)), ":".join(inner) if inner else None)


def parse_options(text: str, whole: str, functions: Functions | None = None) -> dict[str, Any]:
    """Read ``name=value, ...``, the options in a whole text."""
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError("there must be one pair of parentheses around all options")
        if call.args or any(item.arg is None for item in call.keywords):
            raise ValueError("options need names")
        check_unique("options", [item.arg for item in call.keywords])
        return {str(item.arg): _value(item.value, functions or {}) for item in call.keywords}
    except (SyntaxError, TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise ValueError(
            f"{quoted(whole)} must have options like (gain='linear', ties='order'): {reason}."
        ) from None


def evaluate(text: str, functions: Functions) -> Any:
    """Read a value: a literal, a bare word, or a call of a known function on values."""
    return _value(ast.parse(text.strip(), mode="eval").body, functions)


def _value(node: ast.expr, functions: Functions) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        check_known_name("function", node.func.id, functions)
        arguments = [_value(argument, functions) for argument in node.args]
        keywords = {str(item.arg): _value(item.value, functions) for item in node.keywords}
        return functions[node.func.id](*arguments, **keywords)
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item, functions) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError(f"{quoted(ast.unparse(node))} is no value") from None


def split_label(text: str) -> tuple[str, str | None]:
    """Split off the ``[name]`` of a label at the end of a text, or before its k and options."""
    match = re.fullmatch(r"(.*?)\s*\[([^\[\]]*)\]((@\d+|\(.*\))*)", text, re.DOTALL)
    return (text, None) if match is None else (match[1] + match[3], check_label_name(match[2]))


def check_label_name(name: object) -> str:
    """Check that a text can hold the name of a label."""
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
