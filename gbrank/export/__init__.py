"""Models in the formats that search engines and inference libraries load."""

from gbrank.export.formats import FORMATS, Format, export_model

__all__ = ["FORMATS", "Format", "export_model"]
