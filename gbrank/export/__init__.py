"""Models in the formats that search engines and inference libraries load."""

from gbrank.export.formats import FORMATS, Format
from gbrank.export.model import export_model

__all__ = ["FORMATS", "Format", "export_model"]
