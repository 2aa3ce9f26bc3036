"""The parts of a report on queries: measures, what changed, segments, the worst queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy import stats

from gbrank.common.arrays import Matrix, Vector
from gbrank.common.table import Table
from gbrank.data.documents import take_rows
from gbrank.evaluation.power import queries_needed_for, smallest_difference, told_line
from gbrank.evaluation.statistics import Means, common_queries, means
from gbrank.fit.explanations import N_REASONS
from gbrank.plots.predictions import draw_queries
from gbrank.plots.report.blocks import (
    NONE,
    SPACE,
    TEXTS,
    Block,
    Cell,
    Details,
    Paragraph,
    Picture,
    Section,
    count,
    name,
    number,
    picture,
    said,
    share,
    span,
)
from gbrank.plots.report.report_data import ReportData, ReportedRanker, groups
from gbrank.plots.style import BLUE, ORANGE, legend, tidy
from gbrank.ranker import GBRanker

N_QUERIES = 10  # that are shown with their lists
TOP = 10  # documents of a list
FURTHER = 5  # documents with a label above 0 that are shown below the top
LONGEST = 200  # documents of a list whose reasons are computed, at 3 ms each
BINS = 20
DOTS = 2000
COLORS = BLUE, ORANGE  # of the two models
LEVEL = 0.05  # of p, from which on the data do not tell
ASKED = 0.01  # a difference of which it is said how many queries tell it


def measures(judged: ReportData) -> Section:
    """Return the means of all measures."""
    summaries = [[*item] for item in judged.summaries.items()]
    head = ["measure", "queries", "mean", "95% interval"]
    if judged.models[1:]:
        head[2:] = [judged.models[0].name, "95% interval", judged.models[1].name]
    rows: list[list[Cell | str]] = []
    for measure, tested in judged.found.items():
        found = tested.means
        cells = [*_mean(found), number(found.mean[-1])][: len(head) - 2]
        counted = f"{judged.n_counted(measure):,}"
        rows.append([Cell(measure, strong=measure == judged.measure), counted, *cells])
    return Section(
        "measures",
        "How good it is",
        [
            said("measures", measure=judged.measure),
            Table(head, rows),
            Details("What the measures are", [Table(["measure", "what it is"], summaries, (0, 1))]),
        ],
    )


def _mean(found: Means) -> list[str]:
    """Return the first model's mean and interval."""
    return [number(found.mean[0]), span(found.low[0], found.high[0])]


def _difference(found: Means) -> list[str]:
    """Return by how much it is above the second one's, and the interval."""
    ends = span(found.difference_low[0], found.difference_high[0], "+.4f")
    return [number(found.difference[0], "+.4f"), ends]


def changes(judged: ReportData) -> Section:
    """Return what differs between two models: means with paired tests, and single queries."""
    ours, theirs = judged.models
    rows: list[list[Cell | str]] = []
    for measure, tested in judged.found.items():
        signs = np.sign(np.subtract(*common_queries(judged.values[measure])))
        counts = [f"{int((signs == sign).sum()):,}" for sign in (1, 0, -1)]
        p = [_chance(tested.p_t[0])]
        if not judged.both:
            p.insert(0, _chance(tested.p_randomisation[0]))
        shown = [*_difference(tested.means), *p, *counts]
        rows.append([Cell(measure, strong=measure == judged.measure), *shown])
    head = ["measure", "difference", "95% interval", "p (random.)", "p (t)"]
    if judged.both:
        head.remove("p (random.)")
    head += ["better", "equal", "worse"]
    blocks: list[Block] = [
        Paragraph(_verdict(judged), strong=True),
        said(
            "changes",
            ours=ours.name,
            theirs=theirs.name,
            tests=TEXTS["judged tests" if judged.both else "tests"],
            told=_told(judged),
        ),
        Table(head, rows),
        *_drift(judged),
    ]
    both = common_queries(judged.main)
    if both.size:
        blocks.append(_pairs(judged, both))
        blocks += _changed_queries(judged)
    return Section("changes", "What changed", blocks)


def _told(judged: ReportData) -> str:
    """Say what difference these queries tell."""
    found, n = judged.found[judged.measure], judged.n_counted(judged.measure)
    error, freedom = float(found.error[0]), float(found.freedom[0])
    needed = queries_needed_for(ASKED, error * n**0.5)
    return told_line(n, smallest_difference(error, freedom), needed, ASKED)


