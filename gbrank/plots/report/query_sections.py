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
from gbrank.common.registry import first_line
from gbrank.common.table import Table
from gbrank.data.documents import take_rows
from gbrank.evaluation.statistics import Means, common_queries, means, power_sentence
from gbrank.fit.explanations import N_REASONS
from gbrank.plots.comparison_panels import draw_queries
from gbrank.plots.report import page
from gbrank.plots.report.page import TEXTS, Blocks, Cell, Cells, Details, number, span
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


def measures(judged: ReportData) -> Blocks:
    """Yield the means of all measures."""
    yield TEXTS["measures"].format(measure=judged.measure)
    rows = [
        [_measure(judged, key), f"{judged.n_counted(key):,}", *_means(tested.means)]
        for key, tested in judged.compared.items()
    ]
    yield Table(["measure", "queries", *_head(judged, "mean")], rows)
    summaries = [[str(measure), first_line(measure)] for measure in judged.measures]
    yield Details("What the measures are", [Table(["measure", "what it is"], summaries, (0, 1))])


def _measure(judged: ReportData, measure: str) -> Cell:
    """Return the name of a measure; the one that decides stands out."""
    return Cell(measure, strong=measure == judged.measure)


def _head(judged: ReportData, word: str) -> list[str]:
    """Return the head of means: of one model a word, of two their names."""
    first, *other = (model.name for model in judged.models)
    return [first if other else word, "95% interval", *other]


def _means(of_models: Means) -> list[str]:
    """Return the first model's mean and interval, and the other's mean."""
    first, *other = map(number, of_models.mean)
    return [first, span(of_models.low[0], of_models.high[0]), *other]


def difference_cells(of_models: Means) -> list[str]:
    """Return by how much the first model is above the second, and the interval."""
    ends = span(of_models.difference_low[0], of_models.difference_high[0], "+.4f")
    return [number(of_models.difference[0], "+.4f"), ends]


def changes(judged: ReportData) -> Blocks:
    """Yield what differs between two models: means with paired tests, and single queries."""
    if not judged.models[1:]:
        return
    yield page.Lead(_verdict(judged))
    n = judged.n_counted(judged.measure)
    smallest, needed = judged.compared[judged.measure].power(n, ASKED)
    yield TEXTS["changes"].format(
        ours=judged.models[0].name,
        theirs=judged.models[1].name,
        tests=TEXTS["judged tests" if judged.both else "tests"],
        told=power_sentence(n, smallest[0], needed[0], ASKED),
    )
    tests = ["p (t)"] if judged.both else ["p (random.)", "p (t)"]
    rows = []
    for key, tested in judged.compared.items():
        signs = np.sign(np.subtract(*common_queries(judged.values[key])))
        counts = [f"{int((signs == sign).sum()):,}" for sign in (1, 0, -1)]
        p = [tested.p_randomisation[0], tested.p_t[0]][-len(tests) :]
        rows.append(
            [_measure(judged, key), *difference_cells(tested.means), *map(chance, p), *counts]
        )
    yield Table(["measure", "difference", "95% interval", *tests, "better", "equal", "worse"], rows)
    yield from _both_orders(judged)
    yield from _pairs(judged)


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


def _both_orders(judged: ReportData) -> Blocks:
    """Yield how much the orders of both models have in common."""
    facts = []
    for query in np.flatnonzero(judged.rows.queries.sizes > 1).tolist():
        rows = judged.rows.queries.rows(query)
        ours, theirs = (judged.ranked(query, model) for model in judged.models)
        k = min(TOP, len(rows))
        tau = stats.kendalltau(*(model.scores[rows] for model in judged.models)).statistic
        facts.append([len({*ours[:k]} & {*theirs[:k]}) / k, ours[0] == theirs[0], tau])
    if facts:
        overlap, same_first, tau = np.nanmean(facts, axis=0)
        shown = [
            [f"first {TOP} documents in common", f"{overlap:.1%}"],
            ["queries with the same first document", f"{same_first:.1%}"],
            ["Kendall's tau of the scores", number(tau, ".3f")],
        ]
        yield TEXTS["drift"]
        yield Table(["both orders", ""], shown)


def _pairs(judged: ReportData) -> Blocks:
    """Yield a picture of all queries, and those that changed most with both lists."""
    both = common_queries(judged.main)
    if not both.size:
        return
    names = judged.models[0].name, judged.models[1].name
    text = f"A dot is a query. Above the line, {names[0]} is better."
    if both.shape[1] > DOTS:
        text += f" {DOTS:,} of {both.shape[1]:,} queries, taken at random."
        both = np.random.default_rng(0).choice(both, DOTS, axis=1, replace=False)
    dots = both[0], both[1], judged.measure, names
    yield page.picture(lambda axes: draw_queries(axes, *dots), text)
    leads = np.nan_to_num(judged.main[0] - judged.main[1])
    order = np.argsort(-np.abs(leads), kind="stable")[:N_QUERIES]
    changed = [query for query in order.tolist() if leads[query]]
    said = "The queries that changed most, with both lists side by side:"
    yield said if changed else "No query changed."
    for query in changed:
        ours, theirs = map(number, judged.main[:, query])
        value = f"{theirs} → {ours} ({number(leads[query], '+.4f')})"
        yield _fold(judged, query, value, _side_by_side(judged, query), query == changed[0])


