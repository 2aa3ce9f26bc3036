"""Models in the formats that search engines and inference libraries load."""

from .exporting import Verification, export_model, verify_export

__all__ = ["Verification", "export_model", "verify_export"]
