"""Time of a gradient per document against the length of lists, next to the boosters' own.

For each objective, one thread computes gradients of five grades (of some also of labels that all
differ) at normal scores, σ = 0.3 of their standard deviation (σ² where sigma is in units of squared
scores), in lists of one length, the sort included; between two gradients scores move a little, as
in a fit. The least time of several is kept. A series ends where the next list would take more than
a few seconds. LightGBM, XGBoost and CatBoost compute gradients only inside a round, so theirs is
the time of a round that grows a stump on one feature, all pairs on, less that of squared loss;
noise may be larger than that for short lists. Memory is the growth of a new process (on Linux)
while it computes the gradient of one list. Writes scaling.md, scaling.png and scaling.json.

    python -m benchmarks.scaling                             # to results/
    python -m benchmarks.scaling --longest 3000 --output /tmp       # a quick look
"""

import argparse
import itertools
import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import xgboost as xgb
from matplotlib.figure import Figure

from benchmarks.names import objective_names
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import Queries, get_objective

LENGTHS = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
DOCUMENTS = 20_000  # at least so many, in lists of one length
LIMIT = 4.0  # seconds
SIGMA = 0.3
MOVED = 0.05  # about as far as scores move in a round of boosting
# Drawn with lines of their own.
CHOSEN = [
    "noisy:ndcg", "ranknet", "lambda:ndcg", "approx:ndcg", "smooth:ndcg", "soft:ndcg", "tie:ndcg",
]  # fmt: skip
# Also measured, cut at a rank or with labels that all differ.
CONTINUOUS = ", continuous labels"
MORE = ["soft:ndcg@10", *(f"{name}{CONTINUOUS}" for name in ("lambda:ndcg", "lambda:kendall"))]
PEERS = ["LightGBM lambdarank", "XGBoost rank:ndcg", "CatBoost YetiRank"]

Series = dict[int, float]