def _fold(judged: ReportData, query: int, value: str, table: Table, is_open: bool) -> Details:
    """Return the line that stands for a query, and its table."""
    documents = page.count(int(judged.rows.queries.sizes[query]), "document")
    relevant = f"{judged.n_relevant[query]:,} relevant"
    called = page.name(judged.rows.queries.ids[query])
    return Details(f"{called}: {value}, {documents}, {relevant}", [table], is_open)


def _side_by_side(judged: ReportData, query: int) -> Table:
    """Return the first documents of both lists, and from where each came."""
    ours, theirs = (judged.ranked(query, model) for model in judged.models)
    ranks = {row: rank for rank, row in enumerate(theirs)}
    rows: list[Cells] = []
    for rank, (before, now) in enumerate(zip(theirs[:TOP], ours, strict=False)):
        moved = ranks[now] - rank
        arrow = f"↑ {moved}" if moved > 0 else f"↓ {-moved}" if moved < 0 else "="
        rows.append([f"{rank + 1}", *_document(judged, before), *_document(judged, now), arrow])
    first, second = (model.name for model in judged.models)
    return Table(["rank", second, "label", first, "label", "moved"], rows, words=(1, 3))


def _document(judged: ReportData, row: int) -> Cells:
    """Return what a document is called, and its label beside the largest one."""
    label = judged.rows.y[row]
    bar = page.bar(label, judged.rows.y.max(), judged.label_names[label])
    return [page.name(judged.called(row)), bar]


def distribution(judged: ReportData) -> Blocks:
    """Yield how many queries have which value."""
    values = common_queries(judged.main)
    if not values.size:
        yield _no_value(judged)
        return
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

    yield page.picture(draw, f"How many queries have which {judged.measure}.")
    percentiles = np.percentile(values, [10, 25, 50, 75, 90], axis=1).T
    rows = [[label, *map(number, row)] for label, row in zip(names, percentiles, strict=True)]
    yield Table(["model", "10% below", "25% below", "median", "75% below", "90% below"], rows)


def _no_value(judged: ReportData) -> str:
    return TEXTS["no value"].format(measure=judged.measure)


def segments(judged: ReportData) -> Blocks:
    """Yield the measure by groups of queries: their lengths, relevant documents, and columns."""
    yield TEXTS["segments"].format(measure=judged.measure)
    for kind, values in judged.by.items():
        yield _segment(judged, page.name(kind), values)
    yield _segment(judged, "documents in the list", judged.rows.queries.sizes.tolist())
    yield _segment(judged, "relevant documents", judged.n_relevant.tolist())


def _segment(judged: ReportData, kind: str, keys: Sequence[Any]) -> Table:
    names, codes = groups(keys)
    parts = [common_queries(judged.main[:, codes == code]) for code in range(len(names))]
    largest = np.nanmax([0.0, *(means(values).mean[0] for values in parts)])
    head = [kind, "queries", *_head(judged, judged.measure), "difference", "95% interval"]
    head = head if judged.models[1:] else head[:-2]
    rows: list[Cells] = []
    for label, values in zip(names, parts, strict=True):
        part = means(values)
        value, *others = _means(part)
        bar = page.bar(part.mean[0], largest, value)
        cells: Cells = [bar, *others, *difference_cells(part)]
        rows.append([page.name(label), f"{values.shape[1]:,}", *cells[: len(head) - 2]])
    return Table(head, rows)


def worst(judged: ReportData) -> Blocks:
    """Yield the queries of lowest value, with their lists."""
    values = judged.main[0]
    order = np.lexsort((-judged.n_relevant, values))  # of equal ones, those with most relevant
    queries = [query for query in order[:N_QUERIES].tolist() if not np.isnan(values[query])]
    if not queries:
        yield _no_value(judged)
        return
    reasons = "" if isinstance(judged.moved, str) else TEXTS["reasons"].format(longest=LONGEST)
    yield TEXTS["worst"].format(measure=judged.measure, top=TOP, further=FURTHER, reasons=reasons)
    for query in queries:
        table = _list(judged, query)
        yield _fold(judged, query, number(values[query]), table, query == queries[0])


def _list(judged: ReportData, query: int) -> Table:
    """Return the first documents of a list, and relevant ones below, with reasons if there are."""
    model = judged.models[0]
    rows = judged.ranked(query, model)
    below = [place for place in range(TOP, len(rows)) if judged.rows.y[rows[place]] > 0]
    places = [*range(min(TOP, len(rows))), *below[:FURTHER]]
    head = ["rank", page.name(judged.column), "label", "score"]
    lines: list[Cells] = [
        [f"{place + 1}", *_document(judged, rows[place]), number(model.scores[rows[place]])]
        for place in places
    ]
    if not isinstance(judged.moved, str) and len(rows) <= LONGEST:
        shares = model.ranker.explain(take_rows(judged.rows.X, rows))[:, :-1]
        for line, beside in zip(lines, (shares - shares.mean(axis=0))[places], strict=True):
            line += [_reasons(judged, beside, 1), _reasons(judged, beside, -1)]
        head += ["lifts", "lowers"]
    return Table(head, lines, words=(1, 4, 5))


def _reasons(judged: ReportData, shares: Vector, sign: int) -> str:
    """Return the features that lift a score most, or lower it."""
    largest = np.argsort(-sign * shares, kind="stable")[:N_REASONS]
    parts = [
        f"{page.name(judged.schema.feature_names[i])}{page.SPACE}{number(shares[i], '+.2f')}"
        for i in largest
        if sign * shares[i] > 0
    ]
    return ", ".join(parts) or page.NONE
