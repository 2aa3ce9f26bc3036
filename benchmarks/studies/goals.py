"""Two goals: do constraints hold on other queries, and what do they cost the first goal?

python -m benchmarks.studies.goals --data mq2008 flights nfcorpus wikiqa --results DONE
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.artificial import cubic_queries
from benchmarks.letor_folders import read_folds
from benchmarks.writing import RESULTS, SITE, markdown_table, rows_to_json
from gbrank import GBRanker, Queries, get_measure, make_cubic
from gbrank.evaluation import Dataset
from gbrank.evaluation.statistics import interval
from gbrank.measures.gains import gain_values
from gbrank.plots.style import BLUE, GREY, ORANGE

LABEL = "second"
FIRST, SECOND = get_measure("ndcg@10"), get_measure(f"ndcg@10[{LABEL}]")
LEVELS = (0.8, 0.9, 0.95)
WEIGHTS = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0, 10.0)
CONFLICTS = ("mild", "sharp")
ARTIFICIAL = "cubic"
GRADES = (
    0.5,
    0.7,
    0.85,
    0.95,
)  # a document's grade: how many of these shares of documents it beats
Numbers = NDArray[np.float64]


def within_queries(values: Numbers, queries: Queries) -> Numbers:
    """Return ranks, less their mean in each query."""
    ranks = stats.rankdata(values) / len(values)
    means = np.bincount(queries.index, ranks) / queries.sizes
    return np.asarray(ranks - means[queries.index])


def with_second_label(data: Dataset, conflict: str) -> tuple[Numbers, Numbers]:
    """Return the features without one column, and this column as grades from 0 to 4.

    For a mild conflict it is the column whose ranks are least correlated with the labels within
    queries; for a sharp one, the column with the largest correlation, turned round. Columns that
    mostly differ between queries only are left alone. Of artificial data, whose columns say nothing
    of one another, the column stays among the features.
    """
    X = np.asarray(data.X, np.float64)
    labels = within_queries(data.y, data.queries)
    correlations = np.zeros(X.shape[1])
    for column, values in enumerate(X.T):
        if np.isnan(values).any() or len(np.unique(values)) < 20:
            correlations[column] = np.nan
            continue
        ranks = within_queries(values, data.queries)
        varies = ranks.var() > stats.rankdata(values).var() / len(values) ** 2 / 2
        correlations[column] = np.corrcoef(ranks, labels)[0, 1] if varies else np.nan
    sizes = np.abs(correlations)
    chosen = int(np.nanargmin(sizes) if conflict == "mild" else np.nanargmax(sizes))
    sign = 1.0 if conflict == "mild" else -np.sign(correlations[chosen])
    shares = stats.rankdata(sign * X[:, chosen]) / len(X)
    features = X if data.name == ARTIFICIAL else np.delete(X, chosen, axis=1)
    return features, np.searchsorted(GRADES, shares).astype(np.float64)


def rankers(fold: int) -> dict[str, dict[str, Any]]:
    """Return what is changed of GBRanker, by name: constraints in all folds, the rest in the first.

    Blended labels are the gains of y + w × those of the second label, each over its mean.
    """
    makes: dict[str, dict[str, Any]] = {
        "first alone": {},
        "second alone": {"objective": f"noisy:ndcg[{LABEL}]"},
    }
    makes |= {
        f"constraint {level}": {"constraints": [f"{SECOND} >= {level} of best"]} for level in LEVELS
    }
    if fold == 1:
        makes |= {
            f"mixture {weight}": {"objective": f"noisy:ndcg+{weight}*noisy:ndcg[{LABEL}]"}
            for weight in WEIGHTS
        }
        makes |= {f"blend {weight}": {"blend": weight} for weight in WEIGHTS}
    return makes


def outcomes(data: Dataset, conflict: str, fold: int) -> Iterator[dict[str, Any]]:
    """Train every ranker on a fold, and measure both goals on each test query."""
    X, second = with_second_label(data, conflict)
    train, _, test = data.splits[fold - 1]
    qid = data.queries.ids[data.queries.index]
    y = data.y
    for name, changes in rankers(fold).items():
        changes = dict(changes)
        target = y[train]
        if (weight := changes.pop("blend", None)) is not None:
            gains = [gain_values("exp2", label[train]) for label in (y, second)]
            target = gains[0] / gains[0].mean() + weight * gains[1] / gains[1].mean()
            changes["objective"] = "noisy:ndcg(gain='linear')"
        ranker = GBRanker(random_state=0, n_jobs=1, **changes)
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker.fit(X[train], target, qid=qid[train], labels={LABEL: second[train]})
        seconds = time.process_time() - begin
        scores = ranker.predict(X[test])
        plain = get_measure("ndcg@10")
        yield {
            "data": data.name,
            "conflict": conflict,
            "fold": fold,
            "ranker": name,
            "first": plain.per_query(y[test], scores, qid=qid[test]).tolist(),
            "second": plain.per_query(second[test], scores, qid=qid[test]).tolist(),
            "cpu_seconds": seconds,
            "trained": [vars(end) for end in ranker.constraints_],
        }


def stored(data: Dataset, conflict: str, fold: int, folder: Path | None) -> list[dict[str, Any]]:
    """Return the outcomes of a fold, from the folder if they are there."""
    path = None if folder is None else folder / f"{data.name}-{conflict}-{fold}.json"
    if path is not None and path.exists():
        return list(json.loads(path.read_text(encoding="utf-8")))
    found = list(outcomes(data, conflict, fold))
    if path is not None:
        path.write_text(json.dumps(found), encoding="utf-8")
    print(data.name, conflict, fold, flush=True)
    return found


def means(outcome: dict[str, Any]) -> tuple[float, float]:
    """Return both goals, means over the queries that have a value."""
    return tuple(float(np.nanmean(np.array(outcome[goal], float))) for goal in ("first", "second"))


def at_level(curve: list[dict[str, Any]], level: float) -> float:
    """Return the first goal of a family of rankers where the second is at a level, by lines."""
    points = sorted((second, first) for first, second in map(means, curve))
    return float(np.interp(level, *zip(*points, strict=True)))


def holds(outcome: dict[str, Any], best: dict[str, Any], level: float) -> bool:
    """Say whether what a constraint lacks on test queries may be chance (a 95% interval)."""
    lead = np.array(outcome["second"], float) - level * np.array(best["second"], float)
    _, high = interval([lead[~np.isnan(lead)][np.newaxis]])
    return bool(high[0] >= 0)


def summarised(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each data set, conflict and level."""
    rows = []
    groups = dict.fromkeys((one["data"], one["conflict"]) for one in found)
    for data, conflict in groups:
        own = [one for one in found if (one["data"], one["conflict"]) == (data, conflict)]
        folds = sorted({one["fold"] for one in own})
        by_name = {(one["fold"], one["ranker"]): one for one in own}
        families = {
            kind: [
                one
                for one in own
                if one["fold"] == 1 and one["ranker"].split()[0] in (kind, "first", "second")
            ]
            for kind in ("mixture", "blend")
        }
        for level in LEVELS:
            bound = [by_name[fold, f"constraint {level}"] for fold in folds]
            best = [by_name[fold, "second alone"] for fold in folds]
            single = [by_name[fold, "first alone"]["cpu_seconds"] for fold in folds]
            first, second = means(bound[0])
            rows.append(
                {
                    "data": data,
                    "conflict": conflict,
                    "level": level,
                    "fits": len(folds),
                    "holding": sum(map(lambda a, b: holds(a, b, level), bound, best)),
                    "share_reached": float(
                        np.mean(
                            [means(a)[1] / means(b)[1] for a, b in zip(bound, best, strict=True)]
                        )
                    ),
                    "share_in_training": float(
                        np.mean(
                            [
                                one["trained"][0]["value"] / one["trained"][0]["best"]
                                for one in bound
                            ]
                        )
                    ),
                    "first": first,
                    "second": second,
                    "mixture": at_level(families["mixture"], second),
                    "blend": at_level(families["blend"], second),
                    "seconds": float(
                        np.mean(
                            [one["cpu_seconds"] / t for one, t in zip(bound, single, strict=True)]
                        )
                    ),
                }
            )
    return rows


