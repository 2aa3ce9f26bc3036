"""The learning rate of a ranker, which depends on the data where none is given."""

import math
from typing import Any

from gbrank.common.checks import check_number

# Chosen on validation queries: docs/defaults.md.
ALL_STEPS, DOCUMENTS = 15.0, 70_000
LOWEST, HIGHEST = 0.01, 0.1


def learning_rate_of(ranker: Any, n_documents: float) -> float:
    """Return what is given, else 15 √(N / 70,000) / n_estimators within 0.01 and 0.1."""
    given = check_number(ranker.learning_rate, "learning_rate", 0, open_low=True, optional=True)
    if given is not None:
        return given
    rate = ALL_STEPS * math.sqrt(n_documents / DOCUMENTS) / ranker.n_estimators
    return min(max(rate, LOWEST), HIGHEST)
