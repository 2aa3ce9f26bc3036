"""Scores and metrics of models from a shell."""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from gbrank.common.checks import ArgumentError, check_known_name, check_unique, warn_user
from gbrank.common.words import apart
from gbrank.data.documents import Documents
from gbrank.data.lookup import count_repeated_rows, of_all
from gbrank.data.text_files import write_lines
from gbrank.data.trec import judged_run, run_lines
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.measures.measure_registry import USUAL, get_measure

from .data_files import Labelled, Reader, read_numbers, table_format, write_table
from .models import load, print_json
from .options import File, FileOrFolder, Folder, NewFile, NewPicture, printable

# White space of ASCII, as in TREC files: names may have no-break spaces.
_DOCID = re.compile(r"\bdocid\s*[=:]\s*(\S+)", re.ASCII)
_FIRST_WORD = re.compile(r"(\S+)", re.ASCII)


def predict(
    file: File,
    *,
    model: Folder,
    output: NewFile = "-",
    format: Literal["scores", "trec"] = "scores",
    run_name: Annotated[str, "NAME"] = "gbrank",
    reader: Annotated[Labelled, "drop", "unjudged"],
) -> None:
    """Write one score a line, in the order of the documents; higher ranks earlier.

    Where --output ends in .parquet, .csv or .tsv, it becomes a table: the columns that are no
    features, such as queries and names of documents, with a column "score".

    With --format trec, lines are "QID Q0 DOCUMENT RANK SCORE NAME" as trec_eval reads them: queries
    in the order in which they first appear, documents best first, equal scores in the order of the
    documents (trec_eval itself ranks by score, and then by document name). In LETOR files the name
    of a document follows "docid =" or "docid:" in its comment, or is the comment's first word;
    without a comment it is QID-POSITION.

    Parameters
    ----------
    file : path
        LETOR file (- for stdin), table, folder of tables
    model : path
        Folder of a model.
    output : path
        File to write; - is standard output.
    format : {"scores", "trec"}
        Form of the lines.
    run_name : str
        Name of the run in TREC's format.
    reader : Reader
        Data.

    Examples
    --------
    gbrank predict test.txt --model my-ranker --output scores.txt
    gbrank predict test.parquet --model my-ranker --output scores.parquet
    gbrank predict test.txt --model my-ranker --format trec --run-name first > run.txt
    gbrank predict test.txt --model my-ranker | gbrank evaluate test.txt --scores -
    """
    ranker = load(model)
    X, qid, columns, comments = reader.read_to_score(file, ranker._schema)
    scores = np.asarray(ranker._predicted(X, qid))
    lines: Iterable[str] = map(repr, scores.tolist())
    if format == "trec":
        if qid is None:
            raise ArgumentError("qid", f"must name a column of {file}", repr(reader.qid))
        names = names_in_comments(comments(), qid)
        if reader.docid is not None:
            check_known_name("column (docid)", reader.docid, columns)
            names = columns[reader.docid]
        lines = run_lines(scores, qid, list(names), run_name)
    elif output != "-" and table_format(output):
        write_table(output, file, columns, scores)
        return
    if output != "-":
        write_lines(output, lines)
    elif (stream := getattr(sys.stdout, "buffer", None)) is None:  # as that of a notebook
        sys.stdout.writelines(f"{line}\n" for line in lines)
    else:  # in UTF-8, as files are
        sys.stdout.flush()
        stream.writelines(f"{line}\n".encode() for line in lines)


def names_in_comments(comments: Sequence[str], qid: Sequence[Any]) -> Iterator[str]:
    """Yield the name of a document in its comment, else its query and its position in it."""
    positions = Counter[Any]()
    for comment, query in zip(comments or [""] * len(qid), qid, strict=True):
        positions[query] += 1
        match = _DOCID.search(comment) or _FIRST_WORD.search(comment)
        yield match[1] if match else f"{query}-{positions[query]}"


