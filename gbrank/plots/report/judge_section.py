"""The part of a report on a judge, such as a language model, whose labels stand beside people's."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gbrank.common.table import Table
from gbrank.evaluation.statistics import common_queries, compared, means
from gbrank.measures.judges import JUDGE, PEOPLE
from gbrank.plots.report.blocks import Block, Cell, Paragraph, Section, count, number, said, span
from gbrank.plots.report.report_data import ReportData


def judge(judged: ReportData) -> Section:
    """Return how far the judge agrees with people, and what its labels are worth."""
    both = judged.both[judged.measure]
    rows: list[list[Cell | str]] = []
    for place, model in enumerate(judged.models):
        pair = common_queries(np.array([both.judge[place], both.people[place]]))
        bias = means([pair])
        ends = span(bias.difference_low[0], bias.difference_high[0], "+.4f")
        alike = np.nan
        if pair.shape[1] > 1 and pair.std(axis=1).all():
            alike = float(stats.pearsonr(*pair).statistic)
        worth = float(compared([both], place).worth[place])
        cells = [number(bias.difference[0], "+.4f"), ends, number(alike, ".2f"), _worth(worth)]
        rows.append([model.name, *cells])
    blocks: list[Block] = [
        _verdict(judged),
        said("judge"),
        Table(["judge", ""], _agreement(judged)),
        said("bias", measure=judged.measure),
        Table(["model", "bias", "95% interval", "correlation", "worth in queries"], rows),
    ]
    return Section("judge", "What the judge is worth", blocks)


def _agreement(judged: ReportData) -> list[list[str]]:
    """Return what is judged by both, and how often they agree."""
    people, judge = (judged.rows.labels[name] for name in (PEOPLE, JUDGE))
    known = ~np.isnan(people)
    kinds = np.unique(np.concatenate([people[known], judge[known]]))
    codes = [np.searchsorted(kinds, labels[known]) for labels in (people, judge)]
    weighted = cohen_kappa_score(*codes, weights="quadratic")
    return [
        ["queries judged by people", f"{int(judged.both[judged.measure].judged.sum()):,}"],
        ["documents judged by people", f"{int(known.sum()):,}"],
        ["labels that agree", f"{np.mean(codes[0] == codes[1]):.1%}"],
        ["Cohen's kappa", number(cohen_kappa_score(*codes), ".2f")],
        ["kappa, weighted by squared distance", number(weighted, ".2f")],
    ]


def _verdict(judged: ReportData) -> Paragraph:
    """Say in a sentence what the judge is worth to what the page is about."""
    found = judged.found[judged.measure]
    worth, what = float(found.worth[0]), "difference" if judged.models[1:] else "mean"
    if not worth > 0:
        return said("worth nothing", strong=True, what=what, measure=judged.measure)
    n = count(judged.n_counted(judged.measure), "query")
    values = {"what": what, "measure": judged.measure, "worth": _worth(worth), "n": n}
    return said("worth", strong=True, **values)


def _worth(worth: float) -> str:
    return number(worth, ".1f")
