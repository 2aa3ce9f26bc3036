"""Model files that others wrote: read in a process of their own first, which a damaged one ends."""

import hashlib
import os
import re
import subprocess
import sys

from gbrank.boosters import MODELS, Model

TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
SECONDS, BYTES_PER_SECOND = 60, 1e6  # that a whole file takes at most, on a busy machine
PARAMETER = re.compile(rb"\[\w+: .*\]|\s*$")  # or a blank line
# Of files that have been read, by their digests: a process takes seconds, and a file much memory.
_faults: dict[bytes, str] = {}
# Boosters import what is None here only where it is installed.
PROBE = """
import sys
sys.modules |= dict.fromkeys(("dask", "pandas", "pyarrow", "sklearn"))
import numpy as np
from gbrank.boosters import MODELS
model = MODELS[sys.argv[1]].load(sys.stdin.buffer.read(), 1)
model.check_links()
n_rows = max(1, min(64, 2**22 // model.n_features))
X = np.random.default_rng(0).normal(0, 10, (n_rows, model.n_features))
X[::3] = np.nan
model.predict_native(X)
"""


def read_model_file(booster: str, content: bytes) -> Model:
    """Return the model of a file; refuse one that was cut or edited, as far as seen."""
    digest = hashlib.sha256(content).digest()
    if digest not in _faults:
        _faults[digest] = _fault(booster, content)
    if fault := _faults[digest]:
        title = TITLES[booster]
        raise ValueError(f"expected a whole {title} model, got one that was cut or edited: {fault}")
    return MODELS[booster].load(content)


def _fault(booster: str, content: bytes) -> str:
    """Return why another process cannot read a model, and predict by it; "" if it can."""
    if booster == "lightgbm":  # it takes a cut file, and reads beyond a parameter without a colon
        ends = [b"end of trees"] + [b"end of parameters"] * (b"\nparameters:" in content)
        if not all(end in content for end in ends):
            return "it ends before its trees or its parameters do"
        text = content.partition(b"\nparameters:")[2].partition(b"end of parameters")[0]
        if odd := [line for line in text.splitlines() if not PARAMETER.match(line)]:
            return f"its parameters have {odd[0].decode(errors='replace')!r}, not [name: value]"
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROBE, booster],
            input=content,
            capture_output=True,
            timeout=SECONDS + len(content) / BYTES_PER_SECOND,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
    except subprocess.TimeoutExpired as error:
        return f"reading it takes more than {error.timeout:.0f} seconds"
    if not done.returncode:
        return ""
    reason = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return reason or f"a process that reads it ends with {done.returncode}"
