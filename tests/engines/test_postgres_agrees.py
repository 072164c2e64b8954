"""PostgreSQL gives the same integers as memory, on very untidy tables."""

import decimal
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from discreet import Categorical, Numeric, Schema
from discreet.errors import DataError
from discreet.records.encoding import Cells
from discreet.sources.memory import MemorySource
from discreet.sources.postgres import PostgresSource
from support.agreement import CATEGORIES, CLASSES, NUMBERS, TEXTS, assert_same, fill_table

pytestmark = pytest.mark.engines
psycopg = pytest.importorskip("psycopg")

INTEGERS = [-(2**63), -(2**53) - 1, -1, 0, 1, 3, 10**16, 2**53 + 1, 2**63 - 1, None]
DECIMALS = [
    "1.00", "2.50", "0.30", "-1.00", "0.00", "99.99", "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400",
    "-1e-400", "2.4703282292062327e-324", "2.4703282292062328e-324", "0.30000000000000004", "2.99999999999999999999",
    "3.00000000000000000001", "0.1" + "0" * 300 + "1", "9007199254740993",
]  # fmt: skip
FLOATS32 = [None if n is None else float(np.float32(min(max(n, -3e38), 3e38))) for n in NUMBERS]
TYPED = {
    "text": ("text", TEXTS),
    "varchar": ("varchar(400)", [None if text is None else text[:400] for text in TEXTS]),
    "double": ("float8", NUMBERS),
    "float": ("float4", FLOATS32),
    "flag": ("bool", [True, False, None, True]),
    "small": ("int2", [-(2**15), -1, 0, 1, 2, 3, None]),
    "large": ("int8", INTEGERS),
    "number": ("numeric", [None, *map(decimal.Decimal, DECIMALS)]),
    "nothing": ("text", [None]),
}


def schema_of(names, target, *, numbers):
    columns = []
    for place, name in enumerate(names):
        if numbers:
            columns.append(Numeric(name, -1, 3, grid=[2048, 7, 65_000][place % 3], fill=[None, -1, 3][place % 3]))
        else:
            unlisted = place % 3 > 0
            columns.append(Categorical(name, CATEGORIES, unlisted=unlisted, missing=None if unlisted else 2.5))
    return Schema(columns, target, CLASSES)


@pytest.mark.parametrize("stream", [False, True], ids=["counted there", "streamed"])
@pytest.mark.parametrize("numbers", [True, False], ids=["as numbers", "as categories"])
@pytest.mark.parametrize("target", TYPED)
def test_typed_columns_agree(database, postgres, numbers, target, stream):
    rows = 3 * len(TEXTS)
    columns = {name: [values[row % len(values)] for row in range(rows)] for name, (_, values) in TYPED.items()}
    columns["label"] = [columns[target][row] for row in np.random.default_rng(0).permutation(rows)]
    types = {name: kind for name, (kind, _) in TYPED.items()} | {"label": TYPED[target][0]}
    fill_table(database, "t", types, columns)
    source = PostgresSource(postgres, table="clinic.t", stream=stream)
    assert_same(source, columns, schema_of(list(TYPED), "label", numbers=numbers), rows=stream)
    source.finish()
