"""Which records a count is about: a conjunction of public predicates, each on one column.

A predicate names cells of its column: categories, classes, or points of the public grid of a numeric column. It is a
list of spans of codes, so that every engine that codes records can answer it, and two conjunctions can be told apart
without looking at a record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from discreet.errors import ParameterError
from discreet.records.encoding import Cells
from discreet.schema import Schema
from discreet.schema.columns import Categorical, Label, Numeric, text_of

MOST_PREDICATES = 16
"""The most predicates of a conjunction. More of them hardly leave a record to count."""
MOST_VALUES = 1000
"""The most values of one predicate: bounds the time to read a request."""
LONGEST_TEXT = 1000
"""The most characters of a value: bounds the size of a request; categories that people list are far shorter."""
LARGEST = 10**300
"""The largest number in size: all are finite as floats, and none is long to read."""
TESTS = ("equals", "in", "between", "missing", "unlisted")
"""What a predicate can ask of a column."""

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Codes as half-open ranges in ascending order, none of which touch."""


def spans_of(codes: Iterable[int]) -> Spans:
    """Codes, in any order, as spans.

    >>> spans_of([3, 1, 2, 7])
    ((1, 4), (7, 8))
    """
    spans: list[tuple[int, int]] = []
    for code in sorted(set(codes)):
        if spans and spans[-1][1] == code:
            spans[-1] = (spans[-1][0], code + 1)
        else:
            spans.append((code, code + 1))
    return tuple(spans)


def common(first: Spans, second: Spans) -> Spans:
    """The codes that are in both.

    >>> common(((0, 4), (6, 9)), ((2, 7),))
    ((2, 4), (6, 7))
    """
    found, a, b = [], 0, 0
    while a < len(first) and b < len(second):
        start, stop = max(first[a][0], second[b][0]), min(first[a][1], second[b][1])
        if start < stop:
            found.append((start, stop))
        if first[a][1] < second[b][1]:
            a += 1
        else:
            b += 1
    return tuple(found)


def have_common(first: Spans, second: Spans) -> bool:
    """Whether `common` would find a code; quicker, since the first one decides.

    >>> have_common(((0, 4), (6, 9)), ((2, 7),)), have_common(((0, 4), (6, 9)), ((4, 6),))
    (True, False)
    """
    a, b = 0, 0
    while a < len(first) and b < len(second):
        (start, stop), (other_start, other_stop) = first[a], second[b]
        if start < other_stop and other_start < stop:
            return True
        if stop < other_stop:
            a += 1
        else:
            b += 1
    return False


