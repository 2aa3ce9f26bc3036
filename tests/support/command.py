"""What the tests of the `gbrank` command call it with."""

from collections.abc import Callable
from typing import Any, TypeAlias

Output: TypeAlias = Callable[..., str]
SMALL_PARAMS: dict[str, Any] = {
    "n_estimators": 5, "min_child_samples": 5, "n_jobs": 1,
}  # fmt: skip
SMALL = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL_PARAMS.items()] + [
    "--quiet"
]
