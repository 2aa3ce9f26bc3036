"""LightGBM's exception, as gbrank's."""

from collections.abc import Iterator
from contextlib import contextmanager

from lightgbm.basic import LightGBMError

__all__ = ["translated"]


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Raise what LightGBM says as a ValueError, after a message of ours."""
    try:
        yield
    except LightGBMError as error:
        raise kind(f"{message}: {error}") from None
