"""Parts of a report on queries: what changed, segments, worst queries, a judge."""

from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gbrank.common.checks import Vector
from gbrank.evaluation.statistics import common_queries, means
from gbrank.fit.explanations import N_REASONS
from gbrank.measures.judges import JUDGE, PEOPLE, powered_mean
from gbrank.plots.comparison_panels import draw_histogram, draw_queries

from . import page
from .report_data import ReportData, groups

N_QUERIES = 10  # that are shown with their lists
TOP = 10  # documents of a list
FURTHER = 5  # documents with a label above 0 that are shown below the top
LONGEST = 200  # documents of a list whose reasons are computed, at 3 ms each
DOTS = 2000


def changes(judged: ReportData) -> dict[str, Any]:
    """Compare two models: orders, all queries in a picture, and lists of those that changed."""
    if not judged.names[1:]:
        return {}
    main = judged.main
    both = common_queries(judged.values)
    n_dots = both.shape[1]
    if n_dots > DOTS:
        both = np.random.default_rng(0).choice(both, DOTS, axis=1, replace=False)
    leads = np.nan_to_num(np.subtract(*judged.values))
    order = np.argsort(-np.abs(leads), kind="stable")[:N_QUERIES]
    in_common = []  # of both orders: documents, the first one, tau
    for query in np.flatnonzero(judged.rows.queries.sizes > 1).tolist():
        ours, theirs = judged.orders(query)
        k = min(TOP, len(ours))
        tau = stats.kendalltau(*(scores[ours] for scores in judged.scores)).statistic
        in_common.append([len({*ours[:k]} & {*theirs[:k]}) / k, ours[0] == theirs[0], tau])
    return {
        "power": main.power_sentence(judged.comparison.target_difference),
        "orders": np.nanmean(in_common, axis=0) if in_common else None,
        "n_dots": n_dots,
        "picture": page.picture(draw_queries, both, main.metric, judged.names) if n_dots else None,
        "queries": [(query, _moves(judged, query)) for query in order if leads[query]],
    }


def _moves(judged: ReportData, query: int) -> list[tuple[int, int, int]]:
    """List the first documents by the second model, by the first, and how far these moved up."""
    ours, theirs = judged.orders(query)
    ranks = {row: rank for rank, row in enumerate(theirs)}
    both = zip(theirs[:TOP], ours, strict=False)
    return [(before, now, ranks[now] - rank) for rank, (before, now) in enumerate(both)]


def distribution(judged: ReportData) -> dict[str, Any]:
    """Draw how many queries have which value, and compute percentiles."""
    values = common_queries(judged.values)
    if not values.size:
        return {}
    return {
        "picture": page.picture(draw_histogram, values, judged.main.metric, judged.names),
        "percentiles": np.percentile(values, [10, 25, 50, 75, 90], axis=1).T,
    }


def segments(judged: ReportData) -> list[tuple[str, float, list[Any]]]:
    """Average by groups of queries: their columns, lengths, relevant documents."""
    result = []
    kinds = [
        *judged.by.items(),
        ("documents in the list", judged.rows.queries.sizes.tolist()),
        ("relevant documents", judged.n_relevant.tolist()),
    ]
    for kind, values in kinds:
        names, codes = groups(values)
        of_parts = []
        for code, name in enumerate(names):
            part = common_queries(judged.values[:, codes == code])
            of_parts.append((name, part.shape[1], means(part)))
        largest = np.nanmax([0.0, *(of_part.mean[0] for _, _, of_part in of_parts)])
        result.append((kind, largest, of_parts))
    return result


def worst(judged: ReportData) -> list[tuple[int, list[list[Any]]]]:
    """List the queries of lowest value, with their documents."""
    values = judged.values[0]
    order = np.lexsort((-judged.n_relevant, values))  # of equal ones, those with most relevant
    queries = [query for query in order[:N_QUERIES] if not np.isnan(values[query])]
    return [(query, _documents(judged, query)) for query in queries]


def _documents(judged: ReportData, query: int) -> list[list[Any]]:
    """List the first documents, and relevant ones below: rank, row, and reasons if there are."""
    rows = judged.orders(query)[0]
    ranks = [i for i in range(len(rows)) if i < TOP or judged.rows.y[rows[i]] > 0][: TOP + FURTHER]
    lines: list[list[Any]] = [[rank, rows[rank]] for rank in ranks]
    if not isinstance(judged.moved, str) and len(rows) <= LONGEST:
        shares = judged.shares(rows)
        for line, beside in zip(lines, (shares - shares.mean(axis=0))[ranks], strict=True):
            line += [_reasons(judged, beside, 1), _reasons(judged, beside, -1)]
    return lines


def _reasons(judged: ReportData, shares: Vector, sign: int) -> str:
    """Name the features that lift a score most, or lower it."""
    largest = np.argsort(-sign * shares, kind="stable")[:N_REASONS]
    parts = [
        f"{page.name(judged.schema.feature_names[i])}{page.SPACE}{page.number(shares[i], '+.2f')}"
        for i in largest
        if sign * shares[i] > 0
    ]
    return ", ".join(parts) or page.NONE


def judge(judged: ReportData) -> dict[str, Any]:
    """Compute how far the judge agrees with people, and what its labels are worth."""
    if JUDGE not in judged.rows.labels:
        return {}
    people, labels = (judged.rows.labels[name] for name in (PEOPLE, JUDGE))
    known = ~np.isnan(people)
    codes = np.unique([people[known], labels[known]], return_inverse=True)[1]
    ours, theirs = codes.reshape(2, -1)
    measured = judged.comparison.parts["test"].values
    queries = measured[PEOPLE][0, 0] > 0
    main = judged.main
    models = []
    for model, name in enumerate(judged.names):
        by_judge, by_people = (
            measured[key][model, 0] for key in (f"{main.metric}[{JUDGE}]", main.metric)
        )
        pair = common_queries(np.array([by_judge, by_people]))
        alike = np.nan
        if pair.shape[1] > 1 and pair.std(axis=1).all():
            alike = stats.pearsonr(*pair).statistic
        models.append((name, means(pair), alike, powered_mean(by_people, by_judge, queries).worth))
    return {
        "worth": main.judge_equivalent_queries,
        "n_queries": queries.sum(),
        "n_documents": known.sum(),
        "agree": np.mean(ours == theirs),
        "kappa": cohen_kappa_score(ours, theirs),
        "weighted": cohen_kappa_score(ours, theirs, weights="quadratic"),
        "models": models,
    }
