"""Tables for tests of Spark: columns of all types, and the same table in memory and in Spark."""

import decimal

import numpy as np
import pyarrow as pa

from discreet.sources.memory import MemorySource
from discreet.sources.spark import SparkSource
from support.agreement import NUMBERS, TEXTS, schema_of

TYPED = {
    "text": pa.array(TEXTS, pa.string()),
    "double": pa.array(NUMBERS, pa.float64()),
    "float": pa.array([None if n is None else np.float32(min(max(n, -3e38), 3e38)) for n in NUMBERS], pa.float32()),
    "bool": pa.array([True, False, None, True]),
    "int8": pa.array([-128, -1, 0, 1, 2, 3, 127, None], pa.int8()),
    "int64": pa.array([-(2**63), -(2**53) - 1, -1, 0, 1, 3, 10**16, 2**53 + 1, 2**63 - 1], pa.int64()),
    "int64 null": pa.array([0, 1, None, 10**6], pa.int64()),
    "decimal": pa.array([decimal.Decimal(d) for d in ("1.00", "2.50", "0.30", "-1.00", "0.00", "99.99")] + [None]),
    "bytes": pa.array([b"a", b"1", None], pa.binary()),
    "list": pa.array([["a"], [], None], pa.list_(pa.string())),
    "struct": pa.array([{"a": 1}, None], pa.struct([("a", pa.int32())])),
    "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int32())),
}  # fmt: skip


def typed_table(rows=None):
    rows = rows if rows is not None else 3 * len(TEXTS)
    return {
        name: values.take(pa.array([row % len(values) for row in range(rows)], pa.int64()))
        for name, values in TYPED.items()
    }


def both(session, table, **options):
    """The same table in memory and in Spark."""
    if len(table):
        data = session.createDataFrame(table)
    else:  # a session of Connect makes no table without rows
        nothing = pa.table({field.name: pa.nulls(1, field.type) for field in table.schema})
        data = session.createDataFrame(nothing).where("false")
    return {"memory": MemorySource(table), "spark": SparkSource(data, stream=True, **options)}


def typed(session, target, numbers):
    """Columns of all types with labels of one type, and their schema."""
    columns = typed_table()
    shuffled = np.random.default_rng(0).permutation(3 * len(TEXTS))
    columns["label"] = columns[target].take(pa.array(shuffled))
    return both(session, pa.table(columns)), schema_of(list(TYPED), "label", numbers=numbers)
