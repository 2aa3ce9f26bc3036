"""Training from a shell."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from gbrank.common.checks import ArgumentError, Mask, Vector
from gbrank.common.runtime import import_optional
from gbrank.data.documents import fit_arguments
from gbrank.data.schema import Schema
from gbrank.data.splitting import QueryTimeSeriesSplit
from gbrank.data.text_files import STDIN
from gbrank.ranker import GBRanker

from .data_files import TrainingFiles, read_numbers, read_parts, table_format
from .options import File, FileOrColumn, NewFile, NewFolder


def train(
    file: File,
    *,
    model: NewFolder,
    eval_set: File | None = None,
    position: FileOrColumn | None = None,
    sample_weight: FileOrColumn | None = None,
    checkpoint: NewFolder | None = None,
    checkpoint_rounds: int = 50,
    refit: bool = False,
    quiet: bool = False,
    reader: TrainingFiles,
    ranker: Annotated[GBRanker, "verbose"],
) -> None:
    r"""Train a ranker on the documents in a file and write it to a folder.

    Ctrl-C ends the training early; the model is saved all the same. The same command makes the same
    model: the random state is 0 if it is not given. The baseline is a column by its name, or a
    feature of a LETOR file by its number: 3 is the feature that the file writes as 3:0.5. In full,
    parameters of GBRanker are described by `python -m pydoc gbrank.GBRanker`.

    Parameters
    ----------
    file : path
        LETOR file, table (.parquet, .csv, .tsv), folder of tables
    model : path
        Folder where the model goes.
    eval_set : path
        Validation data.
    position : path
        Where each document was shown, from 1, if labels are clicks: a file or column.
    sample_weight : path
        Weight of each document: a file or column.
    checkpoint : path
        Write here what the same command needs to resume if killed.
    checkpoint_rounds : int
        Rounds between two checkpoints.
    refit : bool
        Grow no trees: fit the leaf values of --init anew.
    quiet : bool
        Show no progress bar.
    reader : Reader
        Data.
    ranker : GBRanker
        Parameters of GBRanker.

    Examples
    --------
    gbrank train train.txt --valid valid.txt --early-stopping-rounds auto --model my-ranker
    gbrank train train.parquet --label grade --qid query --drop url --model my-ranker
    gbrank train train.txt.gz --model my-ranker --objective lambda:map --sigma "geometric(1, 0.1)"
    gbrank train train.txt --model my-ranker --booster xgboost --booster-param max_bin=64
    gbrank train train.parquet --model my-ranker --labels margin \
        --objective "noisy:ndcg+0.5*noisy:ndcg[margin]"
    gbrank train train.txt --model my-ranker --plugin mine.py --objective mine
    gbrank train this-week.txt --init my-ranker --refit --model my-ranker
    """
    if refit and (eval_set or checkpoint or repr(ranker) != repr(GBRanker(init=ranker.init))):
        raise ArgumentError("refit", "must be given with --init and no other option of training")
    start = GBRanker.load(str(ranker.init)) if refit else None
    options = {"position": position, "sample_weight": sample_weight}
    columns = {name: column for name, column in options.items() if column is not None}
    drop = tuple(name for name in reader.drop if name not in columns.values())
    reader = replace(reader, drop=drop)
    data, mask = reader.read(file, getattr(start, "_schema", None), columns.values())
    names = {*columns.values()}.intersection(getattr(data.X, "columns", ()))
    arguments = data.arguments()
    for name, path in columns.items():  # those of a table stay in it, where fits look for them
        arguments[name] = path if path in names else _numbers_in_file(path, name, mask)
    if start is not None:
        start.refit(**arguments).save(model)
        print(f"model: {model}")
        return
    sets = []
    if eval_set is not None:
        features = data.X.drop(columns=[*names]) if names else data.X
        schema = Schema.learn(features, reader.categorical_feature)
        sets = [reader.read(eval_set, schema, columns.values())[0].arguments()]
    changes = _changes(ranker, file) | {"verbose": int(sys.stderr.isatty() and not quiet)}
    ranker.set_params(**changes).fit(
        **fit_arguments(arguments, *sets),
        categorical_feature=reader.categorical_feature,
        checkpoint=checkpoint,
        checkpoint_rounds=checkpoint_rounds,
    )
    ranker.save(model)
    curves = ranker.evals_result_.get("valid_0", {})
    n_kept = ranker.best_iteration_
    n_done = max(map(len, curves.values()), default=n_kept)
    print(f"{ranker.objective} with {ranker.booster}: {n_kept} of {n_done} rounds kept")
    if curves:
        print(f"validation {next(iter(curves))}: {ranker.best_score_:.4f}")
    print(f"model: {model}")


def _numbers_in_file(path: str, name: str, mask: Mask) -> Vector:
    if path != STDIN and not Path(path).exists():
        raise ArgumentError(
            name, "must be a column of the table, or a file with a number per line", path
        )
    return read_numbers(path, name, mask)


def tune(
    file: File,
    *,
    model: NewFolder,
    minutes: float = 10.0,
    n_trials: int | None = None,
    folds: int = 4,
    time_ordered: bool = False,
    valid: File | None = None,
    storage: NewFile | None = None,
    quiet: bool = False,
    reader: Annotated[TrainingFiles, "labels"],
    ranker: Annotated[GBRanker, "verbose", "init"],
) -> None:
    """Find the best ranker in some minutes, and write it to a folder.

    The first trial is GBRanker with the parameters that are given, and Optuna chooses the others.
    Ctrl-C ends the trials; the best ranker so far is saved all the same. With --storage, the same
    command resumes where it was stopped, and several may work at once.

    Parameters
    ----------
    file : path
        LETOR file, table (.parquet, .csv, .tsv), folder of tables
    model : path
        Folder where the model goes.
    minutes : float
        No trial begins later.
    n_trials : int
        Largest number of trials.
    folds : int
        Folds of queries that trials are judged on.
    time_ordered : bool
        Judge on queries that come later in the files.
    valid : path
        Validate on these queries, in place of folds.
    storage : path
        Optuna's journal of the trials; an existing one is resumed.
    quiet : bool
        Print nothing of the trials.
    reader : Reader
        Data.
    ranker : GBRanker
        Parameters of GBRanker.

    Examples
    --------
    gbrank tune train.txt --model my-ranker --minutes 10
    gbrank tune train.txt --model my-ranker --valid valid.txt --metric map --storage trials.log
    gbrank tune sorted-by-date.parquet --label grade --qid query --model my-ranker --time-ordered
    """
    from gbrank import evaluation  # not loaded to train

    if time_ordered and valid is not None:
        raise ArgumentError("time_ordered", "must not be given with --valid")
    data, rows = read_parts(reader, [*filter(None, (file, valid))])
    parts: Any = QueryTimeSeriesSplit(folds) if time_ordered else folds
    optuna = import_optional("optuna", "tune")
    if quiet:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = None
    if storage is not None:
        backend = optuna.storages.journal.JournalFileBackend(storage)
        study = optuna.create_study(
            storage=optuna.storages.JournalStorage(backend),
            study_name="gbrank",
            direction="maximize",
            load_if_exists=True,
        )
    best, study = evaluation.tune(
        **data,
        ranker=ranker.set_params(**_changes(ranker, file)),
        minutes=minutes,
        n_trials=n_trials,
        folds=parts if valid is None else [rows],
        study=study,
        categorical_feature=reader.categorical_feature,
    )
    best.save(model)
    for name, trial in (("first", study.trials[0]), ("best", study.best_trial)):
        value = "not judged" if trial.value is None else f"{trial.value:.4f}"
        params = ", ".join(f"{key}={choice}" for key, choice in trial.params.items())
        print(f"{name} trial: {best._measures()[0]} of held-out queries {value}, {params}")
    print(f"model: {model}")


def _changes(ranker: GBRanker, file: str) -> dict[str, Any]:
    """Resolve the parameters that the command line sets: a seed, and the baseline by its name."""
    baseline = ranker.baseline
    seed = ranker.random_state
    if baseline is not None:
        number = isinstance(baseline, int) and not table_format(file)
        baseline = f"f{baseline}" if number else str(baseline)
    return {"random_state": 0 if seed is None else seed, "baseline": baseline}
