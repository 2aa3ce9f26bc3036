"""Compare the scores of an exported file, as its engine gives them, with those of its model.

The file is read by a reader of its format, on rows that try each split of the model with its
threshold, neighbours of it, zeros, missing values and unknown categories, and on yours. The options
are those of the export.

For example:

  gbrank verify my-ranker model.json --format opensearch --features names.txt
  gbrank verify my-ranker model.onnx --format onnx --data rows.parquet
"""

import argparse

from gbrank.commands.data_files import add_table_options, read_documents
from gbrank.commands.export import add_form, form_of
from gbrank.commands.shared import add, load_trees, print_json
from gbrank.common.argument_error import found_in
from gbrank.export import verify_export

USAGE = "gbrank verify MODEL EXPORT --format FORMAT [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank verify`."""
    parser.add_argument("model", metavar="FOLDER", help="folder of a model")
    parser.add_argument("export", metavar="FILE", help="the exported file")
    add_form(parser)
    add(parser, "--data FILE", "more rows: a table or LETOR data, as `gbrank predict` reads")
    add_table_options(parser)
    parser.set_defaults(sparse=False)


def run(arguments: argparse.Namespace) -> None:
    """Print the largest difference, and the row on which it is."""
    ranker, form = load_trees(arguments.model), form_of(arguments)
    X = read_documents(arguments, arguments.data, ranker._schema).X if arguments.data else None
    with found_in(f"{arguments.export}: "):
        found = verify_export(ranker, arguments.export, X=X, **form)
    print(f"largest difference {found.difference:.3g} on {found.n_rows:,} rows:")
    print_json(found.row)
