"""Compute the tables and figures of the papers whose methods gbrank has.

They are printed in Markdown beside what the papers say, with 95% bootstrap intervals over queries.
The folder of data holds LETOR's data sets in folders of their own: ohsumed (45 features), ohsumed25
(the older 25, unscaled) and mq2008, each with S1.txt, S2.txt, ... or Fold1, Fold2, ...; the data of
LambdaRank are made. With --results, the same command goes on where it was stopped.

examples, from the repository's root:
  python -m benchmarks.papers --data letor --json papers.json --pictures . > papers.md
  python -m benchmarks.papers --data letor --only smoothrank-table-3 approxrank-6.4
  python -m benchmarks.papers --data letor --only lambdarank-6.3.1 --queries 5000
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.papers import EXPERIMENTS
from benchmarks.papers.paper_rows import rows_to_markdown
from benchmarks.papers.settings import Settings
from benchmarks.writing import rows_to_json
from gbrank.common.checks import check_choice, check_number

INTRODUCTION = """\
# The papers' tables, computed anew

    python -m benchmarks.papers --data FOLDER --queries {queries} --only {names}

Means over folds of means over queries, with 95% bootstrap intervals over queries, beside what the
papers say. Parameters are chosen on the validation queries of each fold. OHSUMED has 106 queries:
intervals are wide, and no difference from a paper in the second digit means much.
"Deviations" says what was done otherwise than in the paper."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run experiments, print their rows, and write JSON and pictures."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    names = arguments.only or list(EXPERIMENTS)
    try:
        settings = _settings(arguments, names)
    except ValueError as error:
        parser.error(str(error))
    print(INTRODUCTION.format(queries=settings.queries, names=" ".join(names)), flush=True)
    rows = []
    for number, name in enumerate(names, 1):
        print(f"{name} ({number} of {len(names)}) ...", file=sys.stderr, flush=True)
        own = EXPERIMENTS[name].rows(settings)
        print(f"\n## {name}\n\n{rows_to_markdown(own)}", flush=True)
        rows += own
    if arguments.json is not None:
        Path(arguments.json).write_text(rows_to_json(map(asdict, rows)), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", required=True, metavar="FOLDER", help="where the data sets are")
    parser.add_argument("--json", metavar="FILE", help="write the rows to this file")
    parser.add_argument("--pictures", metavar="FOLDER", help="draw pictures to this folder")
    parser.add_argument(
        "--only",
        nargs="+",
        action="extend",
        metavar="NAME",
        help=f"which to compute (default: all of {', '.join(EXPERIMENTS)})",
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=25_000,
        metavar="N",
        help="artificial queries, of which two fifths train, one validates, two test "
        "(default: 25000, as in the paper)",
    )
    parser.add_argument("--results", metavar="FOLDER", help="keep what is done in this folder")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: all)")
    return parser


def _settings(arguments: argparse.Namespace, names: list[str]) -> Settings:
    """Return the settings, refusing faults before hours of work."""
    folder = Path(arguments.data)
    for name in names:
        check_choice(name, "--only", EXPERIMENTS)
        if names.count(name) > 1:
            raise ValueError(f"--only must not hold {name!r} twice.")
        for dataset in EXPERIMENTS[name].datasets:
            if not (folder / dataset).is_dir():
                raise ValueError(f"--data must hold a folder {dataset} for {name}, got {folder}.")
    check_number(arguments.queries, "--queries", 5, integer=True)
    if arguments.json is not None and not Path(arguments.json).absolute().parent.is_dir():
        raise ValueError(f"--json must be in a folder that exists, got {arguments.json}.")
    if arguments.pictures is not None and not Path(arguments.pictures).is_dir():
        raise ValueError(f"--pictures must be a folder that exists, got {arguments.pictures}.")
    return Settings(
        folder,
        queries=arguments.queries,
        pictures=None if arguments.pictures is None else Path(arguments.pictures),
        results=None if arguments.results is None else Path(arguments.results),
        n_jobs=arguments.jobs,
        progress=sys.stderr.isatty(),
    )


if __name__ == "__main__":
    main()
