"""Tuned rankers: `gbrank.tune`, LightGBM and CatBoost by Optuna, with the same CPU seconds.

python -m benchmarks.studies.tuned --data mq2008 ohsumed nfcorpus wikiqa flights --large FOLDER

FOLDER holds Parquet files, such as flights_full. What `--results` names keeps what is done; the
page has the folds and seconds that it holds.
"""

import argparse
import json
import time
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import catboost
import lightgbm as lgb
import numpy as np
import optuna
from sklearn.base import clone

from benchmarks.letor_folders import read_folds
from benchmarks.studies.as_they_come import MEASURE
from benchmarks.studies.paired import against_first
from benchmarks.studies.study import one_fold
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker, Queries
from gbrank.evaluation import Dataset, LabelledDocuments, tuning
from gbrank.evaluation.search_space import TUNED
from gbrank.evaluation.tuning import Tuned

TEXT = """\
# Tuned

The same CPU minutes, on one thread, for every fold and ranker. LightGBM's lambdarank is tuned by
Optuna (TPE, the library's default first) over leaves, smallest leaf, learning rate, share of
documents and of features, L2 penalty and truncation; its trials train on the training part of the
fold and stop early after 50 rounds without a better NDCG@10 on the validation part. "LightGBM" is
the best trial's model, and "LightGBM, refitted" the same parameters and rounds, trained on both
parts. "CatBoost" is YetiRank, tuned likewise over depth, learning rate, share of features and L2
penalty; a trial that time ends keeps its trees. `gbrank.tune` has both parts too, which it divides
into four folds; "best trial" is its best trial alone, trained on both parts, and "GBRanker()" the
default, the mean over five seeds. The space of `tune`, what it tries first and how it averages were
chosen on validation queries of fold 1 of OHSUMED, MQ2008 and WikiQA. Test queries of the five small
sets were read twice, once for an earlier version of the defaults, and those of fold 1 again for ten
minutes; other studies read those of flights_full before. It has 160,000 documents to train on. The
mean is over data sets, each with the same weight.

In two minutes `tune` is ahead of both LightGBMs and of CatBoost beyond chance on the mean, and of
the mean `GBRanker()` by chance only: most of the lead is the default's. On WikiQA it is behind all,
by chance; on flights_full these are four trials, and the default stays. In ten minutes, on one fold
of each set, it is ahead of LightGBM beyond chance on the mean, and by chance of LightGBM refitted,
of CatBoost and of `GBRanker()`; on OHSUMED, where the fold has 21 test queries, it is behind both
LightGBMs, by chance. The first two sets of ten minutes, flights_full and nfcorpus, had been read
before the other four were run; on these two alone the leads are about twice as large.
"""
SHARES = """
What mattered to gbrank's trials: Optuna's fANOVA importances, means over folds.
"""
COMPARED = (
    "gbrank.tune",
    *("LightGBM", "LightGBM, refitted", "CatBoost", "gbrank.tune, best trial", "GBRanker()"),
)

SEEDS = 5  # of `GBRanker()`, whose mean is shown

Outcomes: TypeAlias = dict[str, list[float]]  # NDCG@10 of each test query by ranker, and counts


def values(scores: Any, part: LabelledDocuments) -> Any:
    """Return NDCG@10 of each query, NaN where none is relevant."""
    return MEASURE.bind(part.y, Queries.from_qid(part.qid)).per_query(scores)


def grouped(*parts: LabelledDocuments) -> tuple[Any, Any, Any]:
    """Return features, labels and sizes of queries, whose rows stand together."""
    X, y, qid = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    queries = Queries.from_qid(qid)
    return X[queries.order], y[queries.order], queries.sizes


def lightgbm_space(trial: optuna.Trial) -> dict[str, Any]:
    """Return what is usually tuned of LightGBM's ranker."""
    return {
        "num_leaves": trial.suggest_int("num_leaves", 7, 255, log=True),
        "min_child_samples": trial.suggest_int("min_child_samples", 5, 200, log=True),
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
        "lambdarank_truncation_level": trial.suggest_int(
            "lambdarank_truncation_level", 10, 300, log=True
        ),
    }


