"""A folder of Triton's model repository, for its FIL backend: forests on a GPU or a CPU."""

import os
import re
from importlib.resources import files
from pathlib import Path
from string import Template

from gbrank.boosters.tree import at_most
from gbrank.common.argument_error import ArgumentError
from gbrank.common.files import replace_file
from gbrank.export.verifying import named_forest
from gbrank.ranker import GBRanker

# What the backend calls the model's file, and its type, by booster.
FILES = {"lightgbm": ("model.txt", "lightgbm"), "xgboost": ("xgboost.json", "xgboost_json")}


def write_triton(ranker: GBRanker, folder: str | os.PathLike[str]) -> None:
    """Write the booster's own file, and the configuration of Triton's FIL backend beside it.

    The backend has single precision. Thresholds of LightGBM are rounded down to it, so that no
    comparison with a single-precision number changes.

    Parameters
    ----------
    ranker : GBRanker
        Fitted, without `init`.
    folder : path
        The model's folder in the repository; it gets config.pbtxt and the first version, 1.

    Raises
    ------
    ValueError
        If the scores are not those of the booster's file alone.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank import GBRanker, make_cubic
    >>> from gbrank.export import write_triton
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=2, random_state=0)
    >>> ranker = GBRanker(n_estimators=2, random_state=0).fit(X, y, qid=qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_triton(ranker, Path(folder, "my-ranker"))
    ...     sorted(path.name for path in Path(folder).rglob("*.*"))
    ['config.pbtxt', 'model.txt']
    """
    forest = named_forest(ranker, folder, "onnx", None, False)
    fitted = ranker._fitted
    if fitted.init is not None:
        raise ArgumentError("init", "must be None for the booster's own file", repr(fitted.init))
    content, (file, kind) = fitted.model.dump(), FILES[fitted.booster]
    if kind == "lightgbm":
        text = re.sub("^tree_sizes=.*\n", "", content.decode(), flags=re.MULTILINE)
        content = re.sub("(?<=^threshold=).*", _rounded, text, flags=re.MULTILINE).encode()
    place = Path(folder, "1")
    place.mkdir(parents=True, exist_ok=True)
    replace_file(place / file, content)
    # Its parameters output_class and is_classifier are one, before and since 2025.
    template = Template(files("gbrank.export").joinpath("triton.pbtxt").read_text("utf-8"))
    config = template.substitute(n_features=len(forest.features), kind=kind)
    replace_file(Path(folder, "config.pbtxt"), config.encode())


def _rounded(line: re.Match[str]) -> str:
    """Return thresholds in single precision."""
    return " ".join(repr(at_most(float(number))) for number in line[0].split())
