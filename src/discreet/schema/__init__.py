"""What is public: columns, bounds, categories, classes, adjacency."""

from discreet.schema.adjacency import Adjacency, Paid
from discreet.schema.columns import Categorical, Column, Numeric
from discreet.schema.dialect import Dialect
from discreet.schema.schema import Schema

__all__ = ["Adjacency", "Categorical", "Column", "Dialect", "Numeric", "Paid", "Schema"]
