"""What gbrank exports, as names for `eval`."""

from typing import Any

import gbrank
from gbrank import clicks
from gbrank.fit.constraints import get_constraint


def exported() -> dict[str, Any]:
    """Return what gbrank exports, by name."""
    rooms = gbrank, clicks, gbrank.datasets, gbrank.evaluation, gbrank.schedules
    names = {name: getattr(room, name) for room in rooms for name in room.__all__}
    return names | {"get_constraint": get_constraint}
