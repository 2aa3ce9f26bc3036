"""Labels from clicks: how good each document is, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gbrank.clicks.position_report import position_report
from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.checks import check_labels, check_number, quoted
from gbrank.data.columns import check_positions

if TYPE_CHECKING:
    import pandas as pd


def clicks_to_labels(
    log: pd.DataFrame, *, attention: Mapping[Any, float] | None = None
) -> pd.DataFrame:
    r"""Make a label, and its certainty, of the clicks on each document of each query.

    A document that was clicked C times, where an average one would have been E times (the sum of
    the attention that its positions get), is worth

    .. math:: w = \frac{C + a}{E + a}, \qquad y = \log_2(1 + w)

    and its label is :math:`y`, whose gain :math:`2^y - 1` is w: 1 is the average. a makes little
    of few clicks: it is what documents differ by (the gamma prior that fits the log, by moments).

    Parameters
    ----------
    log : pandas.DataFrame
        One row per impression, with columns ``query``, ``document``, ``click``, and ``position``
        (from 1).
    attention : mapping of int to float, optional
        What each position gets; by default what documents that were shown at several positions
        tell of it (`position_report`).

    Returns
    -------
    pandas.DataFrame
        A row for each document of each query, in the order in which they first appear:
        ``query``, ``document``, ``shown``, ``clicked``, ``label``, and ``weight``, from 0 to 1:
        E / (E + a), the share of w that is the document's own.

    Raises
    ------
    ValueError
        If a column is missing or not as described, or there is no click.

    References
    ----------
    N. Craswell, O. Zoeter, M. Taylor, B. Ramsey. An experimental comparison of click position-bias
    models. WSDM 2008 (the position-based model). W. DuMouchel. Bayesian data mining in large
    frequency tables. American Statistician 53, 1999.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank.clicks import clicks_to_labels
    >>> log = pd.DataFrame(
    ...     {
    ...         "query": ["shoes"] * 6,
    ...         "document": list("abbaab"),
    ...         "position": [1, 2] * 3,
    ...         "click": [1, 0, 1, 1, 1, 0],
    ...     }
    ... )
    >>> clicks_to_labels(log)[["document", "shown", "clicked"]].values.tolist()
    [['a', 3, 3.0], ['b', 3, 1.0]]
    """
    if not hasattr(log, "groupby"):
        raise ArgumentTypeError("log", "must be a pandas.DataFrame", quoted(log))
    if missing := {"query", "document", "position", "click"} - set(log.columns):
        raise ArgumentError("log", f"must have a column {min(missing)!r}", quoted([*log.columns]))
    position = check_positions(log["position"], "log['position']", len(log))
    clicks = check_labels(log["click"], "log['click']", len(log))
    if not clicks.any():
        raise ArgumentError("log['click']", "must have a click", "only zeros")
    grouped = log.groupby(["query", "document"], sort=False, dropna=False, observed=True)
    if attention is None:
        attention = position_report(grouped.ngroup(), position, clicks).attention
    elif not isinstance(attention, Mapping):
        demand = "must be a dict of position to number"
        raise ArgumentTypeError("attention", demand, quoted(attention))
    places, index = np.unique(position, return_inverse=True)
    looked = [
        check_number(attention.get(int(place)), f"attention[{int(place)}]", 0, open_low=True)
        for place in places
    ]
    expected = np.array(looked)[index]
    rows = log.assign(click=clicks, expected=expected * clicks.sum() / expected.sum())
    table = rows.groupby(["query", "document"], sort=False, dropna=False, observed=True).agg(
        shown=("click", "size"), clicked=("click", "sum"), expected=("expected", "sum")
    )
    own, total = np.array(table.pop("expected")), clicks.sum()
    # With worths of mean 1 and variance 1/a, clicks vary as they do.
    clicked = np.array(table["clicked"])
    spread = (own * (clicked / own - 1) ** 2).sum() - (len(own) - 1)
    prior = (total - (own**2).sum() / total) / max(spread, 1e-9 * total)
    worth = (clicked + prior) / (own + prior)
    return table.assign(label=np.log2(1 + worth), weight=own / (own + prior)).reset_index()