LIGHTGBM_DEFAULT = {
    "num_leaves": 31,
    "min_child_samples": 20,
    "learning_rate": 0.1,
    "subsample": 1.0,
    "colsample_bytree": 1.0,
    "reg_lambda": 1e-3,
    "lambdarank_truncation_level": 30,
}


def catboost_space(trial: optuna.Trial) -> dict[str, Any]:
    """Return what is usually tuned of CatBoost's ranker."""
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "depth": trial.suggest_int("depth", 4, 8),
        "l2_leaf_reg": trial.suggest_float("l2_leaf_reg", 1.0, 30.0, log=True),
        "rsm": trial.suggest_float("rsm", 0.3, 1.0),
    }


CATBOOST_DEFAULT = {"learning_rate": 0.03, "depth": 6, "l2_leaf_reg": 3.0, "rsm": 1.0}


def searched(
    space: Callable[[optuna.Trial], dict[str, Any]],
    default: dict[str, Any],
    trained: Callable[[dict[str, Any]], Any],
    valid: LabelledDocuments,
    end: float,
    seed: int,
) -> tuple[optuna.Study, Any]:
    """Return the trials until the end, and the model that ranks validation queries best."""
    models = {}

    def trial_value(trial: optuna.Trial) -> float:
        models[trial.number] = model = trained(space(trial))
        return float(np.nanmean(values(model.predict(valid.X), valid)))

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial(default)
    while time.process_time() < end:
        study.optimize(trial_value, n_trials=1)
    return study, models[study.best_trial.number]


def tuned_lightgbm(
    train: LabelledDocuments,
    valid: LabelledDocuments,
    test: LabelledDocuments,
    seconds: float,
    seed: int,
) -> Outcomes:
    """Return what LightGBM's best trial is worth, and the same refitted with validation queries."""
    end = time.process_time() + seconds
    own, held = grouped(train), grouped(valid)

    def in_time(_: Any) -> None:
        if time.process_time() > end:
            raise optuna.TrialPruned

    def ranker(params: dict[str, Any], rounds: int) -> lgb.LGBMRanker:
        return lgb.LGBMRanker(
            n_estimators=rounds,
            subsample_freq=1,
            random_state=seed,
            n_jobs=1,
            verbosity=-1,
            **params,
        )

    def trained(params: dict[str, Any]) -> lgb.LGBMRanker:
        return ranker(params, 2000).fit(
            own[0],
            own[1],
            group=own[2],
            eval_set=[held[:2]],
            eval_group=[held[2]],
            eval_at=[10],
            callbacks=[lgb.early_stopping(50, verbose=False), in_time],
        )

    study, best = searched(lightgbm_space, LIGHTGBM_DEFAULT, trained, valid, end, seed)
    every = grouped(train, valid)
    again = ranker(study.best_params, best.best_iteration_)
    again.fit(every[0], every[1], group=every[2])
    found = {"LightGBM": best, "LightGBM, refitted": again}
    result = {name: values(model.predict(test.X), test).tolist() for name, model in found.items()}
    return result | {"trials of LightGBM": [len(study.trials)], "valid": [study.best_value]}


