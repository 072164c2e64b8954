"""Training records for a search that reads them in the clear, and what that costs."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from discreet.bees.rules import encode
from discreet.budget import Charge, Ledger
from discreet.encoding import Codes, class_codes
from discreet.errors import DataError
from discreet.schema import Schema
from discreet.tables import Table, as_vector


def charge_in_the_clear(ledger: Ledger, name: str) -> None:
    """Enter an infinite loss: a ledger with a limit refuses, before any value is seen."""
    ledger.charge(name, [Charge("all records", "none: read in the clear", math.inf, 1, math.nan)])


def labelled(X: Any, y: Any, schema: Schema) -> tuple[dict[str, NDArray[Any]], Codes]:
    """Encoded columns and class codes; records without a listed class are left out, with y=None labels are in X."""
    table = Table(X, schema)
    table.check(schema, target=y is None)
    labels = class_codes(table.column(schema.target) if y is None else as_vector(y), schema)
    if len(labels) != table.rows:
        raise DataError("X and y have different lengths; need one label a record")
    listed = labels < len(schema.classes)
    return {name: values[listed] for name, values in encode(table, schema).items()}, labels[listed]
