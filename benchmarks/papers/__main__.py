"""Compute the tables and figures of the papers whose methods gbrank has.

The folder of data holds LETOR's data sets in folders of their own: ohsumed (45 features), ohsumed25
(the older 25, unscaled) and mq2008, each with S1.txt, S2.txt, ...; the data of LambdaRank and of
SLAM's perceptron are made. What experiments came to is kept in the folder of results: the same
command does the others. Delete an experiment's file there to compute its rows again.

Without --only, docs/papers.md, its pictures in docs/papers/ and benchmarks/results/papers.json are
written; with it, the tables are printed, with the places of their pictures.

examples, from the repository's root:
  python -m benchmarks.papers --data letor
  python -m benchmarks.papers --data letor --only smoothrank-tables approxrank-6.4
  python -m benchmarks.papers --data letor --only lambdarank-6.3.1 --queries 500
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.papers import EXPERIMENTS
from benchmarks.papers.experiment import finish, finished
from benchmarks.papers.explanations import explanation
from benchmarks.papers.page import publish, published, table
from benchmarks.papers.paper_rows import FAR, PaperRow
from benchmarks.papers.settings import Settings
from gbrank.common.checks import check_choice, check_integer
from gbrank.common.progress import Bar


def main(argv: Sequence[str] | None = None) -> None:
    """Run experiments, and write the page or print tables."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    names = arguments.only or list(EXPERIMENTS)
    try:
        settings = _settings(arguments, names)
    except ValueError as error:
        parser.error(str(error))
    settings.results.mkdir(parents=True, exist_ok=True)
    tables = {
        name: EXPERIMENTS[name].with_deviations(rows)
        for name, rows in _all_rows(names, settings).items()
    }
    if arguments.only:
        for name, rows in tables.items():
            print(f"## {name}\n\n{table(rows)}\n")
            for picture in EXPERIMENTS[name].pictures:
                print(f"Picture: {settings.results / picture}.png\n")
    else:
        publish(tables, EXPERIMENTS, settings)
    for row in (row for rows in tables.values() for row in rows):
        if row.is_far and not explanation(row):
            print(f"Further than {FAR} from the paper, and not explained in explanations.py: "
                  f"{(row.paper, row.data, row.figure)}", file=sys.stderr)  # fmt: skip


def _all_rows(names: Sequence[str], settings: Settings) -> dict[str, list[PaperRow]]:
    """Return the rows of experiments: those that are kept, and those that must be run."""
    kept = {name: finished(name, settings) for name in names}
    rows: dict[str, list[PaperRow]] = {}
    left = {name: EXPERIMENTS[name].minutes for name in names if kept[name] is None}
    known = published()
    if left:
        print(f"about {sum(left.values()):g} minutes of a processor", file=sys.stderr)
    shown = "{percentage:3.0f}%|{bar}| {elapsed}, {remaining} to go: {desc}"
    with Bar(total=sum(left.values()), bar_format=shown) as bar:
        for name, old in kept.items():
            if old is not None:
                rows[name] = old
                continue
            bar.set_description_str(name)
            end = bar.n + left[name]
            share = left[name] / max(1, len(known.get(name, [])))

            def after_row(share: float = share, end: float = end) -> None:
                bar.update(min(share, end - bar.n))  # there may be more rows than were published

            rows[name] = finish(name, EXPERIMENTS[name], settings, after_row)
            bar.update(end - bar.n)
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", required=True, metavar="FOLDER", help="where the data sets are")
    parser.add_argument(
        "--only",
        nargs="+",
        action="extend",
        metavar="NAME",
        help=f"compute and print these (of {', '.join(EXPERIMENTS)})",
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=Settings.queries,
        metavar="N",
        help="artificial queries at most, of which two fifths train, one validates, two test "
        "(default: 5000; the paper has 25000)",
    )
    parser.add_argument(
        "--results",
        metavar="FOLDER",
        default=".papers",
        help="keep what is done in this folder (default: .papers)",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: all)")
    return parser


def _settings(arguments: argparse.Namespace, names: list[str]) -> Settings:
    """Return the settings, refusing faults before any work."""
    folder = Path(arguments.data)
    for name in names:
        check_choice(name, "--only", EXPERIMENTS)
        if names.count(name) > 1:
            raise ValueError(f"--only must not hold {name!r} twice.")
        for dataset in EXPERIMENTS[name].datasets:
            if not (folder / dataset).is_dir():
                raise ValueError(f"--data must hold a folder {dataset} for {name}, got {folder}.")
    check_integer(arguments.queries, "--queries", 5)
    return Settings(
        folder,
        Path(arguments.results),
        queries=arguments.queries,
        n_jobs=arguments.jobs,
        progress=sys.stderr.isatty(),
    )


if __name__ == "__main__":
    main()
