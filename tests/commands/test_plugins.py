"""`gbrank list`, and plugins, whose words are listed and used."""

import json
from pathlib import Path

import gbrank
from command import SMALL, Output


def test_list(output: Output) -> None:
    """Everything that is registered is listed on a line, or with its aliases and facts."""
    objectives, measures = output("list", "objectives"), output("list", "metrics")
    assert output("list") == objectives + measures
    lines = [line.split(maxsplit=1) for line in (objectives + measures).splitlines()]
    items = [*gbrank.list_objectives(), *gbrank.list_measures()]
    assert [line for line in lines if len(line) > 1] == [
        [item.usage, item.summary] for item in items
    ]


def test_plugin(data: Path, tmp_path: Path, plugin: Path, output: Output, fault: Output) -> None:
    """A module's objectives and measures are known by name, from a file or from sys.path."""
    test = data / "test.txt"
    assert "unknown metric 'mine'" in fault("evaluate", test, "--scores", "x", "--metric", "mine")
    listed = output("list", "--plugin", plugin)
    assert "\n  mine " in listed
    assert "\n  mine[@K] " in listed
    argv = ["train", data / "train.txt", "--model", tmp_path / "m", *SMALL]
    output(*argv, "--objective", "mine", "--metric", "mine@3", "--validation-fraction", "0.3")
    options = ["--model", tmp_path / "m", "--json", "--metric"]
    mine, ndcg = (
        json.loads(output("evaluate", test, *options, name))["metrics"][name]["mean"]
        for name in ("mine@3", "ndcg@3")
    )
    assert mine == ndcg
    assert output("list", "metrics", "--plugin", "json").startswith("metrics\n  ap[@K] ")


def test_a_measure_of_columns(tmp_path: Path, output: Output) -> None:
    """A plugin's measure sees the features of the file."""
    (tmp_path / "price.py").write_text(
        "from gbrank import custom_measure\n"
        "def first(scores, labels, price): return float(price[scores.argmax()])\n"
        "custom_measure(first, name='price', columns=['price'])\n"
    )
    (tmp_path / "t.csv").write_text("label,qid,price\n1,1,5\n0,1,7\n1,2,2\n")
    (tmp_path / "s.txt").write_text("1\n2\n1\n")
    argv = ["evaluate", tmp_path / "t.csv", "--scores", tmp_path / "s.txt", "--metric", "price"]
    assert output(*argv, "--plugin", tmp_path / "price.py").split() == ["price", "all", "4.5000"]


def test_a_dataclass_with_postponed_annotations(tmp_path: Path, output: Output) -> None:
    """Python looks its module up by name."""
    (tmp_path / "graded.py").write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from gbrank import custom_measure\n"
        "@dataclass(frozen=True)\n"
        "class Top:\n"
        "    grade: float\n"
        "    def __call__(self, scores, labels):\n"
        "        return float(labels[scores.argmax()] >= self.grade)\n"
        "custom_measure(Top(2), name='top')\n"
    )
    (tmp_path / "t.csv").write_text("label,qid,price\n2,1,5\n0,1,7\n1,2,2\n0,2,3\n")
    (tmp_path / "s.txt").write_text("2\n1\n2\n1\n")
    argv = ["evaluate", tmp_path / "t.csv", "--scores", tmp_path / "s.txt", "--metric", "top"]
    assert output(*argv, "--plugin", tmp_path / "graded.py").split() == ["top", "all", "0.5000"]
