"""What published answers show about the table as a whole: whether its records fit the schema at all.

A schema that does not match the table trains on nothing: classes spelled in another way, categories of another coding,
numbers with decimal commas. No error can be raised, since it would depend on values. But the noisy answers show it, and
reading them once more costs nothing.

Guarantee  remarks cost nothing. Proof: they are a function of published answers, of the variance of their noise, and of
           the schema: post-processing.
Rule       a remark is made only if it is certain in spite of the noise: by `CERTAIN` standard deviations. (An answer of
           discrete Laplace noise is further off in one direction with probability 0.007, a sum of many with 0.002.)
Test       tests/models/test_remarks.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.queries.outside import Outside, is_watched
from discreet.queries.tables import ClassCounts, Counts, SoftCounts, SplineCounts, Total, splines
from discreet.queries.trees import LeafCounts
from discreet.released.statistics import NoisyStatistics, NoisyTable
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Column

CERTAIN = 3.0
"""Standard deviations of the noise."""
FEW = 0.75
"""If less than this share of the declared records has a listed class, the names of the classes are worth a look."""
MOST = 0.5
"""If more than this share of the records lies outside a column's list, its categories are worth a look."""
NEARLY_ALL, NARROW = 0.97, 0.2
"""If more than this share of the records lies where missing numbers are put, the column is worth a look; but only if
the bins there are at most this share of its range, so that few columns have most of their numbers there. (Nine in ten
numbers of an accelerometer at rest do: benchmarks/remarks.py.)"""
ALONE, HARDLY_ANY = 0.02, 0.22
"""If all classes but one together have less than the first share of the records, there is nothing to tell apart; nor if
they have less than the second, and the noise hides whether there are any."""


NEGLIGIBLE = 1e-9
"""A smaller variance counts as this: without noise, every answer tells the same."""


class Estimate(NamedTuple):
    """A number of records, and the variance of its noise."""

    value: float
    variance: float

    def __sub__(self, other: Estimate) -> Estimate:
        """The difference of two estimates with independent noise."""
        return Estimate(self.value - other.value, self.variance + other.variance)

    def times(self, factor: float) -> Estimate:
        """A multiple."""
        return Estimate(factor * self.value, factor**2 * self.variance)

    @property
    def margin(self) -> float:
        """How far off it may be."""
        return CERTAIN * math.sqrt(self.variance)

    def is_below(self, other: float) -> bool:
        """Whether the true number is certainly smaller."""
        return self.value + self.margin < other

    def is_above(self, other: float) -> bool:
        """Whether the true number is certainly larger."""
        return self.value - self.margin > other

    def __str__(self) -> str:
        return f"{max(round(self.value), 0):,}"


def remarks(noisy: NoisyStatistics, schema: Schema) -> list[str]:
    """What the answers show about the table, in words; empty if nothing is conspicuous."""
    records = labelled(noisy, schema)
    if records is None:
        return []
    told = list(_about_classes(noisy, schema, records))
    return told or [text for query, table in noisy.tables for text in _about_column(query, table, schema)]


def unchecked(noisy: NoisyStatistics, schema: Schema) -> str:
    """What no answer can show about the table, and how to see it, in a sentence; empty if all was looked at.

    It follows from what was asked, which is public: by the plan, or by a choice of columns that was published.
    """
    asked = [query for query, _ in noisy.tables]
    watched = [column.name for column in schema.columns if is_watched(column)]
    shown = {query.column for query in asked if isinstance(query, Counts | SplineCounts) and _shows(query, schema)}
    if any(isinstance(query, Outside) for query in asked):  # the worst of all columns was looked for
        shown = set(watched)
    hidden = [name for name in watched if name not in shown]
    parts = ["the classes"] if labelled(noisy, schema) is None else []
    if hidden:
        parts.append("the columns" if hidden == watched else f"the columns {_listed(hidden)}")
    if not parts:
        return ""
    return (
        f"Nobody looked whether {' and '.join(parts)} fit the schema, and the answers of this model would not show it: "
        "the owner can look before spending (discreet schema check --values), and --model auto pays for a look where "
        "records and ε allow it"
    )


def labelled(noisy: NoisyStatistics, schema: Schema) -> Estimate | None:
    """The number of records that have a listed class, from all answers that tell it; None if none does."""
    told = [each for query, table in noisy.tables for each in _total_of(query, table, schema)]
    leaves = [_summed(table) for query, table in noisy.tables if type(query) is LeafCounts]
    if leaves and (len(leaves) == 1 or not told):  # trees of a forest may each have their own records
        told.append(Estimate(sum(each.value for each in leaves), sum(each.variance for each in leaves)))
    told = [each for each in told if each.variance < math.inf]
    if not told:
        return None
    weights = [1 / max(each.variance, NEGLIGIBLE) for each in told]
    mean = sum(weight * each.value for weight, each in zip(weights, told, strict=True)) / sum(weights)
    return Estimate(mean, 1 / sum(weights))


