"""Public data sets with public schemas, to try things on."""

from discreet.datasets.collection import BUILT_IN, DataSet, built_in, cache_folder, known, load
from discreet.records.values import Columns

__all__ = ["BUILT_IN", "Columns", "DataSet", "built_in", "cache_folder", "known", "load"]