def tuned_catboost(
    train: LabelledDocuments,
    valid: LabelledDocuments,
    test: LabelledDocuments,
    seconds: float,
    seed: int,
) -> Outcomes:
    """Return what CatBoost's best trial is worth; one that time ends keeps its trees."""
    end = time.process_time() + seconds
    parts = [
        catboost.Pool(X, y, group_id=np.repeat(np.arange(len(sizes)), sizes))
        for X, y, sizes in (grouped(train), grouped(valid))
    ]

    class InTime:
        def after_iteration(self, _: Any) -> bool:
            return time.process_time() < end

    def trained(params: dict[str, Any]) -> catboost.CatBoostRanker:
        ranker = catboost.CatBoostRanker(
            loss_function="YetiRank",
            eval_metric="NDCG:top=10",
            iterations=2000,
            early_stopping_rounds=50,
            random_seed=seed,
            thread_count=1,
            allow_writing_files=False,
            verbose=False,
            **params,
        )
        return ranker.fit(parts[0], eval_set=parts[1], callbacks=[InTime()])

    study, best = searched(catboost_space, CATBOOST_DEFAULT, trained, valid, end, seed)
    own = values(best.predict(test.X), test).tolist()
    return {"CatBoost": own, "trials of CatBoost": [len(study.trials)]}


def tuned_gbrank(
    train: LabelledDocuments,
    valid: LabelledDocuments,
    test: LabelledDocuments,
    seconds: float,
    seed: int,
) -> Outcomes:
    """Return what `gbrank.tune` finds is worth, and the mean `GBRanker()`, on the same queries."""
    X, y, qid = (np.concatenate(columns) for columns in zip(train, valid, strict=True))
    default = GBRanker(random_state=seed, n_jobs=1)
    begin = time.process_time()
    with mock.patch("gbrank.evaluation.tuning.monotonic", time.process_time):
        tuned = tuning.tune(X, y, qid=qid, ranker=default, minutes=seconds / 60, progress=False)
    spent = time.process_time() - begin
    found = {"gbrank.tune": tuned.ranker, "gbrank.tune, best trial": best_alone(tuned, X, y, qid)}
    result = {name: values(model.predict(test.X), test).tolist() for name, model in found.items()}
    seeds = [
        clone(default).set_params(random_state=seed).fit(X, y, qid=qid) for seed in range(SEEDS)
    ]
    defaults = [values(ranker.predict(test.X), test) for ranker in seeds]
    result["GBRanker()"] = np.mean(defaults, axis=0).tolist()
    counts = {"trials of gbrank": len(tuned.study.trials), "members": len(tuned.members)}
    more = {name: [float(count)] for name, count in counts.items()}
    more |= {"valid": list(tuned.values.values()), "seconds": [spent]}
    shares = tuned._table()
    return result | more | {f"share of {row[0]}": [float(row[1])] for row in shares.rows}


def best_alone(tuned: Tuned, X: Any, y: Any, qid: Any) -> GBRanker:
    """Return the ranker of the best trial, trained alone."""
    return clone(tuned.ranker).fit(X, y, qid=qid)


RANKERS: dict[str, Callable[..., Outcomes]] = {
    "lightgbm": tuned_lightgbm,
    "gbrank": tuned_gbrank,
    "catboost": tuned_catboost,
}


def measure(data: Dataset, number: int, seconds: float, folder: Path) -> None:
    """Tune both on a fold, each unless the folder has it."""
    for name, tuned in RANKERS.items():
        kept = folder / f"{data.name}-{number}-{name}-{seconds:g}.json"
        if not kept.exists():
            kept.write_text(json.dumps(tuned(*data.fold(number), seconds, number)))
            print(data.name, "fold", number, name, flush=True)


def measured(name: str, seconds: float, folder: Path) -> list[Outcomes]:
    """Return the outcomes of the folds of a data set on which both were tuned."""
    found = []
    for number in range(1, 6):
        files = [folder / f"{name}-{number}-{ranker}-{seconds:g}.json" for ranker in RANKERS]
        if all(file.exists() for file in files):
            found.append(dict(ChainMap(*(json.loads(file.read_text()) for file in files))))
    return found