def make_data(name: str, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return labels, scores and sizes of lists of m documents."""
    rng = np.random.default_rng(0)
    sizes = np.full(max(1, DOCUMENTS // m), m)
    labels = rng.choice(5, sizes.sum(), p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    if name.endswith(CONTINUOUS):
        labels += rng.random(len(labels))
    return labels, rng.normal(size=len(labels)), sizes


def least(run: Callable[[], object]) -> float:
    """Return the least seconds of up to five runs."""
    seconds: list[float] = []
    while len(seconds) < 5 and sum(seconds) < LIMIT:
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def gradient_seconds(name: str, m: int) -> float:
    """Return the seconds of a gradient, scores moving from each to the next."""
    labels, scores, sizes = make_data(name, m)
    objective = get_objective(name.removesuffix(CONTINUOUS))
    sigma = SIGMA**2 if objective.facts.sigma_unit == "squared score" else SIGMA
    bound = objective.bind(labels, Queries.from_sizes(sizes), n_jobs=1)
    other = scores + MOVED * np.random.default_rng(1).normal(size=len(scores))
    rounds = itertools.cycle([scores, other])
    return least(lambda: bound.gradients(next(rounds), sigma))


def peer_seconds(name: str, m: int) -> float:
    """Return the seconds of a round, less those of a round of squared loss."""
    labels, scores, sizes = make_data(name, m)
    X = scores[:, None].astype(np.float32)
    if name.startswith("LightGBM"):
        data = lgb.Dataset(X, labels, group=sizes, params={"verbosity": -1})
        common = {"num_leaves": 2, "num_threads": 1, "verbosity": -1, "metric": "none"}
        level = {"lambdarank_truncation_level": m}
        boosters = [
            lgb.Booster({**common, "objective": "lambdarank", **level}, data),
            lgb.Booster({**common, "objective": "regression"}, data),
        ]
        ranking, squares = (least(booster.update) for booster in boosters)
        return max(ranking - squares, 0.0)
    if name.startswith("XGBoost"):
        matrix = xgb.DMatrix(X, labels, group=sizes, nthread=1)
        common = {"max_depth": 1, "tree_method": "hist", "nthread": 1}
        pairs = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": m}
        models = [
            xgb.Booster({**common, "objective": "rank:ndcg", **pairs}, [matrix]),
            xgb.Booster({**common, "objective": "reg:squarederror"}, [matrix]),
        ]
        ranking, squares = (least(partial(model.update, matrix, 1)) for model in models)
        return max(ranking - squares, 0.0)
    pool = catboost.Pool(X, labels, group_id=np.repeat(np.arange(len(sizes)), sizes))

    def seconds(loss: str, rounds: int) -> float:
        model = catboost.CatBoost(
            {"loss_function": loss, "iterations": rounds, "depth": 1, "thread_count": 1,
             "logging_level": "Silent", "allow_writing_files": False}
        )  # fmt: skip
        return least(lambda: model.fit(pool))

    yeti, squared = (seconds(loss, 3) - seconds(loss, 1) for loss in ("YetiRank", "RMSE"))
    return max(yeti - squared, 0.0) / 2


def series(name: str, lengths: list[int], seconds_of: Callable[[str, int], float]) -> Series:
    """Return nanoseconds per document by list length, as far as the limit allows."""
    found: Series = {}
    growth = 1.0
    for m in lengths:
        documents = len(make_data(name, m)[0])
        if found:
            last, before = list(found)[-1], list(found)[-2 if len(found) > 1 else -1]
            growth = max(found[last] / max(found[before], 1.0), 1.0)
            if found[last] * growth * documents / 1e9 > LIMIT:
                break
        try:
            found[m] = seconds_of(name, m) / documents * 1e9
        except (lgb.basic.LightGBMError, xgb.core.XGBoostError, catboost.CatBoostError) as error:
            print(f"{name} refuses {m} documents: {str(error).splitlines()[0]}")
            break
    print(name, {m: round(value) for m, value in found.items()}, flush=True)
    return found


def exponent(times: Series) -> float | None:
    """Return the exponent of a list's time against its length, from 1,000 documents on."""
    long = {m: value for m, value in times.items() if m >= 1000 and value > 0}
    if len(long) < 2:
        return None
    return 1 + float(np.polyfit(np.log(list(long)), np.log(list(long.values())), 1)[0])


def memory(name: str, m: int) -> float:
    """Return bytes per document by which this process grows."""
    labels, scores, sizes = make_data(name, m)
    objective = get_objective(name.removesuffix(CONTINUOUS))
    bound = objective.bind(labels, Queries.from_sizes(sizes), n_jobs=1)
    objective.bind(labels[:2000], Queries.from_sizes([2000]), n_jobs=1).gradients(scores[:2000])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = resident("VmRSS")
    bound.gradients(scores, SIGMA)
    return (resident("VmHWM") - before) / m


def resident(field: str) -> int:
    """Return the bytes of memory that this process has now (VmRSS), or had at most (VmHWM)."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if field in line)
    return int(line.split()[1]) * 1024


def draw(times: dict[str, Series]) -> Figure:
    """Draw all series on logarithmic axes."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots()
    for name, values in times.items():
        own = {"linestyle": "--", "marker": "s"} if name in PEERS else {"marker": "o"}
        plain: dict[str, Any] = {"color": "0.75", "linewidth": 0.7, "zorder": 1}
        drawn = own | {"label": name, "markersize": 4} if name in CHOSEN + PEERS else plain
        axes.plot(list(values), list(values.values()), **drawn)
    axes.plot([], [], **plain, label="other objectives")
    axes.set(xscale="log", yscale="log", xlabel="documents in a list", ylabel="ns per document")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", bbox_to_anchor=(1.01, 1), loc="upper left")
    return figure


def rows_of(times: dict[str, Series], bytes_of: dict[str, float]) -> list[dict[str, Any]]:
    """Return what was measured of each objective."""
    return [
        {
            "objective": name,
            **{str(m): value for m, value in values.items()},
            "exponent": exponent(values),
            "bytes": bytes_of.get(name),
        }
        for name, values in times.items()
    ]


def page(lengths: list[int], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the study as Markdown, with every other length."""
    shown = lengths[::2]
    head = ["", *(f"{m:,}" for m in shown), "exponent", "bytes/doc"]
    lines = [
        [
            f"`{row['objective']}`",
            *(f"{row[str(m)]:,.0f}" if str(m) in row else "" for m in shown),
            "" if row["exponent"] is None else f"{row['exponent']:.2f}",
            "" if row["bytes"] is None else f"{row['bytes']:.0f}",
        ]
        for row in rows
    ]
    return f"""\
# Lists of 100,000 cost less than 1 µs a document with most objectives

Nanoseconds per document of one gradient, by the length of the lists, on one thread, sort included;
the exponent of a list's time against its length from 1,000 documents on; and the memory that the
gradient of one list of {lengths[-1]:,} documents takes, results included. Series end where the
next list would take more than {LIMIT:.0f} seconds, or where a library refuses.
[The numbers](scaling.json) have the lengths in between too. How it is
measured: [`benchmarks/scaling.py`](../scaling.py).

```bash
python -m benchmarks.scaling
```

![time per document against list length](scaling.png)

{markdown_table(head, lines)}
"""


def main() -> None:
    """Measure, write and draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="documents in a list")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where to write")
    options = parser.parse_args()
    lengths = [m for m in LENGTHS if m <= options.longest]
    names = sorted([*objective_names(), *MORE])
    for name in names:
        gradient_seconds(name, 10)  # compiles
    times = {name: series(name, lengths, gradient_seconds) for name in names}
    times |= {name: series(name, lengths, peer_seconds) for name in PEERS}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        reaching = [name for name in names if lengths[-1] in times[name]]
        bytes_of = {name: pool.apply(memory, (name, lengths[-1])) for name in reaching}
    rows = rows_of(times, bytes_of)
    (options.output / "scaling.json").write_text(rows_to_json(rows), encoding="utf-8")
    (options.output / "scaling.md").write_text(page(lengths, rows), encoding="utf-8")
    draw(times).savefig(options.output / "scaling.png", dpi=110)


if __name__ == "__main__":
    main()
