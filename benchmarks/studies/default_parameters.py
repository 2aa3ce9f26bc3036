"""gbrank, LightGBM, XGBoost and CatBoost with default parameters.

pip install catboost ydf hessboost alloygbm
python -m benchmarks.studies.default_parameters --data mq2008 ohsumed flights nfcorpus wikiqa
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import lightgbm as lgb
import matplotlib.pyplot as plt
import numpy as np
import xgboost as xgb
from catboost import CatBoostRanker
from matplotlib.axes import Axes
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from benchmarks.strata import difference
from benchmarks.studies.fits import Study, by_data, compared, folds
from benchmarks.writing import SITE, markdown_table
from gbrank import GBRanker, Queries
from gbrank.evaluation import Dataset, read_letor_folds
from gbrank.plots.style import BLUE, PALETTE, tidy

SEEDS = 5
DEFAULT = "GBRanker()"
TEXT = """\
# With default parameters, gbrank ranks better than LightGBM and XGBoost

Each library's ranker is trained without setting a parameter, on the training parts of five folds
like LETOR's (the validation parts are not used), and evaluated on the test parts, on one thread.
Added are `GBRanker` with 500 instead of 150 rounds, and the rankers of hessboost, AlloyGBM (in 100
rounds) and YDF.

- **Selection.** gbrank's defaults were chosen on validation queries ([how](../defaults.md)). The
  test queries of the first four data sets were evaluated eight times, for different defaults of
  learning rate, rounds, leaves, pairs of long lists, and trees for small data.
- **Seeds.** Each fold has one seed. With {count} others, NDCG@10 of `GBRanker()` is
  {seeds}.
- **Statistics.** The mean weights all data sets equally. Differences are relative to `GBRanker()`,
  with 95% bootstrap intervals over queries, not corrected for the number of rankers; p is that of
  the paired randomization test. [The JSON file](../../benchmarks/results/default_parameters.json)
  has those of each data set.
- **Time.** CPU seconds are for one fit, averaged over folds, on a processor shared with other
  programs.

![NDCG@10 against CPU seconds](default_parameters.png)
"""


def gbrank_scores(train: Any, test: Any, seed: int, **params: Any) -> Any:
    """Return the scores of a `GBRanker` with these parameters."""
    ranker = GBRanker(random_state=seed, n_jobs=1, **params)
    return ranker.fit(train.X, train.y, qid=train.qid).predict(test.X)


def peer_scores(
    make: Any, argument: str, train: Any, test: Any, seed: int, sizes: bool = False
) -> Any:
    """Return the scores of a ranker that wants the rows of a query to stand together."""
    queries = Queries.from_qid(train.qid)
    rows = queries.order
    groups: Any = queries.sizes if sizes else queries.index[rows]
    return make(seed).fit(train.X[rows], train.y[rows], **{argument: groups}).predict(test.X)


def yggdrasil_scores(train: Any, test: Any, seed: int) -> Any:
    """Return the scores of YDF's learner, which takes columns by name."""
    ydf = import_module("ydf")
    columns = {f"feature {i}": values for i, values in enumerate(np.asarray(train.X).T)}
    learner = ydf.GradientBoostedTreesLearner(
        label="label", task=ydf.Task.RANKING, ranking_group="query", num_threads=1, random_seed=seed
    )
    model = learner.train(columns | {"label": train.y, "query": train.qid}, verbose=0)
    features = {f"feature {i}": values for i, values in enumerate(np.asarray(test.X).T)}
    return model.predict(features | {"query": np.zeros(len(test.X), train.qid.dtype)})


RANKERS: dict[str, Any] = {
    DEFAULT: gbrank_scores,
    "GBRanker(n_estimators=500)": partial(gbrank_scores, n_estimators=500),
    "LGBMRanker()": partial(
        peer_scores,
        lambda seed: lgb.LGBMRanker(random_state=seed, n_jobs=1, verbosity=-1),
        "group",
        sizes=True,
    ),
    "XGBRanker()": partial(
        peer_scores, lambda seed: xgb.XGBRanker(random_state=seed, n_jobs=1), "qid"
    ),
    "CatBoostRanker()": partial(
        peer_scores,
        lambda seed: CatBoostRanker(
            random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False
        ),
        "group_id",
    ),
    "HessboostRanker()": partial(
        peer_scores,
        lambda seed: import_module("hessboost.sklearn").HessboostRanker(
            random_state=seed, n_jobs=1
        ),
        "qid",
    ),
    "GBMRanker(n_estimators=100)": partial(
        peer_scores,
        lambda seed: import_module("alloygbm").GBMRanker(n_estimators=100, seed=seed),
        "group",
    ),
    "GradientBoostedTreesLearner()": yggdrasil_scores,
}


