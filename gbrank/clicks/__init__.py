"""Clicks: what positions add to them, and whether a log can tell."""

from gbrank.clicks.position_report import PositionReport, position_report

__all__ = ["PositionReport", "position_report"]
