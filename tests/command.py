"""What the tests of the `gbrank` command call it with."""

from collections.abc import Callable
from typing import TypeAlias

Output: TypeAlias = Callable[..., str]
SMALL = [
    "--n-estimators",
    "5",
    "--min-child-samples",
    "5",
    "--monotone",
    "free",
    "--n-jobs",
    "1",
    "--quiet",
]
