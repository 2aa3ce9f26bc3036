"""Print lines "MEASURE QID VALUE" as trec_eval does; the query "all" is the mean over queries.

It is "(all)" where a query has the id "all".

Queries without a relevant document have no value (nan) and are left out of the mean; a measure such
as "ndcg@10(no_relevant=0)" counts them. "ndcg@10[margin]" is of the label in the column margin of a
table. With --run, FILE is a TREC qrels file.

For example:

  gbrank evaluate test.txt --model my-ranker
  gbrank evaluate test.txt --scores scores.txt --metric ndcg@10 "p@5(threshold=2)" --per-query
  gbrank evaluate test.txt --model my-ranker --json
  gbrank evaluate test.parquet --label grade --qid query --model my-ranker
  gbrank evaluate test.parquet --model my-ranker --metric ndcg@10 "ndcg@10[margin]"
  gbrank evaluate qrels.txt --run run.txt
"""

import argparse
import warnings
from typing import Any

import numpy as np

from gbrank.commands.data_files import add_file, read_labelled, read_numbers
from gbrank.commands.shared import add, add_plugin, load_any, print_json, scores_by
from gbrank.common.words import apart
from gbrank.data.documents import Documents
from gbrank.data.labels import check_labels_by_name
from gbrank.data.queries import Queries
from gbrank.datasets import read_judged_run
from gbrank.measures.measure import bind_to_rows
from gbrank.measures.measure_registry import USUAL, get_measure

USAGE = "gbrank evaluate FILE (--model PATH | --scores PATH | --run PATH) [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank evaluate`."""
    add_file(parser, "unjudged")
    source = parser.add_mutually_exclusive_group(required=True)
    add(
        source,
        "--model PATH",
        "judge the scores of this model: its folder, or the file of a booster",
    )
    text = "judge these scores, one a line, or the column score of a table; - is standard input"
    add(source, "--scores PATH", text)
    add(source, "--run PATH", "judge this TREC run, by a qrels FILE", dest="trec_run")
    add(parser, "--metric MEASURE ...", f"what to measure (default: {' '.join(USUAL)})")
    add(parser, "--per-query", "give the value of each query too")
    add(parser, "--json", "print JSON, with all digits")
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Measure scores and print the values."""
    measures = {name: get_measure(name) for name in arguments.metric or USUAL}
    labels = sorted({measure.label for measure in measures.values() if measure.label is not None})
    rows, scores = _read(arguments, labels)
    queries = rows.queries
    results: dict[str, dict[str, Any]] = {}
    for name, measure in measures.items():
        bound = bind_to_rows(measure, rows)
        values = bound.per_query(scores)
        counted = int(np.isfinite(values).sum())
        results[name] = {"mean": bound.mean(scores), "n_queries": counted}
        if arguments.per_query:
            ids = map(str, queries.ids.tolist())
            results[name]["per_query"] = dict(zip(ids, values.tolist(), strict=True))
    if arguments.json:
        print_json({"n_queries": queries.n_queries, "measures": results})
    else:
        _print_lines(results, queries.n_queries)


def _read(arguments: argparse.Namespace, labels: list[str]) -> tuple[Documents, Any]:
    """Return the rows, with the features if they were read, and their scores."""
    if arguments.trec_run is not None:
        y, scores, qid = read_judged_run(arguments.trec_run, arguments.file)
        return Documents(None, y, Queries.from_qid(qid)), scores
    if arguments.model is None:
        data = read_labelled(arguments, arguments.file, labels=labels)
        scores = read_numbers(arguments.scores, "scores", data)
    else:
        ranker = load_any(arguments.model)
        schema = getattr(ranker, "_schema", None)
        data = read_labelled(arguments, arguments.file, schema, labels)
        scores = scores_by(arguments.model, ranker, data.X, data.qid)
    others = check_labels_by_name(data.labels, len(data.y))
    return Documents(data.X, data.y, Queries.from_qid(data.qid), labels=others), scores


def _print_lines(results: dict[str, dict[str, Any]], n_queries: int) -> None:
    for name, result in results.items():
        values = result.get("per_query", {})
        for query, value in [*values.items(), (apart("all", values), result["mean"])]:
            print(f"{name:<22}\t{query}\t{value:.4f}")
    left_out = {name: n_queries - result["n_queries"] for name, result in results.items()}
    if any(left_out.values()):
        counts = ", ".join(f"{name} {count}" for name, count in left_out.items())
        warnings.warn(
            f"of {n_queries} queries, those without a relevant document are left out of the mean: "
            f"{counts}",
            stacklevel=2,
        )
