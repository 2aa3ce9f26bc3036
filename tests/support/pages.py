"""Runs the code of a page, as somebody does who copies it from top to bottom.

    python tests/support/pages.py docs/tutorial.md

Without a page it runs those that it reads from standard input, each in a fork of itself, which has
imported what most pages import.

Blocks of Python share one process; those of a shell run where gbrank's commands are known. What
stands below a line `<!-- not run: ... -->` is left out, and so are commands that install
something, or work in a clone of the repository for hours.
"""

import doctest
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^\n]* -->\n)?"
    r"^(?P<indent> *)```(?P<kind>python|bash)\n(?P<code>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
IMPORTED = ("pandas", "gbrank.evaluation", "gbrank.plots", "lightgbm", "xgboost")
ELSEWHERE = ("pip ", "git ", "python -m benchmarks", "bash .ci")


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of every block of a page that runs."""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        code = dedent(block["code"])
        if block["kind"] == "bash":
            lines = [line for line in code.splitlines() if not line.startswith(ELSEWHERE)]
            code = "\n".join(lines)
        if not block["skip"] and code.strip():
            yield block["kind"], code


class Near(doctest.OutputChecker):
    """Takes numbers that are off by a tenth: other versions of the boosters grow other trees."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        """Compare what a page says with what was printed."""
        if super().check_output(want, got, optionflags):
            return True
        given, found = NUMBER.findall(want), NUMBER.findall(got)
        if len(given) != len(found):
            return False
        near = (
            abs(float(a) - float(b)) <= 0.1 * abs(float(a))
            for a, b in zip(given, found, strict=True)
        )
        texts = (NUMBER.sub("0", text) for text in (want, got))
        return all(near) and super().check_output(*texts, optionflags)


def run(page: Path) -> None:
    """Run a page in this process; raise an error, or exit, where it does not do what it says."""
    session: dict[str, Any] = {"__name__": "__main__"}
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.REPORT_NDIFF
    for kind, code in blocks(page):
        if kind == "bash":
            subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True)
        elif ">>> " in code:
            test = doctest.DocTestParser().get_doctest(code, session, page.name, str(page), 0)
            test.globs = session
            runner = doctest.DocTestRunner(Near(), optionflags=options)
            if runner.run(test, clear_globs=False).failed:
                sys.exit(1)
        else:
            exec(compile(code, str(page), "exec"), session)


def run_elsewhere(page: Path) -> None:
    """Run a page in a folder of its own: what it writes is not left behind."""
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(page)
        os.chdir(page.parent)


def run_in_fork(page: Path, output: str) -> int:
    """Run a page in a fork of this process; return the exit status."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        with open(output, "w", encoding="utf-8") as file, open(os.devnull) as nothing:
            for stream, own in enumerate((nothing, file, file)):
                os.dup2(own.fileno(), stream)
        run_elsewhere(page)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    if sys.argv[1:]:
        run_elsewhere(Path(sys.argv[1]).resolve())
    else:
        for module in IMPORTED:
            with suppress(ImportError):
                importlib.import_module(module)
        for line in sys.stdin:
            page, output = json.loads(line)
            print(run_in_fork(Path(page), output), flush=True)
