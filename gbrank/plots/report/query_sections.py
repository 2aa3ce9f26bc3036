"""The parts of a report on queries: measures, what changed, segments, worst queries, a judge."""

import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gbrank.common.registry import first_line
from gbrank.common.table import Table
from gbrank.common.values import Vector
from gbrank.evaluation import statistics
from gbrank.evaluation.statistics import Means, common_queries, means
from gbrank.fit.explanations import N_REASONS
from gbrank.measures.judges import JUDGE, PEOPLE
from gbrank.plots.comparison_panels import draw_histogram, draw_queries
from gbrank.plots.report import page
from gbrank.plots.report.page import TEXTS, Blocks, Cell, Cells, Details, number
from gbrank.plots.report.report_data import Measured, ReportData, groups

N_QUERIES = 10  # that are shown with their lists
TOP = 10  # documents of a list
FURTHER = 5  # documents with a label above 0 that are shown below the top
LONGEST = 200  # documents of a list whose reasons are computed, at 3 ms each
DOTS = 2000
TARGET = 0.01  # difference, of which the page says how many queries detect it


def measures(judged: ReportData) -> Blocks:
    """Yield the means of all measures."""
    yield TEXTS["measures"].format(measure=judged.measure)
    head = ["metric", "queries", *_head(judged, "mean")]
    rows = [
        [_measure(judged, item), f"{item.n_queries:,}", *_cells(item.compared.means)]
        for item in judged.measured
    ]
    n_shown = 3 + len(judged.names)
    yield Table(head[:n_shown], [row[:n_shown] for row in rows])
    summaries = [[str(item.measure), first_line(item.measure)] for item in judged.measured]
    yield Details("Definitions", [Table(["metric", "definition"], summaries, (0, 1))])


def _measure(judged: ReportData, item: Measured) -> Cell:
    """Name a measure; the one that decides stands out."""
    return Cell(str(item.measure), strong=item is judged.main)


def _head(judged: ReportData, word: str) -> list[str]:
    """Make the head of `_cells`: of one model a word, of two their names."""
    first, *second = judged.names
    others = [*second, "difference", "95% interval"] if second else []
    return [first if second else word, "95% interval", *others]


def _cells(of_models: Means) -> list[str]:
    """Format the first model's mean and interval; the second's mean, and their difference."""
    cells = page.estimate(of_models.mean[0], of_models.low[0], of_models.high[0])
    for second in of_models.mean[1:]:
        cells += [number(second), *_difference_cells(of_models)]
    return cells


def _difference_cells(of_models: Means) -> list[str]:
    ends = of_models.difference_low[0], of_models.difference_high[0]
    return page.estimate(of_models.difference[0], *ends, form="+.4f")


def changes(judged: ReportData) -> Blocks:
    """Yield what differs between two models: means with paired tests, and single queries."""
    if not judged.names[1:]:
        return
    yield page.Lead(_verdict(judged))
    main = judged.main
    minimum, needed = main.compared.power(main.n_queries, TARGET)
    power = statistics.power_sentence(main.n_queries, minimum[0], needed[0], TARGET)
    tests = TEXTS["judged tests" if main.both else "tests"]
    yield TEXTS["changes"].format(names=judged.names, tests=tests, power=power)
    columns = ["p (t)"] if main.both else ["p (random.)", "p (t)"]
    rows = []
    for item in judged.measured:
        signs = np.sign(np.subtract(*common_queries(item.values)))
        counts = [f"{(signs == sign).sum():,}" for sign in (1, 0, -1)]
        p = [item.compared.p_t[0]]
        if not main.both:
            p.insert(0, item.compared.p_randomization[0])
        difference = _difference_cells(item.compared.means)
        rows.append([_measure(judged, item), *difference, *map(chance, p), *counts])
    head = ["metric", "difference", "95% interval", *columns, "better", "equal", "worse"]
    yield Table(head, rows)
    yield from _both_orders(judged)
    yield from _pairs(judged)


def _verdict(judged: ReportData) -> str:
    tested = judged.main.compared
    p = tested.p_t[0] if judged.main.both else tested.p_randomization[0]
    if np.isnan(p):
        return _no_value(judged)
    if p > statistics.LEVEL:
        return f"No significant difference in {judged.measure}: p = {chance(p)}."
    mean, low, high = (column[0] for column in tested.means[3:])
    sign = int(np.sign(mean))
    better, worse = judged.names[::sign]
    by, ends = page.estimate(abs(mean), *sorted([sign * low, sign * high]))
    verdict = f"{better} is significantly better than {worse} in {judged.measure}, by {by}"
    return f"{verdict} (95% interval {ends}, p = {chance(p)})."