TEXT = """\
# Constraints hold on other queries, at the cost of tuned weights

Each data set has a second label: one of its columns, taken out of the features and cut into five
grades. For a *mild* conflict it is the column that says least of the labels; for a *sharp* one,
the column that says most, turned round. `GBRanker(constraints=["ndcg@10[second] >= L of best"])`
is trained on the training queries, on which the constraint is measured; both goals are then
measured on test queries, which played no other part.

- **held**: fits in which the second goal reaches L of what a ranker for it alone has on the same
  test queries, or lacks so little that it may be chance (95% bootstrap interval by query).
- **against mixtures and blends**: the first goal, less that of ten weighted mixtures of both
  objectives (`noisy:ndcg + w * noisy:ndcg[second]`), or of rankers of ten blended labels, at the
  same value of the second goal (by lines between them; the first fold).
- **seconds**: CPU seconds of the fit, the ranker for the second goal alone included, over those of
  a fit without constraint.

The two numbers of the rule by which weights move (see `gbrank.fit.constraints`) were chosen on the
validation queries of wikiqa and of the artificial data.

![both goals](goals.png)
"""


def page(rows: list[dict[str, Any]], command: str) -> str:
    """Return the page."""
    head = [
        "", "conflict", "L", "held", "share in training", "on test", "first goal",
        "against mixtures", "against blends", "seconds",
    ]  # fmt: skip

    def line(row: dict[str, Any]) -> list[str]:
        return [
            row["data"],
            row["conflict"],
            f"{row['level']:g}",
            f"{row['holding']} of {row['fits']}",
            f"{row['share_in_training']:.3f}",
            f"{row['share_reached']:.3f}",
            f"{row['first']:.4f}",
            f"{row['first'] - row['mixture']:+.4f}",
            f"{row['first'] - row['blend']:+.4f}",
            f"{row['seconds']:.1f}×",
        ]

    total = sum(row["fits"] for row in rows)
    held = sum(row["holding"] for row in rows)
    differences = {
        kind: np.mean([row["first"] - row[kind] for row in rows]) for kind in ("mixture", "blend")
    }
    best = np.mean([row["first"] - max(row["mixture"], row["blend"]) for row in rows])
    seconds = np.mean([row["seconds"] for row in rows])
    summary = (
        f"In all, {held} of {total} constraints held ({held / total:.0%}); against mixtures the "
        f"mean is {differences['mixture']:+.4f}, against blends {differences['blend']:+.4f}, "
        f"against the better of both in each row, chosen on the test queries, {best:+.4f}; a fit "
        f"took {seconds:.1f} times the seconds of one without constraint; either family takes ten "
        "fits."
    )
    table = markdown_table(head, map(line, rows), words=2)
    return "\n\n".join([TEXT.strip(), f"```bash\n{command}\n```", summary, table]) + "\n"


