"""Dummy rows: made from the schema alone, so that analysts can write code against something. They are not synthetic
data in the sense of private statistics: every value is drawn uniformly, and is related to nothing."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator

from discreet.schema import Schema
from discreet.schema.columns import Column, Label, Numeric

MOST_ROWS = 10_000


def dummy_rows(schema: Schema, rows: int = 100, seed: int = 0) -> Iterator[dict[str, Label]]:
    """Rows with a value for each column and the target; the same seed gives the same rows."""
    draw = random.Random(f"{schema.hash}/{seed}")
    for _ in range(min(rows, MOST_ROWS)):
        row: dict[str, Label] = {column.name: _value(column, draw) for column in schema.columns}
        row[schema.target] = draw.choice(schema.classes)
        yield row


def _value(column: Column, draw: random.Random) -> Label:
    if isinstance(column, Numeric):
        whole = all(isinstance(bound, int) for bound in (column.lower, column.upper))
        if whole:
            return draw.randint(int(column.lower), int(column.upper))
        return float(f"{draw.uniform(column.lower, column.upper):.6g}")
    return draw.choice(list(column.categories))


def dummy_csv(schema: Schema, rows: int = 100, seed: int = 0) -> str:
    """The rows as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, schema.all_names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(dummy_rows(schema, rows, seed))
    return text.getvalue()
