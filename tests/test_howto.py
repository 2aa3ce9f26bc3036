"""docs/howto: the lines of every page run, where the library that it is about is installed."""

import doctest
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "howto"

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="docs/ is not beside the tests")


@pytest.mark.filterwarnings("ignore")  # the libraries' own
@pytest.mark.parametrize("library", ["mlflow", "optuna"])
def test_lines_run(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of code share one session, in a folder of its own."""
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a data base needs the whole of MLflow
    page = FOLDER / f"{library}.md"
    text = page.read_text(encoding="utf-8")
    session = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)
    found = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF).run(test)
    assert found.attempted > 8
    assert found.failed == 0
