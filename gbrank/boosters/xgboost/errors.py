"""XGBoost's exception as gbrank's."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from xgboost.core import XGBoostError

from gbrank.parallel.collective import WorkersLostError

# Source files of XGBoost that fail only if another worker ends while this one waits for it.
IN_COLLECTIVE = re.compile(r"[/\\]collective[/\\]")


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn an XGBoostError into a ValueError, whose text begins with `message`."""
    try:
        yield
    except XGBoostError as error:
        reason = str(error).partition("Check failed: ")[2] or str(error)
        if IN_COLLECTIVE.search(str(error)):
            kind = WorkersLostError
        raise kind(f"{message}: {reason.splitlines()[0]}") from None
