"""The progress bar."""

from fresh import Fresh


def test_without_a_console(fresh: Fresh) -> None:
    """A service has no standard error: there is no bar then, and no fault."""
    code = """
import sys
sys.stdout = sys.stderr = None
from gbrank import GBRanker, make_cubic
from gbrank.common.progress import Bar
X, y, qid = make_cubic(10, n_documents=5, n_features=3, random_state=0)
GBRanker("ranknet", n_estimators=2, verbose=1, min_child_samples=1).fit(X, y, qid=qid)
assert list(Bar(iterable=[1, 2])) == [1, 2]
"""
    done = fresh(code)
    assert done.returncode == 0
