"""How messages show texts that may be long."""

from reprlib import Repr

_shortened = Repr()
_shortened.maxstring = 120


def quoted(text: str) -> str:
    """Return a text as Python writes it; of a long one its beginning and end."""
    return _shortened.repr(text)
