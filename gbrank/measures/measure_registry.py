"""The registry of measures, and their names.

``NDCG(k=10)`` prints as ``ndcg@10``, and ``get_measure("ndcg@10")`` reads it back.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TypeAlias

from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Vector,
    check_column_list,
    check_unique,
    error_context,
    quoted,
)
from gbrank.common.grammar import split_label
from gbrank.common.registry import Registered, Registry

from .custom_measure import CustomMeasure
from .gains import geometric_discount
from .measure import Measure, Spelling
from .other_names import known_elsewhere

USUAL = ("ndcg@1", "ndcg@5", "ndcg@10", "map", "mrr")  # what is measured where nothing is named
Metric: TypeAlias = str | Measure | Callable[[Vector, Vector], float]
Metrics: TypeAlias = Metric | Sequence[Metric]


class MeasureFacts(Registered):
    """A registered measure: its name, aliases, class, and the first line of its docstring."""

    @property
    def truncated(self) -> bool:
        """Whether it takes a last rank k."""
        return any(item.name == "k" for item in fields(self.cls))

    @property
    def swaps(self) -> bool:
        """Whether LambdaRank can train on it."""
        return self.cls.swaps is not None

    @property
    def usage(self) -> str:
        """How it is written, such as "ndcg[@K]"."""
        return self.name + ("[@K]" if self.truncated else "")


def _meant(text: str) -> str | None:
    other = known_elsewhere(text)
    if other is None:
        return None
    if not other.here:
        return f"a function of your own, as docs/extending.md has bpref ({other.library})"
    return f"{other.here!r} for {text} of {other.library}, {other.remark}"


MEASURES = Registry("metric", MeasureFacts, {"geometric_discount": geometric_discount}, _meant)
register_measure = MEASURES.register


def custom_measure(
    function: Callable[..., float], *, name: str | None = None, columns: Sequence[str | int] = ()
) -> CustomMeasure:
    """Make a metric from a function of one query.

    Parameters
    ----------
    function : callable
        ``function(scores, labels, *columns) -> float`` for ONE query; higher is better. If its
        parameters are named as in scikit-learn, ``(y_true, y_score)``, it receives labels first.
        Documents are in rank order: by decreasing score, tied scores by increasing label, so that a
        ranker gains nothing from ties. Judged documents that a TREC run did not retrieve are last,
        with the score −inf. NaN excludes the query from the mean.
    name : str, optional
        Registers the metric, so that strings and the command line know it; by default results show
        the name of the function.
    columns : sequence of str or int, optional
        Columns of X that the function receives too, such as a price: by name in data frames, by
        number in arrays. Documents with equal scores and labels are ordered by increasing columns.
        Without X, as in `lightgbm_feval`, this raises an error.

    Returns
    -------
    CustomMeasure
        A metric for early stopping, evaluation and comparison, and for `LambdaRank` in lists of at
        most 200 documents, unless it has columns.

    Raises
    ------
    TypeError
        If `function` cannot be called.
    ValueError
        If the name exists, or contains brackets.

    Examples
    --------
    >>> from gbrank import custom_measure
    >>> def clicked_first(scores, labels):
    ...     return labels[0] > 0
    >>> custom_measure(clicked_first)([0, 1, 1, 0], [2.0, 1.0, 2.0, 1.0], group=[2, 2])
    0.5
    """
    check_column_list(columns, "columns")
    title = str(getattr(function, "__name__", "custom")) if name is None else name
    measure = CustomMeasure(function, title, tuple(columns))
    if name is not None:
        MEASURES.register(measure, name)
    return measure


def get_measure(measure: Metric) -> Measure:
    """Make a metric from its string.

    Parameters
    ----------
    measure : str, Measure or callable
        ``"name"``, ``"name@k"`` or ``"name@k(option=value, ...)"``, such as "ndcg@10", "map",
        "err@20" or "ndcg@5(gain='linear')"; a final ``"[label]"`` refers to one of the named labels
        of `GBRanker.fit`. Names of trec_eval, ir_measures and others, such as "recip_rank", "P_10"
        or "R@100", are their libraries' metrics. A metric is returned unchanged; a callable is
        converted as by `custom_measure`.

    Returns
    -------
    Measure

    Raises
    ------
    ValueError
        If there is no such metric (the message lists the existing ones), or it has no such options.

    Examples
    --------
    >>> get_measure("map@5")
    AP(k=5)
    >>> str(get_measure("p@3(threshold=2)"))  # reported under the requested name
    'p@3(threshold=2)'
    """
    if isinstance(measure, Measure):
        return measure
    if callable(measure) and not isinstance(measure, type):
        return custom_measure(measure)
    if not isinstance(measure, str):
        raise ArgumentTypeError(
            "metric", "must be a name, a Measure or a function", quoted(measure)
        )
    text, label = split_label(measure.strip())
    other = None if MEASURES.has(text) else known_elsewhere(text)
    if other and other.here and not other.remark:  # with the numbers of its library
        text = other.here
    item, call, options = MEASURES.find(text)
    if call.inner is not None:
        raise ValueError(f"metric {quoted(measure)} must not have a colon.")
    if label is not None:
        options["label"] = label
    made: Measure = item(**options) if isinstance(item, type) else replace(item, **options)
    return replace(made, _spelling=Spelling(measure.strip(), call.name, str(made)))


def list_measures() -> list[MeasureFacts]:
    """List the facts of every registered measure, by name.

    Returns
    -------
    list of MeasureFacts

    Examples
    --------
    >>> [facts.name for facts in list_measures()][:3]
    ['ap', 'dcg', 'err']
    """
    return MEASURES.facts()


def get_measures(metrics: object, argument: str) -> list[Measure]:
    """Resolve one or several measures, of which no two are the same."""
    if isinstance(metrics, str | Measure) or callable(metrics):
        metrics = [metrics]
    if not isinstance(metrics, Sequence) or not metrics:
        raise ArgumentError(
            argument, "must be a metric, or a list of at least one", quoted(metrics)
        )
    with error_context(f"{argument}: "):
        measures = [get_measure(metric) for metric in metrics]
    check_unique(argument, [str(measures[measures.index(item)]) for item in measures])
    return measures
