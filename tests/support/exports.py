"""What gbrank exports, as names for `eval`."""

from typing import Any

import gbrank
from gbrank import clicks
from gbrank.data import trec
from gbrank.measures.gains import geometric_discount
from gbrank.measures.measure_registry import register_measure
from gbrank.objectives.check_gradient import check_gradient


def exported() -> dict[str, Any]:
    """Return what gbrank exports, by name."""
    rooms = gbrank, clicks, trec, gbrank.evaluation, gbrank.schedules
    named = {name: getattr(room, name) for room in rooms for name in room.__all__}
    extending = {"geometric_discount": geometric_discount, "register_measure": register_measure}
    extending["check_gradient"] = check_gradient
    return named | extending