COLORS = (*PALETTE, "tab:brown", "tab:gray", "tab:olive")
LOOKS = dict(zip(RANKERS, [(BLUE, "s"), *((color, "o") for color in COLORS)], strict=True))


def outcomes(
    study: Study, data: Iterable[Dataset], part: str, rankers: Any
) -> list[dict[str, Any]]:
    """Return a row for each data set, and all together, and each ranker, on a part of the folds."""
    found = study.rows((case for one in data for case in folds(one, part)), rankers)
    return [*by_data(found), *compared(found)]


def over_seeds(study: Study, data: Iterable[Dataset]) -> list[dict[str, Any]]:
    """Return a row for each seed of the default and each data set, on the test queries."""
    cases = (
        case._replace(size=case.seed) for one in data for case in folds(one, "test", range(SEEDS))
    )
    return [
        {
            "data": row["data"],
            "ranker": DEFAULT,
            "seed": row["size"],
            "ndcg@10": float(np.nanmean(row["values"])),
        }
        for row in study.rows(cases, {DEFAULT: RANKERS[DEFAULT]})
    ]


def page(
    rows: Sequence[Mapping[str, Any]], by_seed: Sequence[Mapping[str, Any]], command: str
) -> str:
    """Return the page."""
    labels = list(dict.fromkeys(row["data"] for row in rows))
    cell = {(row["data"], row["ranker"]): row for row in rows}
    lines = []
    for ranker in RANKERS:
        own = [cell[label, ranker] for label in labels]
        cells = (f"{row['ndcg@10']:.4f} ({row['cpu_seconds']:.1f} s)" for row in own)
        mean = own[-1]
        tested = ["", ""] if mean["p"] is None else [difference(mean), f"{mean['p']:.4f}"]
        lines.append([f"`{ranker}`", *cells, *tested])
    ranges = []
    for name in dict.fromkeys(row["data"] for row in by_seed):
        found = [row["ndcg@10"] for row in by_seed if row["data"] == name]
        ranges.append(f"{min(found):.4f} to {max(found):.4f} on {name}")
    text = TEXT.format(count=SEEDS, seeds=", ".join(ranges))
    blocks = [
        text.strip(),
        f"```bash\n{command}\n```",
        markdown_table(["NDCG@10 (CPU seconds)", *labels, "difference of the mean", "p"], lines),
    ]
    return "\n\n".join(blocks) + "\n"


def by_seconds(axes: Axes, title: str) -> None:
    """Show CPU seconds on a logarithmic axis."""
    axes.set(xscale="log", xlabel="CPU seconds of a fit", title=title)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    tidy(axes)


def draw(rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw NDCG@10 against CPU seconds, a panel for each data set."""
    labels = [label for label in dict.fromkeys(row["data"] for row in rows) if label != "mean"]
    figure, panels = plt.subplots(1, len(labels), figsize=(3 * len(labels), 3.2), squeeze=False)
    for axes, label in zip(panels[0], labels, strict=True):
        for row in [row for row in rows if row["data"] == label]:
            color, marker = LOOKS[row["ranker"]]
            point = row["cpu_seconds"], row["ndcg@10"]
            axes.plot(*point, marker, color=color, label=row["ranker"])
        by_seconds(axes, label)
    panels[0, 0].set_ylabel("NDCG@10, test queries")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    figure.set_layout_engine("constrained")
    figure.savefig(SITE / "default_parameters.png", dpi=120)


if __name__ == "__main__":
    study = Study("default_parameters", __doc__, "--data")
    data = list(map(read_letor_folds, study.folders))
    rows, by_seed = outcomes(study, data, "test", RANKERS), over_seeds(study, data)
    study.publish([*rows, *by_seed], page(rows, by_seed, study.command), SITE)
    draw(rows)
