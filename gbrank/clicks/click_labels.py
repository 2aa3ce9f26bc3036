"""Labels from clicks: how good each document is, and how certain that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gbrank.clicks.position_report import PlacesShown, places_of, position_report
from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_labels, check_number, quoted
from gbrank.data.columns import check_positions

if TYPE_CHECKING:
    import pandas as pd


def clicks_to_labels(
    log: pd.DataFrame, *, model: str = "pbm", attention: Mapping[int, float] | None = None
) -> pd.DataFrame:
    r"""Make a label, and its certainty, of the clicks on each document of each query.

    A document that was clicked C times, where an average one would have been E times, is worth

    .. math:: w = \frac{C + a}{E + a}, \qquad y = \log_2(1 + w)

    and its label is :math:`y`, whose gain :math:`2^y - 1` is w: 1 is the average. a makes little
    of few clicks: it is what documents differ by (the gamma prior that fits the log, by moments).

    Parameters
    ----------
    log : pandas.DataFrame
        One row per impression, with columns ``query``, ``document``, ``click``, and ``position``
        (from 1): what `read_ubi` and `read_impressions` make.
    model : {"pbm", "coec", "dctr"}
        What E grows with. ``"pbm"``: the attention that a position gets, by documents that were
        shown at several (`position_report`); ``"coec"``, clicks over expected clicks: the share of
        documents that are clicked at this position, which takes a good ranking for attention;
        ``"dctr"``: impressions alone.
    attention : mapping of int to float, optional
        With ``"pbm"``: what each position gets, if you know it.

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
    H. Zhang, R. Jones. Comparing click logs and editorial labels for training query rewriting. WWW
    2007 (clicks over expected clicks). N. Craswell, O. Zoeter, M. Taylor, B. Ramsey. An
    experimental comparison of click position-bias models. WSDM 2008 (the position-based model).
    W. DuMouchel. Bayesian data mining in large frequency tables. American Statistician 53, 1999.

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
    >>> clicks_to_labels(log, model="dctr")[["document", "shown", "clicked"]].values.tolist()
    [['a', 3, 3.0], ['b', 3, 1.0]]
    """
    check_choice(model, "model", ["pbm", "coec", "dctr"])
    if not hasattr(log, "groupby"):
        raise ArgumentTypeError(
            "log", "must be a pandas.DataFrame, such as a log's frame", quoted(log)
        )
    if missing := {"query", "document", "position", "click"} - set(log.columns):
        raise ArgumentError("log", f"must have a column {min(missing)!r}", quoted([*log.columns]))
    if attention is not None and model != "pbm":
        raise ArgumentError("attention", f"must be None with model={model!r}")
    position = check_positions(log["position"], "log['position']", len(log))
    clicks = check_labels(log["click"], "log['click']", len(log))
    if not clicks.any():
        raise ArgumentError("log['click']", "must have a click", "only zeros")
    grouped = log.groupby(["query", "document"], sort=False, dropna=False)
    expected = np.ones(len(log))
    if model == "pbm":
        if attention is None:
            attention = position_report(grouped.ngroup(), position, clicks).attention
        expected = attention_at(places_of(position), attention)
    elif model == "coec":
        _, place = np.unique(position, return_inverse=True)
        expected = (np.bincount(place, clicks) / np.bincount(place))[place]
    rows = log.assign(click=clicks, expected=expected * clicks.sum() / expected.sum())
    table = rows.groupby(["query", "document"], sort=False, dropna=False).agg(
        shown=("click", "size"), clicked=("click", "sum"), expected=("expected", "sum")
    )
    own = np.array(table.pop("expected"), dtype=np.float64)
    worth, weight = worths(np.array(table["clicked"], dtype=np.float64), own)
    return table.assign(label=np.log2(1 + worth), weight=weight).reset_index()


def attention_at(places: PlacesShown, attention: Mapping[Any, float]) -> Vector:
    """Return the attention that each row gets."""
    if not isinstance(attention, Mapping):
        demand = "must be a dict of position to number"
        raise ArgumentTypeError("attention", demand, quoted(attention))
    own = [
        check_number(attention.get(name), f"attention[{name!r}]", 0, open_low=True)
        for name in places.names
    ]
    return np.array(own, dtype=np.float64)[places.index]


def worths(clicked: Vector, expected: Vector) -> tuple[Vector, Vector]:
    """Return w = (C + a) / (E + a), and the share E / (E + a) of it that is a document's own.

    With worths of mean 1 and variance 1/a, clicks vary as they do.
    """
    seen = expected > 0  # at a position without a click, coec expects none
    clicks, own, total = clicked[seen], expected[seen], expected.sum()
    spread = (own * (clicks / own - 1) ** 2).sum() - (len(own) - 1)
    prior = (total - (own**2).sum() / total) / max(spread, 1e-9 * total)
    return (clicked + prior) / (expected + prior), expected / (expected + prior)