def _summed(table: NoisyTable, unit: int = 1, where: Any = ...) -> Estimate:
    values = np.asarray(table.values, dtype=np.float64)[where]
    return Estimate(float(values.sum()) / unit, table.variance * values.size / unit**2)


def _total_of(query: Any, table: NoisyTable, schema: Schema) -> Iterator[Estimate]:
    if isinstance(query, Total | ClassCounts | Counts | SplineCounts | SoftCounts):
        yield _summed(table, query.unit(schema))
    elif isinstance(query, Outside):
        yield _summed(table)


def _about_classes(noisy: NoisyStatistics, schema: Schema, records: Estimate) -> Iterator[str]:
    listed = _listed(schema.classes)
    check = f"check the names of the classes ({listed}) in column {schema.target!r}: discreet schema check --values"
    if schema.records is not None and records.is_below(FEW * schema.records):
        yield f"Only about {records} of {schema.records:,} declared records have a listed class; {check}"
    elif schema.records is None and not records.is_above(0):
        yield (
            f"The noise hides whether any record has a listed class (about {records}, give or take "
            f"{records.margin:,.0f}): expect little of the model at this ε, and {check}"
        )
    by_class = _class_totals(noisy, schema)
    if by_class is None or not records.is_above(0) or len(by_class) == 1:
        return
    largest = max(range(len(by_class)), key=lambda place: by_class[place].value)
    others = [each for place, each in enumerate(by_class) if place != largest]
    rest = Estimate(sum(each.value for each in others), sum(each.variance for each in others))
    hidden = rest.is_below(HARDLY_ANY * records.value) and not rest.is_above(0)
    name = schema.classes[largest]
    if rest.is_below(ALONE * records.value):
        yield f"Nearly all records are of class {name}, so there is nothing to tell apart; {check}"
    elif hidden:
        yield (
            f"The noise hides whether any record is of another class than {name} (about {rest} of {records}, give or "
            f"take {rest.margin:,.0f}): do not expect to find others at this ε, and {check}"
        )


def _class_totals(noisy: NoisyStatistics, schema: Schema) -> list[Estimate] | None:
    """Records of each class, from the answer that tells them best."""
    found: list[list[Estimate]] = []
    for query, table in noisy.tables:
        if isinstance(query, ClassCounts | Counts | SplineCounts | SoftCounts):
            found.append([_summed(table, query.unit(schema), place) for place in range(len(schema.classes))])
        elif type(query) is LeafCounts:
            found.append([_summed(table, 1, place) for place in range(len(schema.classes))])
    return min(found, key=lambda totals: totals[0].variance, default=None)


def _about_column(query: Any, table: NoisyTable, schema: Schema) -> Iterator[str]:
    if isinstance(query, Outside):
        parts, unit = np.array([False, True]), 1
    elif isinstance(query, Counts | SplineCounts) and _shows(query, schema):
        parts, unit = _unexpected(query, schema), query.unit(schema)
    else:
        return
    column = schema[query.column]
    inside, outside = (_summed(table, unit, (slice(None), cells)) for cells in (~parts, parts))
    share = MOST if isinstance(column, Categorical) or isinstance(query, Outside) else NEARLY_ALL
    if (outside.times(1 - share) - inside.times(share)).is_above(0):
        percent = min(outside.value / max(outside.value + inside.value, 1.0), 1.0)
        yield f"{column.name}: about {percent:.0%} of records {_where(column, query)}"


def _shows(query: Counts | SplineCounts, schema: Schema) -> bool:
    """Whether the cells of unexpected values tell something: few columns have most of their values in them."""
    column = schema[query.column]
    if not is_watched(column):
        return False
    return isinstance(column, Categorical) or bool(_unexpected(query, schema).mean() <= NARROW)


def _where(column: Column, query: Any) -> str:
    """What is the matter with the records of a column, and what to do."""
    if isinstance(column, Categorical):
        what = "unlisted" if column.missing is not None else "unlisted or missing"
        return f"are {what}; check the spelling of its categories ({_listed(column.categories)})"
    if isinstance(query, Outside):
        bounds = f"{column.lower:g} to {column.upper:g}"
        return f"are missing, not numbers, or outside the bounds ({bounds}); check for decimal commas, texts and units"
    return (
        f"are missing, not numbers, or all near {column.missing_value:g}, where such values are put; check for decimal "
        "commas and texts"
    )


def _unexpected(query: Counts | SplineCounts, schema: Schema) -> NDArray[np.bool_]:
    """Which cells of the table take values that the schema does not expect."""
    column, cells = schema[query.column], query.cells(schema)
    place = column.stray_code if isinstance(column, Categorical) else cells.missing_code(column)
    if isinstance(query, SplineCounts):
        return np.asarray(splines(query.bins)[place] > 0)
    return np.asarray(np.arange(cells.size(schema)) == place)


def _listed(labels: Sequence[Any]) -> str:
    return ", ".join(str(label) for label in labels[:4]) + (", …" if len(labels) > 4 else "")
