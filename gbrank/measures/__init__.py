"""Exact ranking measures as immutable values, one file a family; each registers itself."""

from gbrank.measures import average_precision as average_precision
from gbrank.measures import cascade as cascade
from gbrank.measures import discounted as discounted
from gbrank.measures import pairwise as pairwise