def draw(found: list[dict[str, Any]]) -> None:
    """Draw both goals on the test queries of the first fold, a panel for each case."""
    groups = list(dict.fromkeys((one["data"], one["conflict"]) for one in found))
    names = list(dict.fromkeys(data for data, _ in groups))
    figure, panels = plt.subplots(2, len(names), figsize=(2.6 * len(names), 5), squeeze=False)
    styles = {"mixture": (GREY, "-", "ten mixtures"), "blend": (ORANGE, "-", "ten blended labels")}
    for data, conflict in groups:
        axes = panels[CONFLICTS.index(conflict), names.index(data)]
        own = [
            one
            for one in found
            if (one["data"], one["conflict"], one["fold"]) == (data, conflict, 1)
        ]
        for kind, (color, line, label) in styles.items():
            ends = (kind, "first", "second")
            curve = [means(one)[::-1] for one in own if one["ranker"].split()[0] in ends]
            axes.plot(*zip(*sorted(curve), strict=True), line, color=color, lw=1, label=label)
        bound = [means(one)[::-1] for one in own if one["ranker"].startswith("constraint")]
        axes.plot(*zip(*bound, strict=True), "o", color=BLUE, label="constraints 0.8, 0.9, 0.95")
        axes.set_title(f"{data}, {conflict}", fontsize=9)
        axes.set_xlabel("second goal", fontsize=8)
        axes.tick_params(labelsize=7)
    for axes in panels[:, 0]:
        axes.set_ylabel("first goal", fontsize=8)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.set_layout_engine("constrained")
    figure.savefig(SITE / "goals.png", dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--results", type=Path, help="folder that keeps what is done")
    arguments = parser.parse_args()
    if arguments.results is not None:
        arguments.results.mkdir(parents=True, exist_ok=True)
    X, y, qid = make_cubic(9, random_state=0)
    GBRanker(n_estimators=1).fit(X, y, qid=qid)  # compiles, so that no fit that counts does
    datasets = [*map(read_folds, arguments.data), cubic_queries(1000, name=ARTIFICIAL)]
    found = [
        outcome
        for fold in range(1, arguments.folds + 1)
        for data in datasets
        if fold <= len(data.splits)
        for conflict in CONFLICTS
        for outcome in stored(data, conflict, fold, arguments.results)
    ]
    rows = summarised(found)
    names = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.goals --data {names}"
    (RESULTS / "goals.json").write_text(rows_to_json(rows), encoding="utf-8")
    (SITE / "goals.md").write_text(page(rows, command), encoding="utf-8")
    draw(found)
