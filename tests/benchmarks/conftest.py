"""Makes `benchmarks` importable, which is never installed: behind everything that is."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if (ROOT / "benchmarks").is_dir():
    sys.path.append(str(ROOT))
else:  # as in the sdist
    collect_ignore_glob = ["test_*.py"]
