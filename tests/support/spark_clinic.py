"""A table for tests of Spark that fail, with its schema, and what a refusal must be like."""

import numpy as np
import pyarrow as pa
import pytest

from discreet import Categorical, Ledger, NaiveBayes, Numeric, Schema
from discreet.records.encoding import Cells

CANARY = "CANARY-7731"
SCHEMA = Schema([Numeric("x", 0, 100), Categorical("c", ["a", "b"])], "y", ["no", "yes"])
CELLS = [Cells("x", 16), Cells("c")]
ROWS = 40_000


def table():
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "x": rng.normal(50, 30, ROWS),
            "c": rng.choice(["a", "b", CANARY], ROWS),
            "y": rng.choice(["no", "yes", "?"], ROWS),
        }
    )


def refused(source, error, *words, schema=SCHEMA):
    ledger = Ledger(2)
    with pytest.raises(error) as caught:
        NaiveBayes(schema, epsilon=1).fit_from(source, ledger=ledger)
    assert ledger.spent == 0
    message = str(caught.value)
    assert "\n" not in message
    assert CANARY not in message
    for word in words:
        assert word in message
