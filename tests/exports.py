"""What gbrank exports, as names for `eval`."""

from typing import Any

import gbrank
from gbrank import clicks


def exported() -> dict[str, Any]:
    """Return what gbrank exports, by name."""
    rooms = gbrank, clicks, gbrank.datasets, gbrank.evaluation, gbrank.schedules
    return {name: getattr(room, name) for room in rooms for name in room.__all__}
