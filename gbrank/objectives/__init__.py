"""Objectives: losses with gradient and curvature, one file a family; each registers itself."""

from gbrank.objectives import approxrank as approxrank
from gbrank.objectives import hinge as hinge
from gbrank.objectives import lambdarank as lambdarank
from gbrank.objectives import listwise as listwise
from gbrank.objectives import noisy_lambdarank as noisy_lambdarank
from gbrank.objectives import slam as slam
from gbrank.objectives import smoothrank as smoothrank
from gbrank.objectives import softrank as softrank
from gbrank.objectives import tierank as tierank
