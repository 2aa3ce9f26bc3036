"""Write the trees of a model to one file, from which others give the same scores.

What the format cannot express is refused. The file is read again, as `verify_export` does, before
it appears.

For example:

  gbrank export --model my-ranker --format opensearch --features names.txt --output model.json
  gbrank export --model my-ranker --format opensearch:3.5 --output model.json
  gbrank export --model my-ranker --format onnx --output model.onnx
"""

import argparse
import json
from typing import Any

from gbrank.commands.shared import add, load_trees
from gbrank.common.argument_error import ArgumentError
from gbrank.datasets.text_files import read_bytes, read_lines
from gbrank.export import export_model
from gbrank.export.formats import FORMATS

USAGE = "gbrank export --model FOLDER --format FORMAT --output PATH [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank export`."""
    add(parser, "--model FOLDER", "folder of a model", required=True)
    add(parser, "--output PATH", "the file to write", written=True, required=True)
    add_form(parser)
    text = "JSON with Elasticsearch's feature_extractors of the model, for --format elasticsearch"
    add(parser, "--extractors FILE", text)
    add(parser, "--no-verify", "do not read the file again", action="store_false", dest="verify")


def add_form(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what an exported file holds, and how."""
    formats = "; ".join(f"{name}: {format.summary}" for name, format in FORMATS.items())
    text = f"{formats}. Some may say the version of the engine, as opensearch:3.5"
    add(parser, "--format FORMAT", text, required=True)
    text = (
        "what the engine calls the features: a name on each line, in the order of the columns "
        "(default: the columns' names; f1, f2, ... of LETOR files)"
    )
    add(parser, "--features FILE", text)
    text = "send missing values where zeros go; for models trained without missing values"
    add(parser, "--missing-as-zero", text)


def form_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return those options as `export_model` takes them."""
    features = arguments.features
    return {
        "format": arguments.format,
        "feature_names": None if features is None else read_lines(features),
        "missing_as_zero": arguments.missing_as_zero,
    }


def run(arguments: argparse.Namespace) -> None:
    """Write the model."""
    extractors = None
    if (path := arguments.extractors) is not None:
        try:
            extractors = json.loads(read_bytes(path))
        except ValueError as error:
            raise ArgumentError("extractors", "must be JSON", f"{path}: {error}") from None
    export_model(
        load_trees(arguments.model),
        arguments.output,
        **form_of(arguments),
        extractors=extractors,
        verify=arguments.verify,
    )
