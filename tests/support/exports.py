"""What gbrank exports, as names for `eval`."""

from typing import Any

import gbrank
from gbrank import clicks, extend
from gbrank.data import trec
from gbrank.measures.gains import geometric_discount


def exported() -> dict[str, Any]:
    """Return what gbrank exports, by name."""
    rooms = gbrank, clicks, trec, gbrank.evaluation, gbrank.schedules
    named = {name: getattr(room, name) for room in rooms for name in room.__all__}
    extending = {name: value for name, value in vars(extend).items() if name.islower()}
    return named | extending | {"geometric_discount": geometric_discount}
