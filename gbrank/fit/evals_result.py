"""What a fit measured after each round, as a dict and as tables."""

from typing import TYPE_CHECKING

import numpy as np

from gbrank.common.extras import needed
from gbrank.common.table import Table, Tabular

if TYPE_CHECKING:
    import pandas as pd

MULTIPLIERS, VIOLATIONS = "multipliers", "violations"  # of constraints: neither is a set
HEAD = ("set", "measure", "first", "best", "in round", "last", "rounds")


class EvalsResult(dict[str, dict[str, list[float]]], Tabular):
    """Values by set and measure, one a round: ``evals_result_["valid_0"]["ndcg@10"]``.

    Of a fit with constraints, "multipliers" and "violations" hold a list for each constraint. It
    prints as the dict that it is; notebooks and `to_markdown` show the first, best and last value
    of each set and measure.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
    >>> ranker = GBRanker(n_estimators=3, validation_fraction=0.3, random_state=0)
    >>> result = ranker.fit(X, y, qid=qid).evals_result_
    >>> len(result["valid_0"]["ndcg@10"])
    3
    >>> result.to_pandas().shape
    (3, 1)
    """

    def to_pandas(self) -> "pd.DataFrame":
        """Return one row a round, from 1, and one column for each set and measure.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = needed("pandas")
        columns = {
            (name, measure): pandas.Series(curve, index=range(1, len(curve) + 1))
            for name, curves in self.items()
            for measure, curve in curves.items()
        }
        frame: pd.DataFrame = pandas.DataFrame(columns)
        return frame.rename_axis(index="round")

    def _table(self) -> Table:
        rows: list[tuple[str, ...]] = []
        for name, curves in self.items():
            for measure, curve in curves.items():
                measured = name not in (MULTIPLIERS, VIOLATIONS)
                best = (
                    (f"{max(curve):.4f}", str(1 + int(np.argmax(curve)))) if measured else ("", "")
                )
                ends = f"{curve[0]:.4f}", *best, f"{curve[-1]:.4f}", str(len(curve))
                rows.append((name, measure, *ends))
        return Table(HEAD, rows, words=(0, 1))
