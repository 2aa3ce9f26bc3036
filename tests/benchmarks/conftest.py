"""Leaves these tests out where there is no `benchmarks`, as in the sdist."""

from pathlib import Path

if not (Path(__file__).parents[2] / "benchmarks").is_dir():
    collect_ignore_glob = ["test_*.py"]
