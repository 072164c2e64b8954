"""Public data sets with public schemas, to try things on."""

from discreet.datasets.collection import BUILT_IN, Columns, DataSet, built_in, cache_folder, known, load

__all__ = ["BUILT_IN", "Columns", "DataSet", "built_in", "cache_folder", "known", "load"]