@dataclass(frozen=True)
class Predicate:
    """A test on one column (the target too): equals, in, between, missing or unlisted.

    For numbers the cells are the points of the column's public grid. The bounds of `between` (None: the public bound of
    the column) belong to the interval, and snap outwards: all grid points that a number between them can have are
    counted. `counted` tells which interval that is.
    """

    column: str
    test: str
    values: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(_plain, self.values)))
        if not isinstance(self.column, str):
            raise ParameterError(f"a predicate names a {type(self.column).__name__} as column; need the column's name")
        object.__setattr__(self, "column", _plain(self.column))
        if self.test not in TESTS:
            raise ParameterError(f"{self._head}: test={_short(self.test)}; need one of: {', '.join(TESTS)}")
        number = {"equals": (1, 1), "between": (2, 2), "in": (1, MOST_VALUES)}.get(self.test, (0, 0))
        if not number[0] <= len(self.values) <= number[1]:
            words = {(1, 1): "one value", (2, 2): "two numbers", (0, 0): "no value"}
            needed = words.get(number, f"from 1 to {MOST_VALUES} values")
            raise ParameterError(f"{self._head} {self.test} {len(self.values)} values; need {needed}")
        for value in self.values:
            self._check_value(value)

    def _check_value(self, value: object) -> None:
        if value is None and self.test == "between":
            return
        usable = isinstance(value, str) or (isinstance(value, int | float) and abs(value) <= LARGEST)
        if not usable:
            raise ParameterError(f"{self._head}: {_short(value)} is not a value; need a text or a finite number")
        if isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise ParameterError(f"{self._head}: a value is longer than {LONGEST_TEXT} characters; need a shorter text")

    @property
    def _head(self) -> str:
        return f"column {_short(self.column)}"

    @classmethod
    def from_plain(cls, content: object) -> Predicate:
        """From plain data such as {"column": "age", "between": [40, 60]}; ParameterError if it is not a predicate."""
        if not isinstance(content, Mapping) or not isinstance(content.get("column"), str):
            raise ParameterError('a predicate has no column; need one such as {"column": "age", "between": [40, 60]}')
        given = [key for key in content if key != "column"]
        if len(given) != 1 or given[0] not in TESTS:
            raise ParameterError(
                f"column {_short(content['column'])}: need exactly one test beside the column, one of: "
                f"{', '.join(TESTS)}"
            )
        test, value = given[0], content[given[0]]
        if test in ("missing", "unlisted"):
            if value is not True:
                raise ParameterError(f"column {_short(content['column'])}: {test}={_short(value)}; need true")
            return cls(content["column"], test)
        if test == "equals":
            return cls(content["column"], test, (value,))
        if not isinstance(value, list | tuple):
            raise ParameterError(f"column {_short(content['column'])}: {test}={_short(value)}; need a list")
        return cls(content["column"], test, tuple(value))

    def to_plain(self) -> dict[str, Any]:
        """Plain data, as in a request or a file."""
        if self.test in ("missing", "unlisted"):
            return {"column": self.column, self.test: True}
        return {"column": self.column, self.test: self.values[0] if self.test == "equals" else list(self.values)}

    def spans(self, schema: Schema) -> Spans:
        """The codes that pass; ParameterError if the schema has no such column or cell."""
        if self.column == schema.target:
            return self._of_labels(schema.classes, schema.code_of_class, None)
        if self.column not in schema:
            raise ParameterError(f"{self._head} is not in the schema; need one of: {listed(schema.all_names)}")
        column = schema[self.column]
        if isinstance(column, Categorical):
            return self._of_labels(column.categories, column.code_of, column)
        return self._of_numbers(column)

    def _of_labels(self, labels: Sequence[Label], code_of: Mapping[str, int], column: Categorical | None) -> Spans:
        if self.test == "between":
            raise ParameterError(f"{self._head} holds categories, which have no order; use 'equals' or 'in'")
        if self.test in ("missing", "unlisted"):
            return self._stray(column)
        for value in self.values:
            if text_of(value) not in code_of:
                raise ParameterError(
                    f"{self._head}: {_short(value)} is not listed in the schema; need one of: {listed(labels)}"
                )
        return spans_of(code_of[text_of(value)] for value in self.values)

    def _stray(self, column: Categorical | None) -> Spans:
        if column is None:
            raise ParameterError(
                f"{self._head}: a record that has none of the classes is never counted; ask for the classes"
            )
        if self.test == "missing" and column.missing is not None:
            return spans_of([column.missing_code])
        if not column.unlisted:
            raise ParameterError(
                f"{self._head} has no cell for values outside its list: they count as {_short(column.categories[0])}; "
                "ask for that category"
            )
        return spans_of([column.stray_code])

    def _of_numbers(self, column: Numeric) -> Spans:
        if self.test in ("missing", "unlisted"):
            raise ParameterError(
                f"{self._head}: a missing number counts as {column.missing_value:g}, and cannot be told from it; ask "
                "for an interval"
            )
        for value in self.values:
            if isinstance(value, str | bool):
                raise ParameterError(f"{self._head} holds numbers, got {_short(value)}; need a number")
        ends = (column.lower, column.upper)
        if self.test != "between":
            for value in self.values:
                self._check_reached(value, value, column)
            return spans_of(self._points(self.values, column))
        low, high = (end if value is None else value for value, end in zip(self.values, ends, strict=True))
        if low > high:
            raise ParameterError(
                f"{self._head} between {_short(low)} and {_short(high)}; need the smaller number first"
            )
        self._check_reached(low, high, column)
        first, last = self._points((low, high), column)
        return ((first, last + 1),)

    def _check_reached(self, low: float, high: float, column: Numeric) -> None:
        if high < column.lower or low > column.upper:
            raise ParameterError(
                f"{self._head}: {_short(low)} to {_short(high)} is outside of its public bounds, {column.lower!r} to "
                f"{column.upper!r}; ask for numbers within them"
            )

    def _points(self, numbers: Sequence[float], column: Numeric) -> list[int]:
        """The grid points of numbers, by the rule that codes the records.

        Proof  that no number between two others has a point outside of theirs: the rule is monotone in each of its
               operations on floats, and conversion of an integer to a float is monotone.
        Test   tests/queries/test_predicates.py::test_an_interval_holds_all_numbers_between_its_bounds
        """
        clipped = [float(min(max(value, column.lower), column.upper)) for value in numbers]
        points: list[int] = Cells(column.name).number_codes(np.array(clipped), column).tolist()
        return points

    def counted(self, schema: Schema) -> str:
        """What is counted, in words: the interval after snapping, or the categories."""
        column = None if self.column == schema.target else schema[self.column]
        spans = self.spans(schema)
        if isinstance(column, Numeric):
            texts = [f"from {low:.6g} to {high:.6g}" for low, high in intervals(spans, column)]
            missing = Cells(column.name).missing_code(column)
            filled = any(start <= missing < stop for start, stop in spans)
            return f"{self.column} {' or '.join(texts)}{' or missing' if filled else ''}"
        labels = schema.classes if column is None else column.categories
        names = [str(labels[code]) if code < len(labels) else "(any other)" for span in spans for code in range(*span)]
        return f"{self.column} = {names[0]}" if len(names) == 1 else f"{self.column} in {listed(names, quoted=False)}"


