"""One page on what a ranker is worth, what it learned, and where it fails."""

from .ranking_report import report

__all__ = ["report"]