def chance(p: float) -> str:
    """Format a p-value."""
    return "< 0.0001" if p < 0.0001 else number(p)


def _both_orders(judged: ReportData) -> Blocks:
    """Yield how much the orders of both models have in common."""
    facts = []
    for query in np.flatnonzero(judged.rows.queries.sizes > 1).tolist():
        ours, theirs = judged.orders(query)
        k = min(TOP, len(ours))
        tau = stats.kendalltau(*(scores[ours] for scores in judged.scores)).statistic
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
    both = common_queries(judged.main.values)
    values = judged.main.values
    if not both.size:
        return
    text = f"Each dot is a query. Above the line, {judged.names[0]} is better."
    if both.shape[1] > DOTS:
        text += f" {DOTS:,} of {both.shape[1]:,} queries, drawn at random."
        both = np.random.default_rng(0).choice(both, DOTS, axis=1, replace=False)
    dots = (*both, judged.measure, judged.names)
    yield page.picture(lambda axes: draw_queries(axes, *dots), text)
    leads = np.nan_to_num(values[0] - values[1])
    order = np.argsort(-np.abs(leads), kind="stable")[:N_QUERIES]
    changed = [query for query in order.tolist() if leads[query]]
    yield TEXTS["changed" if changed else "unchanged"]
    for query in changed:
        ours, theirs = map(number, values[:, query])
        value = f"{theirs} → {ours} ({number(leads[query], '+.4f')})"
        yield _fold(judged, query, value, _side_by_side(judged, query), query == changed[0])


def _fold(judged: ReportData, query: int, value: str, table: Table, is_open: bool) -> Details:
    documents = page.count(int(judged.rows.queries.sizes[query]), "document")
    relevant = f"{judged.n_relevant[query]:,} relevant"
    called = page.name(judged.rows.queries.ids[query])
    return Details(f"{called}: {value}, {documents}, {relevant}", [table], is_open)


def _side_by_side(judged: ReportData, query: int) -> Table:
    ours, theirs = judged.orders(query)
    ranks = {row: rank for rank, row in enumerate(theirs)}
    rows: list[Cells] = []
    for rank, (before, now) in enumerate(zip(theirs[:TOP], ours, strict=False)):
        moved = ranks[now] - rank
        arrow = f"↑ {moved}" if moved > 0 else f"↓ {-moved}" if moved < 0 else "="
        rows.append([f"{rank + 1}", *_document(judged, before), *_document(judged, now), arrow])
    first, second = judged.names
    return Table(["rank", second, "label", first, "label", "moved"], rows, words=(1, 3))


def _document(judged: ReportData, row: int) -> Cells:
    label = judged.rows.y[row]
    bar = page.bar(label, judged.rows.y.max(), judged.label_names[label])
    return [page.name(judged.documents[row]), bar]


def distribution(judged: ReportData) -> Blocks:
    """Yield how many queries have which value."""
    values = common_queries(judged.main.values)
    if not values.size:
        yield _no_value(judged)
        return
    text = f"Distribution of {judged.measure} over queries."
    yield page.picture(lambda ax: draw_histogram(ax, values, judged.measure, judged.names), text)
    percentiles = np.percentile(values, [10, 25, 50, 75, 90], axis=1).T
    rows = [[name, *map(number, row)] for name, row in zip(judged.names, percentiles, strict=True)]
    yield Table(["model", "10th percentile", "25th", "median", "75th", "90th"], rows)


def _no_value(judged: ReportData) -> str:
    return TEXTS["no value"].format(measure=judged.measure)


def segments(judged: ReportData) -> Blocks:
    """Yield the measure by groups of queries: their lengths, relevant documents, and columns."""
    yield TEXTS["segments"].format(measure=judged.measure)
    kinds = [(page.name(kind), values) for kind, values in judged.by.items()]
    kinds.append(("documents in the list", judged.rows.queries.sizes.tolist()))
    kinds.append(("relevant documents", judged.n_relevant.tolist()))
    for kind, values in kinds:
        names, codes = groups(values)
        parts = [common_queries(judged.main.values[:, codes == code]) for code in range(len(names))]
        of_parts = [means(part) for part in parts]
        largest = np.nanmax([0.0, *(part.mean[0] for part in of_parts)])
        rows: list[Cells] = []
        for label, part, of_part in zip(names, parts, of_parts, strict=True):
            value, *others = _cells(of_part)
            bar = page.bar(of_part.mean[0], largest, value)
            rows.append([page.name(label), f"{part.shape[1]:,}", bar, *others])
        yield Table([kind, "queries", *_head(judged, judged.measure)], rows)


