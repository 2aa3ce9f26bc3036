"""Clicks: logs in files, what they tell of positions, documents and rankers."""

from gbrank.clicks.by_query import choose_by_query
from gbrank.clicks.click_labels import clicks_to_labels
from gbrank.clicks.interleaving import Interleaved
from gbrank.clicks.logs import ClickLog, read_impressions, read_ubi
from gbrank.clicks.off_policy import LoggedClicks
from gbrank.clicks.position_report import PositionReport, position_report

__all__ = [
    "ClickLog",
    "Interleaved",
    "LoggedClicks",
    "PositionReport",
    "choose_by_query",
    "clicks_to_labels",
    "position_report",
    "read_impressions",
    "read_ubi",
]
