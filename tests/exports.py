"""What gbrank exports, as names for `eval`."""

from typing import Any

import gbrank


def exported() -> dict[str, Any]:
    """Return what gbrank exports, by name."""
    return {name: getattr(gbrank, name) for name in gbrank.__all__}
