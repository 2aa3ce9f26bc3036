"""Why rows are further from the paper than 0.012: one sentence each."""

from benchmarks.papers.paper_rows import PaperRow

__all__ = ["EXPLANATIONS", "explanation"]

EXPLANATIONS: dict[tuple[str, str, str], str] = {}  # of paper, data and figure


def explanation(row: PaperRow) -> str:
    """Return why a row is far from the paper's; nothing if it is near, or nobody has said."""
    return EXPLANATIONS.get((row.paper, row.data, row.figure), "") if row.is_far else ""
