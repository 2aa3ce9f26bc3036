"""Objectives: losses with gradient and curvature, one file a family; each registers itself."""

from gbrank.common.runtime import import_all

import_all(__name__, __path__)
