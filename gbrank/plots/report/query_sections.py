"""The parts of a report on queries: measures, what changed, segments, the worst queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy import stats

from gbrank.common.arrays import Vector
from gbrank.common.table import Table
from gbrank.data.documents import take_rows
from gbrank.evaluation.statistics import Means, common_queries, means, power_sentence
from gbrank.fit.explanations import N_REASONS
from gbrank.plots.predictions import draw_queries
from gbrank.plots.report.html_page import (
    NONE,
    SPACE,
    TEXTS,
    Block,
    Cell,
    Cells,
    Details,
    Section,
    count,
    name,
    number,
    picture,
    share,
    span,
)
from gbrank.plots.report.report_data import ReportData, groups
from gbrank.plots.style import BLUE, ORANGE, legend, tidy

N_QUERIES = 10  # that are shown with their lists
TOP = 10  # documents of a list
FURTHER = 5  # documents with a label above 0 that are shown below the top
LONGEST = 200  # documents of a list whose reasons are computed, at 3 ms each
BINS = 20
DOTS = 2000
LEVEL = 0.05  # of p, from which on the data do not tell
ASKED = 0.01  # a difference of which it is said how many queries tell it


def measures(judged: ReportData) -> Section:
    """Return the means of all measures."""
    rows: list[Cells] = []
    for measure, tested in judged.compared.items():
        cells = [f"{judged.n_counted(measure):,}", *_means(tested.means)]
        rows.append([Cell(measure, strong=measure == judged.measure), *cells])
    summaries = Table(["measure", "what it is"], [*judged.summaries.items()], (0, 1))
    blocks: list[Block] = [
        TEXTS["measures"].format(measure=judged.measure),
        Table(["measure", "queries", *_head(judged, "mean")], rows),
        Details("What the measures are", [summaries]),
    ]
    return Section("measures", "How good it is", blocks)


def _head(judged: ReportData, word: str) -> list[str]:
    """Return the head of means: of one model a word, of two their names."""
    first, *other = (model.name for model in judged.models)
    return [first if other else word, "95% interval", *other]


def _means(of_models: Means) -> list[str]:
    """Return the first model's mean and interval, and the other's mean."""
    first, *other = map(number, of_models.mean)
    return [first, span(of_models.low[0], of_models.high[0]), *other]


def _difference(of_models: Means) -> list[str]:
    """Return by how much the first model is above the second, and the interval."""
    ends = span(of_models.difference_low[0], of_models.difference_high[0], "+.4f")
    return [number(of_models.difference[0], "+.4f"), ends]


def changes(judged: ReportData) -> Section | None:
    """Return what differs between two models: means with paired tests, and single queries."""
    if not judged.models[1:]:
        return None
    rows: list[Cells] = []
    for measure, tested in judged.compared.items():
        signs = np.sign(np.subtract(*common_queries(judged.values[measure])))
        counts = [f"{int((signs == sign).sum()):,}" for sign in (1, 0, -1)]
        p = [tested.p_t[0]] if judged.both else [tested.p_randomisation[0], tested.p_t[0]]
        cells = [*_difference(tested.means), *map(chance, p), *counts]
        rows.append([Cell(measure, strong=measure == judged.measure), *cells])
    tests = ["p (t)"] if judged.both else ["p (random.)", "p (t)"]
    head = ["measure", "difference", "95% interval", *tests, "better", "equal", "worse"]
    text = TEXTS["changes"].format(
        ours=judged.models[0].name,
        theirs=judged.models[1].name,
        tests=TEXTS["judged tests" if judged.both else "tests"],
        told=_power(judged),
    )
    blocks: list[Block] = [text, Table(head, rows), *_both_orders(judged), *_pairs(judged)]
    return Section("changes", "What changed", blocks, _verdict(judged))


def _power(judged: ReportData) -> str:
    """Return in a sentence which difference these queries tell."""
    n = judged.n_counted(judged.measure)
    smallest, needed = judged.compared[judged.measure].power(n, ASKED)
    return power_sentence(n, smallest[0], needed[0], ASKED)


def _both_orders(judged: ReportData) -> list[Block]:
    """Return how much the orders of both models have in common."""
    facts = []
    for query in np.flatnonzero(judged.rows.queries.sizes > 1).tolist():
        rows = judged.rows.queries.rows(query)
        ours, theirs = (judged.ranked(query, model) for model in judged.models)
        k = min(TOP, len(rows))
        tau = stats.kendalltau(*(model.scores[rows] for model in judged.models)).statistic
        facts.append([len({*ours[:k]} & {*theirs[:k]}) / k, ours[0] == theirs[0], tau])
    if not facts:
        return []
    overlap, same_first, tau = np.nanmean(facts, axis=0)
    shown = {
        f"first {TOP} documents in common": f"{overlap:.1%}",
        "queries with the same first document": f"{same_first:.1%}",
        "Kendall's tau of the scores": number(tau, ".3f"),
    }
    return [TEXTS["drift"], Table(["both orders", ""], [*shown.items()])]


def _verdict(judged: ReportData) -> str:
    """Return in a sentence which model is better, if the data say so."""
    tested = judged.compared[judged.measure]
    p = tested.p_t[0] if judged.both else tested.p_randomisation[0]
    if np.isnan(p):
        return _no_value(judged)
    by_chance = f"chance alone would give a difference as large with probability {chance(p)}."
    if p > LEVEL:
        return f"These queries do not tell which is better on {judged.measure}: {by_chance}"
    of_models = tested.means
    sign = np.sign(of_models.difference[0])
    ends = sorted([sign * of_models.difference_low[0], sign * of_models.difference_high[0]])
    better, worse = (model.name for model in judged.models[:: int(sign)])
    by = f"{number(abs(of_models.difference[0]))} (95% interval {span(*ends)})"
    return f"On {judged.measure}, {better} is better than {worse} by {by}: {by_chance}"


def chance(p: float) -> str:
    """Return a probability with four digits."""
    return "< 0.0001" if p < 0.0001 else number(p)


def _pairs(judged: ReportData) -> list[Block]:
    """Return a picture of all queries, and those that changed most with both lists."""
    both = common_queries(judged.main)
    if not both.size:
        return []
    names = judged.models[0].name, judged.models[1].name
    text = f"A dot is a query. Above the line, {names[0]} is better."
    if both.shape[1] > DOTS:
        text += f" {DOTS:,} of {both.shape[1]:,} queries, taken at random."
        both = np.random.default_rng(0).choice(both, DOTS, axis=1, replace=False)

    def draw(axes: Axes) -> None:
        draw_queries(axes, both[0], both[1], judged.measure, names)

    leads = np.nan_to_num(judged.main[0] - judged.main[1])
    order = np.argsort(-np.abs(leads), kind="stable")[:N_QUERIES]
    changed = [query for query in order.tolist() if leads[query]]
    said = "The queries that changed most, with both lists side by side:"
    folds = []
    for query in changed:
        ours, theirs = map(number, judged.main[:, query])
        value = f"{theirs} → {ours} ({number(leads[query], '+.4f')})"
        folds.append(_fold(judged, query, value, _side_by_side(judged, query), query == changed[0]))
    return [picture(draw, text), said if folds else "No query changed.", *folds]


def _fold(judged: ReportData, query: int, value: str, table: Table, is_open: bool) -> Details:
    """Return the line that stands for a query, and its table."""
    documents = count(int(judged.rows.queries.sizes[query]), "document")
    relevant = f"{judged.n_relevant[query]:,} relevant"
    called = name(judged.rows.queries.ids[query])
    return Details(f"{called}: {value}, {documents}, {relevant}", [table], is_open)


def _side_by_side(judged: ReportData, query: int) -> Table:
    """Return the first documents of both lists, and from where each came."""
    ours, theirs = (judged.ranked(query, model) for model in judged.models)
    ranks = {row: rank for rank, row in enumerate(theirs)}
    rows: list[Cells] = []
    for rank, pair in enumerate(zip(theirs[:TOP], ours, strict=False)):
        moved = ranks[pair[1]] - rank
        arrow = f"↑ {moved}" if moved > 0 else f"↓ {-moved}" if moved < 0 else "="
        cells = [cell for row in pair for cell in _document(judged, row)]
        rows.append([f"{rank + 1}", *cells, arrow])
    first, second = (model.name for model in judged.models)
    return Table(["rank", second, "label", first, "label", "moved"], rows, words=(1, 3))


def _document(judged: ReportData, row: int) -> Cells:
    """Return what a document is called, and its label beside the largest one."""
    label, largest = judged.rows.y[row], judged.rows.y.max()
    return [name(judged.documents[row]), Cell(judged.label_names[label], share(label, largest))]


def distribution(judged: ReportData) -> Section:
    """Return how many queries have which value."""
    key, title = "distribution", "From query to query"
    values = common_queries(judged.main)
    if not values.size:
        return Section(key, title, [_no_value(judged)])
    edges = np.linspace(min(0.0, values.min()), max(1.0, values.max()), BINS + 1).tolist()
    names = [model.name for model in judged.models]

    def draw(axes: Axes) -> None:
        axes.hist(values[0], edges, color=BLUE, alpha=0.75)
        for other in values[1:]:
            axes.hist(other, edges, color=ORANGE, histtype="step")
            colors = zip((BLUE, ORANGE), names, strict=True)
            legend(axes, [Patch(color=color, label=label) for color, label in colors])
        tidy(axes, "y", xlabel=f"{judged.measure} of a query", ylabel="queries")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    percentiles = np.percentile(values, [10, 25, 50, 75, 90], axis=1).T
    rows = [[label, *map(number, row)] for label, row in zip(names, percentiles, strict=True)]
    head = ["model", "10% below", "25% below", "median", "75% below", "90% below"]
    shown = picture(draw, f"How many queries have which {judged.measure}.")
    return Section(key, title, [shown, Table(head, rows)])


def _no_value(judged: ReportData) -> str:
    return TEXTS["no value"].format(measure=judged.measure)


def segments(judged: ReportData) -> Section:
    """Return the measure by groups of queries: their lengths, relevant documents, and columns."""
    kinds = {
        **judged.by,
        "documents in the list": judged.rows.queries.sizes.tolist(),
        "relevant documents": judged.n_relevant.tolist(),
    }
    tables = [_segment(judged, kind, values) for kind, values in kinds.items()]
    text = TEXTS["segments"].format(measure=judged.measure)
    return Section("segments", "Where it is good, and where not", [text, *tables])


def _segment(judged: ReportData, kind: str, keys: Sequence[Any]) -> Table:
    names, codes = groups(keys)
    parts = [common_queries(judged.main[:, codes == code]) for code in range(len(names))]
    of_parts = [means(values) for values in parts]
    largest = np.nanmax([0.0, *(part.mean[0] for part in of_parts)])
    head = [name(kind), "queries", *_head(judged, judged.measure)]
    if judged.models[1:]:
        head += ["difference", "95% interval"]
    rows: list[Cells] = []
    for label, values, part in zip(names, parts, of_parts, strict=True):
        value, *others = _means(part)
        bar = Cell(value, share(part.mean[0], largest))
        cells: Cells = [bar, *others, *_difference(part)]
        rows.append([name(label), f"{values.shape[1]:,}", *cells[: len(head) - 2]])
    return Table(head, rows)


def worst(judged: ReportData) -> Section:
    """Return the queries of lowest value, with their lists."""
    values, explains = judged.main[0], not isinstance(judged.moved, str)
    order = np.lexsort((-judged.n_relevant, values))  # of equal ones, those with most relevant
    queries = [query for query in order[:N_QUERIES].tolist() if not np.isnan(values[query])]
    if not queries:
        return Section("worst", "The worst queries", [_no_value(judged)])
    reasons = TEXTS["reasons"].format(longest=LONGEST) if explains else ""
    numbers = {"top": TOP, "further": FURTHER, "reasons": reasons}
    folds = [
        _fold(judged, query, number(values[query]), _list(judged, query), query == queries[0])
        for query in queries
    ]
    text = TEXTS["worst"].format(measure=judged.measure, **numbers)
    return Section("worst", "The worst queries", [text, *folds])


def _list(judged: ReportData, query: int) -> Table:
    """Return the first documents of a list, and relevant ones below, with reasons if there are."""
    model = judged.models[0]
    rows = judged.ranked(query, model)
    below = [place for place in range(TOP, len(rows)) if judged.rows.y[rows[place]] > 0]
    places = [*range(min(TOP, len(rows))), *below[:FURTHER]]
    head = ["rank", name(judged.column), "label", "score"]
    lines: list[Cells] = [
        [f"{place + 1}", *_document(judged, rows[place]), number(model.scores[rows[place]])]
        for place in places
    ]
    if not isinstance(judged.moved, str) and len(rows) <= LONGEST:
        shares = model.ranker.explain(take_rows(judged.X, rows))[:, :-1]
        for line, beside in zip(lines, (shares - shares.mean(axis=0))[places], strict=True):
            line += [_reasons(judged, beside, 1), _reasons(judged, beside, -1)]
        head += ["lifts", "lowers"]
    return Table(head, lines, words=(1, 4, 5))


def _reasons(judged: ReportData, shares: Vector, sign: int) -> str:
    """Return the features that lift a score most, or lower it."""
    largest = np.argsort(-sign * shares, kind="stable")[:N_REASONS]
    names = judged.models[0].ranker._schema.feature_names
    parts = [
        f"{name(names[i])}{SPACE}{number(shares[i], '+.2f')}"
        for i in largest
        if sign * shares[i] > 0
    ]
    return ", ".join(parts) or NONE