def summarised(found: Mapping[str, Sequence[Outcomes]]) -> list[dict[str, Any]]:
    """Return rows for each data set, and all together: rankers, and how far ours is ahead."""
    rows: list[dict[str, Any]] = []
    strata = {}
    for name, folds in found.items():
        values = np.array([[v for fold in folds for v in fold[ranker]] for ranker in COMPARED])
        strata[name] = values[:, ~np.isnan(values).any(axis=0)]
    for label, names in [*((name, [name]) for name in found), ("mean", list(found))]:
        for place, ranker in enumerate(COMPARED[1:], 1):
            # What `tune` is ahead by: the differences are those of the second of two rankers.
            pair = [strata[name][[place, 0]] for name in names]
            theirs, ours = against_first(pair)
            n_queries = sum(values.shape[1] for values in pair)
            own = {"data": label, "ranker": ranker, **ours, "theirs": theirs["ndcg@10"]}
            rows.append(own | {"queries": n_queries})
    return rows


def judged(found: Mapping[str, Sequence[Outcomes]], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the tables of NDCG@10, of differences, and of counts."""
    cell = {(row["data"], row["ranker"]): row for row in rows}
    labels = [*found, "mean"]
    ours = [f"{cell[label, COMPARED[1]]['ndcg@10']:.4f}" for label in labels]
    lines = [[COMPARED[0], *ours]]
    for ranker in COMPARED[1:]:
        lines.append([ranker, *(f"{cell[label, ranker]['theirs']:.4f}" for label in labels)])
    worth = markdown_table(["NDCG@10, test queries", *labels], lines)
    ahead = [
        [
            row["data"],
            row["ranker"],
            f"{row['difference']:+.4f}",
            f"{row['low']:+.4f} to {row['high']:+.4f}",
            f"{row['p']:.4f}",
        ]
        for row in rows
    ]
    head = ["data", "`gbrank.tune` less", "difference", "95% interval", "p (uncorrected)"]
    names = ("trials of LightGBM", "trials of CatBoost", "trials of gbrank", "members", "seconds")
    counts = [[name, *(f"{mean(folds, name):.0f}" for folds in found.values())] for name in names]
    counts.append(["folds", *(str(len(folds)) for folds in found.values())])
    means = markdown_table(["means over folds", *found], counts)
    return [worth, markdown_table(head, ahead, words=2), means]


def mean(folds: Sequence[Outcomes], key: str) -> float:
    """Return the mean over the folds that have a number; NaN where none has."""
    known = [fold[key][0] for fold in folds if key in fold and not np.isnan(fold[key][0])]
    return float(np.mean(known)) if known else float("nan")


def importances(found: Mapping[str, Sequence[Outcomes]]) -> str:
    """Return the table of what mattered to our trials."""
    shares = []
    for name in TUNED:
        own = [mean(folds, f"share of {name}") for folds in found.values()]
        if not np.isnan(own).all():
            shares.append([f"`{name}`", *("" if np.isnan(one) else f"{one:.2f}" for one in own)])
    return markdown_table(["parameter", *found], shares)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--large", metavar="FOLDER", help="Parquet files, one fold")
    parser.add_argument("--folds", nargs="*", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--seconds", nargs="*", type=float, default=[120.0, 600.0])
    parser.add_argument("--results", type=Path, required=True, help="keeps what is done")
    arguments = parser.parse_args()
    arguments.results.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    datasets = [read_folds(folder) for folder in arguments.data]
    if arguments.large:
        datasets.append(one_fold(arguments.large))
    rows, blocks = [], [TEXT.strip()]
    for seconds in arguments.seconds:
        for number in arguments.folds:
            for data in datasets:
                if number <= len(data.splits):
                    measure(data, number, seconds, arguments.results)
        known = {data.name: measured(data.name, seconds, arguments.results) for data in datasets}
        found = {name: folds for name, folds in known.items() if folds}
        own = summarised(found)
        rows += [{"seconds": seconds, **row} for row in own]
        blocks += [f"## {seconds / 60:g} CPU minutes", *judged(found, own)]
        blocks += [SHARES.strip(), importances(found)]
    (RESULTS / "tuned.json").write_text(rows_to_json(rows), encoding="utf-8")
    (RESULTS / "tuned.md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
