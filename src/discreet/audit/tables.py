"""Small tables to attack with: made from what is public, never from anybody's data."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from discreet.schema import Categorical, Numeric, Schema
from discreet.schema.columns import Label

Value: TypeAlias = Label | None
"""What a cell of a table holds; None is a missing value."""
Record: TypeAlias = tuple[tuple[Value, ...], Value]
"""The values of one record, and its label."""

DEFAULT = Schema([Numeric("a", 0.0, 1.0), Numeric("b", 0.0, 1.0)], target="label", classes=[0, 1])
"""What tables look like if no schema is given: two numbers between 0 and 1, and the classes 0 and 1."""


@dataclass(frozen=True)
class Table:
    """Records in order, with the names and kinds ("numeric" or "categorical") of their columns."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    records: tuple[Record, ...]
    target: str = "label"
    label_kind: str = "int64"

    def __len__(self) -> int:
        return len(self.records)

    def holding(self, records: Sequence[Record]) -> Table:
        """A table with the same columns and other records."""
        return replace(self, records=tuple(records))

    def without(self, place: int) -> Table:
        """The table without one record."""
        return self.holding(self.records[:place] + self.records[place + 1 :])

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as the runner reads it."""
        return {
            "names": list(self.names),
            "kinds": list(self.kinds),
            "rows": [list(values) for values, _ in self.records],
            "labels": [label for _, label in self.records],
            "target": self.target,
            "label_kind": self.label_kind,
        }

    def text(self, marked: Container[int] = ()) -> str:
        """The records, one per line: values, then the label; equal lines that follow each other are counted. Records at
        marked places are said to be those that the neighbour has not."""
        lines: list[list[Any]] = []
        for place, (values, label) in enumerate(self.records):
            line = f"{', '.join(map(repr, values))} → {label!r}" + ("   ← only here" if place in marked else "")
            if lines and lines[-1][0] == line:
                lines[-1][1] += 1
            else:
                lines.append([line, 1])
        return "\n".join(line if times == 1 else f"{line}   ({times} times)" for line, times in lines) or "(no records)"


def empty(schema: Schema) -> Table:
    """A table without records that has the columns of a schema."""
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in schema.classes)
    kind = "int64" if whole else "float64" if all(isinstance(each, float) for each in schema.classes) else "str"
    return Table(tuple(schema.names), tuple(each.kind for each in schema.columns), (), schema.target, kind)


def corner(schema: Schema, share: float) -> tuple[Value, ...]:
    """The values at one share of all ranges: 0 for lower bounds and first categories, 1 for upper bounds and last."""
    return tuple(_at(column, share) for column in schema.columns)


def _at(column: Numeric | Categorical, share: float) -> Value:
    if isinstance(column, Numeric):
        return float(column.lower) + share * (float(column.upper) - float(column.lower))
    return column.categories[round(share * (len(column.categories) - 1))]


def bases(schema: Schema, sizes: Sequence[int] = (3, 12)) -> Iterator[tuple[str, Table]]:
    """Tables to start from: all records at one corner, spread, alternating or sorted by class."""
    start, classes = empty(schema), schema.classes
    for size in sizes:
        low, high = corner(schema, 0.0), corner(schema, 1.0)
        yield "all records at the lower bounds", start.holding([(low, classes[0])] * size)
        spread = [corner(schema, place / max(1, size - 1)) for place in range(size)]
        turns = [classes[place % len(classes)] for place in range(size)]
        yield "spread records, classes in turn", start.holding(list(zip(spread, turns, strict=True)))
        ends = [(low, classes[0]) if place % 2 == 0 else (high, classes[-1]) for place in range(size)]
        yield "opposite corners in turn", start.holding(ends)
        yield "opposite corners, sorted by class", start.holding(sorted(ends, key=lambda each: classes.index(each[1])))


def probes(schema: Schema) -> Table:
    """Public points at which predictions are looked at."""
    label = schema.classes[0]
    return empty(schema).holding([(corner(schema, share), label) for share in (0.0, 0.25, 0.5, 0.75, 1.0)])
