"""The registries of measures and objectives: names, aliases, and things from their text.

A text is ``name@k(option=value, ...):inner``, all but the name optional; the rank k may follow the
options.
"""

import re
from dataclasses import fields
from typing import Any, NamedTuple

from gbrank.common.checks import nearest, quoted, refuse_taken, unknown_name
from gbrank.common.grammar import Functions, parse_options, split_outside

HEAD = re.compile(
    r"(?P<name>[a-z][a-z0-9_]*)(@(?P<k>\d{1,18}))?(\((?P<options>.*)\))?(@(?P<k_after>\d{1,18}))?",
    re.DOTALL,
)


class ParsedText(NamedTuple):
    """The parts of a text; None where one is missing."""

    name: str
    k: str | None
    options: str | None
    inner: str | None


def parse_text(text: str) -> ParsedText | None:
    """Return the parts of a text, or None if it is not written so."""
    head, *inner = split_outside(text, ":")
    match = HEAD.fullmatch(head.strip())
    if match is None or (match["k"] and match["k_after"]):
        return None
    k = match["k"] or match["k_after"]
    return ParsedText(match["name"], k, match["options"], ":".join(inner) if inner else None)


class Registry(dict[str, Any]):
    """What is registered by its name: classes, and objects made from users' functions.

    Parameters
    ----------
    kind : str
        What it holds, for errors.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def add(self, item: object, name: str) -> None:
        """Register an item; refuse names that are taken."""
        known = {taken: _origin(by) for taken, by in self.known().items()}
        for new in (name, *own_aliases(item)):
            if re.search(r"[\[\]]", new):
                raise ValueError(f"name must have no brackets, which hold labels, got {new!r}.")
            refuse_taken(new, _origin(item), known)
        self[name] = item

    def aliases(self) -> dict[str, Any]:
        """Return what is registered, by its aliases."""
        return {alias: item for item in self.values() for alias in own_aliases(item)}

    def known(self) -> dict[str, Any]:
        """Return what is registered, by its names and aliases."""
        return self | self.aliases()

    def has(self, text: str) -> bool:
        """Say whether a text names something that is registered, whatever its options."""
        found = parse_text(text)
        return text in self.known() or (found is not None and found.name in self.known())

    def find(self, text: str, meant: str | None = None) -> tuple[Any, ParsedText]:
        """Return the item that a text names, and its parts; `meant` is for the error."""
        known = self.known()
        if text in known:
            return known[text], ParsedText(text, None, None, None)
        found = parse_text(text)
        if found is None or found.name not in known:
            raise unknown_name(self.kind, text if found is None else found.name, known, meant)
        return known[found.name], found

    def options(
        self, cls: Any, text: str, parts: ParsedText, functions: Functions
    ) -> dict[str, Any]:
        """Return the options in a text, which must be fields of a class."""
        options = parse_options(parts.options or "", text, functions)
        if parts.k is not None:
            if "k" in options:
                raise ValueError(f"{self.kind} {quoted(text)} must have one k, got two.")
            options["k"] = int(parts.k)
        accepted = [item.name for item in fields(cls)]
        for option in options:
            if option not in accepted:
                near = nearest(option, accepted)
                hint = f" Did you mean {near!r}?" if near else ""
                raise ValueError(
                    f"{self.kind} {quoted(text)}: {parts.name} takes {accepted}, got {option!r}."
                    + hint
                )
        return options


def own_aliases(item: object) -> tuple[str, ...]:
    """Return the aliases that a class, or an object's class, declares itself: none is inherited."""
    own: tuple[str, ...] = vars(item if isinstance(item, type) else type(item)).get("aliases", ())
    return own


def first_line(documented: object) -> str:
    """Return the first line of the docstring of a class or a function."""
    return (documented.__doc__ or "").strip().split("\n")[0]


def _origin(known: object) -> Any:
    """Return the code that a registered item comes from."""
    return known if isinstance(known, type) else getattr(known, "function", known)
