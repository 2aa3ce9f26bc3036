"""Models from a shell: loaded, described, and exported."""

import math
from datetime import date
from importlib.metadata import version
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from gbrank.commands.paths import File, Folder, NewFile
from gbrank.common.argument_error import ArgumentError
from gbrank.common.table import cell_text

if TYPE_CHECKING:
    from gbrank.ranker import GBRanker

LARGEST = 10  # features that are printed


def load(path: str) -> Any:
    """Return the model of any library that a folder or file holds."""
    if Path(path).is_file():
        from gbrank.evaluation.scorable import opened  # needs all boosters

        return opened(path)
    from gbrank.ranker import load_ranker  # not loaded by all commands

    return load_ranker(path)


def load_trees(path: str) -> "GBRanker":
    """Return the GBRanker in a folder."""
    from gbrank.ranker import GBRanker, load_ranker  # not loaded by all commands

    ranker = load_ranker(path)
    if not isinstance(ranker, GBRanker):
        kind = type(ranker).__name__
        raise ArgumentError("model", "must hold a GBRanker", f"{path} with a {kind}")
    return ranker


def print_json(content: dict[str, Any]) -> None:
    """Print JSON, with null for NaN."""
    print(dumps(_without_nan(content), indent=1, allow_nan=False))


def _without_nan(content: object) -> Any:
    if isinstance(content, dict):
        return {key: _without_nan(value) for key, value in content.items()}
    return None if isinstance(content, float) and math.isnan(content) else content


def info(*, model: Folder, json: bool = False) -> None:
    """Print a model's booster, rounds, data, parameters, measures and features of largest gain.

    It says which gbrank trained the model, when it was saved, and the versions that read it now.
    The learning rate is the one that was used; measures are those on the validation data. Features
    are called as in `gbrank export`: by their column's name; f3 is the feature that a LETOR file
    writes as 3:, or, if the model was trained on an array in Python, the column X[:, 3].

    Parameters
    ----------
    model : path
        Folder of a model.
    json : bool
        Print JSON, with all features.

    Examples
    --------
    gbrank info --model my-ranker
    gbrank info --model my-ranker --json
    """
    from gbrank.fit.storage import FILE, read_saved

    ranker, saved = load_trees(model), read_saved(model)
    curves = ranker.evals_result_.get("valid_0", {})
    saved_on = date.fromtimestamp(Path(model, FILE).stat().st_mtime)
    facts: dict[str, Any] = {
        **{name: saved[name] for name in ("gbrank", "format", "booster")},
        "rounds": ranker.best_iteration_,
        "learning_rate": ranker.learning_rate_,
        "colsample": ranker.colsample_,
        "extra_trees": ranker.extra_trees_,
        "saved": f"{saved_on}",
        "versions": {name: version(name) for name in ("numpy", ranker.booster)},
        "features": ranker._schema.n_features,
        "data": ranker.training_data_,
        "validation": dict.fromkeys(list(curves)[:1], ranker.best_score_),
    }
    names, shares = ranker._schema.feature_names, ranker.feature_importances_.tolist()
    importances = sorted(zip(names, shares, strict=True), key=lambda item: -item[1])
    if json:
        print_json({**facts, "parameters": saved["params"], "importances": importances})
        return
    sizes, form = facts.pop("data"), "{documents:,} documents in {queries:,} queries"
    _print("model", {name: _text(value) for name, value in facts.items()})
    _print("data", {name: form.format(**numbers) for name, numbers in sizes.items()})
    _print("parameters", saved["params"])
    largest = {name: f"{share:.4f}" for name, share in importances[:LARGEST]}
    _print(f"share of the gain, {len(largest)} of {len(importances)} features", largest)


def _print(title: str, rows: dict[str, Any]) -> None:
    print(title)
    width = max(map(len, rows), default=0)
    for name, value in rows.items():
        print(f"  {name:<{width}}  {value}")


def _text(value: Any) -> str:
    """Return a fact for people: of several things a list, with the value of each."""
    if not isinstance(value, dict):
        return cell_text(value)
    numbers = (f"{part:.4f}" if isinstance(part, float) else part for part in value.values())
    return ", ".join(map("{} {}".format, value, numbers)) or "none"


def export(
    *,
    model: Folder,
    format: Annotated[str, "FORMAT"],
    output: NewFile,
    features: File | None = None,
    extractors: File | None = None,
    missing_as_zero: bool = False,
    verify: bool = True,
) -> None:
    """Write the trees of a model to one file, from which others give the same scores.

    The formats are elasticsearch (its own learning to rank, 8.13 and later), opensearch
    (model/xgboost+json, for the LTR plugins of OpenSearch and Elasticsearch), solr, vespa-lightgbm
    and onnx. Some may say the version of the engine, as opensearch:3.5. What the format cannot
    express is refused. The file is read again, as `verify_export` does, before it appears.

    Parameters
    ----------
    model : path
        Folder of a model.
    format : str
        One of those above.
    output : path
        File to write.
    features : path
        Names of the features in the engine, one a line.
    extractors : path
        JSON with Elasticsearch's feature_extractors of the model.
    missing_as_zero : bool
        Send missing values where zeros go: trained without missing ones.
    verify : bool
        Do not read the file again.

    Examples
    --------
    gbrank export --model my-ranker --format opensearch --features names.txt --output model.json
    gbrank export --model my-ranker --format opensearch:3.5 --output model.json
    gbrank export --model my-ranker --format onnx --output model.onnx
    """
    from gbrank.datasets.text_files import read_bytes, read_lines
    from gbrank.export import export_model

    content = None
    if extractors is not None:
        try:
            content = loads(read_bytes(extractors))
        except ValueError as error:
            raise ArgumentError("extractors", "must be JSON", f"{extractors}: {error}") from None
    export_model(
        load_trees(model),
        output,
        format,
        feature_names=None if features is None else read_lines(features),
        missing_as_zero=missing_as_zero,
        extractors=content,
        verify=verify,
    )


def list_registered(kind: Literal["objectives", "measures"] | None = None) -> None:
    """Print every registered objective and measure, one a line.

    Parameters
    ----------
    kind : {"objectives", "measures"}
        List these only.

    Examples
    --------
    gbrank list
    gbrank list measures --plugin mine.py
    """
    from gbrank.measures.measure_registry import list_measures
    from gbrank.objectives.objective_registry import list_objectives

    for title, registered in (("objectives", list_objectives), ("measures", list_measures)):
        if kind in (None, title):
            _print(title, {item.usage: item.summary for item in registered()})
