"""The `gbrank` command where it is given what it cannot use, and where its streams are closed."""

import os
import re
import shlex
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

from command import Output
from fresh import Fresh
from gbrank.commands.cli import COMMANDS, main
from gbrank.commands.options import command_parser


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("train none.txt --model m", "none.txt: No such file or directory"),
        ("train bad.txt --model m", "bad.txt, line 2, column 9: expected <index>:<value>"),
        ("train one.txt --model m --objective lambdarnk", "Did you mean 'lambdarank'? Known: "),
        ("train one.txt --model m --valid wide.txt", "wide.txt, line 1, column 9"),
        ("predict one.txt --model ''", "--model must be a path, got an empty text"),
        ("train --model m -- --no_file.txt", "--no_file.txt: No such file or directory"),
        ("evaluate one.txt --scores fine.txt --metric map[b]", "must have [b] with tables only"),
        ("train one.txt --model one.txt", "--model must be no file that is read, and in no folder"),
        ("train one.txt --model fine.txt", "--model must be a folder, got the file fine.txt"),
        ("predict one.txt --model .", "no model in ."),
        ("evaluate one.txt --scores short.txt", "short.txt: --scores must have 2 entries, got 1"),
        ("evaluate one.txt --scores fine.txt --metric ap(threshold=9)", "undefined on every query"),
        ("compare --json missing/a.json", "--json must be in a folder that exists"),
        ("compare --data missing", "missing: No such file or directory"),
    ],
)
def test_faults(
    argv: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Output
) -> None:
    """Faults are one line on standard error, and leave nothing behind."""
    monkeypatch.chdir(tmp_path)
    files = {
        "one.txt": "1 qid:1 1:0.5 2:1\n0 qid:1 2:1\n",
        "bad.txt": "1 qid:1 1:0.5\n0 qid:1 x:1\n",
        "wide.txt": "1 qid:2 9:0.5\n",
        "short.txt": "0.5\n",
        "fine.txt": "0.5\n0.25\n",
    }
    for name, text in files.items():
        Path(name).write_text(text)
    assert message in fault(*shlex.split(argv))
    assert {path.name for path in tmp_path.iterdir()} == files.keys()


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(["--objective", "(" * 5000 + "ranknet" + ")" * 5000], marks=pytest.mark.slow),
        pytest.param(
            ["--objective", "(ranknet+" * 5000 + "ranknet" + ")" * 5000], marks=pytest.mark.slow
        ),
        ["--objective", f"lambda(truncation={'-' * 5000}1):ndcg"],
        ["--objective", f"lambda:ndcg@10(gain={'[' * 5000}1)"],
        ["--objective", "x" * 100_000],
        ["--objective", f"lambda:{'x' * 100_000}"],
        ["--sigma", "geometric(" * 5000 + "1)"],
        ["--sigma=" + "-" * 5000 + "1"],
    ],
    ids=range(8),
)
def test_long_and_deep_texts(argv: list[str], tmp_path: Path, fault: Output) -> None:
    """Texts of any depth and length are short errors."""
    path = tmp_path / "one.txt"
    path.write_text("1 qid:1 1:0.5 2:1\n0 qid:1 2:1\n")
    said = fault("train", str(path), "--model", str(tmp_path / "m"), *argv)
    assert len(said) < 1500
    assert "error: " in said


@pytest.mark.parametrize("source", ["--scores", "--run", "FILE"])
@pytest.mark.parametrize("content", [b"x" * 3_000_000, b"0.5\n" + b"\xff" * 3_000_000])
def test_long_tokens(source: str, content: bytes, tmp_path: Path, fault: Output) -> None:
    """Three megabytes without a blank, text or not, are named by file and line in a short error."""
    one, long = tmp_path / "one.txt", tmp_path / "long.txt"
    one.write_text("1 0 d 1\n" if source == "--run" else "1 qid:1 1:0.5 2:1\n0 qid:1 2:1\n")
    long.write_bytes(content)
    files = [long, "--scores", one] if source == "FILE" else [one, source, long]
    said = fault("evaluate", *map(str, files))
    assert len(said) < 400
    assert re.search(r"long\.txt(, line [12][,:].*|:) expected .*, got", said)


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_closed_streams(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has None for a stream that the shell has closed, as by ``>&-``."""
    monkeypatch.setattr(sys, stream, None)
    assert main(["list", "metrics"]) == 0
    assert main(["predict", "-" if stream == "stdin" else "none.txt", "--model", "none"]) == 1


@pytest.mark.parametrize("command", ["compare", "evaluate", "tune"])
def test_measures_are_metrics(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "one.txt", "--measures", "map"])
    assert "argument --measures. Did you mean '--metric'?" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Help shows examples, and the examples are right."""
    with pytest.raises(SystemExit) as info:
        main([*command.split(), "--help"])
    assert info.value.code == 0
    seen = 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("\n") <= 70
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip().startswith("gbrank ") and "COMMAND" not in line:
            _, name, *words = shlex.split(line.split(" | ")[0].split(" > ")[0])
            parser = command_parser(name, resolve_name(f"gbrank.commands.{COMMANDS[name]}"))
            parser.parse_args(words)
            seen += 1
    assert seen > 1


LIST = "import runpy; runpy.run_module('gbrank', run_name='__main__')"
BROKEN = "import os; reader, writer = os.pipe(); os.dup2(writer, 1); os.close(reader)"
FULL = "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)"


def test_broken_pipe_is_quiet(fresh: Fresh) -> None:
    """As `python -m gbrank list | true`."""
    done = fresh(f"{BROKEN}\n{LIST}", "list")
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_stream(fresh: Fresh) -> None:
    """No answer is lost with code 0, and nothing is said twice."""
    done = fresh(f"{FULL}\n{LIST}", "list")
    assert done.returncode == 1
    assert done.stderr.startswith("gbrank: error: [Errno 28] No space left on device")
    assert done.stderr.count("\n") == 1