def evaluate(
    file: File,
    *,
    model: FileOrFolder | None = None,
    scores: File | None = None,
    run: Sequence[File] = (),
    metric: Sequence[Annotated[str, "METRIC"]] = USUAL,
    baseline: Annotated[str, "RUN"] | None = None,
    judge_labels: File | None = None,
    plot: NewPicture | None = None,
    per_query: bool = False,
    json: bool = False,
    reader: Annotated[Labelled, "docid"],
) -> None:
    """Print lines "METRIC QID VALUE" as trec_eval does; the query "all" is the mean over queries.

    It is "(all)" where a query has the id "all". Queries without a relevant document have no value
    (nan) and are left out of the mean; a metric such as "ndcg@10(no_relevant=0)" counts them.
    "ndcg@10[margin]" is of the label in the column margin of a table. Of --model, --scores and
    --run, one must be given. Runs have trec_eval's values: relevant documents that were not
    retrieved count in the ideal, queries without judgments are left out, with a warning.

    Several runs are compared: a table for each metric has their means with 95% intervals, and
    differences from the baseline with corrected p-values, the queries won, tied and lost, and the
    minimum detectable difference.

    Parameters
    ----------
    file : path
        LETOR file, table or folder of tables; with --run, TREC qrels
    model : path
        Judge the scores of a model, of its folder or a booster's file.
    scores : path
        Judge scores, one a line or a table's column score; - is stdin.
    run : sequence of path
        Judge a TREC run, or compare several.
    metric : sequence of str
        Measures.
    baseline : str
        Run that others are compared with; by default the first.
    judge_labels : path
        Compare by these qrels of a judge, such as a language model, beside those of people.
    plot : path
        Draw the comparison to this file.
    per_query : bool
        Print the value of each query too.
    json : bool
        Print JSON, with all digits.
    reader : Reader
        Data.

    Examples
    --------
    gbrank evaluate test.txt --model my-ranker
    gbrank evaluate test.txt --scores scores.txt --metric ndcg@10 "p@5(threshold=2)" --per-query
    gbrank evaluate test.txt --model my-ranker --json
    gbrank evaluate test.parquet --label grade --qid query --model my-ranker
    gbrank evaluate test.parquet --model my-ranker --metric ndcg@10 "ndcg@10[margin]"
    gbrank evaluate qrels.txt --run run.txt
    gbrank evaluate qrels.txt --run bm25.run dense.run rerank.run --metric ndcg@10 map
    gbrank evaluate people.txt --run bm25.run dense.run --judge-labels model.txt --plot runs.png
    """
    if (model, scores, run or None).count(None) != 2:
        raise ArgumentError("model", "or --scores or --run must be given, and only one of them")
    if len(run) > 1 or baseline or judge_labels or plot:
        if not run:
            raise ArgumentError("run", "must be given with --baseline, --judge-labels or --plot")
        if per_query:
            raise ArgumentError("per_query", "must not be given where runs are compared")
        compare_runs(
            file, run, plot, json, metric=metric, baseline=baseline, judge_labels=judge_labels
        )
        return
    measures = {name: get_measure(name) for name in metric}
    repeats = 0  # of runs and qrels, `judged_run` says it
    if run:
        data, values = judged_run(run[0], file)
    else:
        data, values = _judged(reader, file, measures.values(), model, scores)
        repeats = count_repeated_rows(data.X, data.queries.index, data.y)
    results: dict[str, dict[str, Any]] = {}
    for name, measure in measures.items():
        bound = bind_to_rows(measure, data)
        by_query = bound.per_query(values)
        results[name] = {"mean": bound.mean(values), "n_queries": np.isfinite(by_query).sum()}
        if per_query:
            ids = map(str, data.queries.ids)
            results[name]["per_query"] = dict(zip(ids, by_query, strict=True))
    if json:
        counts = {"n_queries": data.queries.n_queries, "n_repeats": repeats}
        print_json(counts | {"metrics": results})
    else:
        _print_lines(results, data.queries.n_queries)
    if repeats:
        warn_user(
            f"{of_all(repeats, data.queries)} have the same features and label as another document "
            "of their query. Duplicate documents count twice."
        )


def compare_runs(
    qrels: str, runs: Sequence[str], plot: str | None, json: bool, **options: Any
) -> None:
    """Print what `compare_scores` finds with these options, and draw it."""
    from gbrank.evaluation import compare_scores

    from .comparisons import draw  # imports all boosters

    check_unique("--run", runs)
    comparison = compare_scores(
        {run: run for run in runs}, qrels, name=printable(Path(qrels).name), **options
    )
    if json:
        print_json(comparison.to_json())
    else:
        print(comparison.table())
    if plot is not None:
        draw("comparison_grid", [comparison], plot)


def _judged(
    reader: Reader, file: str, measures: Iterable[Measure], model: str | None, scores: str | None
) -> tuple[Documents, Any]:
    """Read documents, with the labels that measures name, which tables alone have; and scores."""
    labels = {measure.label for measure in measures if measure.label is not None}
    if labels and not table_format(file):
        raise ArgumentError("metric", f"must have [{min(labels)}] with tables only", file)
    reader = replace(reader, labels=tuple(sorted(labels)))
    ranker: Any = None if model is None else load(model)
    data, mask = reader.read(file, getattr(ranker, "_schema", None))
    if scores is not None:
        return data, read_numbers(scores, "scores", mask)
    if not Path(str(model)).is_file():
        return data, ranker._predicted(data.X, data.queries.qid)
    from gbrank.evaluation.scorable import scores_from  # needs all boosters

    return data, scores_from(ranker, data.X, qid=data.queries.qid)


def _print_lines(results: dict[str, dict[str, Any]], n_queries: int) -> None:
    for name, result in results.items():
        values = result.get("per_query", {})
        for query, value in [*values.items(), (apart("all", values), result["mean"])]:
            print(f"{name:<22}\t{query}\t{value:.4f}")
    left_out = {name: n_queries - result["n_queries"] for name, result in results.items()}
    if any(left_out.values()):
        counts = ", ".join(f"{name} {count}" for name, count in left_out.items())
        warn_user(
            f"of {n_queries} queries, those without a relevant document are left out of the mean: "
            f"{counts}"
        )