def _drift(judged: ReportData) -> list[Block]:
    """Return how much the orders of both models have in common."""
    overlap, tau, same_first = [], [], []
    for query in range(judged.queries.n_queries):
        rows = judged.queries.rows(query)
        if len(rows) == 1:
            continue
        ours, theirs = (judged.ranked(query, model) for model in judged.models)
        k = min(TOP, len(rows))
        overlap.append(len({*ours[:k]} & {*theirs[:k]}) / k)
        same_first.append(ours[0] == theirs[0])
        tau.append(stats.kendalltau(*(model.scores[rows] for model in judged.models)).statistic)
    if not tau:
        return []
    facts = [
        [f"first {TOP} documents in common", f"{np.mean(overlap):.1%}"],
        ["queries with the same first document", f"{np.mean(same_first):.1%}"],
        ["Kendall's tau of the scores", number(float(np.nanmean(tau)), ".3f")],
    ]
    return [said("drift"), Table(["both orders", ""], facts)]


def _verdict(judged: ReportData) -> str:
    """Return in a sentence which model is better, if the data say so."""
    tested = judged.found[judged.measure]
    found = tested.means
    p = tested.p_t[0] if judged.both else tested.p_randomisation[0]
    if np.isnan(p):
        return _no_value(judged).text
    ours, theirs = (model.name for model in judged.models)
    chance = f"chance alone would give a difference as large with probability {_chance(p)}."
    if p > LEVEL:
        return f"These queries do not tell which is better on {judged.measure}: {chance}"
    better, worse, ends = ours, theirs, (found.difference_low[0], found.difference_high[0])
    if found.difference[0] < 0:
        better, worse, ends = theirs, ours, (-ends[1], -ends[0])
    by = f"{number(abs(found.difference[0]))} (95% interval {span(*ends)})"
    return f"On {judged.measure}, {better} is better than {worse} by {by}: {chance}"


def _chance(p: float) -> str:
    """Return a probability with four digits."""
    return "< 0.0001" if p < 0.0001 else number(p)


def _pairs(judged: ReportData, both: Matrix) -> Picture:
    names = judged.models[0].name, judged.models[1].name

    def draw(axes: Axes) -> None:
        draw_queries(axes, both[0], both[1], judged.measure, names)

    text = f"A dot is a query. Above the line, {names[0]} is better."
    if both.shape[1] > DOTS:
        text += f" {DOTS:,} of {both.shape[1]:,} queries, taken at random."
        both = np.random.default_rng(0).choice(both, DOTS, axis=1, replace=False)
    return picture(draw, text)


def _changed_queries(judged: ReportData) -> list[Block]:
    leads = np.nan_to_num(judged.main[0] - judged.main[1])
    order = np.argsort(-np.abs(leads), kind="stable")[:N_QUERIES]
    chosen = [query for query in order.tolist() if leads[query]]
    if not chosen:
        return [Paragraph("No query changed.")]
    folds = []
    for query in chosen:
        ours, theirs = judged.main[:, query]
        change = f"{number(theirs)} → {number(ours)} ({number(leads[query], '+.4f')})"
        folds.append(_fold(judged, query, change, _side_by_side(judged, query), chosen))
    return [Paragraph("The queries that changed most, with both lists side by side:"), *folds]


def _fold(judged: ReportData, query: int, value: str, table: Table, chosen: list[int]) -> Details:
    """Return the line that stands for a query, and its table; of the first one it is shown."""
    documents = count(int(judged.queries.sizes[query]), "document")
    relevant = f"{judged.n_relevant[query]:,} relevant"
    title = f"{name(judged.queries.ids[query])}: {value}, {documents}, {relevant}"
    return Details(title, [table], query == chosen[0])


def _side_by_side(judged: ReportData, query: int) -> Table:
    """Return the first documents of both lists, and from where each came."""
    ours, theirs = judged.models
    lists = [judged.ranked(query, model) for model in (theirs, ours)]
    was = {row: rank for rank, row in enumerate(lists[0], 1)}
    rows = []
    for rank, pair in enumerate(zip(*lists, strict=True), 1):
        if rank > TOP:
            break
        moved = was[pair[1]] - rank
        arrow = f"↑ {moved}" if moved > 0 else f"↓ {-moved}" if moved < 0 else "="
        rows.append([f"{rank}", *(cell for row in pair for cell in _document(judged, row)), arrow])
    head = ["rank", theirs.name, "label", ours.name, "label", "moved"]
    return Table(head, rows, words=(1, 3))


def _document(judged: ReportData, row: int) -> list[Cell | str]:
    """Return what a document is called, and its label beside the largest one."""
    label, largest = judged.labels[row], judged.labels.max()
    return [name(judged.documents[row]), Cell(judged.label_names[label], share(label, largest))]


