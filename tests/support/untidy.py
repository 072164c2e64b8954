"""A table with columns of every kind of PostgreSQL, full of untidy values, and a schema for it."""

import decimal

import numpy as np

from discreet import Categorical, Numeric, Schema
from discreet.sources.memory import MemorySource
from support.agreement import CATEGORIES, CLASSES, NUMBERS, WORDS, objects

DECIMALS = [None, *map(decimal.Decimal, ["1", "1.0", "1.00", "2.50", "0.3", "-1", "NaN", "Infinity", "1e400", "0.00"])]
TYPED = {
    "text": ("text", WORDS),
    "word": ("text", WORDS[::-1]),
    "double": ("float8", NUMBERS),
    "float": ("float8", NUMBERS[::-1]),
    "flag": ("bool", [True, False, None]),
    "large": ("int8", [-1, 0, 1, 3, 2**53 + 1, None]),
    "number": ("numeric", DECIMALS),
    "bytes": ("bytea", [b"a", None]),
    "label": ("text", [*CLASSES, "a", None, "1.0", " it's ", "?"]),
}


def untidy(rows, seed=0):
    """Columns of values of every kind."""
    rng = np.random.default_rng(seed)
    return {name: [values[k] for k in rng.integers(len(values), size=rows)] for name, (_, values) in TYPED.items()}


def types():
    """The type of each column in PostgreSQL."""
    return {name: kind for name, (kind, _) in TYPED.items()}


def mixed_schema(classes=CLASSES, **given):
    """Each column as a number or as categories, whatever its type."""
    columns = [
        Categorical("text", CATEGORIES, unlisted=True),
        Numeric("word", -1, 3, grid=7),
        Numeric("double", -1, 3),
        Categorical("float", CATEGORIES),
        Categorical("flag", [0, 1]),
        Numeric("large", -1, 3, grid=50, fill=3),
        Categorical("number", CATEGORIES, missing=2.5),
        Categorical("bytes", ["a"]),
    ]
    return Schema(columns, "label", classes, **given)


def in_memory(columns, schema):
    """The same columns as a source in memory."""
    return MemorySource(in_arrays(columns, schema))


def in_arrays(columns, schema):
    """The columns of a schema as arrays of objects."""
    return {name: objects(columns[name]) for name in schema.all_names}
