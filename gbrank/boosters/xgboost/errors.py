"""XGBoost's exception, as gbrank's."""

from collections.abc import Iterator
from contextlib import contextmanager

from xgboost.core import XGBoostError

__all__ = ["translated"]


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Raise what XGBoost says as a ValueError, after a message of ours."""
    try:
        yield
    except XGBoostError as error:
        reason = str(error).partition("Check failed: ")[2] or str(error)
        raise kind(f"{message}: {reason.splitlines()[0]}") from None
