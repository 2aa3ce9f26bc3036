"""The part of a report on a judge, such as a language model, whose labels stand beside people's."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from gbrank.common.table import Table
from gbrank.evaluation.statistics import common_queries, compared_with_judge, means
from gbrank.measures.judges import JUDGE, PEOPLE
from gbrank.plots.report.html_page import TEXTS, Block, Section, count, number, span
from gbrank.plots.report.report_data import ReportData


def judge(judged: ReportData) -> Section | None:
    """Return how far the judge agrees with people, and what its labels are worth."""
    if not judged.both:
        return None
    both, rows = judged.both[judged.measure], []
    for place, model in enumerate(judged.models):
        pair = common_queries(np.array([both.judge[place], both.people[place]]))
        bias, alike = means(pair), np.nan
        if pair.shape[1] > 1 and pair.std(axis=1).all():
            alike = float(stats.pearsonr(*pair).statistic)
        ends = span(bias.difference_low[0], bias.difference_high[0], "+.4f")
        worth = number(float(compared_with_judge(both, place).worth[place]), ".1f")
        mean = number(bias.difference[0], "+.4f")
        rows.append([model.name, mean, ends, number(alike, ".2f"), worth])
    head = ["model", "bias", "95% interval", "correlation", "worth in queries"]
    bias_text = TEXTS["bias"].format(measure=judged.measure)
    agreement = Table(["judge", ""], _agreement(judged))
    blocks: list[Block] = [TEXTS["judge"], agreement, bias_text, Table(head, rows)]
    return Section("judge", "What the judge is worth", blocks, _verdict(judged))


def _agreement(judged: ReportData) -> list[list[str]]:
    """Return what is judged by both, and how often they agree."""
    people, judge = (judged.rows.labels[name] for name in (PEOPLE, JUDGE))
    known = ~np.isnan(people)
    codes = np.unique(np.concatenate([people[known], judge[known]]), return_inverse=True)[1]
    pair = np.split(codes, 2)
    weighted = cohen_kappa_score(*pair, weights="quadratic")
    return [
        ["queries judged by people", f"{int(judged.both[judged.measure].judged.sum()):,}"],
        ["documents judged by people", f"{int(known.sum()):,}"],
        ["labels that agree", f"{np.mean(pair[0] == pair[1]):.1%}"],
        ["Cohen's kappa", number(cohen_kappa_score(*pair), ".2f")],
        ["kappa, weighted by squared distance", number(weighted, ".2f")],
    ]


def _verdict(judged: ReportData) -> str:
    """Return in a sentence what the judge is worth to what the page is about."""
    worth = float(judged.compared[judged.measure].worth[0])
    return TEXTS["worth" if worth > 0 else "worth nothing"].format(
        what="difference" if judged.models[1:] else "mean",
        measure=judged.measure,
        worth=number(worth, ".1f"),
        n=count(judged.n_counted(judged.measure), "query"),
    )
