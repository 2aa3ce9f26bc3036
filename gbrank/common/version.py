"""The version of gbrank: the only place that states it (setup.cfg reads it without importing)."""

__version__ = "0.1.0"
