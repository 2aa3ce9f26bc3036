"""What can be learned from clicks, where users behave as a model assumes, and where not?

python -m benchmarks.studies.clicks --data mq2008
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from benchmarks.letor_folders import read_folds
from benchmarks.studies.study import options
from benchmarks.writing import RESULTS, markdown_table
from gbrank import NDCG, GBRanker, make_cubic
from gbrank.clicks import clicks_to_labels, position_report
from tests.clicked import WORLDS, Clicks, make_clicks

Vector = NDArray[np.float64]

SEEDS, TRAINED, OLD, SESSIONS = 5, 80, 25, 20
LOGGERS, TEMPERATURES = ("weak", "strong"), (0.0, 0.1, 1.0)
TREES: dict[str, Any] = {"n_estimators": 50, "learning_rate": 0.1, "num_leaves": 15}
OWN: dict[str, Any] = {"colsample": 1.0, "extra_trees": False, "random_state": 0, "n_jobs": 1}
METHODS = ("naive", "auto", "free", "pbm", "coec", "ipw", "lightgbm", "xgboost", "labels")
TEXT = """\
# Clicks teach what their log can tell

{trained} queries are shown {sessions} times each, at most 10 documents, by a ranker whose scores
have Gumbel noise of a temperature: at 0, a query has one ranking; at 0.1, few documents move; at 1,
most. The *weak* logger ranks by one feature, the *strong* one learned from labels of {old} other
queries. Users click by the position-based model (*pbm*, attention 1/r), down the list until they
are content (*cascade*), with trust in what stands at the top (*trust*), or by the position-based
model with wrong positions in 30% of sessions (*wrong*). Rankers of 50 trees of 15 leaves are judged
by NDCG@10 on the labels of other queries. Means of {seeds} seeds.

All but LightGBM and XGBoost are GBRanker with the default objective: *naive* on clicks; *auto* and
*free* with `position=` and this `position_model`; *pbm* on `clicks_to_labels` with its weights;
*coec* on clicks over expected clicks, as search engines offer it (at most 5); *ipw* on clicks over
the estimated attention; *lightgbm* lambdarank with `position`; *xgboost* rank:ndcg with
`lambdarank_unbiased`; *labels* on the labels.
"""


def ratio(log: pd.DataFrame) -> pd.DataFrame:
    """Return clicks over expected clicks of each document, without a prior."""
    expected = log.groupby("position")["click"].transform("mean")
    sums = log.assign(expected=expected).groupby("document", sort=False)[["click", "expected"]]
    both = sums.sum().reset_index()
    share = both["click"] / both["expected"].clip(lower=1e-9)
    return both.assign(label=share.clip(upper=5.0))


def lightgbm(X: Vector, log: Clicks) -> Callable[[Vector], Vector]:
    """Train LightGBM's lambdarank, which corrects for positions."""
    data = lgb.Dataset(X, log.y, group=np.bincount(log.qid), position=log.position)
    params = {"objective": "lambdarank", "num_leaves": 15, "learning_rate": 0.1}
    found = lgb.train(
        {**params, "verbose": -1, "num_threads": 1, "seed": 0}, data, TREES["n_estimators"]
    )
    return lambda X: np.asarray(found.predict(X))


def xgboost(X: Vector, log: Clicks) -> Callable[[Vector], Vector]:
    """Train XGBoost's unbiased LambdaMART, whose rows stand as they were shown."""
    order = np.lexsort((log.position, log.qid))
    found = xgb.XGBRanker(
        objective="rank:ndcg", lambdarank_unbiased=True, n_estimators=TREES["n_estimators"],
        learning_rate=0.1, max_leaves=15, max_depth=0, grow_policy="lossguide", n_jobs=1,
    )  # fmt: skip
    found.fit(X[order], log.y[order], qid=log.qid[order])
    return lambda X: np.asarray(found.predict(X))