def intervals(spans: Spans, column: Numeric) -> list[tuple[float, float]]:
    """The intervals that grid points stand for, within the bounds; numbers outside of them count as the bounds."""
    step = (column.upper - column.lower) / column.grid
    return [
        (
            max(column.lower, column.lower + (start - 0.5) * step),
            min(column.upper, column.lower + (stop - 0.5) * step),
        )
        for start, stop in spans
    ]


@dataclass(frozen=True)
class Where:
    """A conjunction of predicates: the records that pass all of them; without any, all records."""

    predicates: tuple[Predicate, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "predicates", tuple(self.predicates))
        if len(self.predicates) > MOST_PREDICATES:
            raise ParameterError(f"{len(self.predicates)} predicates; need at most {MOST_PREDICATES}")
        for each in self.predicates:
            if type(each) is not Predicate:  # a subclass could name any cells
                raise ParameterError(f"{type(each).__name__} is not a predicate; need a list of predicates")

    @classmethod
    def from_plain(cls, content: object) -> Where:
        """From a list of predicates as plain data."""
        if not isinstance(content, list | tuple):
            raise ParameterError(f"where={_short(content)}; need a list of predicates, each on one column")
        if len(content) > MOST_PREDICATES:
            raise ParameterError(f"{len(content)} predicates; need at most {MOST_PREDICATES}")
        return cls(tuple(Predicate.from_plain(each) for each in content))

    def to_plain(self) -> list[dict[str, Any]]:
        """Plain data, as in a request or a file."""
        return [each.to_plain() for each in self.predicates]

    def spans(self, schema: Schema) -> dict[str, Spans]:
        """The codes that pass, by column; ParameterError if no record can pass.

        They are kept for the schema that was asked for last, which, like the predicates, is never changed: a request is
        checked, grouped, priced and counted by them.
        """
        kept = self.__dict__.get("_kept")
        if kept is None or kept[0] is not schema:
            kept = schema, self._spans(schema)
            object.__setattr__(self, "_kept", kept)
        return dict(kept[1])

    def __getstate__(self) -> dict[str, Any]:
        return {"predicates": self.predicates}

    def _spans(self, schema: Schema) -> dict[str, Spans]:
        found: dict[str, Spans] = {}
        for each in self.predicates:
            spans = each.spans(schema)
            found[each.column] = common(found.get(each.column, spans), spans)
            if not found[each.column]:
                raise ParameterError(
                    f"column {each.column!r}: no record can pass all of its predicates, so the count is zero; drop one"
                )
        return found

    def counted(self, schema: Schema) -> list[str]:
        """What is counted, in words, predicate by predicate."""
        return [each.counted(schema) for each in self.predicates]


def are_disjoint(first: Where, second: Where, schema: Schema) -> bool:
    """Whether no record can pass both conjunctions. A function of public things alone.

    Proof  every record has exactly one code in the grid or list of each column, and exactly one class or none
           (records/encoding.py), as a function of that record alone; one without a class passes nothing. If the spans
           of one column have no code in common, a record passes at most one of the two. Conversely, if every column
           that both name has a common code, a record with such codes passes both.
    Test   tests/queries/test_predicates.py::test_disjointness_is_what_all_records_say (exhaustive)
    """
    return exclude_each_other(first.spans(schema), second.spans(schema))


def exclude_each_other(ours: Mapping[str, Spans], theirs: Mapping[str, Spans]) -> bool:
    """Whether two conjunctions, as codes that pass by column, have a column without a common code (`are_disjoint`)."""
    shared = sorted((len(spans) + len(theirs[name]), name) for name, spans in ours.items() if name in theirs)
    return any(not have_common(ours[name], theirs[name]) for _, name in shared)  # the quickest first


def listed(names: Sequence[object], most: int = 8, *, quoted: bool = True) -> str:
    """Some names, and how many more there are."""
    shown = ", ".join(_short(name) if quoted else str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _plain(value: Any) -> Any:
    """A text or number of any type as one of exactly the built-in types; a boolean as its one spelling, a text.

    A value with methods of its own could name other cells when records are counted than when predicates were found to
    exclude each other. And True equals 1 in Python, though they are different categories.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return text_of(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    return float.__float__(value) if isinstance(value, float) else value


def _short(value: object) -> str:
    """A value of the asker in at most 40 characters."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return type(value).__name__
    return text if len(text) <= 40 else f"{text[:40]}…"
