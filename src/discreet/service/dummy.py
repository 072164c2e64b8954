"""Dummy rows: made from the schema alone, so that analysts can write code against something.

Every value is drawn uniformly from what the schema allows, and is related to nothing: a model of these rows is worth
nothing, and they tell nothing about the data.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator

from discreet.schema import Schema
from discreet.schema.columns import Column, Label, Numeric

MOST_ROWS = 10_000


class Draws:
    """Numbers that look random and are the same for the same text; no privacy rests on them."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()
        self._count = 0

    def below(self, number: int) -> int:
        """A number from 0 to `number` - 1."""
        self._count += 1
        digest = hashlib.sha256(self._text + self._count.to_bytes(8, "big")).digest()
        return int.from_bytes(digest[:16], "big") % number


def dummy_rows(schema: Schema, rows: int = 100, seed: int = 0) -> Iterator[dict[str, Label]]:
    """Rows with a value for each column and the target; the same seed gives the same rows."""
    draws = Draws(f"{schema.hash}/{seed}")
    for _ in range(min(rows, MOST_ROWS)):
        row: dict[str, Label] = {column.name: _value(column, draws) for column in schema.columns}
        row[schema.target] = schema.classes[draws.below(len(schema.classes))]
        yield row


def _value(column: Column, draws: Draws) -> Label:
    if not isinstance(column, Numeric):
        return column.categories[draws.below(len(column.categories))]
    if isinstance(column.lower, int) and isinstance(column.upper, int):
        return column.lower + draws.below(column.upper - column.lower + 1)
    part = draws.below(1001) / 1000
    return min(max(float(f"{column.lower + part * (column.upper - column.lower):.6g}"), column.lower), column.upper)


def dummy_csv(schema: Schema, rows: int = 100, seed: int = 0) -> str:
    """The rows as a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, schema.all_names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(dummy_rows(schema, rows, seed))
    return text.getvalue()
