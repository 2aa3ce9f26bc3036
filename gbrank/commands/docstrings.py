"""The documentation of parameters in docstrings."""

import inspect
import re


def documented_parameters(item: object) -> dict[str, tuple[str, str]]:
    """Return type and text of each parameter of a function, or of a class and those it extends."""
    result: dict[str, tuple[str, str]] = {}
    for part in reversed(getattr(item, "__mro__", [item])):
        text = inspect.cleandoc(part.__doc__ or "")
        section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n---|\Z)", text, re.S | re.M)
        entry = re.compile(r"^(\S.*?) : (.*)\n((?: .*\n?)+)", re.M)
        for names, kind, description in entry.findall(section[1] if section else ""):
            result.update(dict.fromkeys(names.split(", "), (kind, " ".join(description.split()))))
    return result