def worths(source: Any, logger: str, temperature: float, world: str, seed: int) -> Vector:
    """Return the NDCG@10 of each method in one simulation."""
    if source is None:
        X, y, qid = make_cubic(
            160, n_documents=12, n_features=5, distribution=(0.5, 0.2, 0.15, 0.1, 0.05),
            random_state=seed,
        )  # fmt: skip
    else:
        chosen = np.random.default_rng(seed).permutation(np.unique(source[2]))[:250]
        kept = np.isin(source[2], chosen)
        X, y, qid = source[0][kept], source[1][kept], source[2][kept]
    place = np.unique(qid, return_inverse=True)[1]
    place = np.random.default_rng(seed).permutation(place.max() + 1)[place]
    seen, old, test = place < TRAINED, (place >= TRAINED) & (place < TRAINED + OLD), place >= 105
    shown, labels, queries = X[seen], y[seen], qid[seen]
    scores = shown[:, 0 if source is None else -1]
    if logger == "strong":
        scores = GBRanker("lambdarank", **TREES, **OWN).fit(X[old], y[old], qid=qid[old])
        scores = scores.predict(shown)
    log = make_clicks(
        labels, queries, scores=2 * scores / scores.std(), temperature=temperature,
        n_sessions=SESSIONS, noise=0.05, world=world, random_state=seed,
    )  # fmt: skip
    rows, frame = shown[log.rows], {"query": queries[log.rows], "document": log.rows}
    table = pd.DataFrame({**frame, "position": log.position, "click": log.y})
    attention = position_report(log.rows, log.position, log.y).attention
    weights = 1 / np.array([max(attention[place], 0.1) for place in log.position])

    def fit(X: Vector, y: Vector, qid: Vector, model: str = "auto", **data: Any) -> Any:
        return GBRanker(position_model=model, **TREES, **OWN).fit(X, y, qid=qid, **data).predict

    def on_labels(made: pd.DataFrame, **data: Any) -> Any:
        rows = made["document"].to_numpy()
        return fit(shown[rows], made["label"], queries[rows], **data)

    pbm, position = clicks_to_labels(table), log.position
    found = {
        "naive": fit(rows, log.y, log.qid),
        "auto": fit(rows, log.y, log.qid, position=position),
        "free": fit(rows, log.y, log.qid, "free", position=position),
        "pbm": on_labels(pbm, sample_weight=pbm["weight"]),
        "coec": on_labels(ratio(table)),
        "ipw": fit(rows, log.y, log.qid, sample_weight=np.where(log.y > 0, weights, 1)),
        "lightgbm": lightgbm(rows, log),
        "xgboost": xgboost(rows, log),
        "labels": fit(shown, labels, queries),
    }
    return np.array([NDCG(k=10)(y[test], found[name](X[test]), qid=qid[test]) for name in METHODS])


def lead(cells: NDArray[np.float64], method: str, other: str) -> str:
    """Return the mean lead of a method, with its 95% interval over seeds, and its worst case."""
    gains = cells[..., METHODS.index(method)] - cells[..., METHODS.index(other)]
    means = gains.mean(axis=0)
    margin = stats.t.ppf(0.975, len(means) - 1) * stats.sem(means)
    worst = gains.mean(axis=1).min()
    return f"{means.mean():+.3f} ± {margin:.3f}, worst {worst:+.3f}"


if __name__ == "__main__":
    arguments = options(__doc__).parse_args()
    sources: dict[str, Any] = {"artificial": None}
    for folder in arguments.data:
        data = read_folds(folder)
        qid = np.unique(data.qid, return_inverse=True)[1]
        kept = (np.bincount(qid, data.y) > 0)[qid]
        sources[data.name] = data.X[kept], data.y[kept], qid[kept]
    parts = [TEXT.strip().format(trained=TRAINED, sessions=SESSIONS, old=OLD, seeds=SEEDS)]
    parts.append(
        f"```bash\npython -m benchmarks.studies.clicks --data {' '.join([*sources][1:])}\n```"
    )
    cells = list(product(TEMPERATURES, LOGGERS, WORLDS))
    for name, source in sources.items():
        tasks = product(cells, range(SEEDS))
        found = np.array(
            Parallel(arguments.jobs)(
                delayed(worths)(source, logger, temperature, world, seed)
                for (temperature, logger, world), seed in tasks
            )
        ).reshape(len(cells), SEEDS, -1)
        rows = [
            [f"{cell[0]:g}", *cell[1:], *(f"{value:.3f}" for value in one.mean(axis=0))]
            for cell, one in zip(cells, found, strict=True)
        ]
        head = ["temperature", "logger", "users", *METHODS]
        parts += [f"## {name}", markdown_table(head, rows, words=3)]
        leads = []
        for temperature in TEMPERATURES:
            own = found[[cell[0] == temperature for cell in cells]]
            for method in ("auto", "free", "pbm"):
                others = ("naive", "coec", "lightgbm", "xgboost")
                words = [lead(own, method, other) for other in others]
                leads.append([f"{temperature:g}", method, *words])
        head = [
            "temperature",
            "lead of",
            "over naive",
            "over coec",
            "over lightgbm",
            "over xgboost",
        ]
        parts.append(markdown_table(head, leads, words=6))
    (RESULTS / "clicks.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
