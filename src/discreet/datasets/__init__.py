"""Public data sets with public schemas."""

from discreet.datasets.collection import BUILT_IN, Columns, DataSet, built_in, known, load

__all__ = ["BUILT_IN", "Columns", "DataSet", "built_in", "known", "load"]