def worst(judged: ReportData) -> Blocks:
    """Yield the queries of lowest value, with their lists."""
    values = judged.main.values[0]
    order = np.lexsort((-judged.n_relevant, values))  # of equal ones, those with most relevant
    queries = [query for query in order[:N_QUERIES].tolist() if not np.isnan(values[query])]
    if not queries:
        yield _no_value(judged)
        return
    reasons = "" if isinstance(judged.moved, str) else TEXTS["reasons"].format(longest=LONGEST)
    yield TEXTS["worst"].format(measure=judged.measure, top=TOP, further=FURTHER, reasons=reasons)
    for query in queries:
        yield _fold(judged, query, number(values[query]), _list(judged, query), query == queries[0])


def _list(judged: ReportData, query: int) -> Table:
    """List the first documents, and relevant ones below, with reasons if there are."""
    rows = judged.orders(query)[0]
    ranks = [i for i in range(len(rows)) if i < TOP or judged.rows.y[rows[i]] > 0][: TOP + FURTHER]
    head = ["rank", page.name(judged.docid or "row"), "label", "score"]
    lines: list[Cells] = [
        [f"{rank + 1}", *_document(judged, rows[rank]), number(judged.scores[0][rows[rank]])]
        for rank in ranks
    ]
    if judged.trees and not isinstance(judged.moved, str) and len(rows) <= LONGEST:
        shares = judged.trees.explain(judged.table_of(rows))[:, :-1]
        for line, beside in zip(lines, (shares - shares.mean(axis=0))[ranks], strict=True):
            line += [_reasons(judged, beside, 1), _reasons(judged, beside, -1)]
        head += ["lifts", "lowers"]
    return Table(head, lines, words=(1, 4, 5))


def _reasons(judged: ReportData, shares: Vector, sign: int) -> str:
    """Name the features that lift a score most, or lower it."""
    largest = np.argsort(-sign * shares, kind="stable")[:N_REASONS]
    parts = [
        f"{page.name(judged.schema.feature_names[i])}{page.SPACE}{number(shares[i], '+.2f')}"
        for i in largest
        if sign * shares[i] > 0
    ]
    return ", ".join(parts) or page.NONE


def judge(judged: ReportData) -> Blocks:
    """Yield how far the judge agrees with people, and what its labels are worth."""
    main = judged.main
    both = judged.main.both
    if not both:
        return
    worth = float(main.compared.worth[0])
    n = page.count(main.n_queries, "query")
    what = "difference" if judged.names[1:] else "mean"
    text = TEXTS["worth" if worth > 0 else "worth nothing"]
    yield page.Lead(text.format(what=what, measure=judged.measure, worth=worth, n=n))
    yield TEXTS["judge"]
    people, labels = (judged.rows.labels[name] for name in (PEOPLE, JUDGE))
    known = ~np.isnan(people)
    codes = np.unique([people[known], labels[known]], return_inverse=True)[1]
    ours, theirs = np.split(codes.ravel(), 2)
    weighted = cohen_kappa_score(ours, theirs, weights="quadratic")
    facts = [
        ["queries judged by people", f"{both.judged.sum():,}"],
        ["documents judged by people", f"{known.sum():,}"],
        ["labels that agree", f"{np.mean(ours == theirs):.1%}"],
        ["Cohen's kappa", number(cohen_kappa_score(ours, theirs), ".2f")],
        ["kappa, weighted by squared distance", number(weighted, ".2f")],
    ]
    yield Table(["judge", ""], facts)
    rows = []
    for model, name in enumerate(judged.names):
        pair = common_queries(np.array([both.judge[model], both.people[model]]))
        alike = np.nan
        if pair.shape[1] > 1 and pair.std(axis=1).all():
            alike = float(stats.pearsonr(*pair).statistic)
        worth = float(statistics.compared_with_judge(both, model).worth[model])
        bias = _difference_cells(means(pair))
        rows.append([name, *bias, number(alike, ".2f"), number(worth, ".1f")])
    yield TEXTS["bias"].format(measure=judged.measure)
    yield Table(["model", "bias", "95% interval", "correlation", "equivalent queries"], rows)
