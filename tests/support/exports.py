"""What gbrank exports, as names for `eval`."""

from typing import Any

import gbrank
from gbrank import clicks, extend
from gbrank.data import trec


def exported() -> dict[str, Any]:
    """Return what gbrank exports, by name."""
    rooms = gbrank, clicks, trec, gbrank.evaluation, gbrank.schedules, extend
    return {name: getattr(room, name) for room in rooms for name in room.__all__}
