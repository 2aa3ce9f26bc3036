"""The registries of measures and objectives: names, aliases, and what a text names."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeVar

from .checks import Function, check_known_name, nearest, unknown_name
from .grammar import Call, parse, parse_options


@dataclass(frozen=True)
class Registered:
    """A registered class, or an object made from a user's function, with its name."""

    name: str
    item: Any

    @property
    def cls(self) -> type[Any]:
        """The class of what is made from its text."""
        return self.item if isinstance(self.item, type) else type(self.item)

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names that the class itself declares: none is inherited."""
        return tuple(vars(self.cls).get("aliases", ()))

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return first_line(_origin(self.item))

    @property
    def usage(self) -> str:
        """How it is written."""
        return self.name


R = TypeVar("R", bound=Registered)
T = TypeVar("T")


@dataclass(eq=False, repr=False)
class Registry(dict[str, Any], Generic[R]):
    """Classes, and objects made from users' functions, by name.

    Parameters
    ----------
    kind : str
        What it holds, for errors.
    entry : type
        What `facts` lists: a `Registered`.
    functions : mapping of str to callable
        The functions that options may call.
    meant : callable
        Says of a text, and of it in small letters, what may be meant by it, or None.
    inner : Registry, optional
        What the names after a colon are of.
    """

    kind: str
    entry: type[R]
    functions: Mapping[str, Function]
    meant: Callable[[str], str | None]
    inner: "Registry[Any] | None" = None

    def register(self, item: T, name: str | None = None) -> T:
        """Make a measure or an objective known by its `name`; usable as a class decorator.

        Parameters
        ----------
        item : type or object
            A subclass of `Measure` or `Objective`, or one from a user's function, of
            `custom_measure` or `custom_objective`.
        name : str, optional
            The name, in place of its own.

        Returns
        -------
        type or object
            The item itself.

        Raises
        ------
        ValueError
            If another one has that name. (One made by running the same code again, as in a
            notebook, takes its place.)

        Examples
        --------
        >>> from gbrank import NDCG
        >>> from gbrank.extend import register_measure
        >>> register_measure(NDCG) is NDCG
        True
        """
        entry = Registered(name or str(getattr(item, "name", "")), item)
        known = self.known()
        for new in (entry.name, *entry.aliases):
            if re.search(r"[\[\]]", new):
                raise ValueError(f"name must have no brackets, which hold labels, got {new!r}.")
            if new in known and _code(known[new]) != _code(item):
                raise ValueError(f"name {new!r} is taken; choose another name.")
        self[entry.name] = item
        return item

    def facts(self) -> list[R]:
        """List the facts of what is registered, by name."""
        return [self.entry(name, item) for name, item in sorted(self.items())]

    def known(self) -> dict[str, Any]:
        """List what is registered by its names and aliases."""
        return self | {alias: entry.item for entry in self.facts() for alias in entry.aliases}

    def has(self, text: str) -> bool:
        """Whether a text names something registered, whatever its options."""
        return not {text, parse(text).name}.isdisjoint(self.known())

    def find(self, text: str) -> tuple[Any, Call, dict[str, Any]]:
        """Find the item that a text names, its parts, and its checked options."""
        known = self.known()
        call = Call(text) if text in known else parse(text)
        if call.name not in known:
            lower = text.lower()
            if self.has(with_k := re.sub(r"(?<=[a-z])(\d+)$", r"@\1", lower)):  # ndcg10
                lower = with_k
            meant = self.meant(text) or self.meant(lower)
            if meant is None and (near := nearest(parse(lower).name, known)) is not None:
                meant = repr(near)
                with suppress(ValueError):  # it may take other options
                    self.find(longer := self._corrected(lower))
                    meant = repr(longer)
            names = [name for entry in self.facts() for name in (entry.usage, *entry.aliases)]
            raise unknown_name(self.kind, call.name, names, meant)
        item = known[call.name]
        options = parse_options(call.options, text, self.functions)
        parameters = fields(item) if isinstance(item, type) else ()
        accepted = [parameter.name for parameter in parameters if parameter.compare]
        for option in options:
            check_known_name(f"option of {self.kind} {call.name}", option, accepted)
        return item, call, options

    def _corrected(self, text: str) -> str:
        """Replace the names in a text by the nearest ones that are registered."""
        name = parse(text).name
        near = nearest(name, self.known()) or name
        options, colon, inner = text[len(name) :].partition(":")
        if self.inner is not None:
            inner = self.inner._corrected(inner)
        return near + options + colon + inner


def first_line(documented: object) -> str:
    """Read the first line of the docstring of a class or a function."""
    return (documented.__doc__ or "").strip().split("\n")[0]


def notes(cls: type[Any]) -> dict[str, str]:
    """Read the lines ``- Formula: ...`` of a class's docstring, by word in small letters."""
    lines = re.findall(r"^ *- ([A-Z][a-z]+): (.*(?:\n {6}.*)*)", cls.__doc__ or "", re.MULTILINE)
    return {word.lower(): " ".join(text.split()) for word, text in lines}


def _origin(item: object) -> Any:
    """Find the code that a registered item comes from."""
    return item if isinstance(item, type) else getattr(item, "function", item)


def _code(item: object) -> tuple[Any, Any]:
    """Where the code of an item is: a notebook cell that runs again is the same."""
    origin = _origin(item)
    return getattr(origin, "__module__", None), getattr(origin, "__qualname__", origin)