def distribution(judged: ReportData) -> Section:
    """Return how many queries have which value."""
    values = common_queries(judged.main)
    if not values.size:
        return Section("distribution", "From query to query", [_no_value(judged)])
    edges = np.linspace(min(0.0, values.min()), max(1.0, values.max()), BINS + 1).tolist()

    def draw(axes: Axes) -> None:
        axes.hist(values[0], edges, color=BLUE, alpha=0.75)
        for other in values[1:]:
            axes.hist(other, edges, color=ORANGE, histtype="step")
            names = (model.name for model in judged.models)
            legend(axes, [Patch(color=c, label=n) for c, n in zip(COLORS, names, strict=True)])
        tidy(axes, "y", xlabel=f"{judged.measure} of a query", ylabel="queries")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))

    shares = [10, 25, 50, 75, 90]
    rows = [
        [model.name, *map(number, np.percentile(row, shares))]
        for model, row in zip(judged.models, values, strict=True)
    ]
    head = ["model", "10% below", "25% below", "median", "75% below", "90% below"]
    blocks: list[Block] = [
        picture(draw, f"How many queries have which {judged.measure}."),
        Table(head, rows),
    ]
    return Section("distribution", "From query to query", blocks)


def _no_value(judged: ReportData) -> Paragraph:
    return said("no value", measure=judged.measure)


def segments(judged: ReportData, by: dict[str, list[Any]]) -> Section:
    """Return the measure by groups of queries: their lengths, relevant documents, and columns."""
    kinds = {
        **by,
        "documents in the list": judged.queries.sizes.tolist(),
        "relevant documents": judged.n_relevant.tolist(),
    }
    tables = [_segment(judged, kind, values) for kind, values in kinds.items()]
    text = said("segments", measure=judged.measure)
    return Section("segments", "Where it is good, and where not", [text, *tables])


def _segment(judged: ReportData, kind: str, keys: Sequence[Any]) -> Table:
    names, codes = groups(keys)
    head = [name(kind), "queries", judged.measure, "95% interval"]
    if judged.models[1:]:
        head[2:] = [judged.models[0].name, "95% interval", judged.models[1].name]
        head += ["difference", "95% interval"]
    parts = [common_queries(judged.main[:, codes == code]) for code in range(len(names))]
    found = [means([values]) for values in parts]
    largest = np.nanmax([0.0, *(item.mean[0] for item in found)])
    rows: list[list[Cell | str]] = []
    for label, values, item in zip(names, parts, found, strict=True):
        value, ends = _mean(item)
        bar = Cell(value, share(item.mean[0], largest))
        cells = [ends, number(item.mean[-1]), *_difference(item)]
        rows.append([name(label), f"{values.shape[1]:,}", bar, *cells[: len(head) - 3]])
    return Table(head, rows)


def worst(judged: ReportData, explains: bool) -> Section:
    """Return the queries of lowest value, with their lists."""
    model, values = judged.models[0], judged.main[0]
    # Of equal ones, those with the most relevant documents.
    order = np.lexsort((-judged.n_relevant, values))
    chosen = [query for query in order[:N_QUERIES].tolist() if not np.isnan(values[query])]
    if not chosen:
        return Section("worst", "The worst queries", [_no_value(judged)])
    reasons = TEXTS["reasons"].format(longest=LONGEST) if explains else ""
    text = said("worst", measure=judged.measure, top=TOP, further=FURTHER, reasons=reasons)
    folds = []
    for query in chosen:
        table = _list(judged, query, model, explains)
        folds.append(_fold(judged, query, number(values[query]), table, chosen))
    return Section("worst", "The worst queries", [text, *folds])


def _list(judged: ReportData, query: int, model: ReportedRanker, explains: bool) -> Table:
    rows = judged.ranked(query, model)
    below = [place for place in range(TOP, len(rows)) if judged.labels[rows[place]] > 0]
    places = [*range(min(TOP, len(rows))), *below[:FURTHER]]
    lines: list[list[Cell | str]] = [
        [f"{place + 1}", *_document(judged, rows[place]), number(model.scores[rows[place]])]
        for place in places
    ]
    head = ["rank", name(judged.column), "label", "score"]
    if explains and isinstance(model.ranker, GBRanker) and len(rows) <= LONGEST:
        shares = model.ranker.explain(take_rows(judged.X, rows))[:, :-1]
        beside = (shares - shares.mean(axis=0))[places]
        names = model.ranker._schema.feature_names
        for line, own in zip(lines, beside, strict=True):
            line += [_reasons(names, own, 1), _reasons(names, own, -1)]
        head += ["lifts", "lowers"]
    return Table(head, lines, words=(1, 4, 5))


def _reasons(names: Sequence[str], shares: Vector, sign: int) -> str:
    """Return the features that lift a score most, or lower it."""
    largest = np.argsort(-sign * shares, kind="stable")[:N_REASONS]
    parts = [
        f"{name(names[i])}{SPACE}{number(shares[i], '+.2f')}"
        for i in largest
        if sign * shares[i] > 0
    ]
    return ", ".join(parts) or NONE
