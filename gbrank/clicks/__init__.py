"""Clicks: what they tell of positions and documents."""

from gbrank.clicks.click_labels import clicks_to_labels
from gbrank.clicks.position_report import PositionReport, position_report

__all__ = ["PositionReport", "clicks_to_labels", "position_report"]
