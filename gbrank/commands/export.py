"""Write the trees of a model to one file, from which others give the same scores.

What the format cannot express is refused.

For example:

  gbrank export --model my-ranker --format elasticsearch --features names.txt --output model.json
  gbrank export --model my-ranker --format solr --features names.txt --output my-ranker.json
  gbrank export --model my-ranker --format onnx --output model.onnx
"""

import argparse

from gbrank.commands.shared import add, load_trees
from gbrank.datasets.text_files import read_lines
from gbrank.export import FORMATS, export_model

OUTPUTS = {"output": None}
USAGE = "gbrank export --model FOLDER --format FORMAT --output PATH [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank export`."""
    add(parser, "--model FOLDER", "folder of a model", required=True)
    formats = "; ".join(f"{name}: {format.summary}" for name, format in FORMATS.items())
    parser.add_argument("--format", required=True, choices=FORMATS, help=formats)
    add(parser, "--output PATH", "the file to write", required=True)
    text = (
        "what the engine calls the features: a name on each line, in the order of the columns "
        "(default: the columns' names, or f0, f1, ...)"
    )
    add(parser, "--features FILE", text)
    text = "send missing values where zeros go; for models trained without missing values"
    add(parser, "--missing-as-zero", text)


def run(arguments: argparse.Namespace) -> None:
    """Write the model."""
    names = None
    if arguments.features is not None:
        names = read_lines(arguments.features)
    export_model(
        load_trees(arguments.model),
        arguments.output,
        arguments.format,
        feature_names=names,
        missing_as_zero=arguments.missing_as_zero,
    )
